/*
 * dying.c - updates of removed cgroups, after get_non_dying_memcg_start(), mod_memcg_lruvec_state() and
 * reparent_state_local() of mm/memcontrol.c, Linux 7.1 and seed 1.
 *
 * Totals with children are right whatever is done, since a removed cgroup hands on what it counted. What
 * goes wrong is what a cgroup counts for itself (stat_local(), lruvec_page_state_local()): where pages
 * become the parent's, the child has counted them in and the parent counts them out. reparent_local: on
 * moves the child's counters as well. For that no update may still be on its way to the child, so
 * redirected updates ask whether it is dying, and a grace period lies between its removal and the move.
 *
 * The instant between question and addition is too short to matter unless the CPU does something else in
 * it. `statistics: stall` makes it do so: an interrupt, through which a grace period waits, or preemption,
 * through which it waits only for who is in a section.
 *
 * reparent_local moves what a lruvec counts: pages, which cgroup v1 moves in 7.1, and slab bytes, which the
 * child has left behind ever since objects are reparented (5.9): it has counted them in, and the parent
 * counts them out. The patch for cgroup v2 could not be read. Its title says "non-hierarchical lruvec
 * stats", and who reads those on v2, count_shadow_nodes(), adds slab to pages. Left alone are counters that
 * only ever rise (refaults, activations), which would be no more right at the parent.
 */
#include "models/stat/dying/dying.h"

#include "models/host/policies.h"
#include "sim/hw/rcu.h"

static const struct axis reparent_local_axis = { .fallback = "off" };

MODULE(axis_reparent_local) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_AXIS,
	.name = "reparent_local",
	.help = "what becomes of the counters that a removed cgroup has kept for itself, without children",
	.source = "mm/memcontrol.c, reparent_state_local()",
	.ops = &reparent_local_axis,
};

static const struct charge_constant off = { false }, on = { true };

MODULE(reparent_local_off) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "reparent_local",
	.name = "off",
	.help = "they stay where they are, and go with it",
	.source = "cgroup v2 so far",
	.ops = &off,
};

MODULE(reparent_local_on) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "reparent_local",
	.name = "on",
	.help = "those of pages and of slab are its parent's when it goes offline, between two flushes",
	.source = "cgroup v1 in Linux 7.1; v2: mm-unstable after seed 1",
	.ops = &on,
};

/* ---- one update ---- */

/* With locks held that keep interrupts away nothing comes in between, with others nobody is preempted. */
static bool may_stall(const struct task *t, const struct stat_options *o)
{
	if (t->irq_count)
		return false;
	return o->stall_by == STALL_INTERRUPT || !t->preempt_count;
}

/* The CPU does something else. Whoever updates holds the cgroup. */
static void stall(struct task *t, struct memcg *m)
{
	const struct stat_state *st = stat_of(m->host);
	bool waited_for = st->options.stall_by == STALL_INTERRUPT || st->dying->in_section;

	if (!memcg_tryget(m))
		return;
	if (waited_for)
		rcu_read_lock(t);
	cpu_work(t, st->options.stall);
	if (waited_for)
		rcu_read_unlock(t);
	task_sync(t);
	memcg_put(t, m);
}

struct memcg *stat_counted_slowly(struct task *t, struct memcg *m)
{
	struct stat_state *st = stat_of(m->host);
	struct memcg *to = m->life != MEMCG_ONLINE && st->dying->target ? st->dying->target(t, m) : m;

	if (st->stall_in && may_stall(t, &st->options) && !--st->stall_in) {
		st->stall_in = st->options.stall_every;
		stall(t, m);
	}
	return to;
}

/* ---- going offline ---- */

void stat_pages_reparent(struct memcg *m, uint32_t node)
{
	struct node_stat *n = m->stat->nodes[node];

	for (int i = 0; i < NR_LRUVEC_ITEMS; i++) {
		if (!stat_item_is_of_pages((enum stat_item)i))
			continue;
		m->stat->truth[i] -= stat_truth_node(m, node, (enum stat_item)i);
		if (n)
			n->truth[i] = 0;
	}
}

static void flush(struct task *t, struct memcg *m)
{
	struct flush f = { .memcg = m, .caller = FLUSH_RELEASE };

	stat_of(m->host)->count.calls[FLUSH_RELEASE]++;
	rstat_flush(t, &f, m, true);
	task_sync(t);
}

static bool moves(enum stat_item item)
{
	return stat_item_is_of_pages(item) || item == NR_SLAB_RECLAIMABLE_B ||
	       item == NR_SLAB_UNRECLAIMABLE_B;
}

void stat_reparent_local(struct task *t, struct memcg *m)
{
	flush(t, m);
	for (uint32_t node = 0; node < m->host->nr_nodes; node++) {
		int64_t moved[NR_LRUVEC_ITEMS] = { 0 };

		for (int i = 0; i < NR_LRUVEC_ITEMS; i++) {
			int64_t local = stat_local_node(m, node, (enum stat_item)i);

			if (moves((enum stat_item)i) && local > 0)
				moved[i] = local; /* read as readers do: never below 0 */
		}
		stat_move_local(t, m, moved, node);
		task_sync(t);
	}
	flush(t, m->parent);
}

/* ---- what to expect ---- */

const char *stat_local_defect(const struct host *host)
{
	const struct stat_state *st = stat_of(host);

	if (!host->cgroups->lru_reparent)
		return st->dying->target || host->reparent_local
			       ? "counters go to the parent, and pages stay with their cgroup"
			       : NULL;
	if (!host->reparent_local)
		return "reparent_local: off";
	if (!st->dying->target)
		return "dying_stats does not redirect what is under way while counters move";
	if (!host->grace_periods)
		return "css_killed_work: at_once, no grace period before counters move";
	if (!st->dying->in_section && sim_sched(host->sim)->preempt == PREEMPT_FULL)
		return "preemption between the test of dying_stats: redirect_all_fast and the update";
	return NULL;
}

void dying_build(struct host *host)
{
	struct stat_state *st = stat_of(host);

	st->dying = host_policy_ops(host, "dying_stats");
	st->dying_cost = st->dying->cost ? st->dying->cost(host) : 0;
	st->stall_in = st->options.stall_every;
}
