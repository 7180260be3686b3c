/*
 * stat_impl.h - inside of the statistics model: what its files and its policies share.
 *
 * A policy acts only through what is declared here, and none of it can lose or invent an update: deltas are
 * moved by rstat.c alone. Four axes, each with its operations below:
 *
 *	stat_update    who is told of an update (memcg_rstat_updated)
 *	rstat_updated  how a (memcg, CPU) pair gets onto the updated tree (cgroup_rstat_updated)
 *	flush          who may flush when, and what (mem_cgroup_flush_stats)
 *	rstat_lock     what is held meanwhile (cgroup_rstat_flush_locked)
 */
#ifndef MODELS_STAT_STAT_IMPL_H
#define MODELS_STAT_STAT_IMPL_H

#include "models/host/costs.h"
#include "models/stat/stat.h"
#include "sim/hw/lock.h"
#include "sim/hw/work.h"
#include "sim/module.h"

enum stat_axis { AXIS_UPDATE, AXIS_UPDATED, AXIS_FLUSH, AXIS_LOCK, NR_STAT_AXES };

#define SLOTS_PER_LINE 8 /* counters of a per-CPU block in a cache line */
#define NR_LINES       ((NR_STAT_ITEMS + SLOTS_PER_LINE - 1) / SLOTS_PER_LINE)

/* What one CPU has added to one memcg since it was last flushed; a copy of the lruvec items by node. */
struct node_delta {
	int64_t of[NR_LRUVEC_ITEMS];
	uint64_t changed;
};

/*
 * The per-CPU block of a memcg. Made when that CPU first updates it, with those of its ancestors. Only the
 * difference of the kernel's running value and its value at the last flush is kept: nothing reads the rest.
 */
struct stat_pair {
	struct memcg *memcg;
	struct stat_pair *parent;       /* same CPU, memcg's parent; NULL: of the root */
	struct stat_pair *updated_next; /* on its parent's list; of the last, the parent; NULL: not on it */
	struct stat_pair *updated_children; /* first updated child; itself: none */
	struct stat_pair *updated_prev;     /* before it on the list; NULL: it is the first */
	struct updated_ranks *ranks;        /* of its children; NULL: their list is walked */
	struct stat_pair *of_memcg;         /* list of all pairs of the memcg */
	struct stat_pair *queued_next;      /* rstat_updated: lockless */
	struct stat_pair *flush_next;       /* on the list that a flusher has taken (6.15+) */
	uint32_t number;                    /* among its siblings, where they have ranks */
	uint32_t cpu;
	uint32_t flusher;  /* the CPU that flushed it last, and one more; 0: none */
	uint32_t updates;  /* |updates| not yet moved to the memcg's word (6.8+) */
	uint16_t linking;  /* tasks on their way to put it on the list */
	bool queued;       /* on its CPU's lockless list */
	bool popped;       /* off the list, its flush still to come */
	uint64_t changed;  /* items whose delta is not 0, or was not */
	uint64_t absolute; /* |updates| since the last flush, measured */
	/* Last touches of lines that this CPU has for itself or only reads (line_cost_near()). */
	uint64_t near_pointers;        /* on the way to the block */
	uint64_t near_slots[NR_LINES]; /* of the block, and of that of the lruvec */
	uint64_t near_walk;            /* of this level, in the walk of a stat_update policy (6.8+) */
	uint64_t near_word;            /* the pointer to its memcg's word */
	uint64_t near_flush;           /* of all its lines, by the flusher */
	int64_t delta[NR_STAT_ITEMS];
	struct node_delta *nodes[]; /* by node; NULL: untouched */
};

struct stat_cpu {
	struct spinlock lock;     /* cgroup_rstat_cpu_lock */
	struct stat_pair *last;   /* the pair it used last */
	struct stat_pair **table; /* all of its pairs, open addressing by memcg id */
	uint32_t size, nr;
	uint32_t updates;         /* stats_updates of 5.16 to 6.7 */
	uint64_t near_updates;    /* last touch of its line */
	struct stat_pair *queued; /* rstat_updated: lockless */
};

struct node_stat {
	int64_t value[NR_LRUVEC_ITEMS], pending[NR_LRUVEC_ITEMS], local[NR_LRUVEC_ITEMS];
	int64_t truth[NR_LRUVEC_ITEMS]; /* as memcg_stat's; kept on hosts of several nodes */
	uint64_t pending_set;
};

struct memcg_stat {
	int64_t value[NR_STAT_ITEMS];   /* recursive, as flushed */
	int64_t pending[NR_STAT_ITEMS]; /* flushed out of children, not yet taken in */
	int64_t local[NR_STAT_ITEMS];   /* its own, as flushed */
	int64_t truth[NR_STAT_ITEMS];   /* recursive, of every update made */
	int64_t gone[NR_STAT_ITEMS];    /* local values of cgroups below it that are freed */
	uint64_t pending_set;           /* items of pending[] that are not 0, or were not */
	uint64_t unflushed;             /* |updates| of the subtree that value[] lacks, measured */
	uint64_t pending_absolute;      /* the part of them that is in pending[] */
	sim_time_t flushed_at;          /* start of the last complete flush with this root */
	struct line line;               /* of stats_updates */
	struct line *counter_lines;     /* summed.h: of the atomic counters, 8 to a line; NULL: untouched */
	uint64_t stats_updates;         /* 6.8+ */
	struct stat_pair *pairs;
	struct node_stat **nodes; /* by node; NULL: untouched */
	struct stat_reads *reads; /* metrics.c; NULL: none yet */
};

/* One flush as it is asked for and what it did. */
struct flush {
	struct memcg *memcg; /* whose statistics are wanted */
	enum flush_caller caller;
	uint64_t flushes, pairs;
};

struct stat_update_ops {
	/*
	 * After the update is in its pair: who has to know. `size` is |val| as given (pages, or bytes), or
	 * with `in_pages` what memcg_state_val_in_pages() makes of it.
	 */
	void (*updated)(struct task *t, struct stat_pair *pair, enum stat_item item, uint64_t size);
	/* The pair has been flushed; same step. NULL: nothing to do. */
	void (*flushed)(struct task *t, struct stat_pair *pair);
	/* flush: sum_on_read. A reader wants f->memcg's values. NULL: they come of flushes. */
	void (*sum)(struct task *t, struct flush *f);
	bool in_pages;
};

struct rstat_updated_ops {
	void (*updated)(struct task *t, struct stat_pair *pair);
	/* A flusher begins and ends with a CPU: makes the updated tree whole, and keeps it so. */
	void (*begin)(struct task *t, struct stat_cpu *c);
	void (*end)(struct task *t, struct stat_cpu *c);
	bool untracked; /* there is no updated tree */
};

struct flush_ops {
	void (*init)(struct host *host); /* NULL: nothing to do */
	void (*flush)(struct task *t, struct flush *f);
	sim_time_t (*period)(const struct host *host); /* of the worker, SIM_NEVER: none; NULL: FLUSH_TIME */
};

struct rstat_lock_ops {
	void (*init)(struct host *host);
	/*
	 * rstat_flush_cpu() for each possible CPU. may_sleep: the caller is in a context that can. false:
	 * this flush was none of memory statistics.
	 */
	bool (*flush)(struct task *t, struct flush *f, struct memcg *root, bool may_sleep);
};

#define FLUSH_TIME (2 * SIM_SEC)

/* `statistics:` of the scenario. */
struct stat_options {
	int per_cgroup;        /* enum per_cgroup: what is recorded of each cgroup's own reads */
	uint64_t error_target; /* pages; 0: none */
	uint32_t stall_every;  /* an update in so many is interrupted; 0: none */
	sim_time_t stall;      /* for so long */
	int stall_by;          /* enum stall_by */
};
enum stall_by { STALL_INTERRUPT, STALL_PREEMPTION };
enum per_cgroup { PER_CGROUP_NONE, PER_CGROUP_MEAN, PER_CGROUP_DISTRIBUTION };

struct stat_policy {
	const struct module *module;
	const void *ops, *options;
	void *state;
};

struct stat_inventory;
struct dying_stats_ops;
struct stat_metrics;
struct flush_metrics;

struct stat_state {
	struct stat_policy policy[NR_STAT_AXES];
	const struct stat_update_ops *update;
	const struct rstat_updated_ops *updated;
	const struct flush_ops *flush;
	const struct rstat_lock_ops *lock;
	struct stat_options options;
	const struct stat_inventory *items;
	sim_time_t pair_cost; /* of the flush of one pair, all but waiting and its lines */
	uint32_t pair_lines;  /* how many of these there are */
	const struct dying_stats_ops *dying;
	sim_time_t dying_cost; /* of an update: whose counters is it to go to? Axis dying_stats */
	uint64_t stall_in;     /* updates until the next stall */
	struct stat_cpu *cpus; /* by possible CPU */
	/* Words of the unified flush, neighbours in the kernel's data: one line. */
	struct line line;
	uint64_t flush_threshold; /* stats_flush_threshold */
	bool flush_ongoing;       /* stats_flush_ongoing */
	bool root_clears_first;   /* a flush of the root clears the threshold before (seed 5, version 2 on) */
	sim_time_t flush_late;    /* flush_next_time: the worker is late from here on */
	struct spinlock flush_lock; /* stats_flush_lock, before 6.4 */
	uint64_t memcg_threshold;   /* updates from which a memcg may be flushed (6.8+) */
	struct flush_count count;
	struct stat_calls calls;
	struct delayed_work worker;
	struct workqueue *wq;
	struct stat_metrics *metrics;
	struct flush_metrics *flush_metrics;
	struct decision_state *decisions; /* decision.c */
};

static inline struct stat_state *stat_of(const struct host *host)
{
	return host->stat;
}

/* ---- items.c ---- */

/* How many counters a (memcg, CPU) pair has in a kernel: what a flush walks. */
struct stat_inventory {
	uint32_t since;               /* kernel version */
	uint32_t state, events, node; /* memcg-only and lruvec state items; events; items of each node */
};
const struct stat_inventory *stat_inventory(uint32_t version);
/* Bytes that a count of 1 stands for. */
static inline uint32_t stat_item_unit(enum stat_item item)
{
	if (item == NR_KERNEL_STACK_KB)
		return 1024;
	return item == NR_SLAB_RECLAIMABLE_B || item == NR_SLAB_UNRECLAIMABLE_B || item == MEMCG_PERCPU_B
		       ? 1
		       : PAGE_SIZE;
}
/* Counts what is there, so that a complete flush cannot leave it below 0; events never fall. */
bool stat_item_is_size(enum stat_item item);
/*
 * Shown by cgroup v1 alone: counted and told to the flush machinery by every kernel before 6.11, since then
 * (memcontrol-v1.c) only with CONFIG_MEMCG_V1, which is off by default and is not modelled.
 */
bool stat_event_is_v1(enum stat_item event);
const char *stat_item_name(enum stat_item item);

/* Of pages that a cgroup has: these go to the parent with the pages (lru_reparent). */
static inline bool stat_item_is_of_pages(enum stat_item item)
{
	const uint64_t set = 1u << NR_INACTIVE_ANON | 1u << NR_ACTIVE_ANON | 1u << NR_INACTIVE_FILE |
			     1u << NR_ACTIVE_FILE | 1u << NR_UNEVICTABLE | 1u << NR_ANON_MAPPED |
			     1u << NR_FILE_MAPPED | 1u << NR_FILE_PAGES | 1u << NR_FILE_DIRTY |
			     1u << NR_WRITEBACK | 1u << NR_SHMEM | 1u << NR_SWAPCACHE;

	return set >> item & 1;
}

/* ---- stat.c ---- */

/* moved[item] of the node are counted by m's parent from now on instead of by m: both in one step. */
void stat_move_local(struct task *t, struct memcg *m, const int64_t *moved, uint32_t node);

/* stat_build() with the policies given, NULL ops: by module. For tests of a host made by hand. */
void stat_build_policies(struct host *host, const struct stat_policy policy[NR_STAT_AXES],
			 const struct stat_options *options);

/* ---- dying/ ---- */

struct memcg *stat_counted_slowly(struct task *t, struct memcg *m);
/* Whose counters an update of m goes to: m's, unless it is removed. Ends the step where updates stall. */
static inline struct memcg *stat_counted(struct task *t, struct memcg *m)
{
	if (__builtin_expect(m->life == MEMCG_ONLINE && !stat_of(m->host)->stall_in, 1))
		return m;
	return stat_counted_slowly(t, m);
}
void dying_build(struct host *host);

/* ---- rstat.c ---- */

struct stat_pair *rstat_pair_slow(struct host *host, uint32_t cpu, struct memcg *m);
/* Made if need be. */
static inline struct stat_pair *rstat_pair(struct host *host, uint32_t cpu, struct memcg *m)
{
	struct stat_pair *last = stat_of(host)->cpus[cpu].last;

	return last && last->memcg == m ? last : rstat_pair_slow(host, cpu, m);
}
struct stat_pair *rstat_pair_find(const struct host *host, uint32_t cpu, const struct memcg *m);
/* Takes a pair out of its CPU's table and the updated tree, and frees it. */
void rstat_free_pair(struct stat_pair *pair);
/* Puts the pair and its ancestors on the updated lists; returns how many. The CPU's tree is the caller's. */
uint32_t rstat_link(struct stat_pair *pair);

/* ---- updated_rank.c ---- */

/* The pair has just joined its parent's list, at the head; the parent has ranks. */
void updated_ranks_join(struct stat_pair *parent, struct stat_pair *pair);
/* It has just left, its updated_prev as it was: how many came before it. */
uint32_t updated_ranks_leave(struct stat_pair *parent, const struct stat_pair *pair);
void updated_ranks_drop(struct stat_pair *parent);
/* A flush of the subtree by the lock policy. */
void rstat_flush(struct task *t, struct flush *f, struct memcg *root, bool may_sleep);
/* One CPU's updates of the subtree. _listed: the CPU is given back before they are taken in (6.15+). */
void rstat_flush_cpu(struct task *t, struct flush *f, struct memcg *root, uint32_t cpu);
void rstat_flush_cpu_listed(struct task *t, struct flush *f, struct memcg *root, uint32_t cpu);
/* The rules of 2.4 for one pair, without time. */
void rstat_take_in(struct stat_state *st, struct stat_pair *pair);
/* What children left is taken in; nothing of any CPU. */
void rstat_take_pending(struct memcg *m);
/* One item of a pair into its memcg, and into all ancestors or (up false) what the parent has pending. */
void rstat_spill(struct stat_pair *pair, enum stat_item item, bool up);
/* Reading its counters, before they are taken in. */
sim_time_t rstat_pair_cost(struct task *t, struct stat_pair *pair);

/* ---- unified.c: parts of the global scheme that several flush policies share ---- */

bool unified_due(struct task *t, const struct host *host); /* the threshold is passed; reads its line */
bool unified_late(const struct task *t, const struct host *host);    /* the worker is a whole cycle late */
void unified_flush(struct task *t, struct flush *f, bool may_sleep); /* of the root; clears the threshold */
bool unified_flag(struct task *t, struct flush *f); /* 6.4+: false if somebody is at it; ends in a step */
void unified_try(struct task *t, struct flush *f);  /* the same, unless somebody is at it */
/* The root is about to be flushed: clears the threshold, and the worker is on time again. */
void unified_clear(struct task *t, const struct host *host);
/* The decision of 5.16 to 6.7 for callers inside the kernel: `flush`, what is below f->memcg, or nothing. */
void unified_ask(struct task *t, struct flush *f, void (*flush)(struct task *t, struct flush *f));
void unified_kernel(struct task *t, struct flush *f); /* the same with unified_try */

/* ---- threshold.c: parts of the per-memcg scheme (6.8+) ---- */

/* Reads its line. */
static inline bool memcg_needs_flush(struct task *t, const struct host *host, struct memcg *m)
{
	line_touch(t, &m->stat->line, false);
	return m->stat->stats_updates > stat_of(host)->memcg_threshold;
}
/* Counts in the pair, and tells whether a batch is full. */
static inline bool memcg_update_count(struct task *t, struct stat_pair *pair, uint64_t pages)
{
	const struct host *host = pair->memcg->host;

	shared_step(t);
	pair->updates += (uint32_t)pages;
	cpu_defer(t, host->costs->stat_level + line_cost_beyond(t, &pair->near_walk));
	return pair->updates >= host->charge_batch;
}
/* Moves the batch to the memcg's word; and what memcg_rstat_updated() of 6.8 to 6.15 does at a level then. */
void memcg_update_move(struct task *t, struct stat_pair *pair);
void memcg_update_batch(struct task *t, struct stat_pair *pair);
/* memcg_rstat_updated() at one level, for an update worth that many pages. */
static inline void memcg_update_level(struct task *t, struct stat_pair *pair, uint64_t pages)
{
	if (memcg_update_count(t, pair, pages))
		memcg_update_batch(t, pair);
}
/* The three lines of a level as first posted, each load with the address of the next. */
static inline void memcg_update_loads(struct task *t, struct stat_pair *pair)
{
	cpu_defer(t, 3 * line_cost_near(t, &pair->near_walk)); /* block pointer, counter, parent */
}
void memcg_update_posted(struct task *t, struct stat_pair *pair, enum stat_item item, uint64_t pages);
/* After a flush: the memcg's word; and the CPU's counter with it, as released. */
void memcg_word_flushed(struct task *t, struct stat_pair *pair);
void memcg_update_flushed(struct task *t, struct stat_pair *pair);
/* Does this caller flush? ratelimit_reclaim: reclaim does only when the worker is late (6.12+). */
bool memcg_flush_wanted(struct task *t, const struct flush *f, bool ratelimit_reclaim);
void memcg_flush_now(struct task *t, struct flush *f);
void memcg_flush(struct task *t, struct flush *f, bool ratelimit_reclaim); /* both, or counts a skip */

/* ---- reader.c ---- */

/* What a reader would see of m at this instant, compared with the truth. */
void stat_look(const struct memcg *m, sim_time_t now, struct stat_read *out);

/* ---- metrics.c ---- */

void stat_metrics_build(struct host *host);
void stat_metrics_read(struct host *host, struct memcg *m, const struct stat_read *read);

/* ---- flush_metrics.c ---- */

void flush_metrics_build(struct host *host);
/* A flush of the subtree of `root` took from start to end. */
void flush_metrics_add(struct host *host, const struct flush *f, const struct memcg *root, sim_time_t start,
		       sim_time_t end);
void flush_metrics_measure(struct host *host);
void flush_metrics_finish(struct host *host);

/* ---- invariants.c ---- */

void stat_invariants(struct host *host, struct record *record);

#endif
