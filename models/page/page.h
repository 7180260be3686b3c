/*
 * page.h - page frames, lruvecs, folio batches, and the memory objects that own pages.
 *
 * Every page is an entity of at most 32 bytes in one flat array, named by a 32-bit number (a frame); lists are
 * linked by frame numbers. No pointers, no allocation per page. An lruvec is one (memcg, node). Kernel:
 * struct folio, struct lruvec; mm/swap.c (batches), mm/memory.c, mm/filemap.c.
 */
#ifndef MODELS_PAGE_PAGE_H
#define MODELS_PAGE_PAGE_H

#include "models/cgroup/memcg.h"
#include "sim/hw/lock.h"

typedef uint32_t frame_t;
#define NO_FRAME UINT32_MAX

enum lru_list { LRU_INACTIVE_ANON, LRU_ACTIVE_ANON, LRU_INACTIVE_FILE, LRU_ACTIVE_FILE, LRU_UNEVICTABLE, NR_LRU_LISTS };

enum page_flag {
	PG_LRU = 1, PG_ACTIVE = 2, PG_REFERENCED = 4, PG_WORKINGSET = 8, PG_DIRTY = 16, PG_WRITEBACK = 32,
	PG_ANON = 64, PG_SWAPBACKED = 128, PG_MAPPED = 256
};

struct page {
	uint32_t prev, next; /* on its LRU list */
	uint32_t memcg;      /* memcg id; its owner */
	uint32_t object;     /* which object it belongs to */
	uint32_t index;      /* and where in it */
	uint16_t flags;
	uint8_t node, order;
	uint8_t refs, gen;   /* MGLRU */
	uint16_t spare;
};
_Static_assert(sizeof(struct page) <= 32, "a page is at most 32 bytes");

struct lruvec {
	struct spinlock lock; /* class "lruvec->lru_lock" */
	struct memcg *memcg;
	uint32_t node;
	frame_t head[NR_LRU_LISTS], tail[NR_LRU_LISTS];
	uint64_t lru_zone_size[NR_LRU_LISTS]; /* exact, beside the flushed counters */
};
struct lruvec *memcg_lruvec(struct memcg *m, uint32_t node);

/* Anonymous memory of one task: a range of virtual pages. */
struct anon_object;
struct anon_object *anon_create(struct host *host, struct memcg *m, uint64_t nr_pages);
/* One touch (8-byte write) of page `index` by the running task: a fault if it is not there. True: present. */
bool anon_touch(struct task *t, struct anon_object *a, uint64_t index);
/* MADV_DONTNEED of [from, from + nr): zap_page_range. */
void anon_zap(struct task *t, struct anon_object *a, uint64_t from, uint64_t nr);
uint64_t anon_present(const struct anon_object *a);

/* Page cache of one file; pages are charged to the memcg of the task that brings them in. */
struct file_object;
struct file_object *file_create(struct host *host, uint64_t nr_pages);
enum file_result { FILE_HIT, FILE_MISS, FILE_NOMEM };
enum file_result file_read(struct task *t, struct memcg *m, struct file_object *f, uint64_t index);
/* posix_fadvise(DONTNEED) of clean pages in [from, from + nr). */
void file_drop(struct task *t, struct file_object *f, uint64_t from, uint64_t nr);

/* lru_add_drain(): the running CPU's folio batches go to their lists. */
void lru_add_drain(struct task *t);

void page_build(struct host *host);
void page_finish(struct host *host); /* invariants I5, I9, I10 */

#endif
