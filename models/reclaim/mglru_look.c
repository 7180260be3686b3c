/*
 * mglru_look.c - an isolated page that is mapped, and its neighbours, after folio_check_references() and
 * lru_gen_look_around() of mm/vmscan.c.
 *
 * When the page turns out to be young, the 64 page-table entries around it are looked at as well, since the
 * way through the reverse map is paid for: young neighbours are spared, and a table with many of them is
 * put into the set for the next walk. Neighbours on their lists become active, through the CPU's batch
 * where there are few (6.1) or always (6.12); from there they hold a reference to the page, so that it
 * cannot be freed even if it is isolated before the batch is drained.
 */
#include "models/reclaim/mglru.h"

#define WINDOW 64u

struct window {
	uint64_t from, to; /* pages of the object */
	uint64_t table;
};

/* A neighbour that is to become younger. */
struct seen {
	uint64_t index;
	frame_t frame;
};

/* What of the page's table is looked at: all, or 64 entries with the page in the middle as far as they go. */
static struct window window_around(const struct mapping *mapping, uint64_t index)
{
	struct window w = { .table = mapping_table(mapping, index) };

	mapping_range(mapping, w.table, &w.from, &w.to);
	if (w.to - w.from <= WINDOW)
		return w;
	if (index - w.from < WINDOW / 2) {
		w.to = w.from + WINDOW;
	} else if (w.to - index < WINDOW / 2) {
		w.from = w.to - WINDOW;
	} else {
		w.from = index - WINDOW / 2;
		w.to = index + WINDOW / 2;
	}
	return w;
}

/* A young neighbour, its bit cleared: true if it is to be made younger than it is. */
static bool neighbour(enum mglru_era era, struct page *page, uint32_t youngest, bool at_once)
{
	int gen = page_gen(page);

	if (era == ERA_6_18 && !at_once)
		return mglru_referenced_again(page) && gen != NO_GEN && gen != (int)youngest;
	if (gen == NO_GEN) {
		page->flags |= PG_REFERENCED;
		return false;
	}
	if (gen == (int)youngest)
		return false;
	if (era == ERA_6_12 && !at_once)
		page_clear_refs(page);
	return true;
}

/*
 * The kernel has the page table's lock all the while. Here time may have passed since the page was seen, and
 * it may be unmapped, freed and somebody else's.
 */
static bool still_there(const struct lruvec *lruvec, const struct page_object *object,
			const struct seen *seen)
{
	const struct page *page = page_of(lruvec_host(lruvec), seen->frame);

	return object_frame(object, seen->index) == seen->frame && page->flags & PG_MAPPED &&
	       page->memcg == lruvec->memcg->id;
}

static void make_young(struct task *t, struct lruvec *lruvec, const struct page_object *object,
		       const struct seen *seen, uint32_t nr)
{
	struct host *host = lruvec_host(lruvec);
	struct mglru *g = mglru_of(lruvec);

	spin_lock_irq(t, lruvec->lock);
	for (uint32_t i = 0; i < nr; i++) {
		if (!still_there(lruvec, object, &seen[i]))
			continue;
		struct page *page = page_of(host, seen[i].frame);
		uint32_t youngest = mglru_gen(g->max_seq);
		int from;

		if (page_memcg(host, page) != lruvec->memcg)
			continue; /* reparented in between */
		from = mglru_update_gen(mglru_era(host), page, youngest);
		if (from != NO_GEN)
			mglru_count_move(t, lruvec, page_type(page), (uint32_t)from, youngest);
	}
	spin_unlock_irq(t, lruvec->lock);
}

static void look_around(struct task *t, struct lruvec *lruvec, const struct page *page, bool walked)
{
	struct host *host = lruvec_host(lruvec);
	struct mglru *g = mglru_of(lruvec);
	const struct page_object *object = host->pages->objects[page->object];
	struct window w = window_around(object->mapping, page->index);
	enum mglru_era era = mglru_era(host);
	struct seen seen[WINDOW];
	uint32_t nr = 0, young = 0;

	for (uint64_t i = w.from; i < w.to; i++) {
		frame_t frame = mglru_young(lruvec, object, i);

		if (!frame)
			continue;
		page_of(host, frame)->flags &= (uint16_t)~PG_YOUNG;
		young++;
		if (neighbour(era, page_of(host, frame), mglru_gen(g->max_seq), walked))
			seen[nr++] = (struct seen){ .index = i, .frame = frame };
	}
	cpu_defer(t, (w.to - w.from) * host->costs->walk_entry);
	if (young * 8 >= w.to - w.from)
		mglru_bloom_add(&g->blooms[g->max_seq % 2], object->id, w.table);
	if (walked || (era == ERA_6_1 && nr >= host->pages->batch)) {
		make_young(t, lruvec, object, seen, nr);
		return;
	}
	for (uint32_t i = 0; i < nr; i++) {
		task_sync(t);
		if (still_there(lruvec, object, &seen[i]))
			page_activate_later(t, host, seen[i].frame);
	}
}

enum fate mglru_judge(struct task *t, struct lruvec *lruvec, frame_t frame, struct scan_control *sc)
{
	struct host *host = lruvec_host(lruvec);
	struct page *page = page_of(host, frame);
	enum mglru_era era = mglru_era(host);

	if (!(page->flags & PG_MAPPED))
		return FATE_FREED;
	/* Seen young by the look-around of a page before it. */
	if (era < ERA_6_18 && page->flags & PG_REFERENCED)
		return FATE_KEEP;
	if (page->flags & PG_YOUNG) {
		look_around(t, lruvec, page, sc->walked);
		if (era == ERA_6_18)
			return mglru_referenced_again(page) ? FATE_ACTIVATE : FATE_KEEP;
		/* 6.1 takes the mark that its own look-around has just left on the page for an older one. */
		return era == ERA_6_1 ? FATE_ACTIVATE : FATE_KEEP;
	}
	return FATE_FREED;
}
