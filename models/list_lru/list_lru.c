/*
 * list_lru.c - lists are made, found and locked; an item goes on or off. See list_lru.h.
 *
 * Follows mm/list_lru.c of Linux 6.12 (list_lru_add: the node's lock, and only then whose list it is) and of
 * 6.13 (lock_list_lru_of_memcg: the list is found without a lock, and may have died when its lock is had;
 * then the parent's is tried). In the latter the node's total is an atomic word that all cgroups write, after
 * the lock is given up: what is left of the shared line that the old lock was.
 *
 * Lists are made before there is anything to go on them, and their memory is had like any
 * (list_lru_prepare()). Left out: the lock of the XArray in which a memcg's lists are looked up, which only
 * the making and the reparenting of lists take.
 */
#include "models/list_lru/list_lru_impl.h"

#include <string.h>

#include "models/host/policies.h"
#include "models/host/slab.h"

void list_lru_head_init(struct list_lru_item *head)
{
	head->next = head->prev = head;
}

struct list_lru_item *list_lru_pop(struct list_lru_item *head)
{
	struct list_lru_item *item = head->next;

	if (item == head)
		return NULL;
	list_lru_unlink(item);
	return item;
}

/* ---- a memcg's lists ---- */

static size_t lists_size(const struct host *host)
{
	return sizeof(struct list_lru_memcg) + host->nr_nodes * sizeof(struct list_lru_one);
}

struct list_lru_memcg *list_lru_memcg_find(const struct list_lru *lru, uint32_t memcg)
{
	return memcg < lru->capacity ? lru->memcgs[memcg] : NULL;
}

void list_lru_memcg_free(struct list_lru *lru, struct list_lru_memcg *lists)
{
	for (uint32_t i = 0; i < lru->host->nr_nodes; i++)
		line_release(lru->host->sim, &lists->node[i].lock.line);
	if (lists->slab)
		slab_put(lru->host, lists->node_of_slab, lists->slab);
	sim_free(lru->host->sim, lists, lists_size(lru->host));
}

static void make_room(struct list_lru *lru, uint32_t memcg)
{
	struct sim *sim = lru->host->sim;
	uint32_t capacity = lru->capacity ? lru->capacity : 64;

	while (capacity <= memcg)
		capacity *= 2;
	struct list_lru_memcg **memcgs = sim_alloc(sim, capacity * sizeof(*memcgs));

	if (lru->capacity) {
		memcpy(memcgs, lru->memcgs, lru->capacity * sizeof(*memcgs));
		sim_free(sim, lru->memcgs, lru->capacity * sizeof(*memcgs));
	}
	lru->memcgs = memcgs;
	lru->capacity = capacity;
}

static struct list_lru_memcg *make(struct list_lru *lru, const struct memcg *m)
{
	struct host *host = lru->host;
	struct list_lru_memcg *lists = sim_alloc(host->sim, lists_size(host));

	for (uint32_t i = 0; i < host->nr_nodes; i++) {
		list_lru_head_init(&lists->node[i].head);
		spin_lock_init(&lists->node[i].lock, list_lru_state(host)->class);
	}
	if (m->id >= lru->capacity)
		make_room(lru, m->id);
	lru->memcgs[m->id] = lists;
	lru->nr_memcgs += !memcg_is_root(m);
	return lists;
}

/* struct list_lru_memcg: an rcu_head, and a list for each node; with a lock of its own since 6.13. */
uint32_t list_lru_array_bytes(const struct host *host)
{
	return kmalloc_size(16 + host->nr_nodes * (host->kernel_version < 613 ? 24 : 32));
}

static bool lacks_lists(const struct list_lru *lru, const struct memcg *m)
{
	return !m->kmemcg && !list_lru_memcg_find(lru, m->id);
}

/* While it waits for memory somebody else may have made them. */
static bool make_of_slab(struct task *t, struct list_lru *lru, const struct memcg *m)
{
	uint32_t bytes = list_lru_array_bytes(lru->host), node = t->cpu->node;

	if (!slab_get(t, lru->host, node, bytes))
		return false;
	if (!lacks_lists(lru, m)) {
		slab_put(lru->host, node, bytes);
		return true;
	}
	struct list_lru_memcg *lists = make(lru, m);

	lists->slab = bytes;
	lists->node_of_slab = (uint16_t)node;
	return true;
}

/* The highest of m and those above it that have none. */
static struct memcg *topmost_lacking(const struct list_lru *lru, struct memcg *m)
{
	struct memcg *top = NULL;

	for (; m && !list_lru_memcg_find(lru, m->id); m = m->parent)
		if (lacks_lists(lru, m))
			top = m;
	return top;
}

/* From the top: whoever has lists has a parent with lists, which reparenting counts on when memory is out. */
bool list_lru_prepare(struct task *t, struct list_lru *lru, struct memcg *m)
{
	struct memcg *top;

	while ((top = topmost_lacking(lru, m)))
		if (!t)
			make(lru, top);
		else if (!make_of_slab(t, lru, top))
			return false;
	return true;
}

const struct list_lru_one *list_lru_find(const struct list_lru *lru, uint32_t memcg, uint32_t node)
{
	const struct list_lru_memcg *lists = list_lru_memcg_find(lru, memcg);

	return lists ? &lists->node[node] : NULL;
}

static struct list_lru_memcg *find_or_make(struct list_lru *lru, const struct memcg *m)
{
	struct list_lru_memcg *lists = list_lru_memcg_find(lru, m->id);

	return lists ? lists : make(lru, m);
}

/* ---- locks ---- */

static void lock(struct task *t, struct spinlock *l, bool irq)
{
	if (irq)
		spin_lock_irq(t, l);
	else
		spin_lock(t, l);
}

static void unlock(struct task *t, struct spinlock *l, bool irq)
{
	if (irq)
		spin_unlock_irq(t, l);
	else
		spin_unlock(t, l);
}

static void lock_of_node(struct task *t, struct list_lru_walk *walk, struct memcg *m, bool irq)
{
	walk->lock = &walk->lru->nodes[walk->node].lock;
	lock(t, walk->lock, irq);
	walk->memcg = m->kmemcg ? m->kmemcg : m;
	walk->one = &find_or_make(walk->lru, walk->memcg)->node[walk->node];
}

/* False: the list died meanwhile. */
static bool lock_of_list(struct task *t, struct list_lru_walk *walk, struct list_lru_memcg *lists, bool irq)
{
	walk->one = &lists->node[walk->node];
	walk->lock = &walk->one->lock;
	lists->users++;
	lock(t, walk->lock, irq);
	lists->users--;
	if (!walk->one->dead)
		return true;
	unlock(t, walk->lock, irq);
	if (lists->gone && !lists->users)
		list_lru_memcg_free(walk->lru, lists);
	return false;
}

bool list_lru_lock(struct task *t, struct list_lru_walk *walk, struct memcg *m, bool own_only)
{
	bool irq = own_only && walk->lru->irq;

	if (!list_lru_state(walk->lru->host)->memcg_lock) {
		lock_of_node(t, walk, m, irq);
		return true;
	}
	for (;; m = m->parent) {
		task_sync(t);
		walk->memcg = m;
		if (!m->kmemcg)
			list_lru_prepare(NULL, walk->lru, m);
		struct list_lru_memcg *lists = list_lru_memcg_find(walk->lru, m->id);

		if (lists && lock_of_list(t, walk, lists, irq))
			return true;
		if (own_only)
			return false;
	}
}

void list_lru_unlock(struct task *t, const struct list_lru_walk *walk, bool walks)
{
	unlock(t, walk->lock, walks && walk->lru->irq);
}

void list_lru_count_total(struct task *t, const struct list_lru_walk *walk, int nr)
{
	struct list_lru_node *node = &walk->lru->nodes[walk->node];

	if (list_lru_state(walk->lru->host)->memcg_lock)
		line_rmw(t, &node->line);
	node->nr_items += nr;
}

/* ---- on and off ---- */

/* The item has joined, or left, the list that is locked. */
static void done(struct task *t, const struct list_lru_walk *walk, int nr)
{
	bool total_after = list_lru_state(walk->lru->host)->memcg_lock;

	cpu_defer(t, walk->lru->host->costs->list_lru_op);
	if (!total_after)
		list_lru_count_total(t, walk, nr);
	list_lru_unlock(t, walk, false);
	if (total_after)
		list_lru_count_total(t, walk, nr);
}

bool list_lru_add(struct task *t, struct list_lru *lru, struct list_lru_item *item, uint32_t node,
		  struct memcg *m)
{
	struct list_lru_walk walk = { .lru = lru, .node = node };

	list_lru_lock(t, &walk, m, false);
	if (list_lru_listed(item)) {
		list_lru_unlock(t, &walk, false);
		return false;
	}
	list_lru_link_tail(&walk.one->head, item);
	if (!walk.one->nr_items++)
		set_shrinker_bit(walk.memcg, node, lru->shrinker);
	done(t, &walk, 1);
	return true;
}

bool list_lru_del(struct task *t, struct list_lru *lru, struct list_lru_item *item, uint32_t node,
		  struct memcg *m)
{
	struct list_lru_walk walk = { .lru = lru, .node = node };

	list_lru_lock(t, &walk, m, false);
	if (!list_lru_listed(item)) {
		list_lru_unlock(t, &walk, false);
		return false;
	}
	list_lru_unlink(item);
	walk.one->nr_items--;
	done(t, &walk, -1);
	return true;
}

/* ---- counting ---- */

static uint64_t positive(int64_t nr)
{
	return nr > 0 ? (uint64_t)nr : 0;
}

uint64_t list_lru_count_one(const struct list_lru *lru, const struct memcg *m, uint32_t node)
{
	const struct list_lru_one *one = list_lru_find(lru, (m->kmemcg ? m->kmemcg : m)->id, node);

	return one ? positive(one->nr_items) : 0;
}

uint64_t list_lru_count_node(const struct list_lru *lru, uint32_t node)
{
	return positive(lru->nodes[node].nr_items);
}

/* ---- life of a list_lru ---- */

void list_lru_init(struct list_lru *lru, struct host *host, const char *name, const struct shrinker *shrinker)
{
	struct list_lru_state *state = list_lru_state(host);

	*lru = (struct list_lru){ .host = host, .name = name, .shrinker = shrinker };
	lru->nodes = sim_alloc(host->sim, host->nr_nodes * sizeof *lru->nodes);
	for (uint32_t i = 0; i < host->nr_nodes; i++) {
		spin_lock_init(&lru->nodes[i].lock, state->class);
		line_init(&lru->nodes[i].line);
	}
	*state->last = lru;
	state->last = &lru->next;
	for (struct memcg *m = host->cgroups->root; state->eager && m; m = memcg_next(host->cgroups->root, m))
		list_lru_prepare(NULL, lru, m);
}

uint64_t list_lru_nr_memcgs(const struct host *host)
{
	uint64_t nr = 0;

	for (const struct list_lru *lru = list_lru_state(host)->first; lru; lru = lru->next)
		nr += lru->nr_memcgs;
	return nr;
}

void list_lru_build(struct host *host)
{
	struct list_lru_state *state = sim_alloc(host->sim, sizeof *state);
	const struct charge_constant *memcg_lock = host_policy_ops(host, "list_lru_lock");
	const struct charge_constant *eager = host_policy_ops(host, "list_lru_alloc");

	host->list_lrus = state;
	state->memcg_lock = memcg_lock->value;
	state->eager = eager->value;
	state->class = lock_class(host->sim,
				  state->memcg_lock ? "list_lru_one->lock" : "list_lru_node->lock");
	state->last = &state->first;
	mutex_init(&state->mutex, lock_class(host->sim, "list_lrus_mutex"));
}
