/*
 * throttle.c - who reclaims waits for writes to end, after reclaim_throttle(), skip_throttle_noprogress(),
 * consider_reclaim_throttle(), __acct_reclaim_writeback() and the end of shrink_node() of mm/vmscan.c, Linux
 * 5.16 to 6.18, and what was before, for cgroup v2.
 *
 * A pass over a node adds up what it met of dirty pages (struct met_dirty). Of that follow
 *
 *	kswapd met nothing but pages under writeback: the node writes (PGDAT_WRITEBACK), and from now on
 *	kswapd looks for pages that it has met before; when it meets one, it waits until 33 are written, or
 *	100 ms
 *
 *	every dirty page of a file is under writeback and was met before: the target is congested, and who
 *	reclaims for it directly waits a tick, if half of what could be reclaimed on the node is dirty
 *
 *	a call for the machine has come to priority 1 with nothing: the same
 *
 * Kernel threads other than kswapd do not wait. Only the classic LRU tells what it met: under MGLRU who
 * reclaims waits for want of progress alone, in any kernel so far.
 *
 * Up to 5.15 (8cd7c588decf) it is congestion that is waited for, which no disk has told of since 5.0
 * (a1ce35fa4985). So wait_iff_congested(), for a target that is congested, returns at once, and
 * congestion_wait() is a sleep of 100 ms that nothing ends: kswapd's where it meets a page again, and, until
 * 132b0d21d21f, that of the page allocator when reclaim got nothing and half of what could be reclaimed is
 * dirty (should_reclaim_retry()).
 *
 * Left out: VMSCAN_THROTTLE_ISOLATED; kswapd's own writes of file pages (PGDAT_DIRTY): file systems refuse
 * them, and lost the operation for it (xfs in 6.0, ext4 in 6.5); cgroup v1, where reclaim waits for each
 * page.
 */
#include "models/backing/backing.h"
#include "models/reclaim/reclaim_impl.h"
#include "sim/module.h"

#define WRITEBACK_WAIT (100 * SIM_MS) /* HZ/10 */

struct throttled { /* on the stack of who waits */
	struct throttled *next;
	struct task *task;
	bool woken;
};

struct throttle {    /* of a node */
	bool writes; /* PGDAT_WRITEBACK */
	struct throttled *waiting[NR_THROTTLE_REASONS];
	uint32_t nr_waiting; /* for pages to be written */
	uint64_t written;    /* since the first of them began */
	uint64_t times[NR_THROTTLE_REASONS];
	sim_time_t slept[NR_THROTTLE_REASONS];
};

enum { TIMES, SLEPT, ROTATED };

static const struct metric metrics[] = {
	[TIMES] = { "reclaim.throttled", "1", METRIC_COUNTER, "times that reclaim waited, by reason" },
	[SLEPT] = { "reclaim.throttled_time", "ns", METRIC_COUNTER, "and for how long, all tasks together" },
	[ROTATED] = { "reclaim.rotated", "pages", METRIC_COUNTER,
		      "to the tail of their list when they were written, as pgrotated" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(reclaim_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "reclaim",
	.help = "waits of who reclaims",
	.ops = &table,
};

static struct throttle *throttle_of(const struct host *host, uint32_t node)
{
	return &host->reclaim->throttles[node];
}

/* ---- waiting ---- */

static uint64_t count(const struct host *host, uint32_t node, enum stat_item item)
{
	int64_t nr = stat_truth_node(host->cgroups->root, node, item);

	return nr > 0 ? (uint64_t)nr : 0;
}

static bool by_congestion(const struct host *host)
{
	return host->kernel_version < 516;
}

/* skip_throttle_noprogress(), should_reclaim_retry(): is there enough that need not be written first? */
static bool has_other_pages(const struct host *host, uint32_t node)
{
	uint64_t pending = count(host, node, NR_FILE_DIRTY) + count(host, node, NR_WRITEBACK);
	uint64_t reclaimable = count(host, node, NR_INACTIVE_FILE) + count(host, node, NR_ACTIVE_FILE);

	if (swap_present(host) && swap_free_slots(host))
		reclaimable += count(host, node, NR_INACTIVE_ANON) + count(host, node, NR_ACTIVE_ANON);
	return 2 * pending <= reclaimable;
}

static void wake(struct task *t, struct throttle *th, enum throttle_reason reason)
{
	struct throttled *w = th->waiting[reason];

	th->waiting[reason] = NULL;
	while (w) {
		struct throttled *next = w->next;

		w->woken = true;
		task_wake(t->sim, t, w->task);
		w = next;
	}
}

static void leave(struct throttle *th, enum throttle_reason reason, const struct throttled *w)
{
	struct throttled **at = &th->waiting[reason];

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
}

static sim_time_t longest_wait(const struct host *host, enum throttle_reason reason)
{
	if (reason == THROTTLE_WRITEBACK || by_congestion(host))
		return WRITEBACK_WAIT;
	return SIM_SEC / sim_sched(host->sim)->machine->hz;
}

/*
 * Who goes on at once: tasks of the kernel, and where there is no use in it, skip_throttle_noprogress(). Both
 * came with 5.16; congestion_wait() sleeps whoever calls, and should_reclaim_retry() only asks whether writes
 * are in the way.
 */
static bool skips(const struct task *t, const struct host *host, uint32_t node, enum throttle_reason reason,
		  bool kswapd)
{
	if (!by_congestion(host) &&
	    ((!kswapd && !t->owner) || (reason != THROTTLE_WRITEBACK && kswapd_hopeless(host, node))))
		return true;
	return reason != THROTTLE_WRITEBACK && has_other_pages(host, node);
}

/* reclaim_throttle(); congestion_wait() */
static void wait(struct task *t, const struct host *host, uint32_t node, enum throttle_reason reason,
		 bool kswapd)
{
	struct throttle *th = throttle_of(host, node);
	struct throttled w = { .task = t };
	sim_time_t from, until;

	task_sync(t);
	if (skips(t, host, node, reason, kswapd)) {
		cond_resched(t);
		return;
	}
	from = sim_now(t->sim);
	until = from + longest_wait(host, reason);
	if (reason == THROTTLE_WRITEBACK && !th->nr_waiting++)
		th->written = 0;
	th->times[reason]++;
	w.next = th->waiting[reason];
	th->waiting[reason] = &w;
	while (!w.woken && sim_now(t->sim) < until)
		task_block_until(t, until);
	if (!w.woken)
		leave(th, reason, &w);
	th->nr_waiting -= reason == THROTTLE_WRITEBACK;
	th->slept[reason] += sim_now(t->sim) - from;
}

void reclaim_page_written(struct task *t, struct host *host, uint32_t node)
{
	struct throttle *th = throttle_of(host, node);

	if (by_congestion(host))
		return;
	if (th->nr_waiting && ++th->written > SWAP_CLUSTER_MAX * (uint64_t)th->nr_waiting)
		wake(t, th, THROTTLE_WRITEBACK);
}

/* ---- when ---- */

bool throttle_node_writes(const struct host *host, uint32_t node)
{
	return throttle_of(host, node)->writes;
}

void throttle_node_done(struct host *host, uint32_t node)
{
	struct memcg *root = host->cgroups->root;

	throttle_of(host, node)->writes = false;
	memcg_lruvec(root, node)->congested = false;
}

void throttle_after_pass(struct task *t, struct lruvec *target, struct scan_control *sc)
{
	const struct host *host = sc->target->host;
	const struct met_dirty *nr = &sc->nr;
	uint32_t node = target->node;

	if (sc->kswapd) {
		if (nr->writeback && nr->writeback == nr->taken)
			throttle_of(host, node)->writes = true;
		if (nr->immediate)
			wait(t, host, node, THROTTLE_WRITEBACK, true);
	}
	if ((sc->kswapd || !sc->global) && nr->dirty && nr->dirty == nr->congested)
		target->congested = true;
	if (sc->kswapd || !target->congested)
		return;
	if (by_congestion(host))
		cond_resched(t); /* wait_iff_congested() */
	else
		wait(t, host, node, THROTTLE_CONGESTED, false);
}

void throttle_without_progress(struct task *t, uint32_t node, const struct scan_control *sc)
{
	struct host *host = sc->target->host;

	if (by_congestion(host))
		return;
	if (sc->nr_reclaimed > sc->nr_scanned >> 3)
		wake(t, throttle_of(host, node), THROTTLE_NOPROGRESS);
	else if (sc->global && sc->priority == 1 && !sc->nr_reclaimed)
		wait(t, host, node, THROTTLE_NOPROGRESS, false);
}

void throttle_before_retry(struct task *t, const struct host *host, uint32_t node)
{
	if (by_congestion(host))
		wait(t, host, node, THROTTLE_NOPROGRESS, false);
}

/* ---- life ---- */

void throttle_start(struct host *host)
{
	host->reclaim->throttles = sim_alloc(host->sim, host->nr_nodes * sizeof *host->reclaim->throttles);
}

void reclaim_finish(struct host *host)
{
	static const char *const reasons[] = { "writeback", "congested", "noprogress" };
	struct record *record = host->run->record;

	if (host->reclaim->calls.rotated)
		record_summary(record, &metrics[ROTATED], "all", (double)host->reclaim->calls.rotated);
	for (enum throttle_reason reason = 0; reason < NR_THROTTLE_REASONS; reason++) {
		uint64_t times = 0;
		sim_time_t slept = 0;

		for (uint32_t node = 0; node < host->nr_nodes; node++) {
			times += throttle_of(host, node)->times[reason];
			slept += throttle_of(host, node)->slept[reason];
		}
		if (!times)
			continue;
		record_summary(record, &metrics[TIMES], reasons[reason], (double)times);
		record_summary(record, &metrics[SLEPT], reasons[reason], sim_nanoseconds(slept));
	}
}
