/*
 * axes.c - the axes list_lru_lock, what one lock of a list_lru covers, and list_lru_alloc, when lists are
 * made.
 *
 * As choices of the kernel they are numbers: whether a list of a (cgroup, node) has a lock of its own, and
 * whether it is made before there is anything for it.
 */
#include "models/host/policies.h"
#include "sim/module.h"

static const struct axis list_lru_lock_axis = { .fallback = "per_node" };
static const struct axis list_lru_alloc_axis = { .fallback = "lazy" };

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

MODULE(axis_list_lru_alloc) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_AXIS,
	.name = "list_lru_alloc",
	.help = "when the lists of a cgroup in a list_lru are made",
	.source = "mm/list_lru.c",
	.ops = &list_lru_alloc_axis,
};

static const struct charge_constant lazy = { false }, eager = { true };

MODULE(list_lru_alloc_eager) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "list_lru_alloc",
	.name = "eager",
	.help = "with the cgroup, in every list_lru there is",
	.source = "Linux up to 5.17, memcg_update_all_list_lrus()",
	.ops = &eager,
};

MODULE(list_lru_alloc_lazy) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "list_lru_alloc",
	.name = "lazy",
	.help = "with the first object, for its cgroup and all above",
	.source = "Linux 5.18, 88f2ef73fd66",
	.ops = &lazy,
};
