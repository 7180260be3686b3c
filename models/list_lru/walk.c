/*
 * walk.c - items are looked at from the head of a list on, under its lock; after __list_lru_walk_one() and
 * list_lru_isolate() of mm/list_lru.c, Linux 6.12 and 6.13.
 *
 * Who isolates may have to give up the lock, and then the walk begins anew at the head, with what is left of
 * its number: so one lock is taken for each shadow node, but only one for a whole batch of dentries, during
 * which everybody else who wants a list of that lock waits. Up to 6.12 the isolator takes the lock again
 * before it returns; it makes no difference to who gets it when.
 */
#include "models/list_lru/list_lru_impl.h"

void list_lru_isolate(struct list_lru_walk *walk, struct list_lru_item *item)
{
	list_lru_unlink(item);
	walk->one->nr_items--;
}

void list_lru_isolate_move(struct list_lru_walk *walk, struct list_lru_item *item, struct list_lru_item *head)
{
	list_lru_isolate(walk, item);
	list_lru_link_tail(head, item);
}

/* Looks at one; false when the lock is not held any more. */
static bool look(struct task *t, struct list_lru_walk *walk, struct list_lru_item *item,
		 list_lru_isolate_fn *isolate, uint64_t *isolated, bool *stop)
{
	cpu_defer(t, walk->lru->host->costs->list_lru_scan);
	enum lru_status status = isolate(t, walk, item);

	switch (status) {
	case LRU_REMOVED:
	case LRU_REMOVED_RETRY:
		++*isolated;
		list_lru_count_total(t, walk, -1);
		break;
	case LRU_ROTATE:
		list_lru_unlink(item);
		list_lru_link_tail(&walk->one->head, item);
		break;
	case LRU_STOP:
		*stop = true;
		break;
	case LRU_SKIP:
	case LRU_RETRY:
		break;
	}
	return status != LRU_REMOVED_RETRY && status != LRU_RETRY;
}

uint64_t list_lru_walk_one(struct task *t, struct list_lru *lru, struct memcg *m, uint32_t node,
			   list_lru_isolate_fn *isolate, void *arg, uint64_t *nr_to_walk)
{
	struct list_lru_walk walk = { .lru = lru, .node = node, .arg = arg };
	uint64_t isolated = 0;

	while (list_lru_lock(t, &walk, m, true)) {
		struct list_lru_item *item = walk.one->head.next;
		bool locked = true, stop = false;

		while (locked && !stop && *nr_to_walk && item != &walk.one->head) {
			struct list_lru_item *next = item->next;

			--*nr_to_walk;
			locked = look(t, &walk, item, isolate, &isolated, &stop);
			item = next;
		}
		if (locked) {
			list_lru_unlock(t, &walk, true);
			break;
		}
	}
	return isolated;
}
