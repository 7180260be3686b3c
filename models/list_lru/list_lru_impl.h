/*
 * list_lru_impl.h - inside of the list_lru model: a memcg's lists, and how a list is found and locked.
 */
#ifndef MODELS_LIST_LRU_LIST_LRU_IMPL_H
#define MODELS_LIST_LRU_LIST_LRU_IMPL_H

#include "models/host/costs.h"
#include "models/list_lru/list_lru.h"

struct list_lru_memcg {
	uint32_t users; /* who found it and waits for a lock of it: the kernel's RCU read section */
	uint32_t slab;  /* bytes that it has of a slab; 0: the machine had it at boot */
	uint16_t node_of_slab;
	bool gone; /* out of list_lru.memcgs; the last user frees it */
	struct list_lru_one node[];
};

struct list_lru_state {
	bool memcg_lock;          /* list_lru_lock: per_memcg */
	bool eager;               /* list_lru_alloc */
	struct lock_class *class; /* of the lists' locks, whatever they cover */
	struct mutex mutex;       /* list_lrus_mutex */
	struct list_lru *first, **last;
	struct shrinker **shrinkers; /* by id */
	uint32_t nr_shrinkers, shrinker_capacity;
};

static inline struct list_lru_state *list_lru_state(const struct host *host)
{
	return host->list_lrus;
}

/* ---- list_lru.c ---- */

struct list_lru_memcg *list_lru_memcg_find(const struct list_lru *lru, uint32_t memcg);
void list_lru_memcg_free(struct list_lru *lru, struct list_lru_memcg *lists);
/*
 * lock_list_lru_of_memcg(): walk->lru and node are set; one and lock become those of m's list, locked. With
 * own_only, false where m has none any more (per_memcg).
 */
bool list_lru_lock(struct task *t, struct list_lru_walk *walk, struct memcg *m, bool own_only);
void list_lru_unlock(struct task *t, const struct list_lru_walk *walk, bool walks);
/* One item fewer, or more, in the node's total; the kernel's place for it is before or after the unlock. */
void list_lru_count_total(struct task *t, const struct list_lru_walk *walk, int nr);

static inline void list_lru_unlink(struct list_lru_item *item)
{
	item->prev->next = item->next;
	item->next->prev = item->prev;
	item->next = item->prev = NULL;
}
static inline void list_lru_link_tail(struct list_lru_item *head, struct list_lru_item *item)
{
	item->next = head;
	item->prev = head->prev;
	head->prev->next = item;
	head->prev = item;
}

#endif
