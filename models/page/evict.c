/*
 * evict.c - an isolated page leaves its object, after the second half of shrink_folio_list() and
 * __remove_mapping() of mm/vmscan.c, shmem_writepage() of mm/shmem.c and add_to_swap() of mm/swap_state.c,
 * Linux 6.1: unmap, write, leave a shadow.
 *
 * An anonymous page takes a slot of swap first (one of tmpfs too, in another order: tmpfs_swap.c). In the
 * eras of swap XArrays it then stands in the swap cache under that slot while it is written, for which the
 * cache may need a node, and its shadow stays there. Meanwhile its owner may come back to it (it is mapped
 * again, nothing is lost) or unmap it for good; both are looked at when the write is done.
 *
 * That is zram, where who reclaims does the write. On a disk it goes on, and finds the page written at a
 * later scan: swap_cache.c.
 */
#include "models/page/swap_cache.h"
#include "models/reclaim/reclaim.h"

/* try_to_unmap(): before anybody asks whether the page can go at all. */
static void unmap(struct task *t, struct host *host, frame_t frame)
{
	const struct page *page = page_of(host, frame);

	if (page->flags & PG_MAPPED && !(page->flags & PG_LOCKED))
		page_unmap(t, host, frame);
}

/* ---- files ---- */

static bool buffers_used(const struct page_object *object)
{
	return object->kind == OBJECT_FILE &&
	       ((const struct file_object *)(const void *)object)->buffers_used;
}

/* Once it is unmapped; somebody may have mapped it again meanwhile. */
static enum evict_result may_go(const struct host *host, frame_t frame, const struct page_object *object)
{
	struct page *page = page_of(host, frame);

	if (page->flags & PG_DIRTY) {
		page->flags |= PG_RECLAIM; /* to be written by the flusher alone */
		return EVICT_DIRTY;
	}
	if (buffers_used(object))
		return EVICT_BUFFERS;
	return page_only_ours(host, frame) && !(page->flags & PG_MAPPED) ? EVICT_GONE : EVICT_BUSY;
}

static enum evict_result evict_file(struct task *t, struct host *host, frame_t frame, struct memcg *target)
{
	struct page *page = page_of(host, frame);
	struct page_object *object = page_object(host, page);
	enum evict_result result = EVICT_WRITEBACK;

	/* Both before the lock of the tree is taken, which __remove_mapping() does. */
	if (page->flags & PG_WRITEBACK)
		return result;
	unmap(t, host, frame);
	spin_lock_irq(t, &object->tree->lock);
	if (!(page->flags & PG_WRITEBACK)) /* the flusher does not wait here for a page that reclaim has */
		result = may_go(host, frame, object);
	if (result == EVICT_GONE) {
		page->flags |= PG_LOCKED; /* who finds it still there waits, and finds it gone */
		shadow_t shadow = reclaim_ops(host)->eviction(t, frame, target);

		cache_del(t, object, page->index, shadow ? slot_of_shadow(shadow) : SLOT_EMPTY);
	}
	spin_unlock_irq(t, &object->tree->lock);
	if (result == EVICT_GONE) {
		page_done(t, host, frame, PG_LOCKED);
		file_left(t, object);
	}
	return result;
}

/* ---- anonymous memory ---- */

/*
 * The object's slot names the swap slot from now on, unless somebody came back to the page while it was
 * written.
 */
static bool leave_for_swap(struct host *host, frame_t frame, swap_slot_t swap)
{
	struct page *page = page_of(host, frame);
	struct page_object *object = page_object(host, page);

	if (!page_only_ours(host, frame) || page->flags & PG_MAPPED)
		return false;
	object->slots[page->index] = slot_of_swap(swap);
	object->present--;
	return true;
}

static enum evict_result evict_swap(struct task *t, struct host *host, frame_t frame, struct memcg *target,
				    struct pageout *out)
{
	struct page *page = page_of(host, frame);

	swap_slot_t swap = swap_alloc(t, page_memcg(host, page));

	if (!swap)
		return EVICT_NO_SWAP;
	if (!swap_cache_add(t, swap, frame)) {
		swap_free(t, swap);
		return EVICT_NO_SWAP;
	}
	task_sync(t);
	unmap(t, host, frame);
	bool done = swap_write(t, swap, frame);

	task_sync(t);
	out->written += done;
	if (done && leave_for_swap(host, frame, swap)) {
		swap_cache_del(t, swap, frame, target);
		return EVICT_GONE;
	}
	swap_cache_del(t, swap, frame, NULL);
	swap_free(t, swap);
	return done ? EVICT_BUSY : EVICT_NO_SWAP;
}

/*
 * A page that somebody else holds, in a batch most likely: it is unmapped, and found out only then. Before
 * that comes add_to_swap(), so where no slot is left it stays as it is. The slot that the kernel's page keeps
 * in the swap cache until it is mapped again is not taken here.
 */
static enum evict_result evict_held(struct task *t, struct host *host, frame_t frame)
{
	if (!swap_room(host, page_memcg(host, page_of(host, frame))))
		return EVICT_NO_SWAP;
	unmap(t, host, frame);
	return EVICT_BUSY;
}

enum evict_result object_evict(struct task *t, struct host *host, frame_t frame, struct memcg *target,
			       struct pageout *out)
{
	task_sync(t);
	if (swap_cache_holds(host, frame))
		return swap_cache_reclaim(t, host, frame, target);
	if (page_object(host, page_of(host, frame))->kind == OBJECT_TMPFS)
		return tmpfs_evict(t, host, frame, target, out);
	if (!(page_of(host, frame)->flags & PG_SWAPBACKED))
		return evict_file(t, host, frame, target);
	if (!page_only_ours(host, frame))
		return evict_held(t, host, frame);
	return swap_is_synchronous(host) ? evict_swap(t, host, frame, target, out)
					 : swap_cache_evict(t, host, frame, out);
}
