/*
 * everyone_waits.c - flush: nobody is skipped; whoever finds the threshold passed waits and flushes.
 *
 * After what the author of seed 5 tells of in a sentence, that unified flushing was removed and the stress
 * test became some three times slower. Who flushed what then is not said, so the rest is this file's:
 * callers in the kernel as well as readers take their turn at the rstat lock, each for the subtree it
 * needs; readers flush always, callers in the kernel when the global threshold is passed; a flush of the
 * root clears the threshold. The published factor cannot be held against it.
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
