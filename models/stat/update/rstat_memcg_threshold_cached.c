/*
 * rstat_memcg_threshold_cached.c - stat_update: every memcg has a threshold of its own.
 *
 * memcg_rstat_updated() of Linux 6.8 as released to 6.15: the per-CPU blocks point to those of their
 * parents, so the walk takes one load a level. It always goes to the root, and looks at a level's shared
 * word only when that level's counter has a batch full. See threshold.c for what happens at a level.
 */
#include "models/stat/stat_impl.h"

/* memcg_update_level() to the root, where caches have no sizes and so a level costs always the same. */
static inline void walk(struct task *t, struct stat_pair *pair, uint32_t pages)
{
	const struct host *host = pair->memcg->host;
	const sim_time_t cost = host->costs->stat_level;
	const uint32_t batch = host->charge_batch;

	shared_step(t);
	for (; pair; pair = pair->parent) {
		pair->updates += pages;
		cpu_defer(t, cost);
		if (pair->updates >= batch)
			memcg_update_batch(t, pair);
	}
}

static void updated(struct task *t, struct stat_pair *pair, enum stat_item item, uint64_t pages)
{
	(void)item;
	if (__builtin_expect(!t->cpu->caches, 1)) {
		walk(t, pair, (uint32_t)pages);
		return;
	}
	for (; pair; pair = pair->parent)
		memcg_update_level(t, pair, pages);
}

static const struct stat_update_ops ops = {
	.updated = updated,
	.flushed = memcg_update_flushed,
	.in_pages = true,
};

MODULE(rstat_memcg_threshold_cached) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "stat_update",
	.name = "rstat_memcg_threshold_cached",
	.help = "as rstat_memcg_threshold, parents cached per CPU",
	.source = "Linux 6.8-6.15, memcg_rstat_updated()",
	.ops = &ops,
};
