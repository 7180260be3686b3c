/*
 * reparent.c - lru_reparent: LRU pages of a removed cgroup stay its own, or go to its parent when it goes
 * offline; after memcg_reparent_objcgs() of mm/memcontrol.c and lru_reparent_memcg() of mm/swap.c, Linux
 * 7.1 (f1cf8d2f36dc).
 *
 * With at_offline a page names its owner by struct obj_cgroup, as a kernel object does, and so does not
 * keep the cgroup. Node by node, with the lruvecs of child and parent locked, the child's lists are
 * spliced into the parent's, and the owner changes for every page on the node, also for those that are on
 * no list: a few list heads and a pointer, however many pages. Whoever waits for the child's lock
 * meanwhile looks again for the page's lruvec once he has it (lruvec_relock_irq()).
 *
 * The pages were in the parent's recursive counters before, and are in them after: nothing moves there.
 * What the child counted for itself is the business of models/stat/dying.
 *
 * The kernel has an obj_cgroup for each node, here there is one with an owner of pages for each node
 * (cgroup_state.page_owners). It leaves the child's page counter as it was; here that is given to the
 * parent, so that I10 holds at every level.
 */
#include "models/page/reparent.h"

#include "models/host/policies.h"
#include "models/page/page_impl.h"
#include "models/reclaim/reclaim.h"
#include "sim/module.h"

static const struct axis lru_reparent_axis = { .fallback = "none" };

MODULE(axis_lru_reparent) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_AXIS,
	.name = "lru_reparent",
	.help = "whether pages keep a removed cgroup",
	.source = "mm/memcontrol.c, memcg_reparent_objcgs()",
	.ops = &lru_reparent_axis,
};

static const struct charge_constant none = { false }, at_offline = { true };

MODULE(lru_reparent_none) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "lru_reparent",
	.name = "none",
	.help = "each page holds its cgroup until it is freed",
	.source = "Linux up to 7.0",
	.ops = &none,
};

MODULE(lru_reparent_at_offline) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "lru_reparent",
	.name = "at_offline",
	.help = "lists are spliced into the parent's when the cgroup goes offline, and no page holds it",
	.source = "Linux 7.1, f1cf8d2f36dc",
	.ops = &at_offline,
};

/* Objects that name m, or a cgroup below it that is gone, find m's parent for their pages on the node. */
static void change_owner(struct memcg *m, uint32_t node)
{
	const struct host *host = m->host;

	for (const struct obj_cgroup *o = m->objcgs; o; o = o->next)
		host->cgroups->page_owners[o->id * host->nr_nodes + node] = m->parent;
	stat_pages_reparent(m, node);
}

static void lock_both(struct task *t, struct host *host, struct lruvec *child, struct lruvec *parent)
{
	spin_lock_irq(t, &host->cgroups->objcg_lock);
	spin_lock(t, child->lock);
	if (parent->lock != child->lock)
		spin_lock(t, parent->lock);
}

static void unlock_both(struct task *t, struct host *host, struct lruvec *child, struct lruvec *parent)
{
	if (parent->lock != child->lock)
		spin_unlock(t, parent->lock);
	spin_unlock(t, child->lock);
	spin_unlock_irq(t, &host->cgroups->objcg_lock);
}

/*
 * Pages whose list has another meaning for the parent: counted out of the one at the child, into the other at
 * the parent. Until both are done the parent's subtree counts them in neither or in both.
 */
static void count_turned(struct task *t, struct memcg *m, uint32_t node, const struct lru_turned *turned)
{
	struct page_state *ps = m->host->pages;

	for (int lru = NR_INACTIVE_ANON; lru <= NR_ACTIVE_FILE; lru++) {
		uint32_t nr = turned->from[lru];

		if (!nr)
			continue;
		ps->turning += nr;
		mod_lruvec_state(t, m, node, (enum stat_item)lru, -(int64_t)nr);
		mod_lruvec_state(t, m->parent, node, (enum stat_item)(lru ^ 1), nr);
		ps->turning -= nr;
	}
}

static void reparent_node(struct task *t, struct memcg *m, uint32_t node)
{
	struct host *host = m->host;
	const struct reclaim_ops *ops = reclaim_ops(host);
	struct lruvec *child = memcg_lruvec(m, node), *parent = memcg_lruvec(m->parent, node);
	struct lru_turned turned = { { 0 } };

	for (;;) {
		if (ops->reparent_prepare)
			ops->reparent_prepare(t, parent);
		lock_both(t, host, child, parent);
		if (!ops->reparent_ready || ops->reparent_ready(parent))
			break;
		unlock_both(t, host, child, parent); /* somebody has been at it in between */
		cond_resched(t);
	}
	ops->reparent(t, child, parent, &turned);
	change_owner(m, node);
	count_turned(t, m, node, &turned);
	unlock_both(t, host, child, parent);
}

static void reparent_pages(struct task *t, struct memcg *m)
{
	for (uint32_t node = 0; node < m->host->nr_nodes; node++) {
		if (m->lruvecs && m->lruvecs[node])
			reparent_node(t, m, node);
		else
			change_owner(m, node); /* its pages there, if any, wait in folio batches */
		task_sync(t);
	}
}

void memcg_reparent_owners(struct task *t, struct memcg *m)
{
	struct cgroup_state *cgroups = m->host->cgroups;

	cgroups->reparenting++;
	if (cgroups->lru_reparent)
		reparent_pages(t, m);
	objcgs_reparent(m);
	if (cgroups->lru_reparent)
		memcg_charges_reparent(m);
	cgroups->reparenting--;
}

void reparent_check(const struct scenario *s, struct complaints *c)
{
	const struct reclaim_ops *ops = scenario_policy(s, "reclaim")->module->ops;
	struct where where = scenario_policy_where(s, "lru_reparent");

	if (scenario_policy(s, "lru_reparent")->module->ops != &at_offline)
		return;
	if (!ops->reparent)
		complain(c, where, "lru_reparent 'at_offline': the LRU '%s' cannot hand its lists over",
			 scenario_policy(s, "reclaim")->module->name);
	if (lru_lock_is_per_node(s) && !scenario_allow_unreal(s))
		complain(c, where,
			 "lru_reparent 'at_offline' locks the lruvecs of child and parent, and came long "
			 "after "
			 "lru_lock 'per_node' was gone");
}

void reparent_build(struct host *host)
{
	const struct charge_constant *policy = host_policy_ops(host, "lru_reparent");

	host->cgroups->lru_reparent = policy->value;
	if (policy->value)
		spin_lock_init(&host->cgroups->objcg_lock, lock_class(host->sim, "objcg_lock"));
}
