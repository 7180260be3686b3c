/*
 * nonunified_user.c - flush: userspace reads flush their own subtree; callers in the kernel stay unified.
 *
 * Seed 5 as first posted (v1): memory.stat calls do_stats_flush() directly: no threshold, nobody is
 * skipped, and readers wait for each other on the rstat lock. The flush of a reader leaves the threshold
 * alone, even when it reads the root. From the second version on do_stats_flush() of the root, whoever it
 * is for, clears the threshold and moves the time at which the worker is late before it flushes, and the
 * unified flush no longer does so afterwards.
 *
 * Writeback (mem_cgroup_wb_stats()) is among the converted callers of v1; for v2 that is taken to be so
 * still.
 */
#include "models/stat/stat_impl.h"

struct nonunified_options {
	bool root_clears;
};

static void init(struct host *host)
{
	const struct nonunified_options *options = stat_of(host)->policy[AXIS_FLUSH].options;

	stat_of(host)->root_clears_first = options->root_clears;
}

static void flush(struct task *t, struct flush *f)
{
	const struct host *host = f->memcg->host;

	if (f->caller != FLUSH_READER && f->caller != FLUSH_WRITEBACK) {
		unified_kernel(t, f);
		return;
	}
	if (stat_of(host)->root_clears_first && !f->memcg->parent)
		unified_clear(t, host);
	rstat_flush(t, f, f->memcg, true);
}

static const struct option rows[] = {
	OPTION(struct nonunified_options, root_clears, OPT_BOOL, .fallback = "false",
	       .help = "a flush of the root clears the threshold first, as from version 2 of the series on"),
};
static const struct option_table options = OPTION_TABLE("nonunified_user", struct nonunified_options, rows);

static const struct flush_ops ops = { .init = init, .flush = flush };

MODULE(flush_nonunified_user) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "flush",
	.name = "nonunified_user",
	.help = "userspace reads flush their own subtree, in-kernel flushing stays unified",
	.source = "seed 5, version 1 and 2",
	.options = &options,
	.ops = &ops,
};
