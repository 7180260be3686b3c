/*
 * kswapd.c - one thread a node that reclaims before anybody has to wait: balance_pgdat() of mm/vmscan.c,
 * Linux 6.1.
 *
 * Woken when an allocation finds no node above its low mark, it makes passes over the node, for the root and
 * so for everybody, until the high mark is passed. It wants much in a pass (the whole high mark), so it
 * seldom leaves a priority early, and stops between passes. A node where 16 runs in a row got nothing is left
 * to those who allocate, until one of them has success. The thread is made when it is first woken: a machine
 * with memory to spare has nothing to do with it.
 */
#include "models/pressure/pressure.h"
#include "models/reclaim/reclaim_impl.h"

struct kswapd {
	struct host *host;
	uint32_t node;
	struct task *task;
	bool woken;
	uint32_t failures;
	char name[24];
};

static bool balanced(const struct host *host, uint32_t node)
{
	return node_above(host, node, WMARK_HIGH);
}

static void mark_reclaiming(struct host *host, uint32_t node, bool reclaiming)
{
	for (struct page_zone *z = node_zone(host, node); z; z = node_zone_next(host, z))
		z->reclaiming = reclaiming;
}

static bool hopeless(const struct kswapd *k)
{
	return k->failures >= MAX_RECLAIM_RETRIES;
}

bool kswapd_hopeless(const struct host *host, uint32_t node)
{
	return hopeless(&host->reclaim->kswapds[node]);
}

void kswapd_succeeded(struct host *host, uint32_t node)
{
	host->reclaim->kswapds[node].failures = 0;
}

static void balance(struct task *t, struct kswapd *k)
{
	struct host *host = k->host;
	const struct reclaim_ops *ops = reclaim_ops(host);
	uint64_t high = node_watermark(host, k->node, WMARK_HIGH), before;
	struct scan_control sc = {
		.target = host->cgroups->root,
		.global = true,
		.kswapd = true,
		.may_swap = true,
		.may_unmap = true,
		.may_writepage = true,
		.priority = DEF_PRIORITY,
		.nr_to_reclaim = high > SWAP_CLUSTER_MAX ? high : SWAP_CLUSTER_MAX,
	};

	host->reclaim->calls.kswapd++;
	mark_reclaiming(host, k->node, true);
	while (sc.priority >= 1) {
		task_sync(t);
		if (balanced(host, k->node))
			break;
		before = sc.nr_reclaimed;
		sc.nr_scanned = 0;
		if (ops->age_node)
			ops->age_node(t, k->node, &sc);
		shrink_node(t, k->node, &sc);
		if (sc.nr_scanned < sc.nr_to_reclaim || sc.nr_reclaimed == before)
			sc.priority--;
	}
	mark_reclaiming(host, k->node, false);
	if (balanced(host, k->node))
		throttle_node_done(host, k->node);
	if (sc.priority < 1 && !sc.nr_reclaimed)
		k->failures++;
	if (ops->end_call)
		ops->end_call(t, memcg_lruvec(sc.target, k->node), &sc);
	reclaim_check(t, &sc);
}

static void run(struct task *t, void *arg)
{
	struct kswapd *k = arg;

	t->marks |= TASK_RECLAIMS;
	for (;;) {
		task_sync(t);
		while (!k->woken)
			task_block(t);
		bool outer = psi_memstall_enter(t);

		balance(t, k);
		task_sync(t);
		psi_memstall_leave(t, outer);
		k->woken = !balanced(k->host, k->node) && !hopeless(k);
		cond_resched(t);
	}
}

void kswapd_wake(struct task *t, uint32_t node)
{
	struct host *host = host_of(t);
	struct kswapd *k = &host->reclaim->kswapds[node];

	shared_step(t);
	if (k->woken || hopeless(k) || balanced(host, node))
		return;
	k->woken = true;
	if (k->task)
		task_wake(t->sim, t, k->task);
	else
		k->task = task_spawn(
			t->sim, &(struct task_attr){
					.name = k->name, .run = run, .arg = k, .cpu = -1, .slept = true });
}

void reclaim_start(struct host *host)
{
	throttle_start(host);
	host->reclaim->events = workqueue_create(host->sim, "events", false, 0);
	host->reclaim->kswapds = sim_alloc(host->sim, host->nr_nodes * sizeof *host->reclaim->kswapds);
	for (uint32_t i = 0; i < host->nr_nodes; i++) {
		struct kswapd *k = &host->reclaim->kswapds[i];

		k->host = host;
		k->node = i;
		snprintf(k->name, sizeof k->name, "kswapd%u", i);
	}
}
