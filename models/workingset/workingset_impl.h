/*
 * workingset_impl.h - inside of the workingset model.
 */
#ifndef MODELS_WORKINGSET_WORKINGSET_IMPL_H
#define MODELS_WORKINGSET_WORKINGSET_IMPL_H

#include "models/host/costs.h"
#include "models/page/page_impl.h"
#include "models/reclaim/reclaim.h"
#include "models/workingset/workingset.h"
#include "sim/module.h"

struct workingset_state {
	uint32_t stamp_bits, bucket_order;
	const struct shadow_budget_ops *budget;
	struct list_lru shadow_nodes;
	struct shrinker shrinker;
	uint64_t *nodes; /* by NUMA node: workingset_nodes */
	struct workingset_count count;
};

static inline struct workingset_state *workingset_of(const struct host *host)
{
	return host->workingset;
}

/* ---- nodes.c ---- */

static inline struct shadow_node *shadow_node_of(struct list_lru_item *item)
{
	return (struct shadow_node *)(void *)((char *)item - offsetof(struct shadow_node, item));
}
void shadow_nodes_build(struct host *host); /* their list and their shrinker */

/* ---- invariants.c ---- */

void workingset_check(struct host *host, struct record *record);
/* Of the leaves of these slots alone, and of what is counted. */
void workingset_check_some(struct host *host, const struct touched_slot *slots, uint32_t nr,
			   struct record *record);

#endif
