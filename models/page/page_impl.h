/*
 * page_impl.h - inside of the page model: what its files share.
 */
#ifndef MODELS_PAGE_PAGE_IMPL_H
#define MODELS_PAGE_PAGE_IMPL_H

#include "models/host/costs.h"
#include "models/page/cache_tree.h"
#include "models/page/page.h"
#include "models/page/slot.h"
#include "models/stat/stat.h"
#include "sim/results/record.h"

static inline struct page *page_of(const struct host *host, frame_t frame)
{
	return &host->pages->pages[frame];
}

static inline struct memcg *page_memcg(const struct host *host, const struct page *page)
{
	return host->cgroups->page_owners[page->memcg * host->nr_nodes + page->node];
}

static inline struct page_cpu *page_cpu(const struct host *host, const struct task *t)
{
	return &host->pages->cpus[t->cpu->id];
}

/* Clearing a page, copying one: beside its time, it passes through the caches of the CPU. In a step. */
static inline void page_clear(struct task *t, const struct host *host)
{
	cpu_defer(t, host->costs->page_clear);
	cache_stream(t, PAGE_SIZE);
}
static inline void page_copy(struct task *t, const struct host *host)
{
	cpu_defer(t, host->costs->page_copy);
	cache_stream(t, PAGE_SIZE);
}

/* ---- references: page.batched, and one of the page's owner, which is gone when it is an orphan ---- */

/*
 * folio_try_get(): not if the last reference is gone, for then somebody waits for the lock of the page's list
 * to take it off and free it.
 */
static inline bool page_try_get(struct page *page)
{
	if (!page->batched && page->flags & PG_ORPHAN)
		return false;
	page->batched++;
	return true;
}
/* folio_put_testzero(): true: that was the last one, and who drops it calls pages_release(). */
static inline bool page_put(struct page *page)
{
	return !--page->batched && page->flags & PG_ORPHAN;
}

/* ---- frames.c ---- */

/*
 * A frame of the running CPU's node, or of another when that has too few left. May wake kswapd, and reclaim
 * itself; who reclaims (task_reclaims()) gets what there is. NO_FRAME: nothing helped. In a step, at the
 * start and at the end.
 */
frame_t frame_alloc(struct task *t, struct host *host);
void frame_free(struct task *t, struct host *host, frame_t frame);
/* drain_all_pages(), but of the running CPU alone: its free frames go back to their nodes. */
void frames_drain(struct task *t, struct host *host);
uint64_t frames_used(const struct host *host);
/* The next of a zone that has some free; the caller makes it somebody's in the same step. */
frame_t zone_take(struct page_state *ps, struct page_zone *zone, uint32_t nid);
static inline frame_t frame_pop(struct page *pages, frame_t *stack)
{
	frame_t frame = *stack;

	*stack = pages[frame].next;
	return frame;
}
static inline void frame_push(struct page *pages, frame_t *stack, frame_t frame)
{
	pages[frame].next = *stack;
	*stack = frame;
}
void frames_build(struct host *host);

/* ---- kernel_frames.c: what the kernel has for itself (slab.h, percpu.h, page tables) ---- */

/*
 * So many frames, of the node if it has them; false: none. Who may sleep reclaims for them and calls the OOM
 * killer, others (preemption or interrupts off: GFP_NOWAIT) get what is above the min mark. In a step, at the
 * start and at the end.
 */
bool kernel_frames_get(struct task *t, struct host *host, uint32_t node, uint32_t nr);
/* Only as long as some node is above its min mark, and without waking anybody. In a step. */
bool kernel_frames_try(struct host *host, uint32_t node, uint32_t nr);
/* What it has at boot: whatever the marks. */
void kernel_frames_boot(struct host *host, uint32_t node, uint64_t nr);
void kernel_frames_put(struct host *host, uint32_t node, uint64_t nr);

/* The zones of a node, in the order in which allocations come to them; NULL after the last. */
static inline struct page_zone *node_zone(const struct host *host, uint32_t node)
{
	return &host->pages->zones[node];
}
static inline struct page_zone *node_zone_next(const struct host *host, const struct page_zone *zone)
{
	const struct page_state *ps = host->pages;

	return zone == ps->zones && ps->nr_zones > host->nr_nodes ? &ps->zones[host->nr_nodes] : NULL;
}

/* zone_watermark_ok() for an ordinary page. */
static inline bool zone_above(const struct page_zone *zone, enum watermark mark)
{
	return zone->nr_free > zone->watermark[mark] + zone->reserve;
}

/* watermarks.c; sums over the zones of a node, marks without reserves */
uint64_t node_free(const struct host *host, uint32_t node);
uint64_t node_watermark(const struct host *host, uint32_t node, enum watermark mark);
/* Is some zone of the node, is every one above its mark, and by `more` frames? */
bool node_above(const struct host *host, uint32_t node, enum watermark mark);
bool node_all_above(const struct host *host, uint32_t node, enum watermark mark, uint64_t more);
void watermarks_build(struct host *host);

/* The frame as a page of m, charged by the caller in this step. */
void page_charged(struct host *host, frame_t frame, struct memcg *m, uint32_t object, uint32_t index,
		  uint32_t flags);

/* ---- lru.c ---- */

/* folio_add_lru(): into the running CPU's batch. In a step. */
void page_add_lru(struct task *t, struct host *host, frame_t frame);
/* folio_mark_accessed(): the LRU's. In a step. */
void page_mark_accessed(struct task *t, struct host *host, frame_t frame);
/* For the LRUs. folio_activate(): into the running CPU's batch of pages to be made active. In a step. */
void page_activate_later(struct task *t, struct host *host, frame_t frame);
/* folio_rotate_reclaimable(): into that CPU's batch of pages that are to be reclaimed first. */
void page_rotate_later(struct task *t, struct host *host, frame_t frame, uint32_t cpu);
/* Is it among the pages that wait on the running CPU to be put on their lists? */
bool page_in_add_batch(const struct host *host, const struct task *t, frame_t frame);
/*
 * folio_lruvec_relock_irq(): the page's lruvec, locked; what is locked before is let go unless it is the
 * same.
 */
struct lruvec *lruvec_relock_irq(struct task *t, struct host *host, const struct page *page,
				 struct lruvec *locked);
/* release_pages() and the uncharging of what it frees: pages that nothing maps or finds any more. */
void pages_release(struct task *t, struct host *host, frame_t *frames, uint32_t nr);

void lru_build(struct host *host);

/* ---- lru_lines.c ---- */

/* The lines that an operation on a list writes, at what they cost beyond hits. */
void lru_touch_lines(struct task *t, struct lruvec *lruvec, struct page *pages, frame_t frame);

/*
 * The page has just been put on a list, or is about to be taken off: the lines that this writes, where they
 * come from another CPU. Under the lruvec's lock. Nothing to do, and quickly seen, for one CPU alone.
 */
static inline void lru_touch(struct task *t, struct lruvec *lruvec, struct page *pages, frame_t frame)
{
	const struct page *page = &pages[frame];
	uint32_t cpu = t->cpu->id, heads = lruvec->list_line.owner;

	if (page->cpu != cpu || lruvec->size_line.owner != cpu ||
	    (page->prev ? pages[page->prev].cpu : heads) != cpu ||
	    (page->next ? pages[page->next].cpu : heads) != cpu || t->cpu->caches)
		lru_touch_lines(t, lruvec, pages, frame);
}

/* ---- objects.c ---- */

enum page_object_kind { OBJECT_ANON, OBJECT_FILE, OBJECT_TMPFS, OBJECT_SWAP };
struct page_object { /* the first member of each kind of object */
	enum page_object_kind kind;
	uint32_t id;
	uint64_t nr_pages, present; /* indices; of these, pages that are in memory */
	slot_t *slots;              /* by index */
	struct cache_tree *tree;    /* set before page_object_init(); NULL: anonymous memory */
	struct host *host;
	struct mapping *mapping;        /* that of its one process; NULL: not mapped so far; mapping.h */
	bool owned;                     /* by the task that touched it first */
	struct page_object *next_owned; /* of the same task */
};
void page_object_init(struct host *host, struct page_object *object, enum page_object_kind kind,
		      uint64_t nr_pages);

static inline struct page_object *page_object(const struct host *host, const struct page *page)
{
	return host->pages->objects[page->object];
}

/* The process that maps the object goes to another cgroup: what it touches from now on is that one's. */
void page_object_move(struct page_object *object, struct memcg *to);

/* ---- cache.c: pages into and out of objects that have a tree ---- */

enum cache_result { CACHE_ADDED, CACHE_TAKEN, CACHE_NOMEM };
/*
 * __filemap_add_folio(), shmem_add_to_page_cache(): the frame, charged to m, takes the place of *before, a
 * shadow or nothing (of a file; what it really was is left there), or exactly that swap slot or nothing
 * (tmpfs). CACHE_TAKEN: something else is there by now.
 */
enum cache_result cache_add(struct task *t, struct page_object *object, uint64_t index, frame_t frame,
			    struct memcg *m, slot_t *before, struct memcg **failed);
/* Under the tree's lock: the page at index goes, and `instead` takes its place. */
void cache_del(struct task *t, struct page_object *object, uint64_t index, slot_t instead);
/* Mapped or not any more, with its statistics. In a step. */
void page_map(struct task *t, struct host *host, frame_t frame);
void page_unmap(struct task *t, struct host *host, frame_t frame);

/* ---- wait.c: pages that are on their way in (PG_LOCKED) or out (PG_WRITEBACK) ---- */

/* folio_wait_bit_common(): until it is done. The step ends; the frame may be another page's by then. */
void page_wait(struct task *t, struct host *host, frame_t frame, enum page_flag what);
/* folio_unlock(), folio_end_writeback(): the flag goes, who waits is woken. In a step. */
void page_done(struct task *t, struct host *host, frame_t frame, enum page_flag what);
/*
 * folio_start_writeback(), and its end as the interrupt on that CPU tells of it: one that reclaim waits for
 * goes to the tail of its list. In a step.
 */
void page_begin_writeback(struct task *t, struct host *host, frame_t frame);
void page_end_writeback(struct task *t, struct host *host, frame_t frame, uint32_t cpu);
void page_waiters_build(struct host *host);

/* ---- tmpfs_swap.c ---- */

/* shmem_recalc_inode(): a page came into the file, or went to swap or back. Synchronises. */
void tmpfs_recalc(struct task *t, struct page_object *object);
/* Is a reader of the file (or its remover) to wait for the page behind that slot? Then it has. */
bool tmpfs_swap_wait(struct task *t, struct host *host, slot_t slot);
/* The page that stands behind the slot is the file's again; CACHE_TAKEN: it is not the file's any more. */
enum cache_result tmpfs_from_cache(struct task *t, struct host *host, uint32_t slot, struct memcg **failed);
void tmpfs_build(struct host *host);

/* ---- file.c ---- */

struct file_object {
	struct page_object object;
	struct cache_tree tree;
	struct disk *disk;
	uint64_t *dirty;  /* a bit for each page */
	uint64_t *blocks; /* a bit for each page that has room on the disk; NULL: all have */
	uint64_t nr_dirty;
	sim_time_t dirtied;             /* when the first of them became so */
	struct file_object *next_dirty; /* of the flusher's list */
	bool listed;                    /* on it */
	bool buffers_used;              /* file_hold_buffers() */
	/* NULL, or told when the last page or node of the file is gone; without locks. */
	void (*emptied)(struct task *t, struct file_object *f);
	void *inode; /* whose pages they are */
};
static inline void file_left(struct task *t, struct page_object *object)
{
	struct file_object *f = (struct file_object *)(void *)object;

	if (object->kind == OBJECT_FILE && f->emptied && !object->present && !f->tree.height)
		f->emptied(t, f);
}
/* Not a page, not a shadow. */
bool file_is_empty(const struct file_object *f);
/* invalidate_mapping_pages(): clean pages that nobody refers to, and shadows. */
void file_invalidate(struct task *t, struct file_object *f);
enum file_access { FILE_FOR_READ, FILE_FOR_FAULT, FILE_FOR_WRITE };
/*
 * The page at index, brought in if need be (read from the device unless it is to be overwritten), up to date.
 * Synchronised at the return, where the frame is still there.
 */
enum file_result file_get(struct task *t, struct memcg *m, struct file_object *f, uint64_t index,
			  enum file_access how, frame_t *frame, struct memcg **failed);

/* ---- file_write.c ---- */

/* What pages from `from` on have of the disk's room is free again. In a step. */
void file_give_room(struct file_object *f, uint64_t from);
/* folio_cancel_dirty(): it will not be written. */
void file_cancel_dirty(struct task *t, struct file_object *f, uint64_t index, frame_t frame);
/* Up to `most` dirty pages from *from on, which moves on; NO_INDEX: the end. Waits for the disk. */
uint64_t file_write_out(struct task *t, struct file_object *f, uint64_t *from, uint64_t most);

/* ---- who has anonymous memory: anon.c, objects.c ---- */

/* The object is memory of the running task (until it ends): for the OOM killer. */
void page_object_own(struct task *t, struct page_object *object);
/* exit_mmap(): all of an anonymous object goes, by whoever does it for the task. */
void anon_exit(struct task *t, struct page_object *object);

/* ---- invariants.c ---- */

void pages_check(struct host *host, struct record *record);
/*
 * What can be said of these cgroups without their pages; their lists are walked where they have no more than
 * `most`.
 */
void pages_check_some(struct host *host, const uint32_t *ids, uint32_t nr, uint64_t most,
		      struct record *record);

#endif
