/*
 * evict.h - how a page that reclaim has isolated leaves its object. What shrink_folio_list() calls.
 */
#ifndef MODELS_PAGE_EVICT_H
#define MODELS_PAGE_EVICT_H

#include "models/backing/backing.h"
#include "models/page/page_impl.h"

enum evict_result {
	EVICT_GONE,  /* out of its object, its shadow left there; the caller uncharges and frees it */
	EVICT_BUSY,  /* somebody else refers to it, or touched it meanwhile, or it is being read: keep it */
	EVICT_DIRTY, /* a dirty page of a file: the flusher is asked for it; to be kept active */
	EVICT_WRITEBACK, /* on its way to a disk since now; when that is done it can be evicted */
	EVICT_BUFFERS,   /* a block of a disk in use (filemap_release_folio()); to be kept active */
	EVICT_NO_SWAP    /* anon, tmpfs: no slot, not allowed, or the device is full; to be kept active */
};

/* What a list that is being shrunk has written: pages, and a request that grows. */
struct pageout {
	uint64_t written;
	struct swap_plug plug;
};

/*
 * Takes an isolated page (off the lists, PG_LRU clear, the isolater's reference the only one in
 * page.batched) out of its object: unmaps it, writes it to swap if it is swap-backed, and leaves
 * reclaim_ops->eviction(t, frame, target), or for anonymous memory the swap slot with that. Without locks;
 * may sleep. out->written is raised when the page was written out or the write begun, whatever came of it
 * then; the caller ends with swap_unplug(). A page with PG_ORPHAN after the call lost its object meanwhile:
 * to be let go as pages_release() does.
 */
enum evict_result object_evict(struct task *t, struct host *host, frame_t frame, struct memcg *target,
			       struct pageout *out);

/* The same of a page of tmpfs; tmpfs_swap.c. In a step. */
enum evict_result tmpfs_evict(struct task *t, struct host *host, frame_t frame, struct memcg *target,
			      struct pageout *out);

/* Nobody but its object and who isolated it has a reference. */
static inline bool page_only_ours(const struct host *host, frame_t frame)
{
	const struct page *page = page_of(host, frame);

	return page->batched == 1 && !(page->flags & PG_LOCKED) &&
	       page_object(host, page)->slots[page->index] == slot_of_frame(frame);
}

#endif
