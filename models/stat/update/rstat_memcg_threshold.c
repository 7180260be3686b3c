/*
 * rstat_memcg_threshold.c - stat_update: every memcg has a threshold of its own.
 *
 * As first posted (seed 3, patch 3 of the series): each level costs the way over the parent pointer and
 * over the pointer to the level's per-CPU block, and the word lies in struct memcg_vmstats, one more
 * pointer away. The walk always goes to the root. See threshold.c for what happens at a level.
 */
#include "models/stat/stat_impl.h"

static void updated(struct task *t, struct stat_pair *pair, enum stat_item item, uint64_t size)
{
	struct host *host = pair->memcg->host;
	uint64_t pages = memcg_update_pages(item, size);

	for (; pair; pair = pair->parent) {
		cpu_defer(t, 2 * host->costs->stat_hop);
		memcg_update_level(t, pair, pages);
	}
}

static const struct stat_update_ops ops = { .updated = updated, .flushed = memcg_update_flushed };

MODULE(rstat_memcg_threshold) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "stat_update",
	.name = "rstat_memcg_threshold",
	.help = "each memcg and ancestor counts, with pointer hops at each level",
	.source = "as first posted for Linux 6.8, seed 3",
	.ops = &ops,
};
