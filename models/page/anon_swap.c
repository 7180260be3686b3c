/*
 * anon_swap.c - anonymous memory comes back from swap, after do_swap_page() of mm/memory.c, Linux 6.1, in its
 * form for devices that complete at once (SWP_SYNCHRONOUS_IO): no readahead, no swap cache.
 *
 * The order is the kernel's: charge, the swap charge given back, refault test with the shadow that the slot
 * kept, read, batch of the LRU; the slot is free afterwards, so that a page that is evicted again is written
 * again. On a disk the kernel reads into the swap cache, may read neighbours and may keep the slot while
 * swap is less than half full; here a read from a disk differs by the time that it takes alone. A page that
 * has not yet left the swap cache is mapped again, without a charge or a read.
 */
#include "models/page/anon_impl.h"
#include "models/page/swap_cache.h"

/* pte_same(): the entry has not been zapped, by the OOM reaper, while the fault slept. */
static bool still_there(struct task *t, const struct anon_object *a, uint64_t index, swap_slot_t swap)
{
	task_sync(t);
	return a->object.slots[index] == slot_of_swap(swap);
}

/* The slot is whoever's by now, the frame is of no use, and the touch faults again. */
static bool start_again(struct task *t, struct anon_object *a, uint64_t index, frame_t frame,
			struct memcg **failed)
{
	pages_release(t, a->memcg->host, &frame, 1);
	return anon_touch(t, a, index, failed);
}

bool anon_from_cache(struct task *t, struct anon_object *a, uint64_t index, struct memcg **failed)
{
	struct host *host = a->memcg->host;
	frame_t frame = swap_cached(host, slot_swap(a->object.slots[index]));
	struct page *page = page_of(host, frame);

	if (page->flags & PG_LOCKED) { /* just begun to be written, or about to be gone */
		page_wait(t, host, frame, PG_LOCKED);
		return anon_touch(t, a, index, failed);
	}
	page->flags |= PG_LOCKED;
	a->object.slots[index] = slot_of_frame(frame);
	a->object.present++;
	cpu_defer(t, host->costs->cache_lookup);
	page_map(t, host, frame);
	mapping_touch(t, a->mapping, index, page);
	task_sync(t);
	swap_cache_unlock(t, host, frame);
	return true;
}

bool anon_swap_in(struct task *t, struct anon_object *a, uint64_t index, struct memcg **failed)
{
	struct host *host = a->memcg->host;
	swap_slot_t swap = slot_swap(a->object.slots[index]);
	frame_t frame = anon_frame(t, a, index, failed);

	if (!frame)
		return false;
	if (!still_there(t, a, index, swap))
		return start_again(t, a, index, frame, failed);
	shadow_t shadow = swap_shadow(host, swap);

	if (shadow)
		workingset_refault(t, host, frame, shadow, true);
	swap_read(t, swap, frame);
	if (!still_there(t, a, index, swap))
		return start_again(t, a, index, frame, failed);
	count_memcg_events(t, a->memcg, PGMAJFAULT, 1);
	anon_install(t, a, index, frame);
	page_add_lru(t, host, frame);
	swap_free(t, swap);
	return true;
}
