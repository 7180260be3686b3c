/*
 * mglru_age.c - generations come and go: when a new one is needed, opening it, and leaving the oldest behind,
 * after should_run_aging(), try_to_inc_max_seq(), inc_max_seq(), inc_min_seq() and try_to_inc_min_seq() of
 * mm/vmscan.c.
 *
 * A type has two to four generations. Eviction moves min_seq on when the oldest list has become empty; aging
 * opens a generation, and makes room for it first by pushing on what is left of the oldest of four. Anonymous
 * pages that cannot be swapped are not pushed: their min_seq is raised and they find themselves in a younger
 * generation of the same number.
 */
#include "models/reclaim/mglru.h"

void mglru_push_on(struct task *t, struct lruvec *lruvec, enum lru_type type, frame_t frame)
{
	struct host *host = lruvec_host(lruvec);
	struct mglru *g = mglru_of(lruvec);
	struct page *page = page_of(host, frame);
	uint32_t from = mglru_gen(g->min_seq[type]), to = (uint32_t)page_gen(page);

	bool moves = to == from;

	if (moves) {
		to = mglru_gen(g->min_seq[type] + 1);
		if (mglru_era(host) < ERA_6_18)
			page->flags &= (uint16_t)~PG_WORKINGSET;
		page->flags &= (uint16_t)~PG_REFERENCED;
		page->refs = 0;
	}
	page_list_del(host->pages->pages, mglru_list(host, g, page_on_list(page), type, frame), frame);
	page_set_place(page, to);
	page_list_add_tail(host->pages->pages, mglru_list(host, g, to, type, frame), frame);
	cpu_defer(t, host->costs->lru_add);
	if (moves)
		mglru_count_move(t, lruvec, type, from, to);
}

static void leave_oldest(struct mglru *g, enum lru_type type, uint64_t min_seq)
{
	if (g->min_seq[type] == min_seq)
		return;
	mglru_carry_over(&g->control, type);
	g->min_seq[type] = min_seq;
}

bool mglru_advance(struct lruvec *lruvec, uint32_t swappiness)
{
	struct mglru *g = mglru_of(lruvec);
	uint64_t was[2] = { g->min_seq[LRU_ANON], g->min_seq[LRU_FILE] };
	uint64_t min_seq[2] = { was[LRU_ANON], was[LRU_FILE] };

	for (enum lru_type type = mglru_first_type(swappiness); type <= LRU_FILE; type++)
		while (min_seq[type] + MGLRU_MIN_GENS <= g->max_seq &&
		       mglru_lists_empty(g, mglru_gen(min_seq[type]), type))
			min_seq[type]++;
	/* An empty file side never runs ahead of anon. */
	if (swappiness) {
		if (min_seq[LRU_FILE] < min_seq[LRU_ANON])
			min_seq[LRU_ANON] = min_seq[LRU_FILE];
		min_seq[LRU_FILE] = min_seq[LRU_ANON] > was[LRU_FILE] ? min_seq[LRU_ANON] : was[LRU_FILE];
	}
	for (enum lru_type type = mglru_first_type(swappiness); type <= LRU_FILE; type++)
		leave_oldest(g, type, min_seq[type]);
	return g->min_seq[LRU_ANON] != was[LRU_ANON] || g->min_seq[LRU_FILE] != was[LRU_FILE];
}

enum mglru_need mglru_need_aging(const struct mglru *g, enum mglru_era era, uint32_t swappiness)
{
	enum lru_type first = mglru_first_type(swappiness);
	uint64_t oldest = g->min_seq[first];
	int64_t young = 0, old = 0, total = 0;

	if (era == ERA_6_18 && g->min_seq[LRU_FILE] < oldest)
		oldest = g->min_seq[LRU_FILE];
	if (oldest + MGLRU_MIN_GENS > g->max_seq)
		return MGLRU_MUST_AGE;
	if (oldest + MGLRU_MIN_GENS < g->max_seq)
		return MGLRU_ENOUGH;
	if (era == ERA_6_18)
		return MGLRU_SHOULD_AGE;
	/* Pages are to be spread evenly: neither too many in the youngest nor too few in the last but two. */
	for (enum lru_type type = first; type <= LRU_FILE; type++) {
		total += (int64_t)mglru_total(g, type);
		young += g->nr_pages[mglru_gen(g->max_seq)][type];
		old += g->nr_pages[mglru_gen(g->max_seq - MGLRU_MIN_GENS)][type];
	}
	return young * (int64_t)MGLRU_MIN_GENS > total || old * (int64_t)(MGLRU_MIN_GENS + 2) < total
		       ? MGLRU_SHOULD_AGE
		       : MGLRU_ENOUGH;
}

/* inc_min_seq(): false when the lock has been held for long enough and pages are left. */
static bool raise_oldest(struct task *t, struct lruvec *lruvec, enum lru_type type, uint32_t swappiness)
{
	struct mglru *g = mglru_of(lruvec);
	const struct page_list *oldest = g->lists[mglru_gen(g->min_seq[type])][type];
	uint32_t remaining = MGLRU_LOOKED_AT;

	for (uint32_t zone = 0; zone < MGLRU_ZONES; zone++)
		while (oldest[zone].tail && (type == LRU_FILE || swappiness)) {
			mglru_push_on(t, lruvec, type, oldest[zone].tail);
			if (!--remaining)
				return false;
		}
	leave_oldest(g, type, g->min_seq[type] + 1);
	return true;
}

/* The second youngest becomes inactive; what the new number holds (anon without swap) becomes active. */
static void open_generation(struct task *t, struct lruvec *lruvec)
{
	struct mglru *g = mglru_of(lruvec);
	struct page_state *ps = lruvec_host(lruvec)->pages;
	uint32_t turning = 0;

	for (enum lru_type type = LRU_ANON; type <= LRU_FILE; type++) {
		enum stat_item inactive = type == LRU_ANON ? NR_INACTIVE_ANON : NR_INACTIVE_FILE;
		int64_t delta = g->nr_pages[mglru_gen(g->max_seq - 1)][type] -
				g->nr_pages[mglru_gen(g->max_seq + 1)][type];

		if (!delta)
			continue;
		turning += (uint32_t)(delta < 0 ? -delta : delta);
		ps->turning += (uint32_t)(delta < 0 ? -delta : delta);
		mod_lruvec_state(t, lruvec->memcg, lruvec->node, inactive, delta);
		mod_lruvec_state(t, lruvec->memcg, lruvec->node, inactive + 1, -delta);
	}
	g->max_seq++;
	ps->turning -= turning;
}

void mglru_inc_max_seq(struct task *t, struct lruvec *lruvec, uint32_t swappiness)
{
	const struct mglru *g = mglru_of(lruvec);

restart:
	spin_lock_irq(t, lruvec->lock);
	for (enum lru_type type = LRU_ANON; type <= LRU_FILE; type++)
		if (mglru_nr_gens(g, type) == MGLRU_GENS && !raise_oldest(t, lruvec, type, swappiness)) {
			spin_unlock_irq(t, lruvec->lock);
			cond_resched(t);
			goto restart;
		}
	open_generation(t, lruvec);
	spin_unlock_irq(t, lruvec->lock);
}

bool mglru_age(struct task *t, struct lruvec *lruvec, uint32_t swappiness)
{
	struct mglru *g = mglru_of(lruvec);
	uint64_t seq = g->max_seq;

	/* Somebody is at this one already. */
	if (seq <= g->walk_seq)
		return false;
	g->walk_seq = seq;
	g->agings++;
	mglru_walk(t, lruvec, swappiness);
	mglru_inc_max_seq(t, lruvec, swappiness);
	return true;
}
