/*
 * summary.c - what is printed of statistics after a run: what readers pay, what they get, what it costs
 * others.
 */
#include "sim/results/summary.h"
#include "sim/module.h"

/* Of the global lock, and of the memory subsystem's where each has its own. */
#define RSTAT_LOCK "*rstat_[ls]*"

static const struct summary_row rows[] = {
	{ "read of memory.stat, p50", "stat.read_latency.p50", "all", SUMMARY_MEAN, 1e-3, "us", 1 },
	{ "read of memory.stat, p99", "stat.read_latency.p99", "all", SUMMARY_MEAN, 1e-3, "us", 1 },
	{ "read of memory.stat, longest", "stat.read_latency.max", "all", SUMMARY_MEAN, 1e-3, "us", 1 },
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
