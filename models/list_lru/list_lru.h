/*
 * list_lru.h - lists of kernel objects that can be reclaimed, by (list, memcg, node): shadow nodes, and the
 * inodes and dentries of each superblock. Kernel: mm/list_lru.c.
 *
 * An object is on the list of the memcg that it is charged to now, and of the node that its memory is on.
 * When that memcg goes offline all its lists are spliced into its parent's (memcg_offline_kmem()), and
 * whoever comes with an object of it finds the parent's.
 *
 * What a lock covers is the axis `list_lru_lock`. per_node: all cgroups' lists on a node; the total of the
 * node is a plain number under it. per_memcg: one list; the total is an atomic word of the node beside it,
 * and a list that was reparented is dead, so that who waited for its lock goes on to the parent's.
 *
 * When the lists of a memcg are made is the axis `list_lru_alloc`. eager: for every list and every memcg,
 * when either is made. lazy: with the first object, for its memcg and all above (kmem_cache_alloc_lru()).
 */
#ifndef MODELS_LIST_LRU_LIST_LRU_H
#define MODELS_LIST_LRU_LIST_LRU_H

#include "models/cgroup/memcg.h"
#include "models/list_lru/shrinker.h"

/* In each object; zeroed: on no list. */
struct list_lru_item {
	struct list_lru_item *next, *prev;
};

struct list_lru_one {
	struct list_lru_item head;
	int64_t nr_items;     /* for a moment of reparenting it may be wrong, even negative, with per_node */
	struct spinlock lock; /* per_memcg */
	bool dead;            /* per_memcg, reparented: nr_items is LONG_MIN */
};

struct list_lru_memcg; /* a memcg's, by node */

struct list_lru_node {
	struct spinlock lock; /* per_node */
	struct line line;     /* per_memcg: nr_items, atomic */
	int64_t nr_items;
};

struct list_lru {
	struct host *host;
	const char *name;
	const struct shrinker *shrinker; /* whose bit the first item of a list sets */
	bool irq;                        /* walks switch interrupts off */
	struct list_lru_node *nodes;
	struct list_lru_memcg **memcgs; /* by memcg id; NULL: none */
	uint32_t capacity;
	uint32_t nr_memcgs;    /* below the root that have lists */
	struct list_lru *next; /* memcg_list_lrus */
};

/* The list is of memcgs, and known from then on; `name` and `shrinker` stay. */
void list_lru_init(struct list_lru *lru, struct host *host, const char *name,
		   const struct shrinker *shrinker);

/*
 * memcg_list_lru_alloc(): m's lists, and those of all above it, unless there are any: for an object that is
 * made. False: there was no memory (slab_get()). t NULL: before the run, which has memory. In a step.
 */
bool list_lru_prepare(struct task *t, struct list_lru *lru, struct memcg *m);
/* An array of lists, as allocated. */
uint32_t list_lru_array_bytes(const struct host *host);

/*
 * Onto the tail, or off; false: nothing to do. m is the memcg that the object is charged to at the call.
 * Takes and gives up the list's lock; the caller's own lock on the object keeps others from it.
 */
bool list_lru_add(struct task *t, struct list_lru *lru, struct list_lru_item *item, uint32_t node,
		  struct memcg *m);
bool list_lru_del(struct task *t, struct list_lru *lru, struct list_lru_item *item, uint32_t node,
		  struct memcg *m);
static inline bool list_lru_listed(const struct list_lru_item *item)
{
	return item->next;
}

/* Without a lock, as the kernel counts. Of m's own list; of all lists of a node. */
uint64_t list_lru_count_one(const struct list_lru *lru, const struct memcg *m, uint32_t node);
uint64_t list_lru_count_node(const struct list_lru *lru, uint32_t node);
const struct list_lru_one *list_lru_find(const struct list_lru *lru, uint32_t memcg, uint32_t node);

/* ---- walking; walk.c ---- */

enum lru_status {
	LRU_REMOVED,       /* by list_lru_isolate() or _move(); the lock was held throughout */
	LRU_REMOVED_RETRY, /* the same, but the lock was given up */
	LRU_ROTATE,        /* to the tail with it */
	LRU_SKIP,          /* leave it where it is */
	LRU_RETRY,         /* nothing happened to it, and the lock was given up */
	LRU_STOP
};

struct list_lru_walk {
	struct list_lru *lru;
	struct memcg *memcg; /* whose list it is */
	struct list_lru_one *one;
	struct spinlock *lock; /* of the list, which is held */
	uint32_t node;
	void *arg;
};
typedef enum lru_status list_lru_isolate_fn(struct task *t, struct list_lru_walk *walk,
					    struct list_lru_item *item);
/*
 * list_lru_walk_one(): looks at the items of m's list on the node from the head on, at most *nr_to_walk of
 * them, which counts down. Returns how many were taken off.
 */
uint64_t list_lru_walk_one(struct task *t, struct list_lru *lru, struct memcg *m, uint32_t node,
			   list_lru_isolate_fn *isolate, void *arg, uint64_t *nr_to_walk);
/* For who isolates: off the list; and the same, onto the end of one of its own. */
void list_lru_isolate(struct list_lru_walk *walk, struct list_lru_item *item);
void list_lru_isolate_move(struct list_lru_walk *walk, struct list_lru_item *item,
			   struct list_lru_item *head);

void list_lru_head_init(struct list_lru_item *head);
/* The first, taken off; NULL: none. */
struct list_lru_item *list_lru_pop(struct list_lru_item *head);

/* ---- life of a memcg; reparent.c ---- */

/* memcg_online_kmem(): with list_lru_alloc: eager, its lists; false: no memory. After its statistics. */
bool memcg_online_kmem(struct task *t, struct memcg *m);
/*
 * memcg_offline_kmem(), in css_offline() of a memcg that is not the root: its objects become its parent's,
 * and so do all lists. Up to 6.12 (list_lru_lock: per_node) the owners change first and then the lists, list
 * by list under each node's lock; since then (per_memcg) the lists first, each under its own lock and its
 * parent's. `reparent_objcgs` changes the owners, beginning in a step of its own. Sleeps (list_lrus_mutex).
 */
void memcg_offline_kmem(struct task *t, struct memcg *m,
			void (*reparent_objcgs)(struct task *t, struct memcg *m));

/* Pairs of a list_lru and a cgroup below the root that has lists in it. */
uint64_t list_lru_nr_memcgs(const struct host *host);
void list_lru_build(struct host *host);

#endif
