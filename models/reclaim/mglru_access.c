/*
 * mglru_access.c - reads through file descriptors: how often a page was read, and which tier that makes,
 * after lru_gen_inc_refs(), folio_lru_refs() and lru_tier_from_refs() of mm/swap.c and mm_inline.h.
 *
 * 6.1 and 6.12 count a first read in PG_REFERENCED, a second in PG_WORKINGSET and three more in a field of
 * two bits: 1, 2, 3, 4, 5 reads are 0, 1, 2, 3, 4 refs. 6.18 fills the field first and marks the page as
 * part of the working set when that is full; a marked page is of the highest tier whatever it was read.
 */
#include "models/reclaim/mglru.h"

void mglru_mark_accessed(struct task *t, struct host *host, frame_t frame)
{
	struct page *page = page_of(host, frame);
	bool workingset_first = mglru_era(host) < ERA_6_18;

	(void)t;
	if (!(page->flags & PG_REFERENCED)) {
		page->flags |= PG_REFERENCED;
		if (!workingset_first)
			page->refs = 0;
	} else if (workingset_first && !(page->flags & PG_WORKINGSET)) {
		page->flags |= PG_WORKINGSET;
	} else if (page->refs < MGLRU_FIELD_MOST) {
		page->refs++;
	} else {
		page->flags |= PG_WORKINGSET;
	}
}

uint32_t mglru_refs(enum mglru_era era, const struct page *page)
{
	if (era < ERA_6_18)
		return page->refs + (page->flags & PG_WORKINGSET ? 1u : 0u);
	return page->flags & PG_REFERENCED ? page->refs + 1u : 0u;
}

static uint32_t log2_up(uint32_t n)
{
	uint32_t log = 0;

	while (1u << log < n)
		log++;
	return log;
}

uint32_t mglru_tier(enum mglru_era era, uint32_t refs, bool workingset)
{
	if (era < ERA_6_18)
		return log2_up(refs + 1);
	return workingset ? MGLRU_TIERS - 1 : log2_up(refs);
}
