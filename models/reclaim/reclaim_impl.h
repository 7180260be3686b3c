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

/* ---- core.c, walk.c ---- */

/* do_try_to_free_pages(): passes until enough is reclaimed or nothing helps. */
uint64_t try_to_free_pages(struct task *t, struct scan_control *sc);
/* One pass over one node at sc->priority. */
void shrink_node(struct task *t, uint32_t node, struct scan_control *sc);

/* ---- check.c ---- */

#ifndef NDEBUG
/* After a call: invariants, every so often. What is broken ends the run. */
void reclaim_check(struct task *t, const struct scan_control *sc);
#else
static inline void reclaim_check(struct task *t, const struct scan_control *sc)
{
	(void)t;
	(void)sc;
}
#endif

/* ---- kswapd.c ---- */

/* Somebody else could reclaim from the node: it is not hopeless. */
void kswapd_succeeded(struct host *host, uint32_t node);

#endif
