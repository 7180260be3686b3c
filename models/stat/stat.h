/*
 * stat.h - per-memcg statistics: what is counted, who is told, what a reader sees.
 *
 * The truth is kept beside what the kernel keeps: stat_truth() is what memory.stat would say if every update
 * were visible at once, so staleness is measured and never assumed.
 *
 * Update functions belong to the step of the caller (task.h): call them synchronised; they charge their cost
 * with cpu_defer(), and synchronise themselves when they have to take the CPU's rstat lock. Kernel:
 * __mod_memcg_lruvec_state(), __count_memcg_events(), cgroup_rstat_updated(), mm/memcontrol.c and
 * kernel/cgroup/rstat.c.
 */
#ifndef MODELS_STAT_STAT_H
#define MODELS_STAT_STAT_H

#include "models/cgroup/memcg.h"

/* Items of memory.stat in the kernel's order of 6.1 that the models change, and one that it does not show. */
/* clang-format off */
enum stat_item {
	/* lruvec items, counted per node as well */
	NR_INACTIVE_ANON, NR_ACTIVE_ANON, NR_INACTIVE_FILE, NR_ACTIVE_FILE, NR_UNEVICTABLE,
	NR_SLAB_RECLAIMABLE_B, NR_SLAB_UNRECLAIMABLE_B,
	WORKINGSET_REFAULT_ANON, WORKINGSET_REFAULT_FILE, WORKINGSET_ACTIVATE_ANON, WORKINGSET_ACTIVATE_FILE,
	WORKINGSET_RESTORE_ANON, WORKINGSET_RESTORE_FILE, WORKINGSET_NODERECLAIM,
	NR_ANON_MAPPED, NR_FILE_MAPPED, NR_FILE_PAGES, NR_FILE_DIRTY, NR_WRITEBACK, NR_SHMEM,
	NR_KERNEL_STACK_KB, NR_PAGETABLE, NR_SWAPCACHE,
	WORKINGSET_NODES, /* counted by memcg and shown nowhere, up to 6.9 */
	NR_LRUVEC_ITEMS,
	/* memcg-only items */
	MEMCG_SWAP = NR_LRUVEC_ITEMS, MEMCG_SOCK, MEMCG_PERCPU_B, MEMCG_VMALLOC, MEMCG_KMEM,
	NR_STATE_ITEMS,
	/* events */
	PGPGIN = NR_STATE_ITEMS, PGPGOUT, PGSCAN_KSWAPD, PGSCAN_DIRECT, PGSTEAL_KSWAPD, PGSTEAL_DIRECT,
	PGFAULT, PGMAJFAULT, PGREFILL, PGACTIVATE, PGDEACTIVATE, PGLAZYFREE, PGLAZYFREED,
	NR_STAT_ITEMS
};
/* clang-format on */
/* At most 64 items: a (memcg, CPU) pair keeps the set of its changed items in one word. */

enum flush_caller {
	FLUSH_READER,   /* memory.stat, memory.numa_stat */
	FLUSH_CPU_STAT, /* cpu.stat: always a direct subtree flush before 6.16 */
	FLUSH_RECLAIM,
	FLUSH_REFAULT,
	FLUSH_SHRINKER,
	FLUSH_WRITEBACK,
	FLUSH_ZSWAP,
	FLUSH_PERIODIC, /* the 2 s worker */
	FLUSH_RELEASE,  /* the end of a cgroup: its last one, and those of reparent_local */
	NR_FLUSH_CALLERS
};

void mod_lruvec_state(struct task *t, struct memcg *m, uint32_t node, enum stat_item item, int64_t val);
void mod_memcg_state(struct task *t, struct memcg *m, enum stat_item item, int64_t val);
void count_memcg_events(struct task *t, struct memcg *m, enum stat_item event, uint64_t n);
/* An update of a lruvec item by 0, of a counter that stays 0 here: work all the same, but nobody is told. */
void stat_update_by_0(struct task *t, const struct memcg *m);

/*
 * __cgroup_account_cputime(): the running task of m has used its CPU. Up to 6.15 one tree of updated cgroups
 * serves all statistics, so from now on a flush visits m there, for memory as well. In a step.
 */
void stat_cpu_time(struct task *t, struct memcg *m);

/* The recursive value as last flushed (readers clamp at 0), and as it truly is now. */
int64_t stat_reported(const struct memcg *m, enum stat_item item);
int64_t stat_truth(const struct memcg *m, enum stat_item item);
/* Of m itself without its children, as last flushed; and of one node, recursive, as last flushed. */
int64_t stat_local(const struct memcg *m, enum stat_item item);
int64_t stat_local_exact(const struct memcg *m, enum stat_item item); /* with what no flush has seen */
int64_t stat_reported_node(const struct memcg *m, uint32_t node, enum stat_item item);
int64_t stat_truth_node(const struct memcg *m, uint32_t node, enum stat_item item);
/*
 * lruvec_page_state_local(): one node's, without children; as last flushed (6.6+), summed over CPUs (before).
 */
int64_t stat_local_node(const struct memcg *m, uint32_t node, enum stat_item item);
int64_t stat_local_node_exact(const struct memcg *m, uint32_t node, enum stat_item item);

/* mem_cgroup_flush_stats(): somebody needs m's statistics. Whether and what is flushed is the policy's. */
void stat_flush(struct task *t, struct memcg *m, enum flush_caller caller);

/* A read of memory.stat (flush by policy, then copying) by the running task. */
struct stat_read {
	sim_time_t latency;
	sim_time_t age;           /* since the start of the last flush that covered m; time 0 if none */
	int64_t anon, anon_truth; /* pages */
	int64_t file, file_truth;
	uint64_t error;          /* pages: largest of |reported - true| of anon and file */
	uint64_t pending;        /* updates (absolute) of the subtree not yet flushed */
	uint64_t flushes, pairs; /* that this read caused itself */
};
void memory_stat_read(struct task *t, struct memcg *m, struct stat_read *out);
/* Flushes the subtree exactly, always (up to 6.15); that of the root is read without. */
void cpu_stat_read(struct task *t, struct memcg *m);

/* Flush counters, for tests and metrics. */
struct flush_count {
	uint64_t calls[NR_FLUSH_CALLERS]; /* asked for */
	uint64_t flushes;                 /* really done */
	uint64_t pairs;                   /* (memcg, CPU) pairs visited */
	uint64_t cpu_steps;               /* possible CPUs looked at */
	uint64_t skipped;                 /* losers of a unified flush and below threshold */
};
const struct flush_count *stat_flush_count(const struct host *host);

/* Calls of the update functions and the sums of |val|, by kind; and how much of both is of values below 0. */
enum stat_kind { STAT_LRUVEC, STAT_EVENT, STAT_STATE, NR_STAT_KINDS };
struct stat_calls {
	uint64_t calls[NR_STAT_KINDS], absval[NR_STAT_KINDS];
	uint64_t calls_below_0[NR_STAT_KINDS], absval_below_0[NR_STAT_KINDS];
};
const struct stat_calls *stat_calls(const struct host *host);

/* Combinations of policies that no kernel could have, each with the reason (unless allow_unreal). */
void stat_check(const struct scenario *s, struct complaints *c);
void stat_build(struct host *host);
void stat_build_memcg(struct memcg *m);
/*
 * The end of a memcg's statistics: the last flush (css_release_work_fn()); it leaves the tree, and what it
 * counted stays with its parent; its blocks are freed, false: not yet, a flusher has one of them in hand.
 */
void stat_release(struct task *t, struct memcg *m);
void stat_leave(struct memcg *m);
bool stat_free_memcg(struct memcg *m);
/* Why counters without children (stat_local()) go wrong with these policies; NULL: they do not. */
const char *stat_local_defect(const struct host *host);
/* reparent_local: what m has counted for itself becomes its parent's. In css_offline(). */
void stat_reparent_local(struct task *t, struct memcg *m);
/* lru_reparent: pages on the node that were m's are its parent's, in truth. No time passes. */
void stat_pages_reparent(struct memcg *m, uint32_t node);
void stat_start(struct host *host); /* the periodic worker */
void stat_measure(struct host *host);
void stat_sample(struct host *host, sim_time_t now);
void stat_finish(struct host *host); /* metrics, invariants I1, I2, I8 */

#endif
