/*
 * anon_shadow: swap_xarray_memcg. Nodes of the swap cache are charged to the cgroup of the page that needs
 * them.
 *
 * A node is the first page's cgroup's, though others' pages may lie in it too: slots are given out to whoever
 * comes. A charge that fails keeps the page in memory.
 */
#include "models/backing/anon_shadow/swap_xarray.h"

static bool add(struct task *t, swap_slot_t slot, frame_t frame)
{
	return swap_xarray_add(t, slot, frame, swap_owner(host_of(t), slot));
}

static const struct anon_shadow_ops ops = {
	.init = swap_xarray_init,
	.add = add,
	.del = swap_xarray_del,
	.get = swap_xarray_get,
	.clear = swap_xarray_clear,
	.kept = swap_xarray_kept,
};

MODULE(anon_shadow_swap_xarray_memcg) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "anon_shadow",
	.name = "swap_xarray_memcg",
	.help = "in XArray nodes that belong to the cgroup whose page needed them",
	.source = "the fix split from seed 2's first patch, until the swap table",
	.ops = &ops,
};
