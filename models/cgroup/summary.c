/*
 * summary.c - what is printed of cgroups that came and went during a run: how many are left and why, what the
 * kernel has in memory for them, and when none could be made any more, in days.
 */
#include "sim/results/summary.h"
#include "sim/module.h"

#define MIB  (1.0 / (1 << 20))
#define DAYS (1e-9 / 86400)

static const struct summary_row rows[] = {
	{ "cgroups made", "cgroup.made", "all", SUMMARY_MEAN, 1, NULL, 0 },
	{ "dying at the end", "nr_dying_descendants", "/", SUMMARY_MEAN, 1, NULL, 0 },
	{ "of them, pinned", "cgroup.leftover.pinned", "all", SUMMARY_MEAN, 1, NULL, 0 },
	{ "live but empty", "cgroup.leftover.empty", "all", SUMMARY_MEAN, 1, NULL, 0 },
	{ "rmdir to offline, p99", "cgroup.offline_latency.p99", "all", SUMMARY_MEAN, 1e-6, "ms", 1 },
	{ "Percpu at the end", "meminfo.Percpu", "all", SUMMARY_MEAN, MIB, "MiB", 1 },
	{ "Slab at the end", "meminfo.Slab", "all", SUMMARY_MEAN, MIB, "MiB", 1 },
	{ "first mkdir with ENOSPC", "cgroup.refused_at", "ENOSPC*", SUMMARY_MEAN, DAYS, "d", 3 },
	{ "first without a page left", "cgroup.refused_at", "ENOMEM: no page left", SUMMARY_MEAN, DAYS, "d",
	  3 },
	{ "first above a limit", "cgroup.refused_at", "ENOMEM: limit", SUMMARY_MEAN, DAYS, "d", 3 },
};
static const struct summary_table table = { "Cgroups that come and go", rows, sizeof rows / sizeof rows[0] };

MODULE(cgroup_summary) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_SUMMARY,
	.name = "cgroups",
	.help = "cgroups made and removed, what is left of them, and when there can be no more",
	.ops = &table,
};
