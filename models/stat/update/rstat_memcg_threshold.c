/*
 * rstat_memcg_threshold.c - stat_update: every memcg has a threshold of its own.
 *
 * As posted (seed 3, patch 3 of version 2 of the series): a level costs three loads that depend on each
 * other, memcg->vmstats_percpu, the CPU's stats_updates in that block, and the parent in memcg->css. Each is
 * a line of its own. The word, memcg->vmstats->stats_updates, is one pointer away. The walk always goes to
 * the root, and each full batch is added to the word, whatever that says: so it was measured as a
 * regression.
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
		memcg_update_move(t, pair);
	}
}

static const struct stat_update_ops ops = { .updated = updated, .flushed = memcg_update_flushed };

MODULE(rstat_memcg_threshold) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "stat_update",
	.name = "rstat_memcg_threshold",
	.help = "each memcg and ancestor counts, with three dependent loads at each level",
	.source = "as first posted for Linux 6.8, seed 3",
	.ops = &ops,
};
