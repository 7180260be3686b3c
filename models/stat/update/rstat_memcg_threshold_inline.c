/*
 * rstat_memcg_threshold_inline.c - stat_update: every memcg has a threshold of its own.
 *
 * stats_updates moved into struct mem_cgroup (seed 3, as tried against the regression): the word is one
 * pointer hop nearer than in rstat_memcg_threshold, since memcg->vmstats is not needed to get there. A level
 * of the walk still takes three dependent loads: the counter has a per-CPU pointer of its own in the memcg.
 * All else is as posted with its correction.
 */
#include "models/stat/stat_impl.h"

static void updated(struct task *t, struct stat_pair *pair, enum stat_item item, uint64_t pages)
{
	(void)item;
	for (; pair; pair = pair->parent) {
		memcg_update_loads(t, pair);
		memcg_update_level(t, pair, pages);
	}
}

static const struct stat_update_ops ops = {
	.updated = updated,
	.flushed = memcg_update_flushed,
	.in_pages = true,
};

MODULE(rstat_memcg_threshold_inline) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "stat_update",
	.name = "rstat_memcg_threshold_inline",
	.help = "as rstat_memcg_threshold_fixlet, the word inside struct mem_cgroup: a hop less",
	.source = "seed 3, stats_updates moved into struct mem_cgroup",
	.ops = &ops,
};
