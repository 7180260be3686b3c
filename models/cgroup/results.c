/*
 * results.c - memory.current and memory.events of a run.
 *
 * Over time only the root and the cgroups right below it are drawn: a host has thousands of leaves. What a
 * cgroup never had (events, a limit) makes no row.
 */
#include "models/cgroup/results.h"

#include "sim/module.h"

enum { CURRENT, WATERMARK, EVENTS_MAX, EVENTS_OOM };

static const struct metric metrics[] = {
	[CURRENT] = { "memory.current", "bytes", METRIC_GAUGE,
		      "usage as the page counter has it, stocks included" },
	[WATERMARK] = { "memory.peak", "bytes", METRIC_GAUGE, "largest memory.current" },
	[EVENTS_MAX] = { "memory.events.max", "1", METRIC_COUNTER,
			 "charges that memory.max stood in the way of" },
	[EVENTS_OOM] = { "memory.events.oom", "1", METRIC_COUNTER, "charges that failed for good" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(cgroup_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "cgroup",
	.help = "usage and events of cgroups",
	.ops = &table,
};

void cgroups_sample(struct host *host, sim_time_t now)
{
	struct record *record = host->run->record;
	struct memcg *root = host->cgroups->root;

	record_sample(record, &metrics[CURRENT], root->path, now, (double)memcg_current(root) * PAGE_SIZE);
	for (struct memcg *m = root->first_child; m; m = m->next_sibling)
		record_sample(record, &metrics[CURRENT], m->path, now, (double)memcg_current(m) * PAGE_SIZE);
}

void cgroups_results(struct host *host)
{
	struct record *record = host->run->record;

	for (uint32_t i = 0; i < host->cgroups->nr; i++) {
		const struct memcg *m = host->cgroups->all[i];

		if (m->memory.watermark) {
			record_summary(record, &metrics[CURRENT], m->path,
				       (double)memcg_current(m) * PAGE_SIZE);
			record_summary(record, &metrics[WATERMARK], m->path,
				       (double)m->memory.watermark * PAGE_SIZE);
		}
		if (m->events_max)
			record_summary(record, &metrics[EVENTS_MAX], m->path, (double)m->events_max);
		if (m->events_oom)
			record_summary(record, &metrics[EVENTS_OOM], m->path, (double)m->events_oom);
	}
}
