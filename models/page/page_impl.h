/*
 * page_impl.h - inside of the page model: what its files share.
 */
#ifndef MODELS_PAGE_PAGE_IMPL_H
#define MODELS_PAGE_PAGE_IMPL_H

#include "models/host/costs.h"
#include "models/page/page.h"
#include "models/stat/stat.h"
#include "sim/results/record.h"

static inline struct page *page_of(const struct host *host, frame_t frame)
{
	return &host->pages->pages[frame];
}

static inline struct memcg *page_memcg(const struct host *host, const struct page *page)
{
	return host->cgroups->all[page->memcg];
}

static inline struct page_cpu *page_cpu(const struct host *host, const struct task *t)
{
	return &host->pages->cpus[t->cpu->id];
}

/* ---- frames.c ---- */

/*
 * A frame of the running CPU's node, or of another when that has too few left. May wake kswapd, and reclaim
 * itself; NO_FRAME: nothing helped. In a step, at the start and at the end.
 */
frame_t frame_alloc(struct task *t, struct host *host);
/* The same as long as some node's free frames are above the mark: get_page_from_freelist(). */
frame_t frame_alloc_above(struct task *t, struct host *host, enum watermark mark);
void frame_free(struct task *t, struct host *host, frame_t frame);
uint64_t frames_used(const struct host *host);
void frames_build(struct host *host);

static inline uint64_t node_free(const struct host *host, uint32_t node)
{
	return host->pages->nodes[node].nr_free;
}
static inline uint64_t node_watermark(const struct host *host, uint32_t node, enum watermark mark)
{
	return host->pages->nodes[node].watermark[mark];
}
void watermarks_build(struct host *host); /* watermarks.c */

/* The frame as a page of m, charged by the caller in this step. */
void page_charged(struct host *host, frame_t frame, const struct memcg *m, uint32_t object, uint32_t index,
		  uint32_t flags);

/* ---- lru.c ---- */

/* folio_add_lru(): into the running CPU's batch. In a step. */
void page_add_lru(struct task *t, struct host *host, frame_t frame);
/* folio_mark_accessed(): the LRU's. In a step. */
void page_mark_accessed(struct task *t, struct host *host, frame_t frame);
/* For the LRUs. folio_activate(): into the running CPU's batch of pages to be made active. In a step. */
void page_activate_later(struct task *t, struct host *host, frame_t frame);
/* Is it among the pages that wait on the running CPU to be put on their lists? */
bool page_in_add_batch(const struct host *host, const struct task *t, frame_t frame);
/* folio_lruvec_relock_irq(): the page's lruvec, locked; what is locked before is let go unless it is the same. */
struct lruvec *lruvec_relock_irq(struct task *t, struct host *host, const struct page *page,
				 struct lruvec *locked);
/* release_pages() and the uncharging of what it frees: pages that nothing maps or finds any more. */
void pages_release(struct task *t, struct host *host, frame_t *frames, uint32_t nr);

void lru_build(struct host *host);

/* ---- anon.c, file.c: whether an object has the frame at that place ---- */

enum page_object_kind { OBJECT_ANON, OBJECT_FILE };
struct page_object { /* the first member of both */
	enum page_object_kind kind;
	uint32_t id;
	uint64_t nr_pages, present;
	frame_t *frames; /* by index */
	struct mapping *mapping; /* that of its one process; NULL: not mapped so far; mapping.h */
	bool owned;      /* by the task that touched it first */
	struct page_object *next_owned; /* of the same task */
};
void page_object_init(struct host *host, struct page_object *object, enum page_object_kind kind,
		      uint64_t nr_pages);

/* The object is memory of the running task (until it ends): for the OOM killer. */
void page_object_own(struct task *t, struct page_object *object);
/* exit_mmap(): all of an anonymous object goes, by whoever does it for the task. */
void anon_exit(struct task *t, struct page_object *object);

/* ---- invariants.c ---- */

void pages_check(struct host *host, struct record *record);

#endif
