/*
 * swap_cache.c - the life of a page in the swap cache, after pageout(), __remove_mapping() of mm/vmscan.c,
 * free_swap_and_cache() and __try_to_reclaim_swap() of mm/swapfile.c, Linux 6.1; for devices that are not
 * synchronous (on zram a page that is written is gone).
 *
 *	mapped -> slot taken, unmapped -> under writeback, on its list -> written, at the tail of the list
 *	-> gone, its shadow in its place
 *
 * From the second step on the page's object names the slot, and the slot names the page. Who comes back to it
 * finds it there, written or not, and it is its object's again; who unmaps or removes it takes back what the
 * object says, and then nobody wants the page: if it is written it goes at once, else with the next scan that
 * comes by, and keeps its cgroup until then.
 *
 * A page that came back gives up its slot when its write is done; the kernel keeps the slot while swap is
 * less than half full, to be written again.
 */
#include "models/page/swap_cache.h"

static bool is_object_s(const struct host *host, frame_t frame)
{
	const struct page *page = page_of(host, frame);

	return page_object(host, page)->slots[page->index] == slot_of_frame(frame);
}

static bool is_wanted(const struct host *host, frame_t frame)
{
	const struct page *page = page_of(host, frame);

	return is_object_s(host, frame) ||
	       page_object(host, page)->slots[page->index] == slot_of_swap(swap_slot_of(host, frame));
}

/* ---- in ---- */

enum evict_result swap_cache_evict(struct task *t, struct host *host, frame_t frame, struct pageout *out)
{
	struct page *page = page_of(host, frame);
	struct page_object *object = page_object(host, page);

	swap_slot_t swap = swap_alloc(t, page_memcg(host, page));

	if (!swap)
		return EVICT_NO_SWAP;
	bool added = swap_cache_add(t, swap, frame);

	task_sync(t);
	if (!added || !page_only_ours(host, frame)) {
		if (added)
			swap_cache_del(t, swap, frame, NULL);
		task_sync(t);
		swap_free(t, swap);
		return added ? EVICT_BUSY : EVICT_NO_SWAP;
	}
	object->slots[page->index] = slot_of_swap(swap);
	object->present--;
	page->flags |= PG_LOCKED;
	swap_set_cached(host, swap, frame);
	if (page->flags & PG_MAPPED)
		page_unmap(t, host, frame);
	task_sync(t);
	out->written++;
	swap_write_later(t, &out->plug, swap, frame);
	return EVICT_WRITEBACK;
}

/* ---- out ---- */

/* The page, locked, is no longer in the swap cache, and the slot nobody's. */
static void leave(struct task *t, struct host *host, frame_t frame)
{
	swap_slot_t swap = swap_slot_of(host, frame);

	swap_cache_del(t, swap, frame, NULL);
	task_sync(t);
	swap_set_cached(host, swap, NO_FRAME);
	swap_free(t, swap);
	task_sync(t);
}

/*
 * Looked at anew after each piece that others may come between: its object may let go of it, its write end.
 */
void swap_cache_unlock(struct task *t, struct host *host, frame_t frame)
{
	struct page *page = page_of(host, frame);

	shared_step(t);
	if (page->flags & PG_SWAPCACHE && !(page->flags & PG_WRITEBACK) &&
	    (is_object_s(host, frame) || !is_wanted(host, frame)))
		leave(t, host, frame);
	bool let_go = !(page->flags & PG_SWAPCACHE) && !is_object_s(host, frame);

	page_done(t, host, frame, PG_LOCKED);
	if (let_go)
		pages_release(t, host, &frame, 1);
}

void swap_cache_written(struct task *t, struct host *host, frame_t frame)
{
	struct page *page = page_of(host, frame);

	task_sync(t);
	/* Who has it locked will do this. */
	if (!is_object_s(host, frame) || !(page->flags & PG_SWAPCACHE) ||
	    page->flags & (PG_LOCKED | PG_WRITEBACK))
		return;
	page->flags |= PG_LOCKED;
	swap_cache_unlock(t, host, frame);
}

void swap_cache_forget(struct task *t, struct host *host, swap_slot_t slot)
{
	frame_t frame = swap_cached(host, slot);

	if (!frame) {
		swap_free(t, slot);
	} else if (!(page_of(host, frame)->flags & (PG_LOCKED | PG_WRITEBACK))) {
		page_of(host, frame)->flags |= PG_LOCKED;
		swap_cache_unlock(t, host, frame);
	}
}

enum evict_result swap_cache_reclaim(struct task *t, struct host *host, frame_t frame, struct memcg *target)
{
	struct page *page = page_of(host, frame);

	if (page->batched != 1 || page->flags & (PG_LOCKED | PG_WRITEBACK) || is_object_s(host, frame))
		return EVICT_BUSY;
	swap_slot_t swap = swap_slot_of(host, frame);

	page->flags |= PG_LOCKED;
	swap_cache_del(t, swap, frame, target);
	task_sync(t);
	bool wanted = is_wanted(host, frame);

	swap_set_cached(host, swap, NO_FRAME);
	page_done(t, host, frame, PG_LOCKED);
	if (!wanted)
		swap_free(t, swap);
	return EVICT_GONE;
}
