/*
 * rstat_global_threshold.c - stat_update: every CPU counts, one word of the machine says when it is enough.
 *
 * memcg_rstat_updated() of Linux 5.16 to 6.7. A CPU adds |val| of each update, of whatever memcg and item,
 * to a counter of its own, and when that has passed B it adds counter / B to stats_flush_threshold and
 * starts anew; what the division drops is lost. B is MEMCG_CHARGE_BATCH, and a flush is due when the word
 * has passed the number of online CPUs.
 *
 * By version: 5.16 counts calls and not |val|, and adds 1 at each multiple of B (5b3be698a872 changed that
 * in 5.17); from 6.1 on nothing is added once the word has passed (873f64b791a2), which leaves it in the
 * caches of all CPUs. Slab and per-CPU bytes count as bytes: one 4 KiB object is worth 64 batches.
 */
#include "models/stat/stat_impl.h"

static void publish(struct task *t, const struct host *host, uint64_t batches)
{
	struct stat_state *st = stat_of(host);

	if (host->kernel_version >= 601) {
		line_touch(t, &st->line, false);
		if (st->flush_threshold > host->nr_cpus)
			return;
	}
	line_touch_rmw(t, &st->line);
	st->flush_threshold += batches;
}

static void updated(struct task *t, struct stat_pair *pair, enum stat_item item, uint64_t size)
{
	const struct host *host = pair->memcg->host;
	struct stat_cpu *c = &stat_of(host)->cpus[pair->cpu];

	(void)item;
	shared_step(t);
	cpu_defer(t, line_cost_beyond(t, &c->near_updates));
	if (host->kernel_version < 517) {
		if (++c->updates % host->charge_batch == 0)
			publish(t, host, 1);
		return;
	}
	c->updates += (uint32_t)size;
	if (c->updates > host->charge_batch) {
		uint32_t batches = c->updates / host->charge_batch;

		c->updates = 0;
		publish(t, host, batches);
	}
}

static const struct stat_update_ops ops = { .updated = updated };

MODULE(rstat_global_threshold) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "stat_update",
	.name = "rstat_global_threshold",
	.help = "batches of updates are counted in one word for the whole machine",
	.source = "Linux 5.16-6.7, memcg_rstat_updated(), 11192d9c124d",
	.ops = &ops,
};
