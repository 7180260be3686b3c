/*
 * cache_tree.c - nodes of the page cache come and go. See cache_tree.h.
 *
 * Follows xas_create(), xas_expand(), xas_store() and xas_delete_node() of lib/xarray.c: a tree is as high as
 * its largest index needs, and grows by putting a node above the old top. Left out: shrinking while entries
 * remain (xas_shrink()); a single page at index 0 needs no node, but here only in an object of one page.
 */
#include "models/page/cache_tree.h"

#include "models/host/slab.h"
#include "models/page/page_impl.h"

static uint64_t node_index(uint64_t index, uint32_t level)
{
	return index >> (CACHE_SLOTS_LOG * (level + 1));
}

void cache_tree_init(struct host *host, struct cache_tree *tree, uint32_t id, uint64_t nr_pages, bool lists)
{
	struct arena *arena = sim_arena(host->sim);
	uint64_t last = nr_pages ? nr_pages - 1 : 0;

	tree->id = id;
	tree->lists = lists;
	tree->single = nr_pages == 1;
	spin_lock_init(&tree->lock, host->pages->cache_class);
	line_init(&tree->pages_line);
	tree->slots = arena_array(arena, last + 1, sizeof *tree->slots);
	tree->leaves = arena_array(arena, node_index(last, 0) + 1, sizeof *tree->leaves);
	for (uint32_t level = 1; level < CACHE_LEVELS && node_index(last, level - 1); level++)
		tree->upper[level] = arena_array(arena, node_index(last, level) + 1,
						 sizeof(struct cache_node));
}

/* ---- which nodes there are ---- */

static uint16_t *node_count(const struct cache_tree *tree, uint64_t index, uint32_t level)
{
	if (!level)
		return &tree->leaves[node_index(index, 0)].count;
	return &tree->upper[level][node_index(index, level)].count;
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

uint32_t cache_tree_count_missing(const struct cache_tree *tree, uint64_t index)
{
	uint32_t levels = levels_for(index);
	uint32_t height = levels > tree->height ? levels : tree->height;
	/* Growing puts nodes above the old top; the last of them is on the way to `index` too. */
	uint32_t missing = grows(tree, levels) ? levels - tree->height - 1 : 0;

	for (uint32_t level = 0; level < height; level++)
		missing += !*node_count(tree, index, level);
	return missing;
}

/* ---- making ---- */

static void make_node(struct cache_tree *tree, uint64_t index, uint32_t level,
		      const struct cache_nodes_from *from, uint32_t cpu)
{
	const struct memcg *m = from->memcg;

	m->host->pages->nr_cache_nodes++;
	if (level) {
		tree->upper[level][node_index(index, level)] = (struct cache_node){ .objcg = m->objcg->id,
										    .node = from->node };
		return;
	}
	tree->leaves[node_index(index, 0)] = (struct shadow_node){
		.objcg = m->objcg->id,
		.file = tree->id,
		.leaf = (uint32_t)node_index(index, 0),
		.node = from->node,
		.cpu = (uint16_t)cpu,
	};
}

static void make_nodes(struct cache_tree *tree, uint64_t index, const struct cache_nodes_from *from,
		       uint32_t cpu)
{
	uint32_t levels = levels_for(index);

	if (grows(tree, levels))
		for (uint32_t level = tree->height; level < levels; level++) {
			make_node(tree, 0, level, from, cpu);
			tree->upper[level][0].count = 1;
		}
	if (levels > tree->height)
		tree->height = levels;
	for (uint32_t level = tree->height; level--;) {
		if (*node_count(tree, index, level))
			continue;
		make_node(tree, index, level, from, cpu);
		if (level + 1 < tree->height)
			++*node_count(tree, index, level + 1);
	}
}

/* ---- unmaking ---- */

static void free_node(struct task *t, uint32_t objcg, uint32_t node)
{
	host_of(t)->pages->nr_cache_nodes--;
	slab_free_rcu(t, objcg, node, NR_SLAB_RECLAIMABLE_B, XA_NODE_BYTES);
}

/* xas_delete_node(): the leaf is empty; so may be what is above it. */
static void delete_nodes(struct task *t, struct cache_tree *tree, const struct shadow_node *leaf)
{
	uint64_t index = (uint64_t)leaf->leaf << CACHE_SLOTS_LOG;

	free_node(t, leaf->objcg, leaf->node);
	for (uint32_t level = 1; level < tree->height; level++) {
		struct cache_node *node = &tree->upper[level][node_index(index, level)];

		if (--node->count)
			return;
		free_node(t, node->objcg, node->node);
	}
	tree->height = 0;
}

/* ---- storing ---- */

static void count_shadows(struct host *host, slot_t before, slot_t after)
{
	if (slot_is_shadow(before))
		workingset_shadow_gone(host, 1);
	if (slot_is_shadow(after))
		workingset_shadow_made(host);
}

void cache_tree_store(struct task *t, struct host *host, struct cache_tree *tree, uint64_t index, slot_t slot,
		      const struct cache_nodes_from *from)
{
	struct shadow_node *leaf = &tree->leaves[node_index(index, 0)];
	slot_t before = tree->slots[index];

	count_shadows(host, before, slot);
	if (tree->single) {
		tree->slots[index] = slot;
		return;
	}
	if (leaf->count)
		tree_touch_leaf(t, leaf);
	else if (slot)
		make_nodes(tree, index, from, t->cpu->id);
	tree->slots[index] = slot;
	leaf->count = (uint16_t)(leaf->count + !!slot - !!before);
	leaf->nr_values = (uint16_t)(leaf->nr_values + slot_is_value(slot) - slot_is_value(before));
	if (tree->lists)
		workingset_update_node(t, host, leaf);
	if (before && !leaf->count)
		delete_nodes(t, tree, leaf);
}

void cache_tree_delete_leaf(struct task *t, struct host *host, struct cache_tree *tree,
			    struct shadow_node *leaf)
{
	slot_t *slots = &tree->slots[(uint64_t)leaf->leaf << CACHE_SLOTS_LOG];

	for (uint32_t i = 0; leaf->count && i < 1u << CACHE_SLOTS_LOG; i++) {
		if (!slots[i])
			continue;
		count_shadows(host, slots[i], SLOT_EMPTY);
		slots[i] = SLOT_EMPTY;
		leaf->count--;
		leaf->nr_values--;
	}
	delete_nodes(t, tree, leaf);
}
