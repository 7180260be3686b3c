/*
 * anon_shadow: swap_xarray_root. Nodes of the swap cache are charged to nobody.
 *
 * So the shadow nodes of every cgroup's anonymous memory are on the root's list, counted against the root's
 * budget and reclaimed when reclaim visits the root.
 */
#include "models/backing/anon_shadow/swap_xarray.h"

static bool add(struct task *t, swap_slot_t slot, frame_t frame)
{
	return swap_xarray_add(t, slot, frame, host_of(t)->cgroups->root);
}

static const struct anon_shadow_ops ops = {
	.init = swap_xarray_init,
	.add = add,
	.del = swap_xarray_del,
	.get = swap_xarray_get,
	.clear = swap_xarray_clear,
	.kept = swap_xarray_kept,
};

MODULE(anon_shadow_swap_xarray_root) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "anon_shadow",
	.name = "swap_xarray_root",
	.help = "in XArray nodes that belong to the root",
	.source = "Linux 5.9 until the fix split from seed 2's first patch",
	.ops = &ops,
};
