/*
 * mglru_evict.c - one batch of eviction: sort, isolate, have it judged, put back what stays; after
 * evict_folios(), isolate_folios(), scan_folios(), sort_folio() and isolate_folio() of mm/vmscan.c.
 *
 * The oldest list of a type is read from its old end, that of ordinary pages before that of ZONE_DMA. What a
 * walk has promoted goes to the list where it belongs; what was read too often goes one generation on; the
 * rest is isolated, until there are 64. All of it is one step under the lock, so a batch synchronises when it
 * takes the lock and not page by page.
 *
 * A page that survives joins the youngest generation, whatever it was: otherwise the next batch would find it
 * again. One that merely lost a race is tried once more at once.
 */
#include <string.h>

#include "models/page/swap_cache.h"
#include "models/reclaim/mglru.h"

struct batch {
	enum lru_type type;
	uint32_t nr;
	frame_t frames[MGLRU_BATCH];
	enum fate fates[MGLRU_BATCH];
	uint64_t looked_at, sorted;
};

static void to_young_end(struct host *host, struct mglru *g, enum lru_type type, frame_t frame, uint32_t list)
{
	struct page *page = page_of(host, frame);

	page_list_del(host->pages->pages, mglru_list(host, g, page_on_list(page), type, frame), frame);
	page_set_place(page, list);
	page_list_add(host->pages->pages, mglru_list(host, g, list, type, frame), frame);
}

/* Does it stay because of what it is read? */
static bool is_protected(enum mglru_era era, const struct page *page, uint32_t limit, uint32_t *tier,
			 bool *count)
{
	uint32_t refs = mglru_refs(era, page);
	bool workingset = page->flags & PG_WORKINGSET;
	/* As often as can be counted. */
	bool always = era < ERA_6_18 ? refs == MGLRU_FIELD_MOST + 1
				     : refs + workingset == MGLRU_FIELD_MOST + 2;

	*tier = mglru_tier(era, refs, workingset);
	*count = era < ERA_6_18 || !always;
	return *tier > limit || always;
}

/* Whatever cannot go at once is put aside until it is written. 6.12 finds that out later, page by page. */
static bool waits_for_writeback(enum mglru_era era, const struct page *page, enum lru_type type)
{
	return era != ERA_6_12 &&
	       (page->flags & (PG_LOCKED | PG_WRITEBACK) || (type == LRU_FILE && page->flags & PG_DIRTY));
}

/* For who decides whether the flusher is needed (mglru_pass()). */
static void count_dirty(const struct page *page, enum lru_type type, struct scan_control *sc)
{
	if (type != LRU_FILE || !(page->flags & PG_DIRTY))
		return;
	sc->nr.file_taken++;
	sc->nr.unqueued_dirty += !(page->flags & PG_WRITEBACK);
}

/* True if the page is not to be isolated, and moved to where it belongs instead. */
static bool sort(struct task *t, struct lruvec *lruvec, frame_t frame, enum lru_type type, uint32_t limit,
		 struct scan_control *sc)
{
	struct host *host = lruvec_host(lruvec);
	struct mglru *g = mglru_of(lruvec);
	struct page *page = page_of(host, frame);
	enum mglru_era era = mglru_era(host);
	uint32_t tier;
	bool count;

	if (page_gen(page) != (int)mglru_gen(g->min_seq[type])) {
		to_young_end(host, g, type, frame, (uint32_t)page_gen(page));
		cpu_defer(t, host->costs->lru_add);
		return true;
	}
	if (is_protected(era, page, limit, &tier, &count)) {
		mglru_push_on(t, lruvec, type, frame);
		if (count)
			g->control.protected[type][tier]++;
		if (era == ERA_6_1)
			mod_lruvec_state(t, lruvec->memcg, lruvec->node, WORKINGSET_ACTIVATE_ANON + type, 1);
		return true;
	}
	if (waits_for_writeback(era, page, type)) {
		count_dirty(page, type, sc);
		mglru_push_on(t, lruvec, type, frame);
		to_young_end(host, g, type, frame, (uint32_t)page_gen(page));
		page->flags |= PG_RECLAIM;
		return true;
	}
	return false;
}

/* False: it is about to be freed. */
static bool isolate(struct task *t, struct lruvec *lruvec, frame_t frame)
{
	struct page *page = page_of(lruvec_host(lruvec), frame);

	if (!page_try_get(page))
		return false;
	if (!(page->flags & PG_REFERENCED)) {
		page->refs = 0;
		if (mglru_era(lruvec_host(lruvec)) < ERA_6_18)
			page->flags &= (uint16_t)~PG_WORKINGSET;
	}
	if (mglru_era(lruvec_host(lruvec)) < ERA_6_18)
		page->flags &= (uint16_t)~PG_REFERENCED;
	page->flags &= (uint16_t)~PG_RECLAIM;
	mglru_del(t, lruvec, frame);
	return true;
}

/*
 * scan_folios(): pages looked at; 0 when that led nowhere. What cannot be isolated goes to the young end of
 * the list, and when that has become its old end all others have been looked at.
 */
static uint64_t scan(struct task *t, struct lruvec *lruvec, struct batch *b, uint32_t limit,
		     struct scan_control *sc)
{
	struct mglru *g = mglru_of(lruvec);
	struct host *host = lruvec_host(lruvec);
	uint32_t oldest = mglru_gen(g->min_seq[b->type]);
	const struct page_list *lists = g->lists[oldest][b->type];
	uint64_t looked_at = 0, sorted = 0;

	if (mglru_nr_gens(g, b->type) == MGLRU_MIN_GENS)
		return 0;
	for (uint32_t zone = 0; zone < MGLRU_ZONES; zone++) {
		frame_t skipped = NO_FRAME;

		while (lists[zone].tail != skipped && looked_at < MGLRU_LOOKED_AT && b->nr < MGLRU_BATCH) {
			frame_t frame = lists[zone].tail;

			looked_at++;
			if (sort(t, lruvec, frame, b->type, limit, sc)) {
				sorted++;
			} else if (isolate(t, lruvec, frame)) {
				b->frames[b->nr++] = frame;
			} else {
				to_young_end(host, g, b->type, frame, oldest);
				skipped = skipped ? skipped : frame;
			}
		}
	}
	if (sorted)
		count_memcg_events(t, lruvec->memcg, PGREFILL, sorted);
	if (b->type == LRU_FILE)
		sc->nr.file_taken += b->nr;
	return b->nr || looked_at == MGLRU_LOOKED_AT ? looked_at : 0;
}

/* isolate_folios(): from the type that is due, or else from the other. */
static uint64_t choose_and_scan(struct task *t, struct lruvec *lruvec, struct batch *b, uint32_t swappiness,
				struct scan_control *sc)
{
	struct mglru *g = mglru_of(lruvec);
	enum mglru_era era = mglru_era(lruvec_host(lruvec));
	uint32_t limit = MGLRU_TIERS;
	uint64_t looked_at;

	if (!swappiness)
		b->type = LRU_FILE;
	else if (era < ERA_6_18 && g->min_seq[LRU_ANON] < g->min_seq[LRU_FILE])
		b->type = LRU_ANON;
	else if (swappiness == 1)
		b->type = LRU_FILE;
	else if (swappiness >= 200)
		b->type = LRU_ANON;
	else
		b->type = mglru_type_to_scan(g, era, swappiness, &limit);
	if (limit == MGLRU_TIERS)
		limit = mglru_tier_limit(g, era, b->type);
	looked_at = scan(t, lruvec, b, limit, sc);
	if (looked_at || !swappiness)
		return looked_at;
	b->type = b->type == LRU_FILE ? LRU_ANON : LRU_FILE;
	return scan(t, lruvec, b, mglru_tier_limit(g, era, b->type), sc);
}

/*
 * Nothing is wrong with it any more, like a page of a file that a batch of its CPU had too; the kernel tries
 * such a page once more. An anonymous page in the same case is dirty, for it is unmapped and not yet written.
 */
static bool lost_a_race(const struct host *host, frame_t frame, enum fate fate)
{
	const struct page *page = page_of(host, frame);

	if (page->flags & PG_SWAPBACKED && !swap_cache_holds(host, frame))
		return false;
	return fate == FATE_KEEP && !(page->flags & (PG_MAPPED | PG_REFERENCED | PG_ACTIVE | PG_LOCKED |
						     PG_DIRTY | PG_WRITEBACK | PG_ORPHAN));
}

/* move_folios_to_lru(): the first `nr`, in the order of the scan; those that are nobody's are let go. */
static void put_back(struct task *t, struct lruvec *lruvec, struct batch *b, uint32_t nr)
{
	struct host *host = lruvec_host(lruvec);
	struct lruvec *locked = lruvec;
	uint32_t orphans = 0;

	if (!nr)
		return;
	spin_lock_irq(t, lruvec->lock);
	for (uint32_t i = 0; i < nr; i++) {
		struct page *page = page_of(host, b->frames[i]);

		if (!isolated_put(page)) {
			b->frames[orphans++] = b->frames[i];
			continue;
		}
		if (page->flags & PG_RECLAIM && page->flags & (PG_DIRTY | PG_WRITEBACK)) {
			if (page->flags & PG_WORKINGSET) /* what isolate() took away */
				page->flags |= PG_REFERENCED;
		} else {
			page_clear_refs(page);
			page->flags |= PG_ACTIVE;
		}
		locked = lruvec_relock_irq(t, host, page, locked); /* it may have become the parent's */
		mglru_add(t, locked, b->frames[i]);
	}
	spin_unlock_irq(t, locked->lock);
	if (orphans)
		pages_release(t, host, b->frames, orphans);
}

/* Those to be tried again go to the end; returns how many stay. */
static uint32_t sort_out(const struct host *host, struct batch *b, uint32_t nr)
{
	uint32_t stay = 0;

	for (uint32_t i = 0; i < nr; i++) {
		frame_t frame = b->frames[i];

		if (lost_a_race(host, frame, b->fates[i]))
			continue;
		b->frames[i] = b->frames[stay];
		b->frames[stay++] = frame;
	}
	return stay;
}

static void shrink(struct task *t, struct lruvec *lruvec, struct batch *b, struct scan_control *sc,
		   bool *swapped)
{
	struct shrink_result first, second = { 0 };
	uint64_t activated;
	uint32_t left = shrink_folio_list(t, lruvec, b->frames, b->fates, b->nr, sc, mglru_judge, &first);
	uint32_t stay = sort_out(lruvec_host(lruvec), b, left);

	put_back(t, lruvec, b, stay);
	count_demoted(t, lruvec);
	if (left > stay) {
		memmove(b->frames, b->frames + stay, (left - stay) * sizeof *b->frames);
		left = shrink_folio_list(t, lruvec, b->frames, b->fates, left - stay, sc, mglru_judge,
					 &second);
		put_back(t, lruvec, b, left);
		count_demoted(t, lruvec);
	}
	sc->nr.unqueued_dirty += first.met.unqueued_dirty + second.met.unqueued_dirty;
	sc->nr_reclaimed += first.freed + second.freed;
	count_memcg_events(t, lruvec->memcg, sc->kswapd ? PGSTEAL_KSWAPD : PGSTEAL_DIRECT,
			   first.freed + second.freed);
	activated = first.activated[LRU_ANON] + first.activated[LRU_FILE] + second.activated[LRU_ANON] +
		    second.activated[LRU_FILE];
	if (activated)
		count_memcg_events(t, lruvec->memcg, PGACTIVATE, activated);
	*swapped |= b->type == LRU_ANON;
}

uint64_t mglru_evict(struct task *t, struct lruvec *lruvec, struct scan_control *sc, uint32_t swappiness,
		     bool *swapped)
{
	struct mglru *g = mglru_of(lruvec);
	struct batch b = { .nr = 0 };
	uint64_t looked_at;

	spin_lock_irq(t, lruvec->lock);
	looked_at = choose_and_scan(t, lruvec, &b, swappiness, sc);
	if (b.nr)
		count_memcg_events(t, lruvec->memcg, sc->kswapd ? PGSCAN_KSWAPD : PGSCAN_DIRECT, b.nr);
	looked_at += mglru_advance(lruvec, swappiness);
	if (mglru_nr_gens(g, mglru_first_type(swappiness)) == MGLRU_MIN_GENS)
		looked_at = 0;
	spin_unlock_irq(t, lruvec->lock);
	sc->nr_scanned += b.nr;
	if (b.nr)
		shrink(t, lruvec, &b, sc, swapped);
	return looked_at;
}
