/*
 * tmpfs_swap.c - a page of a file in memory goes to swap, after shmem_writepage() of mm/shmem.c and
 * __remove_mapping() of mm/vmscan.c, Linux 6.1 to 6.16.
 *
 * Other than anonymous memory it leaves its file before it is written: in one section the page goes into the
 * swap cache and out of the page cache, where the slot takes its place; then it is written, and leaves the
 * swap cache with its shadow. Who wants it meanwhile finds it locked and waits.
 *
 * That section is under shmem_swaplist_mutex, one mutex for all tmpfs files of the machine (since 2.6.39,
 * 05bf86b4ccfd; it only has to keep a file on the list of those that swapoff looks through). So all swapping
 * of tmpfs is done one page at a time, on however many CPUs. Since ea693aaa5ce5 (6.17) a spinlock is taken
 * for the first page of a file that is swapped out, and for no other: left out here.
 *
 * Two simplifications: who waited for a page that was being written to zram reads it back, where the kernel
 * hands it the page itself (as it does here on a disk, swap_cache.c); and swap_shmem_alloc() is priced as
 * the slot's lookup, its cluster lock not told apart.
 */
#include "models/page/swap_cache.h"

void tmpfs_build(struct host *host)
{
	mutex_init(&host->pages->shmem_swaplist, lock_class(host->sim, "shmem_swaplist_mutex"));
}

bool tmpfs_swap_wait(struct task *t, struct host *host, slot_t slot)
{
	frame_t frame = slot_is_swap(slot) ? swap_cached(host, slot_swap(slot)) : NO_FRAME;
	uint32_t busy = frame ? page_of(host, frame)->flags & (PG_LOCKED | PG_WRITEBACK) : 0;

	if (busy)
		page_wait(t, host, frame, busy & PG_LOCKED ? PG_LOCKED : PG_WRITEBACK);
	return busy;
}

/* shmem_swapin_folio() of a page that is written and has not left the swap cache. */
enum cache_result tmpfs_from_cache(struct task *t, struct host *host, swap_slot_t swap, struct memcg **failed)
{
	frame_t frame = swap_cached(host, swap);
	struct page *page = page_of(host, frame);
	slot_t before = slot_of_swap(swap);

	page->flags |= PG_LOCKED;
	enum cache_result result = cache_add(t, page_object(host, page), page->index, frame,
					     page_memcg(host, page), &before, failed);

	tmpfs_recalc(t, page_object(host, page));
	swap_cache_unlock(t, host, frame);
	return result;
}

/* Out of the file, into the swap cache. */
static bool move_to_swap_cache(struct task *t, struct host *host, frame_t frame, swap_slot_t swap)
{
	struct page *page = page_of(host, frame);
	struct page_object *object = page_object(host, page);
	bool gone;

	task_sync(t);
	if (!page_only_ours(host, frame) || !swap_cache_add(t, swap, frame))
		return false;
	tmpfs_recalc(t, object);
	spin_lock_irq(t, &object->tree->lock);
	gone = page_only_ours(host, frame);
	if (gone) {
		cpu_defer(t, host->costs->swap_slot); /* swap_shmem_alloc() */
		cache_del(t, object, page->index, slot_of_swap(swap));
		page->flags |= PG_LOCKED;
		swap_set_cached(host, swap, frame);
	}
	spin_unlock_irq(t, &object->tree->lock);
	if (!gone)
		swap_cache_del(t, swap, frame, NULL);
	return gone;
}

/* The device is full: the page is the file's again. Nobody can have taken its place, who came has waited. */
static void take_back(struct task *t, struct host *host, frame_t frame, swap_slot_t swap)
{
	struct page *page = page_of(host, frame);
	slot_t before = slot_of_swap(swap);

	swap_cache_del(t, swap, frame, NULL);
	task_sync(t);
	if (cache_add(t, page_object(host, page), page->index, frame, page_memcg(host, page), &before,
		      NULL) != CACHE_ADDED)
		sim_fail(t->sim, "page %llu of a tmpfs file cannot return from swap",
			 (unsigned long long)page->index);
}

enum evict_result tmpfs_evict(struct task *t, struct host *host, frame_t frame, struct memcg *target,
			      struct pageout *out)
{
	struct mutex *mutex = host->kernel_version < 617 ? &host->pages->shmem_swaplist : NULL;
	swap_slot_t swap;
	bool moved, done;

	if (!page_only_ours(host, frame))
		return EVICT_BUSY;
	swap = swap_alloc(t, page_memcg(host, page_of(host, frame)));
	if (!swap)
		return EVICT_NO_SWAP;
	if (mutex)
		mutex_lock(t, mutex);
	moved = move_to_swap_cache(t, host, frame, swap);
	if (mutex)
		mutex_unlock(t, mutex);
	task_sync(t);
	if (!moved) {
		swap_free(t, swap);
		return EVICT_NO_SWAP;
	}
	if (!swap_is_synchronous(host)) {
		out->written++;
		swap_write_later(t, &out->plug, swap, frame);
		return EVICT_WRITEBACK;
	}
	done = swap_write(t, swap, frame);
	task_sync(t);
	out->written += done;
	if (done)
		swap_cache_del(t, swap, frame, target);
	else
		take_back(t, host, frame, swap);
	task_sync(t);
	swap_set_cached(host, swap, NO_FRAME);
	page_done(t, host, frame, PG_LOCKED);
	if (!done)
		swap_free(t, swap);
	return done ? EVICT_GONE : EVICT_NO_SWAP;
}
