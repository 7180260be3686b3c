/*
 * summary.c - what is printed of statistics after a run: what readers pay, what they get, what it costs
 * others.
 *
 * Reads that wait, or flush the whole tree, and those that find nothing to do lie orders of magnitude apart,
 * so the median of all shows one kind and hides the other: the mean and the 90th percentile are printed, and
 * both again by depth, since a read of the root costs another thing than that of a leaf.
 */
#include "sim/results/summary.h"
#include "sim/module.h"

/* Of the global lock, and of the memory subsystem's where each has its own. */
#define RSTAT_LOCK "*rstat_[ls]*"

#define LATENCY(label_, what_, entity_)                                                  \
	{                                                                                \
		label_, "stat.read_latency." what_, entity_, SUMMARY_MEAN, 1e-3, "us", 1 \
	}

static const struct summary_row rows[] = {
	LATENCY("read of memory.stat, mean", "mean", "all"),
	LATENCY("read of memory.stat, p50", "p50", "all"),
	LATENCY("read of memory.stat, p90", "p90", "all"),
	LATENCY("read of memory.stat, p99", "p99", "all"),
	LATENCY("read of memory.stat, longest", "max", "all"),
	{ "read that flushed itself, mean", "stat.flushing_read_latency.mean", "all", SUMMARY_MEAN, 1e-3,
	  "us", 1 },
	LATENCY("of the root, mean", "mean", "level:0"),
	LATENCY("of the root, p90", "p90", "level:0"),
	LATENCY("of cgroups at depth 1, mean", "mean", "level:1"),
	LATENCY("of cgroups at depth 1, p90", "p90", "level:1"),
	LATENCY("of cgroups at depth 2, mean", "mean", "level:2"),
	LATENCY("of cgroups at depth 2, p90", "p90", "level:2"),
	LATENCY("of cgroups at depth 3, mean", "mean", "level:3"),
	LATENCY("of cgroups at depth 3, p90", "p90", "level:3"),
	{ "off by, mean", "staleness.pages.mean", "all", SUMMARY_MEAN, 1, "pages", 1 },
	{ "off by, p99", "staleness.pages.p99", "all", SUMMARY_MEAN, 1, "pages", 0 },
	{ "age, mean", "staleness.age.mean", "all", SUMMARY_MEAN, 1e-6, "ms", 1 },
	{ "age, longest", "staleness.age.max", "all", SUMMARY_MEAN, 1e-6, "ms", 1 },
	{ "flushes", "flush.flushes", "all", SUMMARY_MEAN, 1, NULL, 0 },
	{ "(cgroup, CPU) pairs flushed", "flush.pairs", "all", SUMMARY_MEAN, 1, NULL, 0 },
	{ "rstat lock, wait p50", "lock.wait.p50", RSTAT_LOCK, SUMMARY_MAX, 1e-3, "us", 1 },
	{ "rstat lock, wait p99", "lock.wait.p99", RSTAT_LOCK, SUMMARY_MAX, 1e-3, "us", 1 },
	{ "rstat lock, longest hold", "lock.hold.max", RSTAT_LOCK, SUMMARY_MAX, 1e-3, "us", 1 },
};
static const struct summary_table table = { "Statistics", rows, sizeof rows / sizeof rows[0] };

MODULE(statistics_summary) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_SUMMARY,
	.name = "statistics",
	.help = "reads of memory.stat: latency, staleness, flushes, the rstat lock",
	.ops = &table,
};
