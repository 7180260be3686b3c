/*
 * cache_tree.h - what a file has at each index, and the nodes that hold it: an XArray of 64 slots a node.
 *
 * The slots of all leaves are one array by index, made as it is touched; beside it stands which nodes there
 * are and how full each is. A leaf is a struct shadow_node, since it stays, and is limited, for the shadows
 * in it. A node is an object of the memcg that brought in the first page below it. It takes 592 bytes of
 * slab: struct xa_node has 576, its cache has a constructor and so keeps the free pointer behind the object
 * (584 in /proc/slabinfo, 28 to 16 KiB), and the owner pointer makes obj_full_size() eight more. Charge and
 * statistics are that same number: seven nodes are the 4,144 bytes in which a 6.1 kernel's slab statistics
 * arrive. Kernel: lib/xarray.c, lib/radix-tree.c.
 */
#ifndef MODELS_PAGE_CACHE_TREE_H
#define MODELS_PAGE_CACHE_TREE_H

#include "models/host/slab.h"
#include "models/page/slot.h"
#include "models/workingset/workingset.h"

#define CACHE_NODE_BYTES (XA_NODE_BYTES + OWNER_BYTES) /* what is charged for a node */
#define CACHE_SLOTS_LOG  6u
#define CACHE_LEVELS     6u /* enough for 2^36 pages */

struct cache_node {     /* above the leaves */
	uint32_t objcg; /* who was charged for it */
	uint16_t node;  /* NUMA node */
	uint16_t count; /* slots in use; 0: there is no such node */
};

struct cache_tree {
	struct spinlock lock;                   /* i_pages */
	struct line pages_line;                 /* of nrpages; tree_lines.c */
	slot_t *slots;                          /* by index */
	struct shadow_node *leaves;             /* by index >> 6; count 0: there is none */
	struct cache_node *upper[CACHE_LEVELS]; /* [level][index >> 6 (level + 1)]; level 0 are the leaves */
	uint32_t height;                        /* levels in use; 0: empty */
	uint32_t id;                            /* number of the object */
	bool lists;  /* workingset_update_node() is told of changes: all but tmpfs (mapping_set_update()) */
	bool single; /* of one page, which the head of the XArray holds itself: there are no nodes */
};

/* For the object of that number; zeroed memory becomes a tree. */
void cache_tree_init(struct host *host, struct cache_tree *tree, uint32_t id, uint64_t nr_pages, bool lists);
/* tree_lines.c: one writes the number of pages, a leaf; in a step, at what it costs beyond hits. */
static inline void tree_touch_pages(struct task *t, struct cache_tree *tree)
{
	cpu_defer(t, line_cost(t, &tree->pages_line, true) - line_machine(t)->line_hit);
}
void tree_move_leaf(struct task *t, struct shadow_node *leaf);
static inline void tree_touch_leaf(struct task *t, struct shadow_node *leaf)
{
	if (leaf->cpu != t->cpu->id)
		tree_move_leaf(t, leaf);
}
uint32_t cache_tree_count_missing(const struct cache_tree *tree, uint64_t index);
/*
 * How many nodes a slot at `index` still needs: none where its leaf is, for what is above a leaf is there
 * too. This and the rest under the tree's lock.
 */
static inline uint32_t cache_tree_missing(const struct cache_tree *tree, uint64_t index)
{
	if (tree->slots[index] || tree->leaves[index >> CACHE_SLOTS_LOG].count || tree->single)
		return 0;
	return cache_tree_count_missing(tree, index);
}
/*
 * xas_store(): what is at `index` becomes `slot`. Nodes that are missing are m's and of that NUMA node: the
 * caller has them already. NULL: none can be. Nodes that become empty go, after a grace period.
 */
struct cache_nodes_from {
	const struct memcg *memcg;
	uint16_t node;
};
void cache_tree_store(struct task *t, struct host *host, struct cache_tree *tree, uint64_t index, slot_t slot,
		      const struct cache_nodes_from *from);
/* xa_delete_node(): all that a leaf of shadows holds goes. */
void cache_tree_delete_leaf(struct task *t, struct host *host, struct cache_tree *tree,
			    struct shadow_node *leaf);

static inline uint64_t cache_tree_leaf(uint64_t index)
{
	return index >> CACHE_SLOTS_LOG;
}

#endif
