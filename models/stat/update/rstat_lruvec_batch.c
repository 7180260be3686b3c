/*
 * rstat_lruvec_batch.c - stat_update: the cgroup's counters on rstat, the lruvec's in batches up the tree.
 *
 * Linux 5.13 and 5.14: memory.stat moved to rstat (2d146aa3aa84), and what reclaim looks at, the counters by
 * cgroup and node, stayed as they were until 7e1c0d6f5820 (5.15): each CPU's part goes, when it exceeds the
 * batch, to an atomic counter of the lruvec and of all its ancestors'. So an update of an lruvec costs now
 * and then one contended add a level.
 */
#include "models/stat/summed.h"

static void updated(struct task *t, struct stat_pair *pair, enum stat_item item, uint64_t size)
{
	struct memcg *m = pair->memcg;

	if (item >= NR_LRUVEC_ITEMS)
		return;
	shared_step(t);
	pair->updates += (uint32_t)size;
	if (pair->updates <= m->host->charge_batch)
		return;
	pair->updates = 0;
	for (; m; m = m->parent)
		line_touch_rmw(t, summed_line(m, item));
}

static const struct stat_update_ops ops = { .updated = updated };

MODULE(rstat_lruvec_batch) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "stat_update",
	.name = "rstat_lruvec_batch",
	.help = "rstat for the cgroup's counters, batches up the tree for the lruvec's",
	.source = "Linux 5.13-5.14, 2d146aa3aa84",
	.ops = &ops,
};
