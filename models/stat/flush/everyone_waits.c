/*
 * everyone_waits.c - flush: nobody is skipped; whoever finds the threshold passed waits and flushes.
 *
 * After what the author of seed 5 tells of in three sentences: he "attempted to remove unified flushing
 * completely", and with hundreds of reclaimers "where everyone waits" the stress became some three times
 * slower. No code was shown. This is the literal reading: by the terms of the same letter what is left when
 * the unified flush is gone is the other kind, which waits, and flushes the subtree that it cares about. So
 * readers flush always, callers in the kernel when the global threshold is passed; since it counts for the
 * machine, only a flush of the root can clear it. unified_waits.c is the reading with the least change.
 * docs/seed-5.md has what both give; neither gives the published factor.
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
	const struct host *host = f->memcg->host;

	if (!wanted(t, f)) {
		stat_of(host)->count.skipped++;
		return;
	}
	rstat_flush(t, f, f->memcg, true);
	if (!f->memcg->parent)
		unified_clear(t, host);
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
