/*
 * cache_tree.c - nodes of the page cache come and go. See cache_tree.h.
 *
 * Follows xas_create(), xas_expand() and xas_delete_node() of lib/xarray.c: a tree is as high as its largest
 * index needs, and grows by putting a node above the old top. Left out: shrinking while pages remain
 * (xas_shrink()), and a single page at index 0 that would need no node at all.
 */
#include "models/page/cache_tree.h"

#include "models/cgroup/stock.h"

static uint64_t node_index(uint64_t index, uint32_t level)
{
	return index >> (CACHE_SLOTS_LOG * (level + 1));
}

void cache_tree_init(struct host *host, struct cache_tree *tree, uint64_t nr_pages)
{
	for (uint32_t level = 0; level < CACHE_LEVELS; level++) {
		uint64_t nr = nr_pages ? node_index(nr_pages - 1, level) + 1 : 1;

		tree->nodes[level] = arena_array(sim_arena(host->sim), nr, sizeof(struct cache_node));
		if (nr == 1)
			break;
	}
}

static uint32_t levels_for(uint64_t index)
{
	uint32_t levels = 1;

	while (node_index(index, levels - 1))
		levels++;
	return levels;
}

static bool grows(const struct cache_tree *tree, uint32_t levels)
{
	return tree->height && levels > tree->height;
}

uint32_t cache_tree_missing(const struct cache_tree *tree, uint64_t index)
{
	uint32_t levels = levels_for(index);
	uint32_t height = levels > tree->height ? levels : tree->height;
	/* Growing puts nodes above the old top; the last of them is on the way to `index` too. */
	uint32_t missing = grows(tree, levels) ? levels - tree->height - 1 : 0;

	for (uint32_t level = 0; level < height; level++)
		missing += !tree->nodes[level][node_index(index, level)].count;
	return missing;
}

void cache_tree_add(struct cache_tree *tree, uint64_t index, const struct memcg *m, uint32_t node)
{
	uint32_t levels = levels_for(index);
	struct cache_node fresh = { .memcg = m->id, .node = (uint16_t)node };

	if (grows(tree, levels))
		for (uint32_t level = tree->height; level < levels; level++) {
			tree->nodes[level][0] = fresh;
			tree->nodes[level][0].count = 1;
		}
	if (levels > tree->height)
		tree->height = levels;
	for (uint32_t level = tree->height; level--;) {
		struct cache_node *at = &tree->nodes[level][node_index(index, level)];

		if (at->count)
			continue;
		*at = fresh;
		if (level + 1 < tree->height)
			tree->nodes[level + 1][node_index(index, level + 1)].count++;
	}
	tree->nodes[0][node_index(index, 0)].count++;
}

void cache_tree_del(struct task *t, struct cache_tree *tree, uint64_t index, struct host *host)
{
	for (uint32_t level = 0; level < tree->height; level++) {
		struct cache_node *node = &tree->nodes[level][node_index(index, level)];

		if (--node->count)
			return;
		object_uncharge_rcu(t, host->cgroups->all[node->memcg], node->node, NR_SLAB_RECLAIMABLE_B,
				    CACHE_NODE_BYTES);
	}
	tree->height = 0;
}
