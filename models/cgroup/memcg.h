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

#define PAGE_SIZE      4096u
#define COUNTER_NO_MAX UINT64_MAX

/*
 * Hierarchical usage in pages. The words of protection share the line of usage up to 6.0 and have one of
 * their own from 6.1 on (408587baee4f); limits, which nobody writes, are taken to be in every cache. A
 * charge walks up level by level while others do the same; in_flight is what usage has already, or still,
 * of such walks beyond what the level's own pages, stocks and children account for. It is 0 when nobody
 * walks.
 */
struct page_counter {
	struct line line, protection_line;
	uint64_t usage;
	uint64_t max, high, low, min; /* pages; max and high COUNTER_NO_MAX when unlimited */
	/* Protected usage, and that of all children: kept up to date for those that have a min or low. */
	uint64_t min_usage, low_usage, children_min_usage, children_low_usage;
	uint64_t watermark, failcnt;
	uint64_t forced; /* usage above max that a forced charge or a new limit left, for invariant I11 */
	int64_t in_flight;
	struct page_counter *parent;
	/* Of a memcg's memory: among its siblings, who have to know when usage becomes or leaves 0. */
	struct siblings *row; /* NULL: nobody asks */
	uint32_t place;
};

struct cgroup_options;

/* memory.events: what happened in a memcg or below it. */
enum memcg_event {
	EVENT_LOW,
	EVENT_HIGH,
	EVENT_MAX,
	EVENT_OOM,
	EVENT_OOM_KILL,
	EVENT_OOM_GROUP_KILL,
	NR_MEMCG_EVENTS
};

/*
 * A task as its memcg sees it. task.owner points to one, embedded first in whatever else the owner is; it is
 * NULL for the kernel's own threads.
 */
struct page_object;
#define OOM_SCORE_ADJ_MIN (-1000)
#define OOM_SCORE_ADJ_MAX 1000
struct cgroup_task {
	struct memcg *memcg;
	struct task *task;
	uint64_t over_high;               /* memcg_nr_pages_over_high */
	int32_t oom_score_adj;            /* OOM_SCORE_ADJ_MIN: never killed */
	bool killed;                      /* by the OOM killer: its operations fail, so that it ends */
	bool exiting;                     /* its memory is being given back for it */
	struct page_object *objects;      /* anonymous memory, by page_object.next_owned */
	struct cgroup_task *next, **prev; /* of the memcg's tasks */
};

/*
 * Who pays for an object of the kernel (struct obj_cgroup): the cgroup that it was made in, and after that
 * one's removal the nearest ancestor that is not removed. Objects name it by number, which is that of the
 * cgroup, and keep neither the cgroup nor its memory alive: only the number is not given away meanwhile.
 */
struct obj_cgroup {
	struct memcg *memcg;
	uint64_t refs;        /* the cgroup while it exists, its objects, and stocks of bytes */
	uint64_t spare_bytes; /* charged, and in no CPU's stock (nr_charged_bytes) */
	uint32_t id;          /* index in cgroup_state.objcgs, and in .all as long as the cgroup exists */
	struct obj_cgroup *next, **prev; /* of those that memcg pays for */
};

/* A cgroup's way to the end; life.h. */
enum memcg_life {
	MEMCG_ONLINE,
	MEMCG_DYING,    /* removed: its directory is gone (CSS_DYING) */
	MEMCG_OFFLINE,  /* css_offline() has run: references alone keep it */
	MEMCG_RELEASED, /* the last one is gone */
	MEMCG_GONE      /* it has left the tree */
};

struct memcg {
	struct host *host;
	struct memcg *parent, *first_child, *last_child, *next_sibling, *prev_sibling;
	uint32_t id;      /* index in cgroup_state.all; 0 is the root */
	uint16_t css_id;  /* 1 to 65,535, in shadow entries and swap records; 0: given back (mem_cgroup_id) */
	uint8_t life;     /* enum memcg_life */
	bool transient;   /* made and removed during the run: not a row in results */
	uint32_t depth;   /* root 0 */
	const char *name; /* last component; "" for the root */
	const char *path; /* "/" for the root, "/parent1/child2" */
	const struct cgroup_options *options; /* that it comes from; NULL: the root, or made by hand */
	struct page_counter memory;
	struct page_counter swap;         /* memory.swap */
	uint64_t emin, elow;              /* effective protection as last computed; models/reclaim */
	bool oom_group;                   /* memory.oom.group */
	uint64_t events[NR_MEMCG_EVENTS]; /* memory.events, descendants included */
	struct memcg_watcher *watchers;
	struct cgroup_task *tasks, **tasks_end; /* in the order in which they came */
	/*
	 * And who plays a process elsewhere for a moment, its parent being here: the way back stands for
	 * exit(2), which cannot fail, so the css_set stays.
	 */
	uint32_t nr_away;
	struct bandwidth *bandwidth;             /* cpu.max, or that of the nearest ancestor that has one */
	uint32_t weight;                         /* cpu.weight as a task weight */
	struct memory_stat_base *stat_base;      /* at the end of the warm-up; memory_stat.c */
	struct memcg_stat *stat;                 /* models/stat */
	struct lruvec **lruvecs;                 /* by node; models/page; made at first use */
	struct mapping *mappings, *last_mapping; /* of its processes; models/page/mapping.h */
	struct memcg *kmemcg;                    /* kmemcg_id: whose list_lrus it uses; NULL: its own */
	struct shrinker_info *shrinkers;         /* by node; models/list_lru/shrinker.c */
	sim_time_t write_time;                   /* of writes to its files; writes.c */
	uint64_t writes_refused;                 /* of these writes, those that fell short */
	uint64_t pressure_scanned;               /* pages; models/reclaim/vmpressure.c */
	bool pressure_queued;
	uint64_t nr_charged;   /* pages charged directly to it: the truth for invariant I10 */
	uint64_t nr_kmem;      /* of those, pages of kernel memory */
	uint64_t nr_inherited; /* of those of the root, pages that were charged to cgroups since removed */
	uint64_t object_bytes; /* of those, bytes in objects that exist */
	/* References that keep a removed cgroup (12.3), beside the pages charged to it; life.c. */
	uint32_t nr_children; /* cgroups below it that are not freed */
	struct siblings *row; /* of its children, when they are many; siblings.h */
	uint32_t nr_stocks;   /* CPUs whose stock of pages names it */
	uint32_t nr_pins;     /* walkers, sockets, and who else holds it */
	uint64_t nr_swap;     /* slots of swap that it owns */
	uint32_t nr_online;   /* itself and the cgroups right below it, but for those that are offline */
	uint32_t nr_descendants, nr_dying_descendants; /* cgroup.stat */
	struct obj_cgroup *objcg;                      /* its own */
	struct obj_cgroup *objcgs;                     /* all that it pays for */
	struct memcg_structures *structures;           /* models/host/ledger.h; NULL: made at the start */
	struct cgroup_end *end;                        /* life.c; NULL: it is not removed */
};

struct memcg_stock; /* of one CPU; stock.h */
struct stream;
struct workqueue;

struct cgroup_life; /* life.c */

#define MOST_CSS_IDS 65535u /* MEM_CGROUP_ID_MAX */

struct cgroup_state {
	struct memcg **all; /* by number; NULL: that one is gone */
	struct obj_cgroup **objcgs;
	/*
	 * Whose the pages on a node are that were charged to a cgroup, [number * nr_nodes + node]: its
	 * own, or its ancestor's after lru_reparent (page_memcg()).
	 */
	struct memcg **page_owners;
	bool lru_reparent;          /* at_offline */
	uint32_t reparenting;       /* under way: pages have their new owner, their charges not yet */
	uint32_t nr_dying;          /* removed, and not offline yet */
	struct spinlock objcg_lock; /* there alone */
	uint32_t nr, capacity;
	struct memcg **by_css_id; /* by css_id; NULL: none */
	uint32_t nr_css_ids;      /* in use */
	uint32_t free_css_id;     /* below it all are in use */
	uint32_t *free;           /* numbers that can be given away again, a stack */
	uint32_t nr_free;
	struct cgroup_life *life;
	struct memcg *root;
	struct memcg_stock *stocks;   /* by CPU */
	struct stream *victims;       /* which slot of a full stock is drained */
	struct workqueue *queue;      /* work on the stocks' own CPUs */
	struct mutex drain_mutex;     /* percpu_charge_mutex */
	struct mutex oom_mutex;       /* oom_lock */
	struct cgroup_task *oom_next; /* of who is killed with a group; under it */
	uint32_t walks;               /* under way on page counters */
};

/* ---- the tree; tree.c ---- */

/* The state and the root cgroup; host->sim, nr_cpus, nr_nodes, costs, charge_batch and nr_stock are set. */
void cgroups_build(struct host *host);
/* One more cgroup; `name` stays alive. Its statistics are stat_build_memcg()'s. */
struct memcg *memcg_create(struct memcg *parent, const char *name);
/* The way back, for life.c: of one without users and references; out of the tree, and then of memory. */
void memcg_leave(struct memcg *m);
void memcg_destroy(struct memcg *m);
/* Gives the css_id back: shadow entries that hold it find nobody, or the next who gets it. */
void memcg_put_css_id(struct memcg *m);
/* "/a/b" or a glob pattern ("parent*" matches within one component, leading '/' optional). */
struct memcg *memcg_find(const struct host *host, const char *path);
/* All that match, in order of creation; returns the number. `out` has room for cgroups->nr. */
uint32_t memcg_match(const struct host *host, const char *pattern, struct memcg **out);
/* The next of the subtree of `root` in pre-order, starting from NULL. */
struct memcg *memcg_next(struct memcg *root, struct memcg *position);
/*
 * The same for a walk that takes time: what it returns is held until the next call, and so is in the tree;
 * those that nobody can hold any more are passed over. Ends with NULL; who stops before calls memcg_put().
 * In a step.
 */
struct memcg *memcg_walk(struct task *t, struct memcg *root, struct memcg *position);
bool memcg_is_descendant(const struct memcg *m, const struct memcg *root); /* or the same */

/* for (uint32_t i = 0; (m = memcg_at(cgroups, &i)); i++): all that exist, by number. */
static inline struct memcg *memcg_at(const struct cgroup_state *cgroups, uint32_t *i)
{
	while (*i < cgroups->nr && !cgroups->all[*i])
		++*i;
	return *i < cgroups->nr ? cgroups->all[*i] : NULL;
}
/* All that exist, parents before children; an array of cgroups->nr to be freed with sim_free(). */
struct memcg **memcg_order(const struct host *host, uint32_t *nr);

static inline bool memcg_is_root(const struct memcg *m)
{
	return !m->parent;
}
/* mem_cgroup_online(): until css_offline() has run. */
static inline bool memcg_online(const struct memcg *m)
{
	return m->life < MEMCG_OFFLINE;
}
static inline struct memcg *memcg_by_css_id(const struct host *host, uint32_t css_id)
{
	return host->cgroups->by_css_id[css_id];
}
static inline struct obj_cgroup *objcg_by_id(const struct host *host, uint32_t id)
{
	return host->cgroups->objcgs[id];
}
/* Whose the pages on a node are that were charged to m. */
static inline struct memcg *page_owner(const struct memcg *m, uint32_t node)
{
	return m->host->cgroups->page_owners[m->id * m->host->nr_nodes + node];
}
void objcg_init(struct host *host, struct memcg *m); /* m's own, of m's number */
/* So many that named it are gone. The last gives back what is left over, and the number. object.c */
void objcg_put_many(struct task *t, struct obj_cgroup *objcg, uint32_t nr);
static inline void objcg_put(struct task *t, struct obj_cgroup *objcg)
{
	objcg_put_many(t, objcg, 1);
}
/* reparent_state(): all that m pays for is its parent's. No time passes. */
void objcgs_reparent(struct memcg *m);

/* ---- references; life.c ---- */

/* A walker, a socket, ... begins to hold m; false: nobody can any more (css_tryget()). In a step. */
bool memcg_tryget(struct memcg *m);
void memcg_put(struct task *t, struct memcg *m);
/* Who holds m is the last to do so: memcg_put() would let it go. */
bool memcg_is_last_ref(const struct memcg *m);
/* One of the references that are counted elsewhere is gone: was it the last of a removed cgroup? */
void memcg_unreferenced(struct task *t, struct memcg *m);
static inline void memcg_ref_gone(struct task *t, struct memcg *m)
{
	if (__builtin_expect(m->life == MEMCG_OFFLINE, 0))
		memcg_unreferenced(t, m);
}

/* ---- page counters; page_counter.c. Each level is a step of its own. ---- */

void siblings_charge_turned(struct page_counter *c); /* siblings.c */

void page_counter_init(struct page_counter *c, struct page_counter *parent);
/* nr pages on all levels, or on none: then *failed is the level whose max is in the way. */
bool page_counter_try_charge(struct task *t, struct page_counter *c, uint64_t nr,
			     struct page_counter **failed);
/* nr pages on all levels, whatever the limits. */
void page_counter_charge(struct task *t, struct page_counter *c, uint64_t nr);
void page_counter_uncharge(struct task *t, struct page_counter *c, uint64_t nr);
/* The counter alone, without a walk: what it had is an ancestor's. No time passes. */
void page_counter_forget(struct page_counter *c, uint64_t nr);
/* page_counter_set_min(), page_counter_set_low(): new protection, of which all levels above learn. */
void page_counter_protect(struct task *t, struct page_counter *c, uint64_t min, uint64_t low);

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
/* The same for pages that are the root's since their cgroup was removed: its counter has those. */
void memcg_uncharge_inherited(struct task *t, struct memcg *root, uint64_t nr);
/* All that is charged to m but for kernel memory is its parent's from now on. No time passes. */
void memcg_charges_reparent(struct memcg *m);
/* lru_reparent: a page has just been charged to m; if m is removed, the page is where its others are. */
void memcg_charge_outlasted(struct memcg *m);
/* drain_all_stock(): work on every CPU that holds stock of the subtree. */
void memcg_drain_all_stock(struct task *t, struct memcg *root);
/* Pages of m in all CPUs' stocks (for invariants). */
uint64_t memcg_stocked(const struct host *host, const struct memcg *m);
/* memory.current, in pages. */
uint64_t memcg_current(const struct memcg *m);
/*
 * Writes to memory.max, high, low, min and swap.max, in pages; the first two reclaim what is above, and may
 * end above when nothing can be reclaimed, and for memory.max nobody killed. limit.c
 */
void memcg_set_max(struct task *t, struct memcg *m, uint64_t max);
void memcg_set_high(struct task *t, struct memcg *m, uint64_t high);
void memcg_set_low(struct task *t, struct memcg *m, uint64_t low);
void memcg_set_min(struct task *t, struct memcg *m, uint64_t min);
void memcg_set_swap_max(struct task *t, struct memcg *m, uint64_t max);

/* memcg_memory_event(): in m and all its ancestors below the root. */
void memcg_event(struct memcg *m, enum memcg_event event);

/* A task that polls memory.events. Each event sets `raised`, and wakes the task if it is asleep. */
struct memcg_watcher {
	struct memcg_watcher *next;
	struct task *task;
	bool raised;
};
void memcg_watch_events(struct memcg_watcher *watcher, struct memcg *m, struct task *t);

/* ---- memory.high and memory.reclaim; high.c ---- */

/* After a charge: notes pages above memory.high of m or an ancestor for the running task. In a step. */
void memcg_note_high(struct task *t, struct memcg *m, uint32_t batch);
/* On the way back to user mode: reclaim for what was noted, and the wait if that does not help. */
void memcg_handle_over_high(struct task *t);
/* A write of nr pages to memory.reclaim; false: it fell short (EAGAIN). */
bool memcg_proactive_reclaim(struct task *t, struct memcg *m, uint64_t nr);

/* ---- tasks, and the end of some; oom.c ---- */

static inline struct cgroup_task *cgroup_task_of(const struct task *t)
{
	return t->owner;
}
static inline bool task_killed(const struct task *t)
{
	return t->owner && cgroup_task_of(t)->killed;
}
void cgroup_task_attach(struct cgroup_task *ct, struct memcg *m);
void cgroup_task_exit(struct cgroup_task *ct);
/*
 * The task is the next process of one that plays several in turn, and is not killed any more. Waits until
 * nobody gives back memory of the one before; that it has none left is the caller's business.
 */
void cgroup_task_again(struct task *t, struct cgroup_task *ct);
/* A write to cgroup.kill: all tasks of m and of those below it end. In a step, which it may end. */
void memcg_kill(struct task *t, struct memcg *m);
/* out_of_memory() for m: false when there is nobody to kill. */
bool memcg_out_of_memory(struct task *t, struct memcg *m, uint32_t nr);

/* Invariants I9, I10, and bytes of kernel objects = pages charged for them. invariants.c */
void cgroups_finish(struct host *host);

#endif
