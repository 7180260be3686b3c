/*
 * unified_waits.c - flush: as unified, but whoever finds the threshold passed waits for the rstat lock and
 * flushes the tree, however many do already.
 *
 * The smallest change by which nobody is skipped: __mem_cgroup_flush_stats() of 6.4 to 6.7 without its flag,
 * since mem_cgroup_flush_stats() has no memcg yet that one could flush in its place. Whoever is through first
 * clears the threshold; those who have queued by then flush a tree in which there is next to nothing, which
 * still takes a look at each possible CPU. See everyone_waits.c for the other way to read seed 5.
 */
#include "models/stat/stat_impl.h"

static void flush_too(struct task *t, struct flush *f)
{
	unified_flush(t, f, f->memcg->host->kernel_version >= 604);
}

static void flush(struct task *t, struct flush *f)
{
	unified_ask(t, f, flush_too);
}

static const struct flush_ops ops = { .flush = flush };

MODULE(flush_unified_waits) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "flush",
	.name = "unified_waits",
	.help = "as unified, but nobody is skipped: all wait for the rstat lock and flush the tree",
	.source = "a reading of what seed 5 tells of; not in any kernel",
	.ops = &ops,
};
