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

/* Pages of both sorts of slab, as last flushed. */
static inline uint64_t budget_slab(const struct memcg *m, uint32_t node)
{
	return (uint64_t)(budget_clamp(stat_local_node(m, node, NR_SLAB_RECLAIMABLE_B)) / PAGE_SIZE +
			  budget_clamp(stat_local_node(m, node, NR_SLAB_UNRECLAIMABLE_B)) / PAGE_SIZE);
}

#endif
