/*
 * cache.c - pages into and out of objects that have a tree: files, tmpfs, the swap cache; after
 * __filemap_add_folio() and filemap_unaccount_folio() of mm/filemap.c, shmem_add_to_page_cache() of
 * mm/shmem.c, add_to_swap_cache() of mm/swap_state.c, Linux 6.1.
 *
 * Nodes that the tree lacks are charged to whoever brings the page in. With the tree's lock held that cannot
 * wait for memory, so what fails there is charged again outside and the insertion begins anew.
 */
#include "models/cgroup/stock.h"
#include "models/page/page_impl.h"

/*
 * Charges one node; with interrupts off it cannot wait for memory, so it may fail where it would not outside.
 */
static bool charge_node(struct task *t, struct memcg *m, uint32_t *spare, struct memcg **failed)
{
	bool charged = object_charge(t, m, t->cpu->node, NR_SLAB_RECLAIMABLE_B, CACHE_NODE_BYTES, failed);

	*spare += charged;
	return charged;
}

static void uncharge_nodes(struct task *t, struct memcg *m, uint32_t spare)
{
	while (spare--)
		object_uncharge(t, m->objcg->id, t->cpu->node, NR_SLAB_RECLAIMABLE_B, CACHE_NODE_BYTES);
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
	uint32_t spare = 0;

	for (;;) {
		spin_lock_irq(t, &tree->lock);
		while (!taken(object->slots[index], *before) && cache_tree_missing(tree, index) > spare &&
		       charge_node(t, m, &spare, failed))
			;
		if (taken(object->slots[index], *before) || cache_tree_missing(tree, index) <= spare)
			break;
		spin_unlock_irq(t, &tree->lock);
		if (!charge_node(t, m, &spare, failed)) {
			uncharge_nodes(t, m, spare);
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
		cache_tree_store(t, host, tree, index, slot_of_frame(frame), m);
	}
	spin_unlock_irq(t, &tree->lock);
	uncharge_nodes(t, m, spare);
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
