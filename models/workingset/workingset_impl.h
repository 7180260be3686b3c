/*
 * workingset_impl.h - inside of the workingset model: list_lru of shadow nodes, shrinkers.
 */
#ifndef MODELS_WORKINGSET_WORKINGSET_IMPL_H
#define MODELS_WORKINGSET_WORKINGSET_IMPL_H

#include "models/host/costs.h"
#include "models/page/page_impl.h"
#include "models/workingset/workingset.h"
#include "sim/module.h"

/* One (memcg, node) of the list_lru. */
struct shadow_list {
	struct shadow_node *head, *tail;
	uint64_t nr;
	uint64_t deferred;    /* nr_deferred of its shrinker */
	struct spinlock lock; /* list_lru_lock: per_memcg */
};

struct workingset_state {
	uint32_t stamp_bits, bucket_order;
	const struct shadow_budget_ops *budget;
	bool memcg_lock; /* list_lru_lock: per_memcg */
	struct lock_class *lock_class;
	struct spinlock *locks;     /* by NUMA node: list_lru_lock per_node */
	uint64_t *nodes;            /* by NUMA node: workingset_nodes */
	struct shadow_list **lists; /* by memcg id: an array by NUMA node; NULL: none yet */
	uint32_t nr_lists;
	struct workingset_count count;
};

static inline struct workingset_state *workingset_of(const struct host *host)
{
	return host->workingset;
}

/* ---- nodes.c ---- */

struct shadow_list *shadow_list(struct host *host, uint32_t memcg, uint32_t node); /* made if need be */
const struct shadow_list *shadow_list_find(const struct host *host, uint32_t memcg, uint32_t node);
/* scan_shadow_nodes(): looks at nr nodes from the head. */
void shadow_nodes_scan(struct task *t, struct memcg *m, uint32_t node, uint64_t nr);

/* ---- shrinker.c ---- */

/* A shrinker as do_shrink_slab() knows it. */
struct shrinker {
	const char *name;
	uint32_t seeks, batch; /* seeks 0: half of what is freeable, whatever the priority */
	uint64_t (*count)(struct task *t, struct memcg *m, uint32_t node); /* freeable; 0: nothing to do */
	void (*scan)(struct task *t, struct memcg *m, uint32_t node, uint64_t nr);
};
void do_shrink_slab(struct task *t, const struct shrinker *s, struct memcg *m, uint32_t node, int priority,
		    uint64_t *deferred);

/* ---- invariants.c ---- */

void workingset_check(struct host *host, struct record *record);

#endif
