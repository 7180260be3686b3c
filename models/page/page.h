/*
 * page.h - page frames, lruvecs, folio batches, and the memory objects that own pages.
 *
 * Every page is an entity of at most 32 bytes in one flat array, named by a 32-bit number (a frame); lists
 * are linked by frame numbers. No pointers, no allocation per page. Frame 0 is never handed out, so zeroed
 * memory names no page. An lruvec is one (memcg, node). Kernel: struct folio, struct lruvec; mm/swap.c
 * (batches), mm/memory.c, mm/filemap.c.
 */
#ifndef MODELS_PAGE_PAGE_H
#define MODELS_PAGE_PAGE_H

#include "models/cgroup/memcg.h"
#include "sim/hw/lock.h"
#include "sim/hw/work.h"

typedef uint32_t frame_t;
#define NO_FRAME 0u

#define PAGE_BATCH_MOST 31u  /* entries of a folio batch, at most */
#define PAGES_PER_TABLE 512u /* page-table entries of one page of the lowest level */

enum lru_list {
	LRU_INACTIVE_ANON,
	LRU_ACTIVE_ANON,
	LRU_INACTIVE_FILE,
	LRU_ACTIVE_FILE,
	LRU_UNEVICTABLE,
	NR_LRU_LISTS
};

enum page_flag {
	PG_LRU = 1,
	PG_ACTIVE = 2,
	PG_REFERENCED = 4,
	PG_WORKINGSET = 8,
	PG_DIRTY = 16,
	PG_WRITEBACK = 32,
	PG_ANON = 64,
	PG_SWAPBACKED = 128,
	PG_MAPPED = 256,
	PG_CACHED = 512,      /* in the page cache of its file */
	PG_CHARGED = 1024,    /* to page.memcg */
	PG_ORPHAN = 2048,     /* nobody's any more, but somebody still holds a reference (page.batched) */
	PG_YOUNG = 4096,      /* the hardware's accessed bit: set by every touch of a mapped page */
	PG_LOCKED = 8192,     /* on its way in: who wants what is in it waits (page_wait) */
	PG_SWAPCACHE = 16384, /* on its way out: its swap slot is taken */
	PG_RECLAIM = 32768    /* to be evicted as soon as it is written */
};

struct page {
	uint32_t prev, next; /* on its LRU list; on a free list only next */
	uint32_t memcg;      /* memcg id that it was charged to; its owner: page_memcg() */
	uint32_t object;     /* which object it belongs to */
	uint32_t index;      /* and where in it */
	uint16_t flags, node;
	uint8_t order;
	uint8_t refs, gen; /* MGLRU */
	uint16_t batched;  /* references of folio batches, and of who has it off its list (reclaim) */
	uint16_t cpu;      /* that last wrote its struct page: took it, freed it, or moved it on a list */
};
_Static_assert(sizeof(struct page) <= 32, "a page is at most 32 bytes");

/* Frames linked by page.prev and page.next; zeroed: empty. Helpers in page_list.h. */
struct page_list {
	frame_t head, tail;
};

/* Where the walk of who reclaims this memcg's subtree stands (mem_cgroup_reclaim_iter). */
struct reclaim_iter {
	struct memcg *position;
	uint32_t generation;
};

struct lruvec {
	struct spinlock *lock; /* own_lock, or that of all lruvecs of the node (axis lru_lock) */
	struct spinlock own_lock;
	struct memcg *memcg;
	uint32_t node;
	uint64_t lru_zone_size[NR_LRU_LISTS]; /* exact, beside the flushed counters */
	struct line list_line, size_line;     /* of the list heads, of lru_zone_size; lru_lines.c */
	struct reclaim_iter iter;
	bool congested; /* LRUVEC_CONGESTED: all dirty pages that reclaim for it met are being written */
	void *policy;   /* lists and all else that the LRU keeps: reclaim_ops->lruvec_size bytes */
};
struct lruvec *lruvec_create(struct memcg *m, uint32_t node);
void lruvecs_free(struct memcg *m); /* of a removed cgroup, which has no pages */

static inline struct lruvec *memcg_lruvec(struct memcg *m, uint32_t node)
{
	return m->lruvecs && m->lruvecs[node] ? m->lruvecs[node] : lruvec_create(m, node);
}

enum watermark { WMARK_MIN, WMARK_LOW, WMARK_HIGH, NR_WMARKS };

/* Free frames of a zone, and of a zone on one CPU (struct per_cpu_pages). */
struct page_zone {
	struct spinlock lock; /* class "&zone->lock" */
	frame_t free;         /* a stack */
	frame_t kernel;       /* those that kernel memory has, a stack */
	uint64_t nr_kernel;
	frame_t fresh, end; /* never used so far */
	frame_t first;      /* of its frames */
	uint64_t nr_free;
	uint64_t watermark[NR_WMARKS]; /* of nr_free; watermarks.c */
	uint64_t reserve;              /* on top of each mark: lowmem_reserve for ordinary allocations */
	uint32_t batch;                /* frames that move between a CPU and the zone at a time */
	uint32_t high;                 /* most frames on one CPU's list */
	bool reclaiming;               /* ZONE_RECLAIM_ACTIVE: kswapd is at work */
};
struct page_node {
	struct spinlock lru_lock; /* lru_lock: per_node */
};
struct page_cpu_list {
	frame_t free;
	uint32_t nr;
	uint32_t free_factor; /* how often frames went back with none taken between: doubles what goes */
};
struct folio_batch {
	uint32_t nr;
	frame_t frames[PAGE_BATCH_MOST];
};
struct page_cpu {
	/* Not yet on a list; to be made active; to be reclaimed first, for they are written. */
	struct folio_batch add, activate, rotate;
	struct work drain;
	struct page_drain *waiting; /* the lru_add_drain_all() that wants this CPU's */
};

struct page_object;  /* page_impl.h */
struct page_waiters; /* wait.c */

struct page_state {
	struct page *pages;
	struct page_node *nodes;
	struct page_cpu *cpus;
	struct page_zone *zones;     /* one a node, by its number, and after them the first node's ZONE_DMA */
	uint32_t nr_zones;           /* nr_nodes, and one more where there is a ZONE_DMA */
	frame_t dma_end;             /* frames below are ZONE_DMA's */
	struct page_cpu_list *lists; /* [cpu * nr_zones + zone] */
	uint64_t nr_kernel;          /* frames that kernel memory has */
	uint64_t nr_cache_nodes;     /* of all trees */
	uint32_t batch;              /* PAGEVEC_SIZE */
	bool node_lock;              /* lru_lock: per_node */
	struct lock_class *lru_class, *cache_class;
	struct workqueue *queue; /* mm_percpu_wq */
	struct mutex drain_mutex;
	uint32_t shmem_under_way;     /* pages of which NR_FILE_PAGES is counted, and NR_SHMEM not yet */
	uint32_t turning;             /* pages that are counted twice or not, as active or inactive */
	struct mutex shmem_swaplist;  /* shmem_swaplist_mutex, up to 6.16 */
	struct page_object **objects; /* by page.object */
	uint32_t nr_objects, objects_capacity;
	uint64_t nr_indices; /* of all objects: what a look at them costs */
	struct page_waiters *waiters;
};

/* ---- anonymous memory of one task: a range of virtual pages; anon.c ---- */

struct anon_object;
struct anon_object *anon_create(struct host *host, struct memcg *m, uint64_t nr_pages);
/* Where it begins within a 2 MiB page table, in pages, if not at 0. Before the first touch. */
void anon_place(struct anon_object *a, uint32_t offset);
/*
 * One touch (8-byte write) of page `index` by the running task: a fault if it is not there. False: there was
 * no memory, or none within a limit (the level is in *failed; NULL: the machine itself has none).
 */
bool anon_touch(struct task *t, struct anon_object *a, uint64_t index, struct memcg **failed);
/* MADV_DONTNEED of [from, from + nr): zap_page_range. */
void anon_zap(struct task *t, struct anon_object *a, uint64_t from, uint64_t nr);
/* munmap() of all of it, page tables included; the object may be used again. */
void anon_unmap(struct task *t, struct anon_object *a);
uint64_t anon_present(const struct anon_object *a);
bool anon_is_present(const struct anon_object *a, uint64_t index);

/* ---- page cache of one file; pages are charged to the memcg of the task that brings them in; file.c ---- */

struct file_object;
struct disk;
/* On a RAM disk, unless file_place() names another before its first use. */
struct file_object *file_create(struct host *host, uint64_t nr_pages);
void file_place(struct file_object *f, struct disk *disk);
/*
 * It has nothing yet: each page takes room on its disk when it is first written. Once, before its first use.
 */
void file_begin_empty(struct file_object *f);
enum file_result { FILE_HIT, FILE_MISS, FILE_NOMEM, FILE_NOSPC };
/* One page of a read(2), without the system call's own cost. *failed as in anon_touch(). */
enum file_result file_read(struct task *t, struct memcg *m, struct file_object *f, uint64_t index,
			   struct memcg **failed);
/*
 * The same through an open file, which starts with *position NO_INDEX: two reads in a row of one page count
 * as one access.
 */
#define NO_INDEX UINT64_MAX
enum file_result file_read_open(struct task *t, struct memcg *m, struct file_object *f, uint64_t index,
				uint64_t *position, struct memcg **failed);
/* A load from a shared mapping of the file: a fault unless it is mapped; file_map.c. */
enum file_result file_touch(struct task *t, struct memcg *m, struct file_object *f, uint64_t index,
			    struct memcg **failed);
/* munmap() of all of it by its last user. */
void file_unmap(struct task *t, struct file_object *f);
/*
 * One whole page of a write(2): dirty from then on, until the flusher or file_sync() writes it; file_write.c.
 * FILE_NOSPC: it would have to grow a file that has no room, and nothing is changed.
 */
enum file_result file_write(struct task *t, struct memcg *m, struct file_object *f, uint64_t index,
			    struct memcg **failed);
void file_sync(struct task *t, struct file_object *f);
uint64_t file_dirty(const struct file_object *f); /* pages */
/* posix_fadvise(DONTNEED) of clean pages in [from, from + nr). */
void file_drop(struct task *t, struct file_object *f, uint64_t from, uint64_t nr);
/* A write of 1 to /proc/sys/vm/drop_caches: clean pages of all files that nobody maps. */
void file_drop_caches(struct task *t, struct host *host);
/* truncate() to so many pages; file_truncate.c. */
void file_truncate(struct task *t, struct file_object *f, uint64_t from);
uint64_t file_present(const struct file_object *f);
/*
 * Of blocks of a disk, read as such: their buffers are on the list of those last used of some CPU (bh_lru),
 * and as long as they are their pages can neither be reclaimed nor dropped.
 */
void file_hold_buffers(struct file_object *f);
uint64_t file_size(const struct file_object *f); /* pages */

/* ---- files in memory: pages of swap; tmpfs.c ---- */

struct tmpfs_object;
struct tmpfs_object *tmpfs_create(struct host *host, uint64_t nr_pages);
/* One page of a write(2), or of a read(2), which finds zeroes where nothing was written and makes no page. */
enum file_result tmpfs_write(struct task *t, struct memcg *m, struct tmpfs_object *o, uint64_t index,
			     struct memcg **failed);
enum file_result tmpfs_read(struct task *t, struct memcg *m, struct tmpfs_object *o, uint64_t index,
			    struct memcg **failed);
/* One page of a fallocate(2): there, and zero, but neither copied nor accessed. */
enum file_result tmpfs_fallocate(struct task *t, struct memcg *m, struct tmpfs_object *o, uint64_t index,
				 struct memcg **failed);
/* unlink(), or truncate() to nothing: every page and every swap slot goes; the object may be used again. */
void tmpfs_remove(struct task *t, struct tmpfs_object *o);
uint64_t tmpfs_present(const struct tmpfs_object *o);

/* lru_add_drain(): the running CPU's folio batches go to their lists. */
void lru_add_drain(struct task *t);
/* The same on every CPU that has something in them; waits for it. */
void lru_add_drain_all(struct task *t);

void page_build(struct host *host);  /* host->memory, nr_nodes, nr_cpus, kernel_version are set */
void page_finish(struct host *host); /* invariants I5, and pages = charges */

#endif
