/*
 * nonunified_user_mutex.c - flush: as nonunified_user, but readers first take a mutex.
 *
 * Seed 5 from version 3 on; was in the mm tree for a while and did not get further. memcg_user_stats_mutex
 * lets one reader at a time go for the rstat lock, so the lock sees at most two contenders: a reader and
 * the unified flusher. The price is the mutex's own queue: readers sleep, and many of them form a convoy.
 */
#include "models/stat/stat_impl.h"

static void init(struct host *host)
{
	mutex_init(stat_of(host)->policy[AXIS_FLUSH].state, lock_class(host->sim, "memcg_user_stats_mutex"));
}

static void flush(struct task *t, struct flush *f)
{
	struct host *host = f->memcg->host;
	struct stat_state *st = stat_of(host);
	struct mutex *mutex = st->policy[AXIS_FLUSH].state;

	if (f->caller != FLUSH_READER && f->caller != FLUSH_WRITEBACK) {
		unified_kernel(t, f);
		return;
	}
	mutex_lock(t, mutex);
	if (!f->memcg->parent) {
		line_write(t, &st->line);
		st->flush_threshold = 0;
		st->flush_late = t->clock + 2 * FLUSH_TIME;
	}
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
