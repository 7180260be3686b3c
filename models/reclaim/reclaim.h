/*
 * reclaim.h - taking pages back: the core that both LRUs share, and the interface of an LRU.
 *
 * The core (models/reclaim) owns the entry points, the priority loop, the walk over memcgs, protection, the
 * slab shrinkers and what happens to an isolated page (shrink_folio_list). An LRU is a value of the axis
 * `reclaim`: it keeps the lists of an lruvec, answers accesses, decides what to scan, and writes and reads
 * the tokens of shadow entries. Kernel: mm/vmscan.c, mm/swap.c, mm/workingset.c.
 *
 * Each decision reads the counter that the kernel reads: stat_reported() (flushed, perhaps stale) or
 * lruvec->lru_zone_size and page counters (exact).
 */
#ifndef MODELS_RECLAIM_RECLAIM_H
#define MODELS_RECLAIM_RECLAIM_H

#include "models/page/page.h"
#include "models/workingset/workingset.h"
#include "sim/results/record.h"

#define SWAP_CLUSTER_MAX    32u
#define DEF_PRIORITY        12
#define MAX_RECLAIM_RETRIES 16u

/* What was met of dirty pages in a pass over a node, of pages taken off the lists; scan_control.nr. */
struct met_dirty {
	uint64_t taken, file_taken;
	uint64_t dirty;          /* of files, written or not */
	uint64_t unqueued_dirty; /* of those, not being written */
	uint64_t congested;      /* of those, met under writeback before */
	uint64_t writeback;      /* any that are being written; to be reclaimed first afterwards */
	uint64_t immediate;      /* those that kswapd waits for */
};

/* What one call of reclaim wants and has; struct scan_control. */
struct scan_control {
	struct memcg *target; /* whose limit; the root for global reclaim */
	bool global;          /* kswapd or direct reclaim of the machine */
	bool kswapd, proactive;
	bool may_swap, may_unmap, may_writepage;
	int priority;
	uint64_t nr_to_reclaim, nr_reclaimed, nr_scanned;
	/* classic: set by the pass over a node, kept over the passes */
	bool may_deactivate[2], force_deactivate, skipped_deactivate;
	bool cache_trim, file_is_tiny;
	uint64_t anon_cost, file_cost;
	bool low_reclaim, low_skipped; /* memory.low is ignored; was in the way */
	bool full_walk;                /* memcg_full_walk: do not stop when enough is reclaimed */
	uint64_t elow, emin;           /* effective protection of the memcg at hand, pages */
	bool walked;                   /* mglru: page tables were walked in this pass over an lruvec */
	struct met_dirty nr;
	bool memcgs_need_aging; /* mglru: no lruvec that need not be aged had enough for kswapd */
};

enum lru_type { LRU_ANON, LRU_FILE };

/* Pages of each list that turn from active to inactive, or the other way round, with their lruvec. */
struct lru_turned {
	uint32_t from[LRU_UNEVICTABLE];
};

struct reclaim_ops {
	/* Private state of an lruvec; zeroed block of this size at lruvec->policy. */
	size_t lruvec_size;
	void (*lruvec_init)(struct lruvec *lruvec);

	/*
	 * Under the lruvec's lock: the page joins (batch drain), leaves, is made active (activation batch).
	 */
	void (*add)(struct task *t, struct lruvec *lruvec, frame_t frame);
	void (*del)(struct task *t, struct lruvec *lruvec, frame_t frame);
	void (*activate)(struct task *t, struct lruvec *lruvec, frame_t frame);
	/*
	 * lru_move_tail_fn(): a page on a list that has been written for reclaim is to be looked at next.
	 * Under the lock too. NULL: it stays where it is.
	 */
	void (*rotate)(struct task *t, struct lruvec *lruvec, frame_t frame);
	/* folio_mark_accessed() of a read(2); in a step. */
	void (*mark_accessed)(struct task *t, struct host *host, frame_t frame);

	/* A pass over one lruvec: shrink_lruvec(); adds to sc->nr_reclaimed and nr_scanned. */
	void (*shrink_lruvec)(struct task *t, struct lruvec *lruvec, struct scan_control *sc);
	/* Start of a pass over a node: flush, prepare_scan_control(). May be NULL. */
	void (*begin_pass)(struct task *t, struct lruvec *target, struct scan_control *sc);
	/* End of a call: snapshot_refaults() of the target. May be NULL. */
	void (*end_call)(struct task *t, struct lruvec *target, struct scan_control *sc);
	/* kswapd_age_node(): before each of kswapd's passes. May be NULL. */
	void (*age_node)(struct task *t, uint32_t node, struct scan_control *sc);
	/*
	 * kswapd and direct reclaim of the machine: one pass by the LRU's own walk (memcg LRU). NULL, or
	 * false (this kernel has none): the ordinary memcg walk.
	 */
	bool (*shrink_node_global)(struct task *t, uint32_t node, struct scan_control *sc);

	/*
	 * Its memcg is removed; and nothing holds it any more, so no list may, and it leaves the tree in the
	 * step in which this ends. May be NULL.
	 */
	void (*lruvec_offline)(struct task *t, struct lruvec *lruvec);
	void (*lruvec_release)(struct task *t, struct lruvec *lruvec);

	/*
	 * lru_reparent. Both locks held, in one step: all of `from`, whose memcg is removed, is its parent's;
	 * *turned is zero before. NULL: this LRU has no such thing. The other two may be NULL: what `to`
	 * needs first, without locks, and whether it still has it once it is locked.
	 */
	void (*reparent)(struct task *t, struct lruvec *from, struct lruvec *to, struct lru_turned *turned);
	void (*reparent_prepare)(struct task *t, struct lruvec *to);
	bool (*reparent_ready)(const struct lruvec *to);

	/* Tokens: the timestamp part of a shadow entry at eviction, and its evaluation at refault. */
	shadow_t (*eviction)(struct task *t, frame_t frame, struct memcg *target);
	void (*refault)(struct task *t, frame_t frame, shadow_t shadow, bool in_fault);

	/* Pages on its lists, by enum lru_list (for MGLRU: two youngest generations active). Exact. */
	uint64_t (*size)(const struct lruvec *lruvec, enum lru_list list);
	/*
	 * Invariants of an lruvec, at the end of a run and after each reclaim in debug builds. May be NULL.
	 */
	void (*check)(const struct lruvec *lruvec, struct record *record);
};

/* `vm:` of the scenario. */
struct vm_options {
	uint32_t swappiness;
	bool memory_recursiveprot;
	uint64_t fault_around; /* bytes */
};

/* Calls of the machine, by the kernel function that begins one. */
struct reclaim_calls {
	uint64_t memcg;     /* try_to_free_mem_cgroup_pages() */
	uint64_t nodes;     /* shrink_node() */
	uint64_t kswapd;    /* balance_pgdat(): pageoutrun */
	uint64_t oom_kills; /* oom_kill_process() */
	uint64_t rotated;   /* pages to the tail of their list: pgrotated */
};

/* What reclaim has come to since invariants were last looked at; check.c. */
#define TOUCHED_MOST 64u
struct reclaim_touched {
	uint32_t memcgs[TOUCHED_MOST]; /* ids */
	uint32_t nr_memcgs;            /* more than fit: nothing is known of the others */
	struct touched_slot {
		uint32_t object;
		uint64_t index;
	} slots[TOUCHED_MOST]; /* of the last pages that were to go */
	uint32_t nr_slots;     /* ever */
};

/* What reclaim keeps of a machine. */
struct reclaim_state {
	const struct reclaim_ops *ops;
	const struct vm_options *vm;
	bool node_lock;             /* lru_lock: per_node */
	struct kswapd *kswapds;     /* by node */
	struct throttle *throttles; /* by node; throttle.c */
	struct workqueue *events;   /* system_wq */
	struct reclaim_calls calls;
	uint64_t unchecked; /* pages scanned since invariants were last looked at; check.c */
	struct reclaim_touched touched;
	bool unchecked_for_ever; /* for tests that charge pages which do not exist */
};

static inline const struct reclaim_ops *reclaim_ops(const struct host *host)
{
	return host->reclaim->ops;
}
bool lru_lock_is_per_node(const struct scenario *s);
static inline bool lru_lock_per_node(const struct host *host)
{
	return host->reclaim->node_lock;
}

/*
 * PF_MEMALLOC, a mark of a task: it reclaims, so what it needs for that it gets: frames from reserves,
 * charges beyond limits, and no reclaim within reclaim.
 */
#define TASK_RECLAIMS 1u
static inline bool task_reclaims(const struct task *t)
{
	return t->marks & TASK_RECLAIMS;
}

/* ---- entry points ---- */

/* try_to_free_mem_cgroup_pages(): returns the pages reclaimed. */
uint64_t reclaim_memcg(struct task *t, struct memcg *m, uint64_t nr, bool may_swap, bool proactive);
/* Direct reclaim for the machine (no free frame on any node): pages reclaimed. */
uint64_t reclaim_direct(struct task *t);
/* get_page_from_freelist(): a frame of the node, or of another, that is above the mark. In a step. */
typedef frame_t get_frame_fn(struct task *t, struct host *host, uint32_t node, enum watermark mark);
/* __alloc_pages_slowpath(): a frame when no node has more than its low mark. Begins and ends in a step. */
frame_t reclaim_alloc(struct task *t, struct host *host, uint32_t node, get_frame_fn *get);
/* Wakes the node's kswapd, unless the node is balanced or hopeless. In a step. */
void kswapd_wake(struct task *t, uint32_t node);

/* acct_reclaim_writeback(): a page of the node is written; who waits for that may go on. In a step. */
void reclaim_page_written(struct task *t, struct host *host, uint32_t node);

/* ---- for the LRUs ---- */

/* What shrink_folio_list() did with a page. */
enum fate {
	FATE_FREED,    /* gone: unmapped, written if need be, removed with a shadow, uncharged */
	FATE_ACTIVATE, /* referenced: to the active list */
	FATE_KEEP,     /* stays where it was */
};
/*
 * The LRU's judgement of a mapped or marked page before anything is done to it; see folio_check_references().
 */
typedef enum fate (*judge_fn)(struct task *t, struct lruvec *lruvec, frame_t frame, struct scan_control *sc);

/* Most pages that are isolated at a time. */
#define SHRINK_MOST 64u

struct shrink_result {
	uint64_t freed, written; /* written: pages that went to swap or to disk, or are on their way */
	uint64_t activated[2];   /* by type */
	struct met_dirty met;    /* but for those taken */
};
/*
 * Isolated pages (off their lists, PG_LRU clear, page.batched raised by page_try_get(): reclaim's reference)
 * are judged and freed or left in `frames` (the survivors, packed, their fates in `fates`, the reference
 * still held), for the LRU to put back under its lock (isolated_put()). At most SHRINK_MOST. Freed pages are
 * uncharged at once, never through the stock. Called without locks.
 */
uint32_t shrink_folio_list(struct task *t, struct lruvec *lruvec, frame_t *frames, enum fate *fates,
			   uint32_t nr, struct scan_control *sc, judge_fn judge,
			   struct shrink_result *result);

/*
 * Drops reclaim's reference to a page that is to go back on a list; false: it is nobody's, and to be
 * released.
 */
static inline bool isolated_put(struct page *page)
{
	page->batched--;
	return page->batched || !(page->flags & PG_ORPHAN);
}

/* Can anon pages of m go anywhere: swap there, room in it, allowed to the memcg? */
bool can_reclaim_anon(const struct host *host, const struct memcg *m, const struct scan_control *sc);
/* Free swap pages that m may use; UINT64_MAX-like large when unlimited. */
uint64_t memcg_swap_room(const struct host *host, const struct memcg *m);
/* One pass's protection of a memcg: updates sc->elow, emin; see mem_cgroup_calculate_protection(). */
void memcg_protection(struct memcg *root, struct memcg *m, struct scan_control *sc);
/* Statistics of a scan: PGSCAN_* and PGSTEAL_* by who asked. */
void count_scan(struct task *t, struct memcg *m, const struct scan_control *sc, uint64_t scanned,
		uint64_t stolen);

void reclaim_build(struct host *host); /* before the first lruvec; host->policies are there */
void reclaim_start(struct host *host); /* kswapd of each node */
void reclaim_finish(struct host *host);

#endif
