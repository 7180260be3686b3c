/*
 * shadow_budget: state_local. LRU pages and slab of the cgroup itself on the node, by its local counters.
 *
 * Up to 6.5 a local counter was the sum over all possible CPUs, and so exact. Since 6.6 (f82e6bf9bb9b) it is
 * kept by rstat and is as old as the last flush, which this asks for by its kernel's policy. Both LRUs keep
 * these counters, so both get the budget that was meant.
 */
#include "models/workingset/budget/budget.h"

static uint64_t lru_and_slab(budget_view *view, const struct memcg *m, uint32_t node)
{
	uint64_t pages = budget_slab(view, m, node);

	for (enum stat_item i = NR_INACTIVE_ANON; i <= NR_UNEVICTABLE; i++)
		pages += (uint64_t)budget_clamp(view(m, node, i));
	return pages;
}

static uint64_t truth(struct memcg *m, uint32_t node)
{
	return lru_and_slab(stat_local_node_exact, m, node);
}

static uint64_t state_local(struct task *t, struct memcg *m, uint32_t node)
{
	const struct host *host = m->host;

	if (host->kernel_version < 606) {
		cpu_defer(t, host->costs->flush_slot * host->nr_possible * (NR_LRU_LISTS + 2));
		return truth(m, node);
	}
	stat_flush(t, m, FLUSH_SHRINKER);
	task_sync(t);
	return lru_and_slab(stat_local_node, m, node);
}

static const struct shadow_budget_ops ops = { .pages = state_local, .truth = truth };

MODULE(shadow_budget_state_local) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "shadow_budget",
	.name = "state_local",
	.help = "LRU pages and slab by the cgroup's local counters",
	.source = "Linux 5.x to 7.0, count_shadow_nodes(); seed 1, patch 1",
	.ops = &ops,
};
