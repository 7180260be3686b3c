/*
 * nodes.c - leaves that hold nothing but shadows, on their list_lru, and the shrinker that takes them from
 * there; after workingset_update_node(), count_shadow_nodes(), scan_shadow_nodes() and shadow_lru_isolate()
 * of mm/workingset.c, Linux 6.1.
 *
 * A leaf is on the list of its owner and NUMA node exactly while it has entries and all are values. The
 * list's lock is taken only when that changes.
 *
 * The walk takes one node after another from the head. Its tree's lock comes before the list's elsewhere, so
 * here it is only tried; a failure costs one of the nodes that the walk may look at, as it does in the
 * kernel.
 */
#include "models/workingset/workingset_impl.h"

#include "models/cgroup/stock.h"
#include "models/stat/decision.h"

#define BUDGET_SHARE 8u /* pages for which there may be one node: one that is full has eight times as many */

/* On whose list a node is: its owner's, whoever that is by now. */
static struct memcg *node_memcg(const struct host *host, const struct shadow_node *n)
{
	return objcg_by_id(host, n->objcg)->memcg;
}

/*
 * __mod_lruvec_kmem_state(WORKINGSET_NODES): an update of the node's owner, if it has one that is charged.
 * From 6.10 on the counter is that of the machine alone, since memory.stat does not show it.
 */
static void count_node(struct task *t, struct host *host, const struct shadow_node *n, int val)
{
	if (host->kernel_version < 610 && n->objcg != host->cgroups->root->objcg->id)
		mod_lruvec_state(t, node_memcg(host, n), n->node, WORKINGSET_NODES, val);
}

void workingset_update_node(struct task *t, struct host *host, struct shadow_node *n)
{
	struct workingset_state *ws = workingset_of(host);
	bool shadows_only = n->count && n->count == n->nr_values;

	if (shadows_only == n->listed)
		return;
	n->listed = shadows_only;
	if (shadows_only) {
		ws->nodes[n->node]++;
		ws->count.nodes_listed++;
		list_lru_add(t, &ws->shadow_nodes, &n->item, n->node, node_memcg(host, n));
		count_node(t, host, n, 1);
	} else {
		ws->nodes[n->node]--;
		ws->count.nodes_unlisted++;
		list_lru_del(t, &ws->shadow_nodes, &n->item, n->node, node_memcg(host, n));
		count_node(t, host, n, -1);
	}
}

bool workingset_prepare(struct task *t, struct memcg *m)
{
	return list_lru_prepare(t, &workingset_of(m->host)->shadow_nodes, m);
}

/* shadow_lru_isolate() */
static enum lru_status isolate(struct task *t, struct list_lru_walk *walk, struct list_lru_item *item)
{
	struct host *host = host_of(t);
	struct workingset_state *ws = workingset_of(host);
	struct shadow_node *n = shadow_node_of(item);
	struct page_object *object = host->pages->objects[n->file];
	struct cache_tree *tree = object->tree;

	if (!spin_trylock(t, &tree->lock)) {
		spin_unlock_irq(t, walk->lock);
		cond_resched(t);
		return LRU_RETRY;
	}
	list_lru_isolate(walk, item);
	n->listed = false;
	ws->nodes[n->node]--;
	ws->count.nodes_reclaimed++;
	spin_unlock(t, walk->lock);
	task_sync(t);
	count_node(t, host, n, -1);
	struct memcg *m = node_memcg(host, n);
	uint32_t node = n->node;

	cache_tree_delete_leaf(t, host, tree, n);
	cpu_defer(t, host->costs->shadow_node_free);
	mod_lruvec_state(t, m, node, WORKINGSET_NODERECLAIM, 1);
	spin_unlock_irq(t, &tree->lock);
	file_left(t, object);
	cond_resched(t);
	return LRU_REMOVED_RETRY;
}

static uint64_t count(struct task *t, const struct shrinker *s, struct memcg *m, uint32_t node)
{
	struct workingset_state *ws = s->owner;
	uint64_t nodes = list_lru_count_one(&ws->shadow_nodes, m, node);
	uint64_t pages, most;

	if (!nodes)
		return SHRINK_EMPTY;
	pages = ws->budget->pages(t, m, node);
	most = pages / BUDGET_SHARE;
	if (ws->budget->truth) {
		uint64_t right = ws->budget->truth(m, node);

		decision_taken(host_of(t), DECISION_SHADOW_BUDGET, nodes > most, nodes > right / BUDGET_SHARE,
			       pages > right ? pages - right : right - pages);
	}
	return nodes > most ? nodes - most : 0;
}

static void scan(struct task *t, const struct shrinker *s, struct memcg *m, uint32_t node, uint64_t nr)
{
	struct workingset_state *ws = s->owner;

	list_lru_walk_one(t, &ws->shadow_nodes, m, node, isolate, NULL, &nr);
}

void shadow_nodes_build(struct host *host)
{
	struct workingset_state *ws = workingset_of(host);

	ws->shrinker = (struct shrinker){
		.name = "mm-shadow", .seeks = 0, .count = count, .scan = scan, .owner = ws
	};
	shrinker_register(host, &ws->shrinker);
	list_lru_init(&ws->shadow_nodes, host, "shadow_nodes", &ws->shrinker);
	ws->shadow_nodes.irq = true;
}
