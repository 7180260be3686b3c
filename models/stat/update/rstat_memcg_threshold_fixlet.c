/*
 * rstat_memcg_threshold_fixlet.c - stat_update: every memcg has a threshold of its own.
 *
 * As posted, with the correction that followed (seed 3): a word that says that a flush is due is left alone,
 * so that it stays in the caches of all CPUs. The loads of the walk are those of rstat_memcg_threshold.
 */
#include "models/stat/stat_impl.h"

static void updated(struct task *t, struct stat_pair *pair, enum stat_item item, uint64_t size)
{
	uint64_t pages = memcg_update_pages(item, size);

	for (; pair; pair = pair->parent) {
		memcg_update_loads(t, pair);
		if (!memcg_update_count(t, pair, pages))
			continue;
		cpu_defer(t, line_cost_near(t, &pair->near_word));
		memcg_update_batch(t, pair);
	}
}

static const struct stat_update_ops ops = { .updated = updated, .flushed = memcg_update_flushed };

MODULE(rstat_memcg_threshold_fixlet) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "stat_update",
	.name = "rstat_memcg_threshold_fixlet",
	.help = "as rstat_memcg_threshold; a word that is due already is not added to",
	.source = "seed 3, the correction to patch 3 of version 2",
	.ops = &ops,
};
