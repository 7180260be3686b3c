/*
 * folio_list.c - what becomes of pages that an LRU has taken off its lists, after shrink_folio_list() of
 * mm/vmscan.c, Linux 6.1.
 *
 * The LRU judges each page first (was it used?). One that is to go leaves its object with a shadow in its
 * place (object_evict()) and is freed with the others at the end: they are uncharged together and directly,
 * never through a CPU's stock. The rest are handed back with what is to be done with them.
 *
 * While a page is here it is on no list, and reclaim's reference (page.batched) keeps others from freeing it:
 * whoever lets go of it meanwhile makes it an orphan, which is freed here.
 */
#include "models/page/evict.h"
#include "models/reclaim/reclaim_impl.h"

/* An object_evict() that failed, as what happens to the page. */
static enum fate fate_of(enum evict_result result)
{
	switch (result) {
	case EVICT_GONE:
		return FATE_FREED;
	case EVICT_DIRTY:
	case EVICT_BUFFERS:
	case EVICT_NO_SWAP:
		return FATE_ACTIVATE;
	default:
		return FATE_KEEP;
	}
}

/*
 * A page that is being written: it is to be reclaimed as soon as that is done, and until then out of the
 * way, on the active list. kswapd, on a node that is busy writing, is to wait for those it meets again.
 */
static enum fate under_writeback(const struct host *host, struct page *page, const struct scan_control *sc,
				 struct met_dirty *met)
{
	if (sc->kswapd && page->flags & PG_RECLAIM && throttle_node_writes(host, page->node)) {
		met->immediate++;
	} else {
		page->flags |= PG_RECLAIM;
		met->writeback++;
	}
	return FATE_ACTIVATE;
}

/* folio_check_dirty_writeback(): of files, which flushers write. */
static void count_dirty(const struct page *page, struct met_dirty *met)
{
	bool dirty = page->flags & PG_DIRTY, writeback = page->flags & PG_WRITEBACK;

	if (page->flags & PG_SWAPBACKED)
		return;
	met->dirty += dirty || writeback;
	met->unqueued_dirty += dirty && !writeback;
	met->congested += writeback && page->flags & PG_RECLAIM;
}

static enum fate reclaim_page(struct task *t, struct lruvec *lruvec, frame_t frame, struct scan_control *sc,
			      judge_fn judge, struct pageout *out, struct shrink_result *result)
{
	struct host *host = lruvec_host(lruvec);
	struct page *page = page_of(host, frame);
	enum fate fate;

	cpu_defer(t, host->costs->reclaim_page);
	if (page->flags & PG_ORPHAN)
		return FATE_FREED;
	if (page->flags & (PG_DIRTY | PG_WRITEBACK))
		count_dirty(page, &result->met);
	if (page->flags & PG_WRITEBACK)
		return under_writeback(host, page, sc, &result->met);
	fate = judge(t, lruvec, frame, sc);
	if (fate == FATE_FREED) {
		reclaim_touches_page(host, page);
		fate = fate_of(object_evict(t, host, frame, sc->target, out));
	}
	return page->flags & PG_ORPHAN ? FATE_FREED : fate;
}

/*
 * Neither their objects have them any more nor, from here on, reclaim. All references are dropped at once and
 * not one by one as pages are judged: judging sleeps, and of an orphan whose count has already fallen to that
 * of a batch the batch would drop the last one, and free what is freed here again.
 */
static void release(struct task *t, struct host *host, frame_t *frames, uint32_t nr)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < nr; i++) {
		struct page *page = page_of(host, frames[i]);

		page->flags |= PG_ORPHAN;
		if (page_put(page))
			frames[last++] = frames[i];
	}
	if (last)
		pages_release(t, host, frames, last);
}

uint32_t shrink_folio_list(struct task *t, struct lruvec *lruvec, frame_t *frames, enum fate *fates,
			   uint32_t nr, struct scan_control *sc, judge_fn judge, struct shrink_result *result)
{
	struct host *host = lruvec_host(lruvec);
	struct pageout out = { 0 };
	frame_t freed[SHRINK_MOST];
	uint32_t kept = 0, nr_freed = 0;

	assert(nr <= SHRINK_MOST);
	reclaim_touches(lruvec);
	*result = (struct shrink_result){ 0 };
	task_sync(t);
	for (uint32_t i = 0; i < nr; i++) {
		enum fate fate = reclaim_page(t, lruvec, frames[i], sc, judge, &out, result);
		struct page *page = page_of(host, frames[i]);

		task_sync(t);
		if (fate == FATE_FREED) {
			freed[nr_freed++] = frames[i];
			continue;
		}
		if (fate == FATE_ACTIVATE) {
			page->flags |= PG_ACTIVE;
			result->activated[page_type(page)]++;
		}
		frames[kept] = frames[i];
		fates[kept++] = fate;
	}
	swap_unplug(t, &out.plug);
	result->written = out.written;
	result->freed = nr_freed;
	release(t, host, freed, nr_freed);
	return kept;
}
