/*
 * core.c - one call of reclaim, after do_try_to_free_pages() and try_to_free_mem_cgroup_pages() of
 * mm/vmscan.c, Linux 6.1 and 6.12.
 *
 * A call goes over the nodes with ever larger parts of their lists: 1/4096 of them at priority 12, all at 0,
 * and ends with the pass that has as many pages as it wants, at least 32. A call that got nothing is repeated
 * with what it had spared: memcgs that a walk did not come to (from 6.11 on), active lists, memory.low.
 *
 * Which pages go is the LRU's business (struct reclaim_ops), which memcgs are looked at walk.c's.
 */
#include "models/backing/backing.h"
#include "models/reclaim/reclaim_impl.h"

static void shrink_nodes(struct task *t, struct scan_control *sc)
{
	const struct host *host = sc->target->host;
	uint32_t local = t->cpu->node;

	for (uint32_t i = 0; i < host->nr_nodes; i++)
		shrink_node(t, (local + i) % host->nr_nodes, sc);
	throttle_without_progress(t, local, sc);
}

/* The loop over priorities, once. */
static void pass_priorities(struct task *t, struct scan_control *sc)
{
	const struct host *host = sc->target->host;
	const struct reclaim_ops *ops = reclaim_ops(host);

	for (sc->priority = DEF_PRIORITY; sc->priority >= 0; sc->priority--) {
		vmpressure_prio(t, sc);
		sc->nr_scanned = 0;
		shrink_nodes(t, sc);
		if (sc->nr_reclaimed >= sc->nr_to_reclaim)
			break;
		if (sc->priority < DEF_PRIORITY - 2)
			sc->may_writepage = true;
	}
	for (uint32_t node = 0; node < host->nr_nodes; node++) {
		if (ops->end_call)
			ops->end_call(t, memcg_lruvec(sc->target, node), sc);
		if (!sc->global)
			memcg_lruvec(sc->target, node)->congested = false;
	}
}

/* Is there anything that a call without success has spared? Then it is spared no longer. */
static bool try_harder(struct scan_control *sc)
{
	if (sc->target->host->kernel_version >= 611 && !sc->full_walk) {
		sc->full_walk = true;
	} else if (sc->skipped_deactivate) {
		sc->force_deactivate = true;
		sc->skipped_deactivate = false;
	} else if (sc->low_skipped) {
		sc->force_deactivate = false;
		sc->low_reclaim = true;
		sc->low_skipped = false;
	} else {
		return false;
	}
	return true;
}

uint64_t try_to_free_pages(struct task *t, struct scan_control *sc)
{
	const uint32_t outer = t->marks;

	t->marks |= TASK_RECLAIMS;
	do {
		pass_priorities(t, sc);
	} while (!sc->nr_reclaimed && try_harder(sc));
	t->marks = outer;
	reclaim_check(t, sc);
	return sc->nr_reclaimed;
}

uint64_t reclaim_memcg(struct task *t, struct memcg *m, uint64_t nr, bool may_swap, bool proactive)
{
	struct scan_control sc = {
		.target = m,
		.global = memcg_is_root(m),
		.proactive = proactive,
		.may_swap = may_swap,
		.may_unmap = true,
		.may_writepage = true,
		.nr_to_reclaim = nr > SWAP_CLUSTER_MAX ? nr : SWAP_CLUSTER_MAX,
	};

	m->host->reclaim->calls.memcg++;
	return try_to_free_pages(t, &sc);
}

void count_scan(struct task *t, struct memcg *m, const struct scan_control *sc, uint64_t scanned,
		uint64_t stolen)
{
	count_memcg_events(t, m, sc->kswapd ? PGSCAN_KSWAPD : PGSCAN_DIRECT, scanned);
	count_memcg_events(t, m, sc->kswapd ? PGSTEAL_KSWAPD : PGSTEAL_DIRECT, stolen);
}

uint64_t memcg_swap_room(const struct host *host, const struct memcg *m)
{
	uint64_t room = swap_present(host) ? swap_free_slots(host) : 0;

	for (; m && !memcg_is_root(m); m = m->parent) {
		uint64_t left = m->swap.max > m->swap.usage ? m->swap.max - m->swap.usage : 0;

		if (left < room)
			room = left;
	}
	return room;
}

bool can_reclaim_anon(const struct host *host, const struct memcg *m, const struct scan_control *sc)
{
	return sc->may_swap && memcg_swap_room(host, m) > 0;
}
