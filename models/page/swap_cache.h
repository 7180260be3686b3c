/*
 * swap_cache.h - pages that have left their object for a slot of a swap device which is not synchronous, and
 * are still in memory: written, or on their way.
 */
#ifndef MODELS_PAGE_SWAP_CACHE_H
#define MODELS_PAGE_SWAP_CACHE_H

#include "models/backing/backing.h"
#include "models/page/evict.h"

/* Is it a page that the swap cache holds, whoever else does? */
static inline bool swap_cache_holds(const struct host *host, frame_t frame)
{
	return page_of(host, frame)->flags & PG_SWAPCACHE && !swap_is_synchronous(host);
}

/* A page of anonymous memory, isolated, goes into the swap cache, and its write begins. In a step. */
enum evict_result swap_cache_evict(struct task *t, struct host *host, frame_t frame, struct pageout *out);
/* An isolated page of the swap cache that is written leaves it, with its shadow. In a step. */
enum evict_result swap_cache_reclaim(struct task *t, struct host *host, frame_t frame, struct memcg *target);

/* Its write has ended. In a step. */
void swap_cache_written(struct task *t, struct host *host, frame_t frame);
/* Who wanted what is in the slot wants it no more, and has forgotten it: swap_free(), or later. In a step. */
void swap_cache_forget(struct task *t, struct host *host, swap_slot_t slot);
/*
 * It is its object's again, which has it at its place: it leaves the swap cache, unless it is being written.
 * Locked; unlocked afterwards. If its object has let go of it meanwhile, so is it.
 */
void swap_cache_unlock(struct task *t, struct host *host, frame_t frame);

#endif
