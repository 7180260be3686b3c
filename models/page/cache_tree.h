/*
 * cache_tree.h - the nodes of a file's page cache: an XArray of 64 slots a node.
 *
 * Which nodes there are and how full each is, level by level; the frames themselves are kept by index beside
 * it. A node is an object of the memcg that brought in the first page below it, 584 bytes of slab with its
 * owner pointer behind (lib/xarray.c, lib/radix-tree.c; 7 nodes make the 4,144 bytes in which a 6.1 kernel's
 * slab statistics arrive).
 */
#ifndef MODELS_PAGE_CACHE_TREE_H
#define MODELS_PAGE_CACHE_TREE_H

#include "models/cgroup/memcg.h"

#define CACHE_NODE_BYTES 592u
#define CACHE_SLOTS_LOG  6u
#define CACHE_LEVELS     6u /* enough for 2^36 pages */

struct cache_node {
	uint32_t memcg; /* who was charged for it */
	uint16_t node;  /* NUMA node */
	uint16_t count; /* slots in use; 0: there is no such node */
};

struct cache_tree {
	uint32_t height;                        /* levels in use; 0: empty */
	struct cache_node *nodes[CACHE_LEVELS]; /* [level][index >> 6 (level + 1)] */
};

void cache_tree_init(struct host *host, struct cache_tree *tree, uint64_t nr_pages);
/* How many nodes a page at `index` still needs. All three under the tree's lock. */
uint32_t cache_tree_missing(const struct cache_tree *tree, uint64_t index);
/* Makes them, charged to m by the caller, and counts the page. */
void cache_tree_add(struct cache_tree *tree, uint64_t index, const struct memcg *m, uint32_t node);
/* The page at `index` goes; so do nodes that become empty, after a grace period. */
void cache_tree_del(struct task *t, struct cache_tree *tree, uint64_t index, struct host *host);

#endif
