/*
 * everyone_waits.c - flush: nobody is skipped; whoever finds the threshold passed waits and flushes.
 *
 * What the author of seed 5 tried first, "I attempted to remove unified flushing completely": callers in
 * the kernel as well as readers take their turn at the rstat lock, each for the subtree it needs. Readers
 * flush always, callers in the kernel when the global threshold is passed. A flush of the root clears the
 * threshold.
 */
#include "models/stat/stat_impl.h"

static bool wanted(struct task *t, const struct flush *f)
{
	const struct host *host = f->memcg->host;

	switch (f->caller) {
	case FLUSH_REFAULT:
		return unified_late(t, host) && unified_due(t, host);
	case FLUSH_RECLAIM:
	case FLUSH_SHRINKER:
		return unified_due(t, host);
	default:
		return true;
	}
}

static void flush(struct task *t, struct flush *f)
{
	struct stat_state *st = stat_of(f->memcg->host);

	if (!wanted(t, f)) {
		st->count.skipped++;
		return;
	}
	rstat_flush(t, f, f->memcg, true);
	if (!f->memcg->parent) {
		line_write(t, &st->line);
		st->flush_threshold = 0;
		st->flush_late = t->clock + 2 * FLUSH_TIME;
	}
}

static const struct flush_ops ops = { .flush = flush };

MODULE(flush_everyone_waits) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "flush",
	.name = "everyone_waits",
	.help = "nobody is skipped: everybody waits for the rstat lock and flushes",
	.source = "the first attempt that seed 5 tells of; not in any kernel",
	.ops = &ops,
};
