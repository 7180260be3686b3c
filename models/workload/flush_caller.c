/*
 * flush_caller.c - kernel threads that ask for a flush at the same instant, as kswapd does.
 *
 * One allocation that finds no room wakes the kswapd of every node, and each begins with a flush of the root
 * (prepare_scan_count() by shrink_node()). What that costs is a question of the flush policy and of nothing
 * that reclaim does afterwards, so this is kswapd's beginning without the rest: every `interval` all tasks
 * wake, ask for the flush, and work for `work`. Task i of `count` stays on the first CPU of node i.
 */
#include "models/cgroup/options.h"
#include "models/stat/stat.h"
#include "models/workload/workload.h"
#include "sim/module.h"
#include "sim/results/record.h"
#include "sim/stats/histogram.h"

struct caller_options {
	int caller; /* enum flush_caller of stat.h */
	const char *target;
	sim_time_t interval, work;
};

static const struct enum_name callers[] = {
	{ "reclaim", FLUSH_RECLAIM, "as a pass of reclaim" },
	{ "refault", FLUSH_REFAULT, "as a refault" },
	{ "shrinker", FLUSH_SHRINKER, "as the shrinker of shadow nodes" },
	{ "writeback", FLUSH_WRITEBACK, "as the dirty limit" },
	{ "zswap", FLUSH_ZSWAP, "as a store to zswap" },
	{ NULL, 0, NULL },
};

static const struct option rows[] = {
	OPTION(struct caller_options, caller, OPT_ENUM, .names = callers, .fallback = "reclaim",
	       .help = "in whose name it asks"),
	OPTION(struct caller_options, target, OPT_STRING, .fallback = "/", .help = "cgroup to be flushed"),
	OPTION(struct caller_options, interval, OPT_DURATION, .fallback = "10ms", .min = "1us",
	       .help = "between two wake-ups, the same for all tasks"),
	OPTION(struct caller_options, work, OPT_DURATION, .fallback = "0s",
	       .help = "CPU time in the kernel after the flush"),
};
static const struct option_table options = OPTION_TABLE("flush_caller", struct caller_options, rows);

enum { LATENCY };

static const struct metric metrics[] = {
	[LATENCY] = { "flush.call_latency", "ns", METRIC_DISTRIBUTION,
		      "from asking for a flush to going on" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(flush_caller_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "flush_caller",
	.help = "how long those wait who ask for a flush",
	.ops = &table,
};

static void check(const struct scenario *s, const struct task_options *task, const void *own,
		  struct complaints *c)
{
	const struct caller_options *o = own;

	(void)task;
	cgroup_check_pattern(s, o->target, own, "target", c);
}

static void prepare(struct workload_task *w)
{
	w->state = histogram_create(sim_arena(w->host->sim));
}

static void run(struct task *t, struct workload_task *w)
{
	const struct caller_options *o = w->own;
	const struct host *host = w->host;
	struct memcg *target = memcg_find(host, o->target);
	uint32_t node = w->index % host->nr_nodes;

	task_pin(t, (uint32_t)((uint64_t)node * host->nr_cpus / host->nr_nodes));
	for (;;) {
		/* All at the same multiple, however late somebody was the last time. */
		task_sleep(t, o->interval - t->clock % o->interval);
		task_sync(t);
		sim_time_t begin = t->clock;

		stat_flush(t, target, (enum flush_caller)o->caller);
		task_sync(t);
		if (host->run->measuring)
			histogram_add(w->state, (t->clock - begin) / SIM_NS, 1);
		w->ops++;
		cpu_work(t, o->work);
		cond_resched(t);
	}
}

static void finish(struct host *host, const struct module *self)
{
	uint32_t nr;
	const struct workload_task *tasks = workload_tasks(host, &nr);
	struct histogram all;
	const char *label = NULL;

	histogram_init(&all, sim_arena(host->sim));
	for (uint32_t i = 0; i < nr; i++)
		if (workload_is(&tasks[i], self)) {
			histogram_merge(&all, tasks[i].state);
			label = tasks[i].label;
		}
	record_histogram(host->run->record, &metrics[LATENCY], label, &all);
}

static const struct workload_ops ops = { .check = check, .prepare = prepare, .run = run, .finish = finish };

MODULE(flush_caller) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "flush_caller",
	.help = "threads, one a node, that ask for a flush at the same instant; task.ops counts calls",
	.source = "wake_all_kswapds(), prepare_scan_count()",
	.options = &options,
	.ops = &ops,
};
