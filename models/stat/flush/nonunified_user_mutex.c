/*
 * nonunified_user_mutex.c - flush: as nonunified_user, but readers first take a mutex.
 *
 * Seed 5 from version 3 on; was in the mm tree for a while and did not get further. stats_user_flush_mutex
 * lets one reader at a time go for the rstat lock, so the lock sees at most two contenders: a reader and
 * the unified flusher. The price is the mutex's own queue: readers sleep, and many of them form a convoy.
 * Only reads of memory.stat and memory.numa_stat come this way; writeback stays unified. As in version 2,
 * whoever flushes the root clears the threshold before.
 */
#include "models/stat/stat_impl.h"

static void init(struct host *host)
{
	struct stat_state *st = stat_of(host);

	st->root_clears_first = true;
	mutex_init(st->policy[AXIS_FLUSH].state, lock_class(host->sim, "stats_user_flush_mutex"));
}

static void flush(struct task *t, struct flush *f)
{
	const struct host *host = f->memcg->host;
	struct mutex *mutex = stat_of(host)->policy[AXIS_FLUSH].state;

	if (f->caller != FLUSH_READER) {
		unified_kernel(t, f);
		return;
	}
	mutex_lock(t, mutex);
	if (!f->memcg->parent)
		unified_clear(t, host);
	rstat_flush(t, f, f->memcg, true);
	mutex_unlock(t, mutex);
}

static const struct flush_ops ops = { .init = init, .flush = flush };

MODULE(flush_nonunified_user_mutex) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "flush",
	.name = "nonunified_user_mutex",
	.help = "as nonunified_user, one reader at a time contends for the rstat lock",
	.source = "seed 5, version 3 and 4",
	.ops = &ops,
	.state_size = sizeof(struct mutex),
};
