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

#define PAGE_SIZE       4096u
#define COUNTER_NO_MAX  UINT64_MAX

/* Hierarchical usage in pages. All words that a charge touches at one level share one line. */
struct page_counter {
	struct line line;
	uint64_t usage;
	uint64_t max, high, low, min; /* pages; max and high COUNTER_NO_MAX when unlimited */
	uint64_t watermark, failcnt;
	struct page_counter *parent;
};

struct memcg {
	struct host *host;
	struct memcg *parent, *first_child, *last_child, *next_sibling;
	uint32_t id;       /* index in cgroup_state.all; 0 is the root */
	uint32_t depth;    /* root 0 */
	const char *name;  /* last component; "" for the root */
	const char *path;  /* "/" for the root, "/parent1/child2" */
	struct page_counter memory;
	uint64_t events_max, events_high; /* memory.events */
	struct bandwidth *bandwidth;      /* cpu.max, or that of the nearest ancestor that has one */
	uint32_t weight;                  /* cpu.weight as a task weight */
	struct memcg_stat *stat;          /* models/stat */
	struct lruvec **lruvecs;          /* by node; models/page; made at first use */
	uint64_t nr_charged;              /* pages charged directly to it: the truth for invariant I10 */
};

struct cgroup_state {
	struct memcg **all; /* parents before children */
	uint32_t nr;
	struct memcg *root;
};

/* "/a/b" or a glob pattern ("parent*" matches within one component, leading '/' optional). */
struct memcg *memcg_find(const struct host *host, const char *path);
/* All that match, in order of creation; returns the number. `out` has room for cgroups->nr. */
uint32_t memcg_match(const struct host *host, const char *pattern, struct memcg **out);
/* The next of the subtree of `root` in pre-order, starting from NULL. */
struct memcg *memcg_next(struct memcg *root, struct memcg *position);
bool memcg_is_descendant(const struct memcg *m, const struct memcg *root); /* or the same */

/*
 * try_charge_memcg(): nr pages from the CPU's stock or the counters, filling the stock. Synchronises; false
 * when a limit is in the way and nothing could be done about it (*failed gets the level).
 */
bool memcg_charge(struct task *t, struct memcg *m, uint32_t nr, struct memcg **failed);
/* uncharge_batch(): nr pages of one memcg straight to the counters. */
void memcg_uncharge(struct task *t, struct memcg *m, uint64_t nr);
/* drain_all_stock(): work on every CPU that holds stock of the subtree. */
void memcg_drain_all_stock(struct task *t, struct memcg *root);
/* Pages of m in all CPUs' stocks (for invariants). */
uint64_t memcg_stocked(const struct host *host, const struct memcg *m);
/* memory.current, in pages. */
uint64_t memcg_current(const struct memcg *m);

#endif
