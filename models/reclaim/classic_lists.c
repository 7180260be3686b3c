/*
 * classic_lists.c - the two lists of each type, and the life of a page on them, after mm/swap.c and
 * include/linux/mm_inline.h of Linux 6.1 (lruvec_add_folio, folio_activate_fn, folio_mark_accessed,
 * workingset_activation).
 *
 * A page begins on the inactive list. An access by read(2) leaves a mark, the next one makes the page active:
 * that is the second chance of pages that are read twice. The move waits in a batch of the CPU, while the
 * mark is cleared and the age advances at once, so further accesses in between count anew.
 */
#include "models/reclaim/classic.h"

enum lru_list classic_list(const struct page *page)
{
	enum lru_list lru = page->flags & PG_SWAPBACKED ? LRU_INACTIVE_ANON : LRU_INACTIVE_FILE;

	return page->flags & PG_ACTIVE ? lru + 1 : lru;
}

/* update_lru_size(): the memcg's zone size is exact, the statistics are what was flushed. */
static void update_size(struct task *t, struct lruvec *lruvec, enum lru_list lru, int nr)
{
	lruvec->lru_zone_size[lru] += (uint64_t)(int64_t)nr;
	mod_lruvec_state(t, lruvec->memcg, lruvec->node, NR_INACTIVE_ANON + lru, nr);
}

static inline void put_on(struct task *t, struct lruvec *lruvec, frame_t frame,
			  void (*add)(struct page *pages, struct page_list *list, frame_t frame))
{
	struct page *pages = lruvec_host(lruvec)->pages->pages;
	enum lru_list lru = classic_list(&pages[frame]);

	add(pages, &classic_of(lruvec)->lists[lru], frame);
	lru_touch(t, lruvec, pages, frame);
	pages[frame].flags |= PG_LRU;
	update_size(t, lruvec, lru, 1);
}

void classic_list_add(struct task *t, struct lruvec *lruvec, frame_t frame)
{
	put_on(t, lruvec, frame, page_list_add);
}

void classic_list_del(struct task *t, struct lruvec *lruvec, frame_t frame)
{
	struct page *pages = lruvec_host(lruvec)->pages->pages;
	enum lru_list lru = classic_list(&pages[frame]);

	lru_touch(t, lruvec, pages, frame);
	page_list_del(pages, &classic_of(lruvec)->lists[lru], frame);
	pages[frame].flags &= (uint16_t)~PG_LRU;
	update_size(t, lruvec, lru, -1);
}

void classic_add(struct task *t, struct lruvec *lruvec, frame_t frame)
{
	cpu_defer(t, lruvec_host(lruvec)->costs->lru_add);
	classic_list_add(t, lruvec, frame);
}

void classic_del(struct task *t, struct lruvec *lruvec, frame_t frame)
{
	cpu_defer(t, lruvec_host(lruvec)->costs->lru_del);
	classic_list_del(t, lruvec, frame);
}

void classic_activate(struct task *t, struct lruvec *lruvec, frame_t frame)
{
	struct page *page = page_of(lruvec_host(lruvec), frame);

	if (!(page->flags & PG_LRU) || page->flags & PG_ACTIVE)
		return;
	classic_del(t, lruvec, frame);
	page->flags |= PG_ACTIVE;
	classic_add(t, lruvec, frame);
	count_memcg_events(t, lruvec->memcg, PGACTIVATE, 1);
}

void classic_rotate(struct task *t, struct lruvec *lruvec, frame_t frame)
{
	struct page *pages = lruvec_host(lruvec)->pages->pages;

	classic_del(t, lruvec, frame);
	pages[frame].flags &= (uint16_t)~PG_ACTIVE;
	cpu_defer(t, lruvec_host(lruvec)->costs->lru_add);
	put_on(t, lruvec, frame, page_list_add_tail);
}

void classic_age(struct lruvec *lruvec, uint64_t nr)
{
	struct memcg *m = lruvec->memcg;
	uint32_t node = lruvec->node;

	classic_of(lruvec)->own_age += nr;
	for (; m; m = m->parent)
		classic_of(memcg_lruvec(m, node))->nonresident_age += nr;
}

void classic_mark_accessed(struct task *t, struct host *host, frame_t frame)
{
	struct page *page = page_of(host, frame);
	struct lruvec *lruvec;

	if (!(page->flags & PG_REFERENCED)) {
		page->flags |= PG_REFERENCED;
		return;
	}
	if (page->flags & PG_ACTIVE)
		return;
	page->flags &= (uint16_t)~PG_REFERENCED;
	lruvec = memcg_lruvec(page_memcg(host, page), page->node);
	classic_age(lruvec, 1);
	if (page->flags & PG_LRU) {
		page_activate_later(t, host, frame);
	} else if (page_in_add_batch(host, t, frame)) {
		page->flags |=
			PG_ACTIVE; /* no event: 6.1 counts 1,020 of E5f's 1,024 second reads, 6.12 1,023 */
	}
}

uint64_t classic_size(const struct lruvec *lruvec, enum lru_list lru)
{
	return lruvec->lru_zone_size[lru];
}

/* lru_reparent_memcg(): the child's pages come behind the parent's, and costs add up. */
void classic_reparent(struct task *t, struct lruvec *from, struct lruvec *to, struct lru_turned *turned)
{
	struct host *host = lruvec_host(from);
	struct classic *child = classic_of(from), *parent = classic_of(to);

	(void)turned;
	for (enum lru_list lru = 0; lru < NR_LRU_LISTS; lru++) {
		page_list_splice_tail(host->pages->pages, &child->lists[lru], &parent->lists[lru]);
		to->lru_zone_size[lru] += from->lru_zone_size[lru];
		from->lru_zone_size[lru] = 0;
		cpu_defer(t, host->costs->lru_add);
	}
	for (enum lru_type type = LRU_ANON; type <= LRU_FILE; type++) {
		parent->cost[type] += child->cost[type];
		child->cost[type] = 0;
	}
}

/* It leaves the tree: its parent keeps what it has aged by. */
void classic_release(struct task *t, struct lruvec *lruvec)
{
	struct memcg *parent = lruvec->memcg->parent;

	shared_step(t);
	uint64_t age = classic_of(lruvec)->nonresident_age;

	if (age)
		classic_of(memcg_lruvec(parent, lruvec->node))->own_age += age;
}

/* I15: an age is its own and those of all children. */
static void check_age(const struct lruvec *lruvec, struct record *record)
{
	const struct classic *c = classic_of(lruvec);
	uint64_t sum = c->own_age;

	for (const struct memcg *m = lruvec->memcg->first_child; m; m = m->next_sibling)
		if (m->lruvecs && m->lruvecs[lruvec->node])
			sum += classic_of(m->lruvecs[lruvec->node])->nonresident_age;
	record_invariant(record, "I15", c->nonresident_age == sum,
			 "%s node %u: age %lld, its own and its children's %lld", lruvec->memcg->path,
			 lruvec->node, (long long)c->nonresident_age, (long long)sum);
}

void classic_check(const struct lruvec *lruvec, struct record *record)
{
	for (enum lru_list lru = 0; lru < NR_LRU_LISTS; lru++) {
		uint64_t size = lruvec->lru_zone_size[lru];
		uint64_t length = page_list_length(lruvec_host(lruvec)->pages->pages,
						   &classic_of(lruvec)->lists[lru], size);

		record_invariant(record, "I5 list", length == size,
				 "%s node %u list %d: %lld pages, size %lld", lruvec->memcg->path,
				 lruvec->node, (int)lru, (long long)length, (long long)size);
	}
	check_age(lruvec, record);
}
