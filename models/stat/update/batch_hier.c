/*
 * batch_hier.c - stat_update: per-CPU counters that spill into the cgroup's and into all its ancestors'.
 *
 * Linux 5.2 to 5.12: a batch is added to one atomic counter a level, so that a reader loads one word an item.
 * What that shows may be off by 32 pages for each CPU and each cgroup of the subtree, for as long as the last
 * batch of each is not full: cgroups x CPUs x 32.
 */
#include "models/stat/summed.h"

static void updated(struct task *t, struct stat_pair *pair, enum stat_item item, uint64_t size)
{
	(void)size;
	if (!summed_batch_full(pair, item))
		return;
	for (struct memcg *m = pair->memcg; m; m = m->parent)
		line_touch_rmw(t, summed_line(m, item));
	rstat_spill(pair, item, true);
}

static void sum(struct task *t, struct flush *f)
{
	const struct host *host = f->memcg->host;
	const struct stat_state *st = stat_of(host);

	task_sync(t);
	for (int item = 0; item < NR_STAT_ITEMS; item += 8)
		line_touch(t, summed_line(f->memcg, (enum stat_item)item), false);
	cpu_defer(t, (st->items->state + st->items->events) * host->costs->flush_slot);
}

static const struct stat_update_ops ops = { .updated = updated, .sum = sum };

MODULE(batch_hier) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "stat_update",
	.name = "batch_hier",
	.help = "per-CPU batches into the counters of the cgroup and all its ancestors",
	.source = "Linux 5.2-5.12, 42a300353577",
	.ops = &ops,
};
