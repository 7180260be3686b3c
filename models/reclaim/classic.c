/*
 * classic.c - reclaim: classic, the two lists (active and inactive) for anonymous and for file pages.
 */
#include "models/reclaim/classic.h"
#include "sim/module.h"

static const struct reclaim_ops ops = {
	.lruvec_size = sizeof(struct classic),
	.add = classic_add,
	.del = classic_del,
	.activate = classic_activate,
	.rotate = classic_rotate,
	.mark_accessed = classic_mark_accessed,
	.shrink_lruvec = classic_shrink_lruvec,
	.begin_pass = classic_begin_pass,
	.age_node = classic_age_node,
	.end_call = classic_end_call,
	.lruvec_release = classic_release,
	.reparent = classic_reparent,
	.eviction = classic_eviction,
	.refault = classic_refault,
	.size = classic_size,
	.check = classic_check,
};

MODULE(reclaim_classic) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "reclaim",
	.name = "classic",
	.help = "an active and an inactive list for each type, balanced by refaults",
	.source = "mm/vmscan.c, mm/workingset.c; every kernel, with lru_gen off",
	.ops = &ops,
};
