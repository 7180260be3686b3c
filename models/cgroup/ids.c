/*
 * ids.c - axis memcg_id: how long a removed cgroup keeps its id, one of 65,535.
 *
 * Up to Linux 4.7 the id was that of the css, which is freed with the last reference: every dying cgroup had
 * one, so that page cache alone made mkdir fail with ENOSPC on machines with a few dozen containers. Since
 * 73f576c04b94 the memory controller has ids of its own (struct mem_cgroup_id), given back when the cgroup
 * goes offline unless swap names it. Nothing else of those kernels is modelled: compare under one kernel.
 */
#include "models/cgroup/life_impl.h"
#include "models/host/policies.h"
#include "sim/module.h"

static const struct axis memcg_id_axis = { .fallback = "until_offline" };

MODULE(axis_memcg_id) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_AXIS,
	.name = "memcg_id",
	.help = "how long a removed cgroup keeps its id",
	.source = "mem_cgroup_id_put(), mm/memcontrol.c",
	.ops = &memcg_id_axis,
};

static const struct charge_constant until_offline = { 0 }, until_freed = { 1 };

MODULE(memcg_id_until_offline) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "memcg_id",
	.name = "until_offline",
	.help = "until it is offline, and as long as swap names it",
	.source = "Linux 4.8 and later, 73f576c04b94",
	.ops = &until_offline,
};

MODULE(memcg_id_until_freed) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "memcg_id",
	.name = "until_freed",
	.help = "as long as anything keeps it",
	.source = "Linux up to 4.7",
	.ops = &until_freed,
};
