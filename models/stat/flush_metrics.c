/*
 * flush_metrics.c - what is recorded of flushes themselves: how long each took, whole tree or subtree, when
 * the whole tree was flushed, and how far apart the worker's flushes are.
 *
 * A flush of the root is a sample at the instant at which it began, its value how long it took: the marks in
 * figures of staleness over time. The worker's period is FLUSH_TIME and what it is late by, so it is measured
 * from the start of one of its flushes to that of the next.
 */
#include "models/stat/stat_impl.h"

enum { DURATION, ROOT, PERIOD, NR_METRICS };

static const struct metric metrics[NR_METRICS] = {
	[DURATION] = { "flush.duration", "ns", METRIC_DISTRIBUTION,
		       "of a flush, waiting for the rstat lock included; of the root and of others" },
	[ROOT] = { "flush.root", "ns", METRIC_GAUGE,
		   "samples: when a flush of the root began, and its length" },
	[PERIOD] = { "flush.period", "ns", METRIC_GAUGE, "between the starts of two periodic flushes, mean" },
};
static const struct metric_table table = { .rows = metrics, .nr = NR_METRICS };

MODULE(flush_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "flush",
	.help = "how long flushes take, and when",
	.ops = &table,
};

struct flush_metrics {
	struct histogram root, others;
	sim_time_t first, last; /* start of a periodic flush, while measuring */
	uint64_t periodic;
};

void flush_metrics_build(struct host *host)
{
	struct flush_metrics *fm = sim_alloc(host->sim, sizeof *fm);

	histogram_init(&fm->root, sim_arena(host->sim));
	histogram_init(&fm->others, sim_arena(host->sim));
	stat_of(host)->flush_metrics = fm;
}

void flush_metrics_add(struct host *host, const struct flush *f, const struct memcg *root, sim_time_t start,
		       sim_time_t end)
{
	struct flush_metrics *fm = stat_of(host)->flush_metrics;

	if (!host->run || !host->run->measuring)
		return;
	histogram_add(root->parent ? &fm->others : &fm->root, (end - start) / SIM_NS, 1);
	if (!root->parent && host->run->record)
		record_sample(host->run->record, &metrics[ROOT], root->path, start,
			      sim_nanoseconds(end - start));
	if (f->caller != FLUSH_PERIODIC)
		return;
	if (!fm->periodic++)
		fm->first = start;
	fm->last = start;
}

void flush_metrics_measure(struct host *host)
{
	struct flush_metrics *fm = stat_of(host)->flush_metrics;

	histogram_reset(&fm->root);
	histogram_reset(&fm->others);
	fm->periodic = 0;
}

void flush_metrics_finish(struct host *host)
{
	const struct flush_metrics *fm = stat_of(host)->flush_metrics;
	struct record *record = host->run->record;

	if (fm->root.count)
		record_histogram(record, &metrics[DURATION], "root", &fm->root);
	if (fm->others.count)
		record_histogram(record, &metrics[DURATION], "subtree", &fm->others);
	if (fm->periodic > 1)
		record_summary(record, &metrics[PERIOD], "all",
			       sim_nanoseconds(fm->last - fm->first) / (double)(fm->periodic - 1));
}
