/*
 * periodic_only.c - flush: only the worker flushes; readers and the kernel take what is there.
 *
 * An idea from the discussion of seed 5, after what vmstat does: reads cost the same always, and are up to
 * one period old plus the worker's lag. The period can be set. cpu.stat and the release of a cgroup still
 * flush.
 */
#include "models/stat/stat_impl.h"

struct periodic_options {
	sim_time_t period;
};

static void flush(struct task *t, struct flush *f)
{
	switch (f->caller) {
	case FLUSH_PERIODIC:
	case FLUSH_CPU_STAT:
	case FLUSH_RELEASE:
		rstat_flush(t, f, f->memcg, true);
		break;
	default:
		task_sync(t);
		stat_of(f->memcg->host)->count.skipped++;
	}
}

static sim_time_t period(const struct host *host)
{
	const struct periodic_options *options = stat_of(host)->policy[AXIS_FLUSH].options;

	return options->period;
}

static const struct option rows[] = {
	OPTION(struct periodic_options, period, OPT_DURATION, .fallback = "2s", .min = "1ms", .max = "1h",
	       .help = "from the end of one flush to the start of the next", .source = "FLUSH_TIME, 2 x HZ"),
};
static const struct option_table options = OPTION_TABLE("periodic_only", struct periodic_options, rows);

static const struct flush_ops ops = { .flush = flush, .period = period };

MODULE(flush_periodic_only) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "flush",
	.name = "periodic_only",
	.help = "readers never flush, a worker does at intervals",
	.source = "idea in the discussion of seed 5, not in any kernel",
	.options = &options,
	.ops = &ops,
};
