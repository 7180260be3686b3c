/*
 * budget.h - what the budgets of shadow nodes share.
 */
#ifndef MODELS_WORKINGSET_BUDGET_H
#define MODELS_WORKINGSET_BUDGET_H

#include "models/host/costs.h"
#include "models/stat/stat.h"
#include "models/workingset/workingset.h"
#include "sim/module.h"

/* lruvec_page_state_local() never reports less than nothing. */
static inline int64_t budget_clamp(int64_t counter)
{
	return counter < 0 ? 0 : counter;
}

/* The cgroup's own counters, as last flushed or as they are: stat_local_node(), stat_local_node_exact(). */
typedef int64_t budget_view(const struct memcg *m, uint32_t node, enum stat_item item);

/* Pages of both sorts of slab. */
static inline uint64_t budget_slab(budget_view *view, const struct memcg *m, uint32_t node)
{
	return (uint64_t)(budget_clamp(view(m, node, NR_SLAB_RECLAIMABLE_B)) / PAGE_SIZE +
			  budget_clamp(view(m, node, NR_SLAB_UNRECLAIMABLE_B)) / PAGE_SIZE);
}

#endif
