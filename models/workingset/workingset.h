/*
 * workingset.h - shadow entries, the nodes that hold them, and the shrinker that limits them.
 *
 * A shadow entry takes the slot of an evicted page: 63 bits, packed as in mm/workingset.c of Linux 6.18
 * (pack_shadow): from low to high the workingset bit, the node, the memcg's id, the time stamp. The two LRUs
 * differ in what the time stamp is (struct reclaim_ops).
 *
 * A shadow node is a leaf of a file's tree (64 slots) that holds only shadows; it is on the list_lru of its
 * (owner memcg, node) then and only then, counted in workingset_nodes, and reclaimed by the shrinker when
 * there are more of them than the budget (axis `shadow_budget`).
 */
#ifndef MODELS_WORKINGSET_WORKINGSET_H
#define MODELS_WORKINGSET_WORKINGSET_H

#include "models/list_lru/list_lru.h"
#include "models/page/page.h"

typedef uint64_t shadow_t;
#define NO_SHADOW ((shadow_t)0) /* no entry of a cgroup that has an id packs to it */

/* CONFIG_NODES_SHIFT of distributions; and the most cgroups whose ids fit, root included. */
#define SHADOW_NODE_BITS  10u
#define SHADOW_MEMCG_BITS 16u

struct shadow_fields {
	bool workingset;
	uint32_t node, css_id;
	uint64_t stamp; /* cut to workingset_stamp_bits() */
};
shadow_t shadow_pack(const struct host *host, struct shadow_fields f);
struct shadow_fields shadow_unpack(const struct host *host, shadow_t shadow);
uint32_t workingset_stamp_bits(const struct host *host);   /* 64 - (1 + 1 + NODES_SHIFT + 16) */
uint32_t workingset_bucket_order(const struct host *host); /* 0 below 2^36 pages */

/* A leaf of a file's tree. */
struct shadow_node {
	struct list_lru_item item;  /* on shadow_nodes */
	uint32_t objcg, file, leaf; /* owner of the node object, and where it is */
	uint16_t node, cpu;         /* cpu: that last wrote it; tree_lines.c */
	uint16_t count, nr_values;  /* occupied slots; of these, shadows or places in swap */
	bool listed;                /* counted in workingset_nodes, and on the list or about to be */
};
/* It changed: on or off the list. Under the tree's lock. */
void workingset_update_node(struct task *t, struct host *host, struct shadow_node *n);

/*
 * workingset_refault(): a page comes back whose slot held this shadow; it is charged, and not yet in a batch.
 * In a step. in_fault: inside of a page fault.
 */
void workingset_refault(struct task *t, struct host *host, frame_t frame, shadow_t shadow, bool in_fault);
/* Where shadows are kept tells so: one is written; one is overwritten or removed. */
void workingset_shadow_made(struct host *host);
void workingset_shadow_gone(struct host *host, uint64_t nr);

/* Axis shadow_budget. */
struct shadow_budget_ops {
	/* Pages whose eighth is the most shadow nodes that (m, node) may have; count_shadow_nodes(). */
	uint64_t (*pages)(struct task *t, struct memcg *m, uint32_t node);
	/* The same at this instant by counters that are not stale; in a step, at no cost. NULL: it is. */
	uint64_t (*truth)(struct memcg *m, uint32_t node);
};

/* /proc/vmstat workingset_nodes of a node; memory.stat workingset_nodereclaim is a stat item. */
uint64_t workingset_nodes(const struct host *host, uint32_t node);
uint64_t workingset_nodes_of(const struct host *host, const struct memcg *m); /* on its own lists */

/* A tree node of m's is made: its lists are there before (list_lru_prepare()). */
bool workingset_prepare(struct task *t, struct memcg *m);

struct workingset_count { /* the truth, machine wide, for metrics and invariants I12 to I14 */
	uint64_t shadows_made, shadows_gone; /* gone: overwritten, node reclaimed, or object gone */
	uint64_t refaults;                   /* shadows that a refault test was made with */
	uint64_t nodes_listed, nodes_unlisted, nodes_reclaimed;
};
const struct workingset_count *workingset_counted(const struct host *host);

void workingset_build(struct host *host);
void workingset_sample(struct host *host, sim_time_t now);
void workingset_finish(struct host *host);

#endif
