/*
 * list_lru_lock.c - the axis list_lru_lock: what one lock of a list_lru covers.
 *
 * As a choice of the kernel it is a number: whether a list of a (cgroup, node) has a lock of its own.
 */
#include "models/host/policies.h"
#include "sim/module.h"

static const struct axis list_lru_lock_axis = { .fallback = "per_node" };

MODULE(axis_list_lru_lock) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_AXIS,
	.name = "list_lru_lock",
	.help = "what one lock of a list_lru covers",
	.source = "mm/list_lru.c",
	.ops = &list_lru_lock_axis,
};

static const struct charge_constant per_node = { false }, per_memcg = { true };

MODULE(list_lru_lock_per_node) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "list_lru_lock",
	.name = "per_node",
	.help = "the lists of all cgroups on one node",
	.source = "Linux up to 6.12",
	.ops = &per_node,
};

MODULE(list_lru_lock_per_memcg) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "list_lru_lock",
	.name = "per_memcg",
	.help = "the list of one cgroup on one node",
	.source = "Linux 6.13, fb56fdf8b9a2; seed 2",
	.ops = &per_memcg,
};
