/*
 * reclaim_impl.h - inside of reclaim: what its core and its LRUs share.
 */
#ifndef MODELS_RECLAIM_RECLAIM_IMPL_H
#define MODELS_RECLAIM_RECLAIM_IMPL_H

#include "models/host/costs.h"
#include "models/page/page_impl.h"
#include "models/page/page_list.h"
#include "models/reclaim/reclaim.h"
#include "models/stat/stat.h"

static inline enum lru_type page_type(const struct page *page)
{
	return page->flags & PG_SWAPBACKED ? LRU_ANON : LRU_FILE;
}

static inline struct host *lruvec_host(const struct lruvec *lruvec)
{
	return lruvec->memcg->host;
}

/*
 * PGDEMOTE_*: how many pages of a batch went to slower memory, of which there is none here. From 6.12 on both
 * LRUs count it by lruvec, after every batch: shrink_inactive_list(), evict_folios().
 */
static inline void count_demoted(struct task *t, const struct lruvec *lruvec)
{
	if (lruvec_host(lruvec)->kernel_version >= 612)
		stat_update_by_0(t, lruvec->memcg);
}

/* ---- core.c, walk.c ---- */

/* do_try_to_free_pages(): passes until enough is reclaimed or nothing helps. */
uint64_t try_to_free_pages(struct task *t, struct scan_control *sc);
/*
 * In a walk whose memcgs take no time: those behind m without pages, if nothing else happens meanwhile.
 * Returns the last of them, held instead of m, or m.
 */
struct memcg *pass_empty_at_once(struct task *t, struct memcg *m);
/* One pass over one node at sc->priority. */
void shrink_node(struct task *t, uint32_t node, struct scan_control *sc);

/* ---- throttle.c ---- */

/* Why who reclaims may have to wait; enum vmscan_throttle_state. */
enum throttle_reason { THROTTLE_WRITEBACK, THROTTLE_CONGESTED, THROTTLE_NOPROGRESS, NR_THROTTLE_REASONS };
/* After a pass over a node, from what it met of dirty pages: marks the node or the target, perhaps waits. */
void throttle_after_pass(struct task *t, struct lruvec *target, struct scan_control *sc);
/* After a pass over all nodes, `node` the nearest: waits if it got nothing. */
void throttle_without_progress(struct task *t, uint32_t node, const struct scan_control *sc);
/* After a call by the page allocator that got nothing. */
void throttle_before_retry(struct task *t, const struct host *host, uint32_t node);
/* Nodes that are balanced, and cgroups at the end of a call, are congested no more. */
void throttle_node_done(struct host *host, uint32_t node);
/* PGDAT_WRITEBACK: is so much of what kswapd meets under writeback that it is to wait for it? */
bool throttle_node_writes(const struct host *host, uint32_t node);
void throttle_start(struct host *host);

/* ---- vmpressure.c ---- */

/* Counts what a pass over a node has scanned, and the priority of the next. */
void vmpressure(struct task *t, const struct scan_control *sc, uint64_t scanned);
void vmpressure_prio(struct task *t, const struct scan_control *sc);

/* ---- check.c ---- */

#ifndef NDEBUG
/* After a call: invariants, every so often. What is broken ends the run. */
void reclaim_check(struct task *t, const struct scan_control *sc);
/* Notes for it: pages of this lruvec are judged; this page is to leave its object. */
void reclaim_touches(const struct lruvec *lruvec);
void reclaim_touches_page(const struct host *host, const struct page *page);
#else
static inline void reclaim_check(struct task *t, const struct scan_control *sc)
{
	(void)t;
	(void)sc;
}
static inline void reclaim_touches(const struct lruvec *lruvec)
{
	(void)lruvec;
}
static inline void reclaim_touches_page(const struct host *host, const struct page *page)
{
	(void)host;
	(void)page;
}
#endif

/* ---- kswapd.c ---- */

/* Somebody else could reclaim from the node: it is not hopeless. */
bool kswapd_hopeless(const struct host *host, uint32_t node);
void kswapd_succeeded(struct host *host, uint32_t node);

#endif
