/*
 * batch_local.c - stat_update: per-CPU counters that spill into the cgroup's own; who reads adds up the
 * subtree.
 *
 * Linux 4.16 to 5.1: when a CPU's part of one item exceeds the batch (32), it goes to an atomic counter of
 * the cgroup. A reader needs no CPU's counters any more, but still visits every cgroup below, and what it
 * sees may be off by 32 pages for each CPU and each of these.
 */
#include "models/stat/summed.h"

static void updated(struct task *t, struct stat_pair *pair, enum stat_item item, uint64_t size)
{
	(void)size;
	if (!summed_batch_full(pair, item))
		return;
	line_touch_rmw(t, summed_line(pair->memcg, item));
	rstat_spill(pair, item, false);
}

static void sum(struct task *t, struct flush *f)
{
	struct host *host = f->memcg->host;
	const struct stat_state *st = stat_of(host);
	sim_time_t each = (st->items->state + st->items->events) * host->costs->flush_slot;

	for (struct memcg *m = NULL; (m = summed_next(f->memcg, m));) {
		task_sync(t);
		for (int item = 0; item < NR_STAT_ITEMS; item += 8)
			line_touch(t, summed_line(m, (enum stat_item)item), false);
		cpu_defer(t, each);
		rstat_take_pending(m);
	}
	task_sync(t);
}

static const struct stat_update_ops ops = { .updated = updated, .sum = sum };

MODULE(batch_local) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "stat_update",
	.name = "batch_local",
	.help = "per-CPU batches into the cgroup's own counter; a reader adds up the cgroups below",
	.source = "Linux 4.16-5.1, a983b5ebee57",
	.ops = &ops,
};
