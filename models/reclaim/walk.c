/*
 * walk.c - a pass over one node: which memcgs of the target's subtree are looked at, in which order, and when
 * that ends; shrink_node(), shrink_node_memcgs() and mem_cgroup_iter() of Linux 6.1 and 6.12.
 *
 * The subtree is walked in pre-order, the target first, children in the order of their creation. Up to 6.10 a
 * pass always sees all of it. Later ones stop as soon as enough is reclaimed, and the next pass goes on
 * behind the memcg where the last one stopped; the position is kept with the target's lruvec, for all who
 * reclaim it. A pass that runs off the end ends there, however little it has, and leaves the next to begin
 * with the target. So siblings are not treated equally: mostly the first of them pay for what the walk of
 * the last priority still needs.
 *
 * kswapd, and the retry before a call gives up, walk all of it in every kernel.
 */
#include "models/cgroup/siblings.h"
#include "models/reclaim/reclaim_impl.h"

#define FEW 4u /* cgroups that are passed one by one as fast */

struct reclaim_cookie {
	struct reclaim_iter *iter;
	uint32_t generation;
};

/* mem_cgroup_iter() with a cookie: from the shared position on. In a step. */
static struct memcg *next_shared(struct memcg *root, struct memcg *prev, struct reclaim_cookie *cookie)
{
	struct memcg *next;

	if (!prev)
		cookie->generation = cookie->iter->generation;
	else if (cookie->generation != cookie->iter->generation)
		return NULL; /* somebody else has finished this round */
	next = memcg_next(root, cookie->iter->position);
	while (next && !memcg_tryget(next))
		next = memcg_next(root, next);
	cookie->iter->position = next;
	if (next)
		return next;
	cookie->iter->generation++;
	return prev ? NULL : next_shared(root, NULL, cookie);
}

/* The next memcg of a walk, which holds it until it asks for the one after. */
static struct memcg *next_memcg(struct task *t, struct memcg *root, struct memcg *prev,
				struct reclaim_cookie *cookie)
{
	struct memcg *next;

	if (!cookie)
		return memcg_walk(t, root, prev);
	next = next_shared(root, prev, cookie);
	if (prev)
		memcg_put(t, prev);
	return next;
}

/* False when memory.min or memory.low keeps it out of this walk. */
static bool may_reclaim(struct memcg *m, struct scan_control *sc)
{
	memcg_protection(sc->target, m, sc);
	if (m == sc->target || memcg_is_root(m))
		return true;
	if (sc->emin >= m->memory.usage)
		return false;
	if (sc->elow < m->memory.usage)
		return true;
	if (!sc->low_reclaim) {
		sc->low_skipped = true;
		return false;
	}
	memcg_event(m, EVENT_LOW);
	return true;
}

static void shrink_memcg(struct task *t, struct memcg *m, uint32_t node, struct scan_control *sc)
{
	struct lruvec *lruvec = memcg_lruvec(m, node);

	reclaim_ops(m->host)->shrink_lruvec(t, lruvec, sc);
	shrink_slab(t, m, node, sc->priority);
}

/* Behind `from`: the last of those without pages, up to so many, held instead of m. NULL: there is none. */
static struct memcg *beyond_empty(struct task *t, struct memcg *m, struct memcg *from, uint64_t most,
				  uint64_t *nr)
{
	struct memcg *last = siblings_empty_after(from, most, nr);

	if (!last)
		return NULL;
	memcg_tryget(last);
	memcg_put(t, m);
	return last;
}

/*
 * Behind m (or the shared position) may follow some that have no pages: emin, 0 or more, is no less than
 * that, so may_reclaim() is false and the walk's time is all they cost. As many as it passes before anything
 * else happens are passed at once. m may not be one that goes when it is let go, which others would
 * notice. Returns where that ends, which is held instead of m.
 */
static struct memcg *pass_empty(struct task *t, const struct memcg *target, struct memcg *m,
				struct reclaim_cookie *cookie)
{
	const sim_time_t cost = m->host->costs->reclaim_memcg;
	struct memcg *from = m, *last;
	uint64_t most = task_alone_for(t, cost), nr;

	if (cookie)
		from = cookie->generation == cookie->iter->generation ? cookie->iter->position : NULL;
	/* Siblings of the target are no part of the walk. */
	if (most < FEW || !from || from == target || from->first_child || memcg_is_last_ref(m))
		return m;
	last = beyond_empty(t, m, from, most, &nr);
	if (!last)
		return m;
	if (cookie)
		cookie->iter->position = last;
	cpu_work(t, nr * cost);
	task_sync(t);
	return last;
}

struct memcg *pass_empty_at_once(struct task *t, struct memcg *m)
{
	struct memcg *last;
	uint64_t nr;

	if (!task_alone_for(t, 1) || m->first_child || memcg_is_last_ref(m))
		return m;
	last = beyond_empty(t, m, m, UINT64_MAX, &nr);
	return last ? last : m;
}

static void shrink_memcgs(struct task *t, uint32_t node, struct scan_control *sc)
{
	struct host *host = sc->target->host;
	struct reclaim_cookie cookie = { .iter = &memcg_lruvec(sc->target, node)->iter };
	bool partial = host->kernel_version >= 611 && !sc->kswapd && !sc->full_walk;
	struct memcg *m = NULL;

	task_sync(t);
	while ((m = next_memcg(t, sc->target, m, partial ? &cookie : NULL))) {
		cpu_defer(t, host->costs->reclaim_memcg);
		cond_resched(t);
		task_sync(t);
		if (may_reclaim(m, sc)) {
			shrink_memcg(t, m, node, sc);
			if (partial && sc->nr_reclaimed >= sc->nr_to_reclaim)
				break;
		}
		task_sync(t);
		m = pass_empty(t, sc->target, m, partial ? &cookie : NULL);
	}
	if (!m)
		return;
	task_sync(t);
	memcg_put(t, m);
}

void shrink_node(struct task *t, uint32_t node, struct scan_control *sc)
{
	struct lruvec *target = memcg_lruvec(sc->target, node);
	const struct reclaim_ops *ops = reclaim_ops(sc->target->host);

	uint64_t before = sc->nr_reclaimed, scanned = sc->nr_scanned;

	sc->target->host->reclaim->calls.nodes++;
	sc->nr = (struct met_dirty){ 0 };
	if (!sc->global || !ops->shrink_node_global || !ops->shrink_node_global(t, node, sc)) {
		if (ops->begin_pass)
			ops->begin_pass(t, target, sc);
		shrink_memcgs(t, node, sc);
		vmpressure(t, sc, sc->nr_scanned - scanned);
		throttle_after_pass(t, target, sc);
	}
	if (sc->nr_reclaimed > before)
		kswapd_succeeded(sc->target->host, node);
}
