/*
 * shadow_budget: lru_zone_size. LRU pages by the lruvec's own size array, slab by the local counters.
 *
 * The array is exact, and moves with the pages when an offline cgroup's are reparented, which is why it was
 * taken. But MGLRU does not keep it for the four evictable lists, so that there the budget is an eighth of
 * slab and unevictable pages alone, and shadow nodes are reclaimed about as fast as they are made: seed 1.
 */
#include "models/workingset/budget/budget.h"

static uint64_t zones_and_slab(budget_view *view, struct memcg *m, uint32_t node)
{
	const struct lruvec *lruvec = memcg_lruvec(m, node);
	uint64_t pages = budget_slab(view, m, node);

	for (enum lru_list lru = 0; lru < NR_LRU_LISTS; lru++)
		pages += lruvec->lru_zone_size[lru];
	return pages;
}

static uint64_t zone_size(struct task *t, struct memcg *m, uint32_t node)
{
	stat_flush(t, m, FLUSH_SHRINKER);
	task_sync(t);
	return zones_and_slab(stat_local_node, m, node);
}

static uint64_t truth(struct memcg *m, uint32_t node)
{
	return zones_and_slab(stat_local_node_exact, m, node);
}

static const struct shadow_budget_ops ops = { .pages = zone_size, .truth = truth };

MODULE(shadow_budget_lru_zone_size) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "shadow_budget",
	.name = "lru_zone_size",
	.help = "LRU pages by the lruvec's size array, which MGLRU leaves at 0; slab by local counters",
	.source = "7404bd37cfbe, 7.1 cycle",
	.ops = &ops,
};
