/*
 * memcg.h - memory cgroups: the tree, page counters, charging.
 *
 * Kernel: struct mem_cgroup, mm/memcontrol.c; struct page_counter, mm/page_counter.c. memory.current is the
 * page counter and memory.stat is rstat (models/stat): neither is ever derived from the other.
 */
#ifndef MODELS_CGROUP_MEMCG_H
#define MODELS_CGROUP_MEMCG_H

#include "models/host/host.h"
#include "sim/hw/line.h"
#include "sim/hw/lock.h"

#define PAGE_SIZE       4096u
#define COUNTER_NO_MAX  UINT64_MAX

/*
 * Hierarchical usage in pages. All words that a charge touches at one level share one line. A charge walks up
 * level by level while others do the same; in_flight is what usage has already, or still, of such walks
 * beyond what the level's own pages, stocks and children account for. It is 0 when nobody walks.
 */
struct page_counter {
	struct line line;
	uint64_t usage;
	uint64_t max, high, low, min; /* pages; max and high COUNTER_NO_MAX when unlimited */
	uint64_t watermark, failcnt;
	int64_t in_flight;
	struct page_counter *parent;
};

struct cgroup_options;

struct memcg {
	struct host *host;
	struct memcg *parent, *first_child, *last_child, *next_sibling;
	uint32_t id;       /* index in cgroup_state.all; 0 is the root */
	uint32_t depth;    /* root 0 */
	const char *name;  /* last component; "" for the root */
	const char *path;  /* "/" for the root, "/parent1/child2" */
	const struct cgroup_options *options; /* that it comes from; NULL: the root, or made by hand */
	struct page_counter memory;
	uint64_t events_max, events_oom;  /* memory.events */
	struct bandwidth *bandwidth;      /* cpu.max, or that of the nearest ancestor that has one */
	uint32_t weight;                  /* cpu.weight as a task weight */
	struct memcg_stat *stat;          /* models/stat */
	struct lruvec **lruvecs;          /* by node; models/page; made at first use */
	struct mapping *mappings, *last_mapping; /* of its processes; models/page/mapping.h */
	uint64_t nr_charged;              /* pages charged directly to it: the truth for invariant I10 */
	uint64_t nr_kmem;                 /* of those, pages of kernel memory */
	uint64_t object_bytes;            /* of those, bytes in objects that exist */
	uint64_t spare_bytes;             /* and bytes that no CPU's stock holds (objcg->nr_charged_bytes) */
};

struct memcg_stock; /* of one CPU; stock.h */
struct stream;
struct workqueue;

struct cgroup_state {
	struct memcg **all; /* in order of creation: parents before children */
	uint32_t nr, capacity;
	struct memcg *root;
	struct memcg_stock *stocks;  /* by CPU */
	struct stream *victims;      /* which slot of a full stock is drained */
	struct workqueue *queue;     /* work on the stocks' own CPUs */
	struct mutex drain_mutex;    /* percpu_charge_mutex */
	uint32_t walks;              /* under way on page counters */
};

/* ---- the tree; tree.c ---- */

/* The state and the root cgroup; host->sim, nr_cpus, nr_nodes, costs, charge_batch and nr_stock are set. */
void cgroups_build(struct host *host);
/* One more cgroup; `name` stays alive. Its statistics are stat_build_memcg()'s. */
struct memcg *memcg_create(struct memcg *parent, const char *name);
/* "/a/b" or a glob pattern ("parent*" matches within one component, leading '/' optional). */
struct memcg *memcg_find(const struct host *host, const char *path);
/* All that match, in order of creation; returns the number. `out` has room for cgroups->nr. */
uint32_t memcg_match(const struct host *host, const char *pattern, struct memcg **out);
/* The next of the subtree of `root` in pre-order, starting from NULL. */
struct memcg *memcg_next(struct memcg *root, struct memcg *position);
bool memcg_is_descendant(const struct memcg *m, const struct memcg *root); /* or the same */

static inline bool memcg_is_root(const struct memcg *m)
{
	return !m->parent;
}

/* ---- page counters; page_counter.c. Each level is a step of its own. ---- */

void page_counter_init(struct page_counter *c, struct page_counter *parent);
/* nr pages on all levels, or on none: then *failed is the level whose max is in the way. */
bool page_counter_try_charge(struct task *t, struct page_counter *c, uint64_t nr, struct page_counter **failed);
void page_counter_uncharge(struct task *t, struct page_counter *c, uint64_t nr);

/* ---- charging; charge.c, stock.c ---- */

/*
 * try_charge_memcg(): nr pages from the CPU's stock or the counters, filling the stock. Begins in the step of
 * the caller, and ends in it as long as the stock suffices; else it synchronises. False when a limit is in
 * the way and nothing could be done about it (*failed, where it is asked for, gets the level). The pages are
 * charged at the return: the caller gives them their owner in the step he is in then.
 */
bool memcg_charge(struct task *t, struct memcg *m, uint32_t nr, struct memcg **failed);
/* uncharge_batch(): nr pages of one memcg straight to the counters. Begins in the step of the caller. */
void memcg_uncharge(struct task *t, struct memcg *m, uint64_t nr);
/* drain_all_stock(): work on every CPU that holds stock of the subtree. */
void memcg_drain_all_stock(struct task *t, struct memcg *root);
/* Pages of m in all CPUs' stocks (for invariants). */
uint64_t memcg_stocked(const struct host *host, const struct memcg *m);
/* memory.current, in pages. */
uint64_t memcg_current(const struct memcg *m);

/* Invariants I9, I10, and bytes of kernel objects = pages charged for them. invariants.c */
void cgroups_finish(struct host *host);

#endif
