/*
 * nodes.c - leaves that hold nothing but shadows, on their list_lru, after workingset_update_node(),
 * shadow_lru_isolate() of mm/workingset.c and mm/list_lru.c, Linux 6.1.
 *
 * A leaf is on the list of its owner and NUMA node exactly while it has entries and all are values. The
 * list's lock is taken only when that changes: one for a node's lists of all cgroups up to 6.12
 * (list_lru_lock: per_node), one for each list since (per_memcg).
 *
 * The walk takes one node after another from the head. Its tree's lock comes before the list's elsewhere, so
 * here it is only tried; a failure costs one of the nodes that the walk may look at, as it does in the
 * kernel.
 */
#include "models/workingset/workingset_impl.h"

#include "models/cgroup/stock.h"

struct shadow_list *shadow_list(struct host *host, uint32_t memcg, uint32_t node)
{
	struct workingset_state *ws = workingset_of(host);

	if (memcg >= ws->nr_lists) {
		uint32_t nr = host->cgroups->nr > 2 * ws->nr_lists ? host->cgroups->nr : 2 * ws->nr_lists;
		struct shadow_list **lists = arena_array(sim_arena(host->sim), nr, sizeof(*lists));

		for (uint32_t i = 0; i < ws->nr_lists; i++)
			lists[i] = ws->lists[i];
		ws->lists = lists;
		ws->nr_lists = nr;
	}
	if (!ws->lists[memcg]) {
		ws->lists[memcg] = sim_alloc(host->sim, host->nr_nodes * sizeof(struct shadow_list));
		for (uint32_t i = 0; i < host->nr_nodes; i++)
			spin_lock_init(&ws->lists[memcg][i].lock, ws->lock_class);
	}
	return &ws->lists[memcg][node];
}

static struct spinlock *list_lock(struct host *host, uint32_t memcg, uint32_t node)
{
	struct workingset_state *ws = workingset_of(host);

	return ws->memcg_lock ? &shadow_list(host, memcg, node)->lock : &ws->locks[node];
}

const struct shadow_list *shadow_list_find(const struct host *host, uint32_t memcg, uint32_t node)
{
	const struct workingset_state *ws = workingset_of(host);

	return memcg < ws->nr_lists && ws->lists[memcg] ? &ws->lists[memcg][node] : NULL;
}

static void add_tail(struct shadow_list *list, struct shadow_node *n)
{
	n->next = NULL;
	n->prev = list->tail;
	*(n->prev ? &n->prev->next : &list->head) = n;
	list->tail = n;
	list->nr++;
	n->listed = true;
}

static void del(struct shadow_list *list, struct shadow_node *n)
{
	*(n->prev ? &n->prev->next : &list->head) = n->next;
	*(n->next ? &n->next->prev : &list->tail) = n->prev;
	n->prev = n->next = NULL;
	list->nr--;
	n->listed = false;
}

void workingset_update_node(struct task *t, struct host *host, struct shadow_node *n)
{
	struct workingset_state *ws = workingset_of(host);
	bool shadows_only = n->count && n->count == n->nr_values;

	if (shadows_only == n->listed)
		return;
	struct spinlock *lock = list_lock(host, n->memcg, n->node);

	spin_lock(t, lock);
	struct shadow_list *list = shadow_list(host, n->memcg, n->node);

	if (shadows_only) {
		add_tail(list, n);
		ws->nodes[n->node]++;
		ws->count.nodes_listed++;
	} else {
		del(list, n);
		ws->nodes[n->node]--;
		ws->count.nodes_unlisted++;
	}
	cpu_defer(t, host->costs->list_lru_op);
	spin_unlock(t, lock);
}

/* shadow_lru_isolate() of the first; with the list's lock, which it gives up. */
static void isolate_first(struct task *t, struct host *host, struct shadow_list *list)
{
	struct workingset_state *ws = workingset_of(host);
	struct shadow_node *n = list->head;
	struct spinlock *lock = list_lock(host, n->memcg, n->node);
	struct cache_tree *tree = host->pages->objects[n->file]->tree;
	struct memcg *m = host->cgroups->all[n->memcg];

	if (!spin_trylock(t, &tree->lock)) {
		spin_unlock_irq(t, lock);
		cond_resched(t);
		return;
	}
	del(list, n);
	ws->nodes[n->node]--;
	ws->count.nodes_reclaimed++;
	spin_unlock(t, lock);
	task_sync(t);
	uint32_t node = n->node;

	cache_tree_delete_leaf(t, host, tree, n);
	cpu_defer(t, host->costs->shadow_node_free);
	mod_lruvec_state(t, m, node, WORKINGSET_NODERECLAIM, 1);
	spin_unlock_irq(t, &tree->lock);
	cond_resched(t);
}

void shadow_nodes_scan(struct task *t, struct memcg *m, uint32_t node, uint64_t nr)
{
	struct host *host = m->host;

	while (nr--) {
		struct spinlock *lock = list_lock(host, m->id, node);

		spin_lock_irq(t, lock);
		struct shadow_list *list = shadow_list(host, m->id, node);

		if (!list->head) {
			spin_unlock_irq(t, lock);
			return;
		}
		isolate_first(t, host, list);
	}
}
