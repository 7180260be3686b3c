/*
 * rstat_memcg_threshold_fixlet.c - stat_update: every memcg has a threshold of its own.
 *
 * As posted, with the correction that followed (seed 3; "mm: memcg: clear percpu stats_pending during stats
 * flush"): a flush clears the counter of the flushed CPU, too. An update is that of rstat_memcg_threshold.
 */
#include "models/stat/stat_impl.h"

static const struct stat_update_ops ops = {
	.updated = memcg_update_posted,
	.flushed = memcg_update_flushed,
	.in_pages = true,
};

MODULE(rstat_memcg_threshold_fixlet) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "stat_update",
	.name = "rstat_memcg_threshold_fixlet",
	.help = "as rstat_memcg_threshold; a flush clears the CPU's counter, too",
	.source = "seed 3, the correction to patch 3 of version 2",
	.ops = &ops,
};
