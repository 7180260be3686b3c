/*
 * dying_percpu.c - how long a removed cgroup keeps its per-CPU statistics: a policy of one constant, which
 * ledger.c goes by.
 */
#include "models/host/policies.h"
#include "sim/module.h"

static const struct axis dying_percpu_axis = { .fallback = "until_freed" };

MODULE(axis_dying_percpu) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_AXIS,
	.name = "dying_percpu",
	.help = "how long a removed cgroup keeps its per-CPU statistics",
	.source = "mm/memcontrol.c, mem_cgroup_css_offline() and mem_cgroup_free()",
	.ops = &dying_percpu_axis,
};

static const struct charge_constant until_freed = { 0 }, released_at_offline = { 1 };

MODULE(dying_percpu_until_freed) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "dying_percpu",
	.name = "until_freed",
	.help = "as long as it exists",
	.source = "every kernel so far",
	.ops = &until_freed,
};

MODULE(dying_percpu_released_at_offline) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "dying_percpu",
	.name = "released_at_offline",
	.help = "up to a grace period after offline: what the CPUs have counted is spilled into the memcg",
	.source = "seed 4: mm: reduce the memory footprint of dying memory cgroups",
	.ops = &released_at_offline,
};
