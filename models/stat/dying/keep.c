/*
 * keep.c - dying_stats: a removed cgroup keeps counting for itself until it is freed. What cgroup v2 did up
 * to the series of seed 1: get_non_dying_memcg_start() returned at once.
 */
#include "models/stat/dying/dying.h"
#include "sim/module.h"

static const struct axis axis = { .fallback = "keep" };

MODULE(axis_dying_stats) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_AXIS,
	.name = "dying_stats",
	.help = "whether updates of a removed cgroup go to its parent, and what asking costs each update",
	.source = "mm/memcontrol.c, get_non_dying_memcg_start()",
	.ops = &axis,
};

const struct dying_stats_ops dying_stats_keep = { 0 };

MODULE(policy_dying_stats_keep) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "dying_stats",
	.name = "keep",
	.help = "a removed cgroup counts for itself",
	.ops = &dying_stats_keep,
};
