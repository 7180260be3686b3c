/*
 * reparent.c - a memcg's lists at both ends of its life, after memcg_online_kmem(), memcg_offline_kmem() and
 * memcg_reparent_list_lrus(), mm/memcontrol.c and mm/list_lru.c.
 *
 * Up to 6.12 the objects' owner changes first. From then on an object that leaves its list is counted off the
 * parent's list, though it still stands on the child's: both counts are wrong until the splice adds one to
 * the other. Whose lists a memcg's items are found on is a number of the memcg (kmemcg_id), rewritten for the
 * whole subtree before the first list moves; each node's lock then orders the splice against everybody.
 *
 * Since 6.13 the owner changes last. A list's entry in the map goes first, then it is spliced under its own
 * lock and its parent's, and left dead: who waits for its lock meanwhile goes on to the parent's.
 */
#include "models/list_lru/list_lru_impl.h"

bool memcg_online_kmem(struct task *t, struct memcg *m)
{
	const struct list_lru_state *state = list_lru_state(m->host);
	bool made = true;

	for (struct list_lru *lru = state->first; made && state->eager && lru; lru = lru->next)
		made = list_lru_prepare(t, lru, m);
	return made;
}

/* list_splice_init(): before the first of `to`. */
static void splice(struct list_lru_item *from, struct list_lru_item *to)
{
	if (from->next == from)
		return;
	from->next->prev = to;
	from->prev->next = to->next;
	to->next->prev = from->prev;
	to->next = from->next;
	list_lru_head_init(from);
}

static void move_items(struct task *t, struct list_lru *lru, struct list_lru_one *from, struct memcg *parent,
		       struct list_lru_one *to, uint32_t node)
{
	splice(&from->head, &to->head);
	if (from->nr_items)
		set_shrinker_bit(parent, node, lru->shrinker);
	to->nr_items += from->nr_items;
	from->nr_items = 0;
	cpu_defer(t, lru->host->costs->list_lru_op);
}

/* ---- up to 6.12 ---- */

static void redirect_subtree(struct memcg *m, struct memcg *parent)
{
	for (struct memcg *below = m; below; below = memcg_next(m, below))
		below->kmemcg = parent;
}

static void reparent_under_node_locks(struct task *t, struct list_lru *lru, struct memcg *m,
				      struct memcg *parent)
{
	struct list_lru_memcg *from;

	for (uint32_t node = 0; node < lru->host->nr_nodes; node++) {
		spin_lock_irq(t, &lru->nodes[node].lock);
		from = list_lru_memcg_find(lru, m->id);
		if (from) /* so the parent has some, list_lru_prepare() */
			move_items(t, lru, &from->node[node], parent,
				   &list_lru_memcg_find(lru, parent->id)->node[node], node);
		spin_unlock_irq(t, &lru->nodes[node].lock);
	}
	task_sync(t);
	from = list_lru_memcg_find(lru, m->id);
	if (!from)
		return;
	lru->memcgs[m->id] = NULL;
	lru->nr_memcgs--;
	list_lru_memcg_free(lru, from);
}

/* ---- since 6.13 ---- */

static void reparent_under_list_locks(struct task *t, struct list_lru *lru, struct memcg *m,
				      struct memcg *parent)
{
	task_sync(t);
	struct list_lru_memcg *from = list_lru_memcg_find(lru, m->id);

	if (!from)
		return;
	lru->memcgs[m->id] = NULL;
	lru->nr_memcgs--;
	/* Not missing, list_lru_prepare(). */
	struct list_lru_memcg *to = list_lru_memcg_find(lru, parent->id);

	for (uint32_t node = 0; node < lru->host->nr_nodes; node++) {
		spin_lock_irq(t, &from->node[node].lock);
		spin_lock(t, &to->node[node].lock);
		move_items(t, lru, &from->node[node], parent, &to->node[node], node);
		from->node[node].dead = true;
		spin_unlock(t, &to->node[node].lock);
		spin_unlock_irq(t, &from->node[node].lock);
	}
	task_sync(t);
	from->gone = true;
	if (!from->users)
		list_lru_memcg_free(lru, from);
}

static void reparent_lists(struct task *t, struct memcg *m)
{
	struct list_lru_state *state = list_lru_state(m->host);
	struct memcg *parent = m->parent->kmemcg ? m->parent->kmemcg : m->parent;

	task_sync(t);
	redirect_subtree(m, parent);
	mutex_lock(t, &state->mutex);
	for (struct list_lru *lru = state->first; lru; lru = lru->next) {
		if (state->memcg_lock)
			reparent_under_list_locks(t, lru, m, parent);
		else
			reparent_under_node_locks(t, lru, m, parent);
	}
	mutex_unlock(t, &state->mutex);
}

static void reparent_owners(struct task *t, struct memcg *m,
			    void (*reparent_objcgs)(struct task *t, struct memcg *m))
{
	task_sync(t);
	reparent_objcgs(t, m);
}

void memcg_offline_kmem(struct task *t, struct memcg *m,
			void (*reparent_objcgs)(struct task *t, struct memcg *m))
{
	bool lists_first = list_lru_state(m->host)->memcg_lock;

	if (!lists_first)
		reparent_owners(t, m, reparent_objcgs);
	reparent_lists(t, m);
	if (lists_first)
		reparent_owners(t, m, reparent_objcgs);
}
