/*
 * classic_shrink.c - up to 32 pages of one list: shrink_inactive_list(), shrink_active_list(),
 * folio_check_references() and lru_note_cost() of Linux 6.1 and 6.12.
 *
 * A mapped page leaves no mark when it is used, only the accessed bit of its page table, so a scan that finds
 * the bit cannot tell one use from many: the page is kept once, marked, and goes to the active list only if
 * the next scan finds the bit again. Since the fault that makes a page sets the bit too, most mapped pages
 * are scanned twice before they go.
 *
 * The lock is held twice a batch, to take pages off and to put the survivors back. In between they are
 * nobody's neighbours.
 */
#include "models/backing/backing.h"
#include "models/reclaim/classic.h"

/* ---- taking off, putting back ---- */

/*
 * isolate_lru_folios(): from the tail; their order is that of the list, oldest first. One that is about to be
 * freed is passed over, to the head. *taken: how many there are in `frames`, of so many scanned.
 */
static uint32_t isolate(struct task *t, struct lruvec *lruvec, enum lru_list lru, uint32_t nr,
			frame_t *frames, uint32_t *taken)
{
	const struct host *host = lruvec_host(lruvec);
	struct page *pages = host->pages->pages;
	struct page_list *list = &classic_of(lruvec)->lists[lru];
	uint32_t scanned = 0;

	*taken = 0;
	for (; scanned < nr && list->tail; scanned++) {
		frame_t frame = list->tail;

		page_list_del(pages, list, frame);
		if (!page_try_get(&pages[frame])) {
			page_list_add(pages, list, frame);
			continue;
		}
		pages[frame].flags &= (uint16_t)~PG_LRU;
		frames[(*taken)++] = frame;
	}
	cpu_defer(t, scanned * host->costs->scan_page);
	lruvec->lru_zone_size[lru] -= *taken;
	mod_lruvec_state(t, lruvec->memcg, lruvec->node, NR_INACTIVE_ANON + lru, -(int64_t)*taken);
	return scanned;
}

/*
 * move_folios_to_lru(): in that order to the head, with *locked the lruvec that is locked before and after:
 * pages may have become the parent's. Those that lost their owner meanwhile are left in `frames`.
 */
static uint32_t put_back(struct task *t, struct lruvec **locked, frame_t *frames, uint32_t nr)
{
	struct host *host = lruvec_host(*locked);
	uint32_t orphans = 0;

	for (uint32_t i = 0; i < nr; i++) {
		struct page *page = page_of(host, frames[i]);

		if (!isolated_put(page)) {
			frames[orphans++] = frames[i];
			continue;
		}
		*locked = lruvec_relock_irq(t, host, page, *locked);
		classic_add(t, *locked, frames[i]);
		if (page->flags & PG_ACTIVE)
			classic_age(*locked, 1);
	}
	return orphans;
}

/* ---- costs ---- */

/*
 * 6.1 counts pages that had to be written, or read again soon after; later kernels weigh these 32 times and
 * add all that was scanned in vain. The sums are halved when they exceed a quarter of the lists, at each
 * level on its own.
 */
void classic_note_cost(struct task *t, struct lruvec *lruvec, enum lru_type type, uint64_t io,
		       uint64_t rotated)
{
	uint32_t version = lruvec_host(lruvec)->kernel_version;
	uint64_t cost = version < 602 ? io : io * SWAP_CLUSTER_MAX + rotated;
	uint32_t node = lruvec->node;

	if (!cost && version >= 613)
		return;
	for (struct memcg *m = lruvec->memcg; m; m = m->parent) {
		struct lruvec *level = memcg_lruvec(m, node);
		struct classic *c = classic_of(level);
		int64_t size = 0;

		spin_lock_irq(t, level->lock);
		c->cost[type] += cost;
		for (enum lru_list lru = 0; lru <= LRU_ACTIVE_FILE; lru++)
			size += stat_reported_node(m, node, NR_INACTIVE_ANON + lru);
		if (size < 0)
			size = 0;
		if (c->cost[LRU_ANON] + c->cost[LRU_FILE] > (uint64_t)size / 4) {
			c->cost[LRU_ANON] /= 2;
			c->cost[LRU_FILE] /= 2;
		}
		spin_unlock_irq(t, level->lock);
	}
}

/* ---- the inactive list ---- */

/* folio_check_references() */
static enum fate judge(struct task *t, struct lruvec *lruvec, frame_t frame, struct scan_control *sc)
{
	struct page *page = page_of(lruvec_host(lruvec), frame);
	bool marked = page->flags & PG_REFERENCED, young = page->flags & PG_YOUNG;

	(void)t, (void)sc;
	page->flags &= (uint16_t) ~(PG_REFERENCED | PG_YOUNG);
	if (!young)
		return FATE_FREED;
	page->flags |= PG_REFERENCED;
	return marked ? FATE_ACTIVATE : FATE_KEEP;
}

static void count_activated(struct task *t, struct lruvec *lruvec, const enum fate *fates, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (fates[i] == FATE_ACTIVATE)
			count_memcg_events(t, lruvec->memcg, PGACTIVATE, 1);
}

/*
 * What of the pages taken was dirty. If all of them were, and nobody writes them, the flusher has not
 * noticed: dirty pages came to the end of the list before they were old or many.
 */
static void met_dirty(struct task *t, struct scan_control *sc, enum lru_type type, uint32_t taken,
		      const struct met_dirty *met)
{
	if (met->unqueued_dirty == taken) {
		task_sync(t);
		writeback_wake(t);
	}
	sc->nr.taken += taken;
	sc->nr.file_taken += type == LRU_FILE ? taken : 0;
	sc->nr.dirty += met->dirty;
	sc->nr.unqueued_dirty += met->unqueued_dirty;
	sc->nr.congested += met->congested;
	sc->nr.writeback += met->writeback;
	sc->nr.immediate += met->immediate;
}

uint64_t classic_shrink_inactive(struct task *t, struct lruvec *lruvec, enum lru_list lru, uint32_t nr,
				 struct scan_control *sc)
{
	struct shrink_result result;
	frame_t frames[SWAP_CLUSTER_MAX];
	enum fate fates[SWAP_CLUSTER_MAX];
	uint32_t scanned, taken, kept, orphans;
	struct lruvec *locked = lruvec;

	lru_add_drain(t);
	spin_lock_irq(t, lruvec->lock);
	scanned = isolate(t, lruvec, lru, nr, frames, &taken);
	count_scan(t, lruvec->memcg, sc, scanned, 0);
	spin_unlock_irq(t, lruvec->lock);
	if (!taken)
		return 0;
	kept = shrink_folio_list(t, lruvec, frames, fates, taken, sc, judge, &result);
	task_sync(t);
	count_activated(t, lruvec, fates, kept);

	spin_lock_irq(t, lruvec->lock);
	orphans = put_back(t, &locked, frames, kept);
	count_demoted(t, lruvec);
	count_scan(t, lruvec->memcg, sc, 0, result.freed);
	spin_unlock_irq(t, locked->lock);
	classic_note_cost(t, lruvec, classic_type(lru), result.written, taken - result.freed);
	if (orphans) {
		task_sync(t);
		pages_release(t, lruvec_host(lruvec), frames, orphans);
	}
	met_dirty(t, sc, classic_type(lru), taken, &result.met);
	sc->nr_scanned += scanned;
	return result.freed;
}

/* ---- the active list ---- */

void classic_shrink_active(struct task *t, struct lruvec *lruvec, enum lru_list lru, uint32_t nr,
			   struct scan_control *sc)
{
	struct host *host = lruvec_host(lruvec);
	frame_t frames[SWAP_CLUSTER_MAX];
	uint32_t scanned, taken, orphans;
	struct lruvec *locked = lruvec;

	(void)sc;
	lru_add_drain(t);
	spin_lock_irq(t, lruvec->lock);
	scanned = isolate(t, lruvec, lru, nr, frames, &taken);
	count_memcg_events(t, lruvec->memcg, PGREFILL, scanned);
	spin_unlock_irq(t, lruvec->lock);
	task_sync(t);
	for (uint32_t i = 0; i < taken; i++) {
		struct page *page = page_of(host, frames[i]);

		cpu_defer(t, host->costs->reclaim_page);
		page->flags &= (uint16_t) ~(PG_ACTIVE | PG_YOUNG);
		page->flags |= PG_WORKINGSET;
	}
	spin_lock_irq(t, lruvec->lock);
	orphans = put_back(t, &locked, frames, taken);
	count_memcg_events(t, lruvec->memcg, PGDEACTIVATE, taken - orphans);
	spin_unlock_irq(t, locked->lock);
	if (orphans) {
		task_sync(t);
		pages_release(t, host, frames, orphans);
	}
}
