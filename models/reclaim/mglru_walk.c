/*
 * mglru_walk.c - the walk over page tables that goes before a new generation, after iterate_mm_list(),
 * should_skip_mm(), walk_pmd_range() and walk_pte_range() of mm/vmscan.c.
 *
 * A process is passed over when it has not run since its last walk, or is small; a table when the hardware
 * did not come through it, or when it was not in the set that the walk before last and the look-arounds since
 * made. Pages with the accessed bit join the youngest generation, while the list they stand on stays. What a
 * walk finds well used goes into the set for the walk after the next generation.
 *
 * A mapping counts as a process. Left out: huge pages, processes that change their cgroup.
 */
#include <string.h>

#include "models/reclaim/mglru.h"

struct walk {
	struct lruvec *lruvec;
	uint64_t seq;
	bool forced;                  /* the process's first: the sets are not asked */
	int64_t moved[MGLRU_GENS][2]; /* pages, not yet counted */
	uint32_t batched;
};

frame_t mglru_young(const struct lruvec *lruvec, const struct page_object *object, uint64_t index)
{
	const struct host *host = lruvec_host(lruvec);
	frame_t frame = object_frame(object, index);
	const struct page *page = page_of(host, frame);

	if (!frame || (page->flags & (PG_MAPPED | PG_YOUNG)) != (PG_MAPPED | PG_YOUNG))
		return NO_FRAME;
	return page->node == lruvec->node && page_memcg(host, page) == lruvec->memcg ? frame : NO_FRAME;
}

bool mglru_referenced_again(struct page *page)
{
	bool again = page->flags & (PG_REFERENCED | PG_WORKINGSET);

	page->refs = 0;
	if (again) {
		page->flags &= (uint16_t)~PG_REFERENCED;
		page->flags |= PG_WORKINGSET;
	} else {
		page->flags |= PG_REFERENCED;
	}
	return again;
}

int mglru_update_gen(enum mglru_era era, struct page *page, uint32_t gen)
{
	int from = page_gen(page);

	if (era == ERA_6_18) {
		if (!mglru_referenced_again(page) || from == NO_GEN)
			return NO_GEN;
	} else if (from == NO_GEN) {
		page->flags |= PG_REFERENCED;
		return NO_GEN;
	} else {
		page_clear_refs(page);
	}
	page_set_gen(page, gen);
	return from == (int)gen ? NO_GEN : from;
}

/*
 * Whose the pages of the lruvec are by now, locked: its own, or an ancestor's if it was reparented during the
 * walk. Linux 7.1 counts them at the child all the same and leaves its numbers wrong; this is what the repair
 * of that comes to.
 */
static struct lruvec *lock_owner(struct task *t, struct lruvec *lruvec)
{
	for (;;) {
		struct memcg *m = page_owner(lruvec->memcg, lruvec->node);
		struct lruvec *owner = memcg_lruvec(m, lruvec->node);

		spin_lock_irq(t, owner->lock);
		if (page_owner(lruvec->memcg, lruvec->node) == m)
			return owner;
		spin_unlock_irq(t, owner->lock);
	}
}

/* reset_batch_size() */
static void count_moved(struct task *t, struct walk *walk)
{
	if (!walk->batched)
		return;
	struct lruvec *owner = lock_owner(t, walk->lruvec);

	for (uint32_t gen = 0; gen < MGLRU_GENS; gen++)
		for (enum lru_type type = LRU_ANON; type <= LRU_FILE; type++) {
			mglru_of(owner)->moving[gen][type] -= walk->moved[gen][type];
			mglru_count_pages(t, owner, type, gen, walk->moved[gen][type]);
		}
	spin_unlock_irq(t, owner->lock);
	memset(walk->moved, 0, sizeof walk->moved);
	walk->batched = 0;
}

static void move(struct walk *walk, enum lru_type type, uint32_t from, uint32_t to)
{
	struct mglru *g = mglru_of(walk->lruvec);

	walk->moved[from][type]--;
	walk->moved[to][type]++;
	g->moving[from][type]--;
	g->moving[to][type]++;
}

/* walk_pte_range(): is the table well used? */
static bool walk_table(struct task *t, struct walk *walk, struct mapping *mapping, uint64_t table)
{
	struct host *host = lruvec_host(walk->lruvec);
	uint32_t gen = mglru_gen(walk->seq);
	uint64_t from, to, young = 0;

	mapping_range(mapping, table, &from, &to);
	for (uint64_t i = from; i < to; i++) {
		frame_t frame = mglru_young(walk->lruvec, mapping->object, i);
		struct page *page = page_of(host, frame);
		int was;

		if (!frame)
			continue;
		page->flags &= (uint16_t)~PG_YOUNG;
		young++;
		was = mglru_update_gen(mglru_era(host), page, gen);
		if (was == NO_GEN)
			continue;
		move(walk, page_type(page), (uint32_t)was, gen);
		walk->batched++;
	}
	cpu_defer(t, (to - from) * host->costs->walk_entry);
	return young * 8 >= to - from;
}

static void walk_mapping(struct task *t, struct walk *walk, struct mapping *mapping)
{
	struct mglru *g = mglru_of(walk->lruvec);
	bool ask_hardware = !walk->forced || mglru_era(lruvec_host(walk->lruvec)) == ERA_6_1;
	uint32_t object = mapping->object->id;

	for (uint64_t table = 0; table < mapping->nr_tables; table++) {
		uint8_t *flags = &mapping->tables[table];

		if (!*flags || (ask_hardware && !(*flags & TABLE_YOUNG)))
			continue;
		task_sync(t);
		if (ask_hardware)
			*flags &= (uint8_t)~TABLE_YOUNG;
		if (!walk->forced && !mglru_bloom_has(&g->blooms[walk->seq % 2], object, table))
			continue;
		if (walk_table(t, walk, mapping, table))
			mglru_bloom_add(&g->blooms[(walk->seq + 1) % 2], object, table);
		if (walk->batched >= MGLRU_LOOKED_AT)
			count_moved(t, walk);
	}
	count_moved(t, walk);
}

/* Has the process run since its last walk? Looked at once: from here on it has not. */
static bool has_run(const struct task *t, const struct mglru_options *options, const struct mglru *g,
		    struct mapping *mapping, uint64_t node)
{
	uint64_t ran = options->process_ran == MGLRU_RAN_TOUCHED ? mapping->touched : mapping->switched;

	/* Who reclaims for itself may have been switched to since its last touch. */
	if (mapping->user == t && mapping->switches != t->switches) {
		mapping->switches = t->switches;
		mapping->switched = ran = UINT64_MAX;
	}
	return ran & node || g->agings == options->switch_at;
}

void mglru_walk(struct task *t, struct lruvec *lruvec, uint32_t swappiness)
{
	struct mglru *g = mglru_of(lruvec);
	struct host *host = lruvec_host(lruvec);
	uint64_t node = (uint64_t)1 << lruvec->node % 64;
	struct walk walk = { .lruvec = lruvec, .seq = g->max_seq };
	bool first = true;

	task_sync(t);
	for (struct mapping *m = lruvec->memcg->mappings; m; m = m->next) {
		walk.forced = !(m->walked & node);
		m->walked |= node;
		if (!walk.forced && !has_run(t, mglru_options(host), g, m, node))
			continue;
		m->touched &= ~node;
		m->switched &= ~node;
		if (m->object->present < MGLRU_BATCH || (m->object->kind == OBJECT_ANON && !swappiness))
			continue;
		if (first)
			mglru_bloom_reset(host, &g->blooms[(walk.seq + 1) % 2]);
		first = false;
		walk_mapping(t, &walk, m);
	}
}
