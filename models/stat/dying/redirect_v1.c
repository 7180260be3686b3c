/*
 * redirect_v1.c - dying_stats: as redirect_all, but on cgroup v1 alone, whose files show what a cgroup
 * counts without its children. Linux 7.1, 8285917d6f38: there get_non_dying_memcg_start() asks first which
 * hierarchy it is, a jump that is patched once, and on cgroup v2, which is all that is modelled, leaves
 * the update where it was. So a comparison with `keep` finds no difference, and says so.
 */
#include "models/stat/dying/dying.h"
#include "sim/module.h"

static const struct dying_stats_ops ops = { 0 };

MODULE(dying_stats_redirect_v1) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "dying_stats",
	.name = "redirect_v1",
	.help = "redirected on cgroup v1 alone: on v2, as here, a removed cgroup counts for itself",
	.source = "Linux 7.1, 8285917d6f38",
	.ops = &ops,
};
