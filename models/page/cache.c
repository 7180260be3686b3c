/*
 * cache.c - pages into and out of objects that have a tree: files, tmpfs, the swap cache; after
 * __filemap_add_folio() and filemap_unaccount_folio() of mm/filemap.c, shmem_add_to_page_cache() of
 * mm/shmem.c, add_to_swap_cache() of mm/swap_state.c, Linux 6.1.
 *
 * Nodes that the tree lacks are charged to whoever brings the page in, and are of slabs of his NUMA node.
 * With the tree's lock held he cannot wait for memory, the cgroup's or the machine's (xas_store(),
 * GFP_NOWAIT), so what fails there is tried again outside (xas_nomem()) and the insertion begins anew.
 */
#include "models/host/slab.h"
#include "models/page/page_impl.h"

/* kmem_cache_alloc_lru(): one node; a leaf may come onto m's list of those that hold nothing but shadows. */
static bool alloc_node(struct task *t, struct cache_tree *tree, struct memcg *m, uint32_t node,
		       uint32_t *spare, struct memcg **failed)
{
	if (failed)
		*failed = NULL;
	bool got = (!tree->lists || workingset_prepare(t, m)) &&
		   slab_alloc(t, m, node, NR_SLAB_RECLAIMABLE_B, XA_NODE_BYTES, failed);

	*spare += got;
	return got;
}

static void free_nodes(struct task *t, struct memcg *m, uint32_t node, uint32_t spare)
{
	while (spare--)
		slab_free(t, m->objcg->id, node, NR_SLAB_RECLAIMABLE_B, XA_NODE_BYTES);
}

/* What memory.stat says of a page that is in the object. */
static void count_page(struct task *t, const struct page_object *object, const struct page *page, int nr)
{
	struct memcg *m = page_memcg(object->host, page);

	if (object->kind == OBJECT_SWAP) {
		mod_lruvec_state(t, m, page->node, NR_SWAPCACHE, nr);
		return;
	}
	if (object->kind != OBJECT_TMPFS) {
		mod_lruvec_state(t, m, page->node, NR_FILE_PAGES, nr);
		return;
	}
	/* The first update may wait for a flusher of this CPU, and others see the page half counted. */
	object->host->pages->shmem_under_way++;
	mod_lruvec_state(t, m, page->node, NR_FILE_PAGES, nr);
	object->host->pages->shmem_under_way--;
	mod_lruvec_state(t, m, page->node, NR_SHMEM, nr);
}

static bool taken(slot_t now, slot_t before)
{
	return slot_is_frame(now) || ((slot_is_swap(now) || slot_is_swap(before)) && now != before);
}

enum cache_result cache_add(struct task *t, struct page_object *object, uint64_t index, frame_t frame,
			    struct memcg *m, slot_t *before, struct memcg **failed)
{
	struct host *host = object->host;
	struct cache_tree *tree = object->tree;
	struct cache_nodes_from from = { m, (uint16_t)t->cpu->node };
	uint32_t spare = 0;

	for (;;) {
		spin_lock_irq(t, &tree->lock);
		while (!taken(object->slots[index], *before) && cache_tree_missing(tree, index) > spare &&
		       alloc_node(t, tree, m, from.node, &spare, failed))
			;
		if (taken(object->slots[index], *before) || cache_tree_missing(tree, index) <= spare)
			break;
		spin_unlock_irq(t, &tree->lock);
		if (!alloc_node(t, tree, m, from.node, &spare, failed)) {
			free_nodes(t, m, from.node, spare);
			return CACHE_NOMEM;
		}
	}
	bool there = taken(object->slots[index], *before);

	if (!there) {
		*before = object->slots[index];
		spare -= cache_tree_missing(tree, index);
		page_of(host, frame)->flags |= object->kind == OBJECT_SWAP ? PG_SWAPCACHE : PG_CACHED;
		count_page(t, object, page_of(host, frame), 1);
		cpu_defer(t, host->costs->cache_add);
		tree_touch_pages(t, tree);
		object->present++;
		cache_tree_store(t, host, tree, index, slot_of_frame(frame), &from);
	}
	spin_unlock_irq(t, &tree->lock);
	free_nodes(t, m, from.node, spare);
	return there ? CACHE_TAKEN : CACHE_ADDED;
}

void cache_del(struct task *t, struct page_object *object, uint64_t index, slot_t instead)
{
	struct host *host = object->host;
	struct page *page = page_of(host, slot_frame(object->slots[index]));

	page->flags &= (uint16_t) ~(object->kind == OBJECT_SWAP ? PG_SWAPCACHE : PG_CACHED);
	count_page(t, object, page, -1);
	cpu_defer(t, host->costs->cache_remove);
	tree_touch_pages(t, object->tree);
	object->present--;
	cache_tree_store(t, host, object->tree, index, instead, NULL);
}

void page_map(struct task *t, struct host *host, frame_t frame)
{
	struct page *page = page_of(host, frame);

	page->flags |= PG_MAPPED;
	cpu_defer(t, host->costs->rmap_add);
	mod_lruvec_state(t, page_memcg(host, page), page->node,
			 page->flags & PG_ANON ? NR_ANON_MAPPED : NR_FILE_MAPPED, 1);
}

void page_unmap(struct task *t, struct host *host, frame_t frame)
{
	struct page *page = page_of(host, frame);

	page->flags &= (uint16_t) ~(PG_MAPPED | PG_YOUNG);
	cpu_defer(t, host->costs->rmap_remove);
	mod_lruvec_state(t, page_memcg(host, page), page->node,
			 page->flags & PG_ANON ? NR_ANON_MAPPED : NR_FILE_MAPPED, -1);
}
