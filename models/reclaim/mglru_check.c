/*
 * mglru_check.c - what must hold of an lruvec at any instant (I17): a type has two to four generations; the
 * pages on its lists that say they are of a generation are as many as that generation counts, with what
 * walks under way have moved and not counted yet; and a page stands on the list that it names. Pages whose
 * generation a walk changed may stand on an older list, never on one of another type.
 */
#include "models/reclaim/mglru.h"

static void check_list(const struct lruvec *lruvec, uint32_t list, enum lru_type type, uint32_t zone,
		       int64_t found[MGLRU_GENS], struct record *record)
{
	const struct host *host = lruvec_host(lruvec);
	const struct page_state *ps = host->pages;
	const struct page *pages = ps->pages;
	const struct page_list *l = &mglru_of(lruvec)->lists[list][type][zone];
	uint64_t length = page_list_length(pages, l, UINT32_MAX), strange = 0;

	record_invariant(record, "I17 list", length != UINT64_MAX,
			 "%s node %u generation %u type %d: links broken", lruvec->memcg->path, lruvec->node,
			 list, (int)type);
	if (length == UINT64_MAX)
		return;
	for (frame_t frame = l->head; frame; frame = pages[frame].next) {
		const struct page *page = &pages[frame];

		if (page_gen(page) == NO_GEN || page_on_list(page) != list || page_type(page) != type ||
		    (page->flags & (PG_LRU | PG_ACTIVE)) != PG_LRU ||
		    page_memcg(host, page) != lruvec->memcg || (frame < ps->dma_end) != zone)
			strange++;
		else
			found[page_gen(page)]++;
	}
	record_invariant(record, "I17 place", !strange,
			 "%s node %u list %u type %d: %lld pages do not belong there", lruvec->memcg->path,
			 lruvec->node, list, (int)type, (long long)strange);
}

void mglru_check(const struct lruvec *lruvec, struct record *record)
{
	const struct mglru *g = mglru_of(lruvec);

	for (enum lru_type type = LRU_ANON; type <= LRU_FILE; type++) {
		uint64_t gens = mglru_nr_gens(g, type);
		int64_t found[MGLRU_GENS] = { 0 };

		record_invariant(record, "I17 generations", gens >= MGLRU_MIN_GENS && gens <= MGLRU_GENS,
				 "%s node %u type %d: %lld generations", lruvec->memcg->path, lruvec->node,
				 (int)type, (long long)gens);
		for (uint32_t list = 0; list < MGLRU_GENS; list++)
			for (uint32_t zone = 0; zone < MGLRU_ZONES; zone++)
				check_list(lruvec, list, type, zone, found, record);
		for (uint32_t gen = 0; gen < MGLRU_GENS; gen++)
			record_invariant(record, "I17 size",
					 found[gen] == g->nr_pages[gen][type] + g->moving[gen][type],
					 "%s node %u generation %u type %d: %lld pages, counted %lld",
					 lruvec->memcg->path, lruvec->node, gen, (int)type,
					 (long long)found[gen],
					 (long long)(g->nr_pages[gen][type] + g->moving[gen][type]));
	}
}
