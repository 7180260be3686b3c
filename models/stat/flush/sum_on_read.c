/*
 * sum_on_read.c - flush: there is none. A reader adds up what the update rule left him to.
 *
 * Before Linux 5.13. The kernel's own users look at their counters as they are.
 */
#include "models/stat/stat_impl.h"

static void flush(struct task *t, struct flush *f)
{
	struct stat_state *st = stat_of(f->memcg->host);

	if (f->caller != FLUSH_READER || !st->update->sum) {
		st->count.skipped++;
		return;
	}
	task_sync(t);
	sim_time_t start = t->clock;

	st->update->sum(t, f);
	/* Exact, or as near as it ever gets. */
	f->memcg->stat->flushed_at = start;
}

static sim_time_t period(const struct host *host)
{
	(void)host;
	return SIM_NEVER;
}

static const struct flush_ops ops = { .flush = flush, .period = period };

MODULE(flush_sum_on_read) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "flush",
	.name = "sum_on_read",
	.help = "nobody flushes; a reader adds up what stat_update walk, batch_local or batch_hier keeps",
	.source = "before Linux 5.13",
	.ops = &ops,
};
