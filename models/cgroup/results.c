/*
 * results.c - memory.current and memory.events of a run.
 *
 * Over time only the root and the cgroups right below it are drawn: a host has thousands of leaves. What a
 * cgroup never had (events, a limit) makes no row.
 */
#include "models/cgroup/results.h"

#include "sim/module.h"

enum { CURRENT, WATERMARK, EVENTS };

static const struct metric metrics[] = {
	[CURRENT] = { "memory.current", "bytes", METRIC_GAUGE,
		      "usage as the page counter has it, stocks included" },
	[WATERMARK] = { "memory.peak", "bytes", METRIC_GAUGE, "largest memory.current" },
	[EVENTS + EVENT_LOW] = { "memory.events.low", "1", METRIC_COUNTER,
				 "times it was reclaimed from although below memory.low" },
	[EVENTS + EVENT_HIGH] = { "memory.events.high", "1", METRIC_COUNTER,
				  "times tasks had to reclaim because of memory.high" },
	[EVENTS + EVENT_MAX] = { "memory.events.max", "1", METRIC_COUNTER,
				 "charges that memory.max stood in the way of" },
	[EVENTS + EVENT_OOM] = { "memory.events.oom", "1", METRIC_COUNTER,
				 "charges that reclaim could make no room for" },
	[EVENTS + EVENT_OOM_KILL] = { "memory.events.oom_kill", "1", METRIC_COUNTER,
				      "tasks that the OOM killer ended" },
	[EVENTS + EVENT_OOM_GROUP_KILL] = { "memory.events.oom_group_kill", "1", METRIC_COUNTER,
					    "times it was killed as a whole" },
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
		if (!m->transient)
			record_sample(record, &metrics[CURRENT], m->path, now,
				      (double)memcg_current(m) * PAGE_SIZE);
}

void cgroups_results(struct host *host)
{
	struct record *record = host->run->record;

	struct memcg *m;

	for (uint32_t i = 0; (m = memcg_at(host->cgroups, &i)); i++) {
		if (m->transient)
			continue;
		if (m->memory.watermark) {
			record_summary(record, &metrics[CURRENT], m->path,
				       (double)memcg_current(m) * PAGE_SIZE);
			record_summary(record, &metrics[WATERMARK], m->path,
				       (double)m->memory.watermark * PAGE_SIZE);
		}
		for (int event = 0; event < NR_MEMCG_EVENTS; event++)
			if (m->events[event])
				record_summary(record, &metrics[EVENTS + event], m->path,
					       (double)m->events[event]);
	}
}
