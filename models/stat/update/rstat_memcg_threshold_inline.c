/*
 * rstat_memcg_threshold_inline.c - stat_update: every memcg has a threshold of its own.
 *
 * The word moved into struct mem_cgroup (seed 3, as tried against the regression): a level costs one
 * dependent load less than as first posted. The walk always goes to the root. See threshold.c for what
 * happens at a level.
 */
#include "models/stat/stat_impl.h"

static void updated(struct task *t, struct stat_pair *pair, enum stat_item item, uint64_t size)
{
	struct host *host = pair->memcg->host;
	uint64_t pages = memcg_update_pages(item, size);

	for (; pair; pair = pair->parent) {
		cpu_defer(t, host->costs->stat_hop);
		memcg_update_level(t, pair, pages);
	}
}

static const struct stat_update_ops ops = { .updated = updated, .flushed = memcg_update_flushed };

MODULE(rstat_memcg_threshold_inline) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "stat_update",
	.name = "rstat_memcg_threshold_inline",
	.help = "as rstat_memcg_threshold, the word inside struct mem_cgroup: a hop less",
	.source = "seed 3, stats_updates moved into struct mem_cgroup",
	.ops = &ops,
};
