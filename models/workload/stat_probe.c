/*
 * stat_probe.c - measures staleness in lock step, the way the counts of ground-truth E5 and E14 were
 * measured.
 *
 * One task does by turns what a worker in a cgroup and a reader outside do there: nothing else happens in
 * between, so the counts are exact and depend on no cost.
 *
 * sawtooth (E5a, E14) for each item of `series`, `repeat` times: a new worker touches `step` fresh pages
 *                     on CPU 0 (or, spread, on all CPUs in turn), then memory.stat of `target` is read on
 *                     CPU 0; again, `steps` times; then the worker ends. How many pages are touched
 *                     between two changes of the value read, and how far the value is off; and how far
 *                     memory.current, the page counter, runs ahead of what was touched. A second worker
 *                     may take its turn, or idle.
 * visible (E5b)       touches a few pages `phase` after a periodic flush and reads until they are seen.
 * fanout (E5c)        drops `step` file pages of each cgroup in `of` on every CPU, then reads `target`
 *                     twice: how many (cgroup, CPU) pairs each read flushes.
 */
#include "models/workload/stat_probe.h"

#include <stdio.h>

#include "models/cgroup/options.h"
#include "models/workload/stat_file.h"
#include "sim/results/record.h"

#define POLL_FLUSH  (5 * SIM_MS)
#define AFTER_FLUSH (20 * SIM_MS)

static const struct enum_name mode_names[] = {
	{ "sawtooth", SAWTOOTH, "touch, read, again" },
	{ "visible", VISIBLE, "touch a little, read until it is seen" },
	{ "fanout", FANOUT, "update many cgroups on all CPUs, read twice" },
	{ NULL, 0, NULL },
};
static const struct enum_name file_names[] = {
	{ "memory.stat", MEMORY_STAT, NULL },
	{ "cpu.stat", CPU_STAT, NULL },
	{ NULL, 0, NULL },
};

static const struct option saw_rows[] = {
	OPTION(struct saw, name, OPT_STRING, .required = true,
	       .help = "in results, after the name of the task"),
	OPTION(struct saw, target, OPT_STRING, .required = true, .help = "path of the cgroup that is read"),
	OPTION(struct saw, worker, OPT_STRING, .help = "path of the worker's cgroup; the task's own if none"),
	OPTION(struct saw, second, OPT_STRING, .help = "path of a second worker's cgroup, which idles"),
	OPTION(struct saw, both, OPT_BOOL, .fallback = "false", .help = "the second worker touches too"),
	OPTION(struct saw, step, OPT_U64, .fallback = "1", .min = "1", .max = "1M",
	       .help = "pages touched before each read"),
	OPTION(struct saw, spread, OPT_BOOL, .fallback = "false", .help = "touch on all CPUs in turn"),
	OPTION(struct saw, inside, OPT_BOOL, .fallback = "false",
	       .help = "the worker reads, too, from inside of its cgroup"),
};
static const struct option_table saw_table = OPTION_TABLE("stat_probe series", struct saw, saw_rows);

static const struct option rows[] = {
	OPTION(struct stat_probe, mode, OPT_ENUM, .fallback = "sawtooth", .names = mode_names,
	       .help = "what is measured"),
	OPTION(struct stat_probe, series, OPT_LIST, .sub = &saw_table,
	       .help = "measurements in order, for sawtooth"),
	OPTION(struct stat_probe, repeat, OPT_U32, .fallback = "1", .min = "1", .max = "1K",
	       .help = "times that each is made; the results are means"),
	OPTION(struct stat_probe, steps, OPT_U64, .fallback = "200", .min = "1", .max = "1M",
	       .help = "times that one touches and reads"),
	OPTION(struct stat_probe, memory, OPT_U64, .fallback = "8192", .min = "64", .max = "1G",
	       .help = "pages of the worker's mapping"),
	OPTION(struct stat_probe, own_pages, OPT_U64, .fallback = "4", .max = "32",
	       .help = "pages that a worker touches beside those of its mapping",
	       .source = "measured: 39 pages are charged to a worker of E5a before it begins (6.1)"),
	OPTION(struct stat_probe, own_tables, OPT_U64, .fallback = "2", .max = "32",
	       .help = "how many of them are under page tables of their own",
	       .source = "measured: as own_pages; 36 pages without such tables on 6.12"),
	OPTION(struct stat_probe, reader_pages, OPT_U64, .fallback = "11", .max = "1K",
	       .help = "pages of the root that are copied when a worker is forked, by it and by the reader",
	       .source = "measured: 11 on 6.1, by the folio batches; 6 on 6.12 is fitted to E5a, step 1"),
	OPTION(struct stat_probe, target, OPT_STRING,
	       .help = "path of the cgroup that is read, for the others"),
	OPTION(struct stat_probe, file, OPT_ENUM, .fallback = "memory.stat", .names = file_names,
	       .help = "file that is read, for fanout"),
	OPTION(struct stat_probe, of, OPT_STRING,
	       .help = "pattern of the cgroups that are updated, for fanout"),
	OPTION(struct stat_probe, step, OPT_U64, .fallback = "1", .min = "1", .max = "1M",
	       .help = "pages touched, for visible; dropped in each cgroup on each CPU, for fanout"),
	OPTION(struct stat_probe, phase, OPT_DURATION, .fallback = "50ms",
	       .help = "from a periodic flush to the update, for visible"),
	OPTION(struct stat_probe, poll, OPT_DURATION, .fallback = "20ms", .min = "1us",
	       .help = "between reads, for visible"),
};
static const struct option_table options = OPTION_TABLE("stat_probe", struct stat_probe, rows);

static const struct metric metrics[NR_PROBE_METRICS] = {
	[GAP_MEAN] = { "stat_probe.gap_mean", "pages", METRIC_GAUGE,
		       "touched between two changes of what is read" },
	[GAP_MEAN_OWN] = { "stat_probe.gap_mean_own", "pages", METRIC_GAUGE,
			   "the same, of pages of the cgroup that is read" },
	[GAP_MAX] = { "stat_probe.gap_max", "pages", METRIC_GAUGE, "the most that was touched in between" },
	[STALE_MEAN] = { "stat_probe.stale_mean", "pages", METRIC_GAUGE,
			 "true minus reported at a read, mean" },
	[STALE_MAX] = { "stat_probe.stale_max", "pages", METRIC_GAUGE,
			"true minus reported at a read, most" },
	[CURRENT_MIN] = { "stat_probe.current_min", "pages", METRIC_GAUGE,
			  "growth of memory.current minus pages touched, least" },
	[CURRENT_MAX] = { "stat_probe.current_max", "pages", METRIC_GAUGE,
			  "growth of memory.current minus pages touched, most" },
	[TOUCHED] = { "stat_probe.touched", "pages", METRIC_GAUGE, "touched, mean of the repetitions" },
	[JUMPS] = { "stat_probe.jumps", "1", METRIC_GAUGE, "changes of what is read" },
	[FLUSHES] = { "stat_probe.flushes", "1", METRIC_GAUGE, "flushes by reads" },
	[PAIRS] = { "stat_probe.pairs", "1", METRIC_GAUGE, "(cgroup, CPU) pairs that these visit" },
	[FLUSHES_PER_READ] = { "stat_probe.flushes_per_read", "1", METRIC_RATIO,
			       "flushes by reads, per read" },
	[PAIRS_PER_FLUSH] = { "stat_probe.pairs_per_flush", "1", METRIC_GAUGE,
			      "(cgroup, CPU) pairs a flush visits" },
	[VISIBLE_AFTER] = { "stat_probe.visible_after", "ns", METRIC_GAUGE,
			    "from the update until a read shows it" },
	[PAIRS_FIRST] = { "stat_probe.pairs_first", "1", METRIC_GAUGE, "pairs flushed by the first read" },
	[PAIRS_SECOND] = { "stat_probe.pairs_second", "1", METRIC_GAUGE, "pairs flushed by the second read" },
	[FLUSH_CALLS] = { "stat_probe.flush_calls", "1", METRIC_GAUGE, "flushes by the first read" },
};
static const struct metric_table table = { metrics, NR_PROBE_METRICS };

MODULE(stat_probe_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "stat_probe",
	.help = "staleness in lock step",
	.ops = &table,
};

void probe_record(struct probe *p, const char *name, enum probe_metric metric, double value)
{
	char entity[256];

	snprintf(entity, sizeof entity, "%s%s%s", p->w->label, name ? "/" : "", name ? name : "");
	record_summary(p->w->host->run->record, &metrics[metric], entity, value);
}

bool probe_touch(struct probe *p, struct anon_object *memory, uint64_t index)
{
	struct memcg *level;

	if (anon_touch(p->t, memory, index, &level)) {
		p->w->ops++;
		return true;
	}
	workload_out_of_memory(p->w, level);
	return false;
}

void probe_wait_for_flush(struct probe *p)
{
	const struct flush_count *count = stat_flush_count(p->w->host);
	uint64_t calls = count->calls[FLUSH_PERIODIC];
	sim_time_t give_up = p->t->clock + 2 * GIVE_UP;

	while (count->calls[FLUSH_PERIODIC] == calls && p->t->clock < give_up)
		task_sleep(p->t, POLL_FLUSH);
	task_sleep(p->t, AFTER_FLUSH);
}

void probe_settle(struct probe *p, struct memcg *m)
{
	cpu_stat_read(p->t, m);
	probe_wait_for_flush(p);
	cpu_stat_read(p->t, m);
}

int64_t probe_read_anon(struct probe *p, struct stat_read *read)
{
	memory_stat_read(p->t, p->target, read);
	return read->anon;
}

int64_t probe_read_inside(struct probe *p, struct memcg *m, struct stat_read *read)
{
	struct stat_file file;

	if (!stat_file_open(p->t, m, &file)) {
		workload_out_of_memory(p->w, m);
		return 0;
	}
	int64_t value = probe_read_anon(p, read);

	stat_file_close(p->t, &file);
	return value;
}

/* ---- the module ---- */

static void check(const struct scenario *s, const struct task_options *task, const void *own,
		  struct complaints *c)
{
	const struct stat_probe *o = own;

	if (task->count != 1)
		complain(c, option_where(task, "count"), "count: the probe is one task");
	for (size_t i = 0; i < o->series.nr; i++) {
		const struct saw *saw = o->series.items[i];

		if (saw->target)
			cgroup_check_pattern(s, saw->target, saw, "target", c);
		if (saw->worker)
			cgroup_check_pattern(s, saw->worker, saw, "worker", c);
		if (saw->second)
			cgroup_check_pattern(s, saw->second, saw, "second", c);
		else if (saw->both)
			complain(c, option_where(saw, "both"), "both: there is no second worker");
	}
	if (o->target)
		cgroup_check_pattern(s, o->target, own, "target", c);
	if (o->of)
		cgroup_check_pattern(s, o->of, own, "of", c);
	if (o->mode == SAWTOOTH && !o->series.nr)
		complain(c, option_where(own, NULL), "sawtooth needs 'series', the measurements to make");
	if (o->mode != SAWTOOTH && !o->target)
		complain(c, option_where(own, NULL), "'target', the cgroup that is read, is missing");
	if (o->mode == FANOUT && !o->of)
		complain(c, option_where(own, NULL), "fanout needs 'of', the cgroups that are updated");
}

static bool ends(const void *own)
{
	(void)own;
	return true;
}

static void run(struct task *t, struct workload_task *w)
{
	const struct stat_probe *o = w->own;
	struct probe p = {
		.t = t,
		.w = w,
		.o = o,
		.target = o->target ? memcg_find(w->host, o->target) : NULL,
	};

	switch ((enum probe_mode)o->mode) {
	case SAWTOOTH:
		probe_sawtooth(&p);
		break;
	case VISIBLE:
		probe_visible(&p);
		break;
	case FANOUT:
		probe_fanout(&p);
		break;
	}
}

static const struct workload_ops ops = { .check = check, .ends = ends, .run = run };

MODULE(stat_probe) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "stat_probe",
	.help = "touches and reads in lock step, and counts how stale each read is",
	.source = "ground-truth E5a, E5b, E5c, E14",
	.options = &options,
	.ops = &ops,
};
