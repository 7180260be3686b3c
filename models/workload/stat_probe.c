/*
 * stat_probe.c - measures staleness in lock step, the way the counts of ground-truth E5 were measured.
 *
 * One task does by turns what a worker in a cgroup and a reader outside do there: nothing else happens in
 * between, so the counts are exact and depend on no cost.
 *
 * sawtooth (E5a)  for each item of `series`, `repeat` times: a new worker touches `step` fresh pages of the
 *                 task's cgroup on CPU 0 (or, spread, on all CPUs in turn), then memory.stat of `target` is
 *                 read on CPU 0; again, `steps` times; then the worker ends. How many pages are touched
 *                 between two changes of the value read, and how far the value is off; and how far
 *                 memory.current, the page counter, runs ahead of what was touched.
 * visible (E5b)   touches a few pages `phase` after a periodic flush and reads until they are seen.
 * fanout (E5c)    drops `step` file pages of each cgroup in `of` on every CPU, then reads `target` twice: how
 *                 many (cgroup, CPU) pairs each read flushes.
 *
 * What hides in the CPUs' counters when a measurement begins decides the length of its first gap, so the
 * history counts. A worker that ends gives back its pages in large batches, and each leaves its CPU's counter
 * at 0. A new one touches a page under every page table, so that the steps make none, and `own_pages` others,
 * as a process and its parent do after a fork. Other CPUs keep what the series has left there.
 */
#include <math.h>
#include <stdio.h>

#include "models/cgroup/options.h"
#include "models/stat/stat.h"
#include "models/workload/workload.h"
#include "sim/module.h"
#include "sim/results/record.h"

#define SPARE_PAGES  600 /* of the mapping, that no step comes to */
#define TABLE_PAGES  512 /* pages that one page table maps */
#define POLL_FLUSH   (5 * SIM_MS)
#define AFTER_FLUSH  (20 * SIM_MS)
#define GIVE_UP      (6 * SIM_SEC)
#define FANOUT_SPARE 4 /* pages of a file to one that is dropped: no page-cache node becomes empty */

enum probe_mode { SAWTOOTH, VISIBLE, FANOUT };
enum probe_file { MEMORY_STAT, CPU_STAT };

struct stat_probe {
	int mode, file;
	const char *target, *of;
	uint64_t step, steps, memory, own_pages;
	uint32_t repeat;
	struct option_list series; /* struct saw */
	sim_time_t phase, poll;
};

struct saw {
	const char *name, *target;
	uint64_t step;
	bool spread;
};

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
	OPTION(struct saw, step, OPT_U64, .fallback = "1", .min = "1", .max = "1M",
	       .help = "pages touched before each read"),
	OPTION(struct saw, spread, OPT_BOOL, .fallback = "false", .help = "touch on all CPUs in turn"),
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
	OPTION(struct stat_probe, own_pages, OPT_U64, .fallback = "12", .max = "1M",
	       .help = "pages that the worker's process touches before it begins",
	       .source = "fitted to: E5a, step 1; a buffer of three pages, stack and data after "
			 "a fork"),
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

enum {
	GAP_MEAN,
	STALE_MEAN,
	STALE_MAX,
	CURRENT_MIN,
	CURRENT_MAX,
	FLUSHES_PER_READ,
	PAIRS_PER_FLUSH,
	VISIBLE_AFTER,
	PAIRS_FIRST,
	PAIRS_SECOND,
	FLUSH_CALLS
};

static const struct metric metrics[] = {
	[GAP_MEAN] = { "stat_probe.gap_mean", "pages", METRIC_GAUGE,
		       "touched between two changes of what is read" },
	[STALE_MEAN] = { "stat_probe.stale_mean", "pages", METRIC_GAUGE,
			 "true minus reported at a read, mean" },
	[STALE_MAX] = { "stat_probe.stale_max", "pages", METRIC_GAUGE,
			"true minus reported at a read, most" },
	[CURRENT_MIN] = { "stat_probe.current_min", "pages", METRIC_GAUGE,
			  "growth of memory.current minus pages touched, least" },
	[CURRENT_MAX] = { "stat_probe.current_max", "pages", METRIC_GAUGE,
			  "growth of memory.current minus pages touched, most" },
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
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(stat_probe_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "stat_probe",
	.help = "staleness in lock step",
	.ops = &table,
};

struct probe {
	struct task *t;
	struct workload_task *w;
	const struct stat_probe *o;
	struct memcg *target,
		*parent; /* parent: of the cgroup worked in; a read of its cpu.stat flushes exactly */
	struct anon_object *memory;
	uint64_t position;
};

/* `name`: of a part of the task's work; NULL: of all. */
static void record(struct probe *p, const char *name, int metric, double value)
{
	char entity[256];

	snprintf(entity, sizeof entity, "%s%s%s", p->w->label, name ? "/" : "", name ? name : "");
	record_summary(p->w->host->run->record, &metrics[metric], entity, value);
}

static bool touch(struct probe *p, uint64_t index)
{
	struct memcg *level;

	if (anon_touch(p->t, p->memory, index, &level)) {
		p->w->ops++;
		return true;
	}
	workload_out_of_memory(p->w, level);
	return false;
}

/* Fresh pages, none of them the first of its page table. */
static bool touch_fresh(struct probe *p, uint64_t nr)
{
	while (nr--) {
		if (p->position % TABLE_PAGES == 0)
			p->position++;
		if (!touch(p, p->position++))
			return false;
	}
	return true;
}

/* Until the periodic flush has just run, give or take what the measurement took to notice. */
static void wait_for_flush(struct probe *p)
{
	const struct flush_count *count = stat_flush_count(p->w->host);
	uint64_t calls = count->calls[FLUSH_PERIODIC];
	sim_time_t give_up = p->t->clock + 2 * GIVE_UP;

	while (count->calls[FLUSH_PERIODIC] == calls && p->t->clock < give_up)
		task_sleep(p->t, POLL_FLUSH);
	task_sleep(p->t, AFTER_FLUSH);
}

static int64_t read_anon(struct probe *p, struct stat_read *read)
{
	memory_stat_read(p->t, p->target, read);
	return read->anon;
}

/* ---- sawtooth ---- */

/* A new worker, up to the moment at which the measurement begins. */
static bool settle(struct probe *p)
{
	const struct stat_probe *o = p->o;

	p->position = 0;
	for (uint64_t i = 0; i < o->memory; i += TABLE_PAGES)
		if (!touch(p, i))
			return false;
	for (uint64_t i = 0; i < o->own_pages; i++)
		if (!touch(p, o->memory + i))
			return false;
	if (!touch_fresh(p, 1))
		return false;
	cpu_stat_read(p->t, p->parent);
	wait_for_flush(p);
	cpu_stat_read(p->t, p->parent);
	return true;
}

/* Sums over the reads of one measurement, or over several. */
struct teeth {
	double gap_mean, stale_mean, stale_max, flushes_per_read, pairs_per_flush;
	double current_min, current_max;
	uint32_t measured, with_flushes;
};

static void end_of_tooth(struct teeth *sum, const struct teeth *one, uint64_t reads, uint64_t jumps,
			 uint64_t flushes)
{
	double n = (double)reads;

	sum->measured++;
	sum->gap_mean += jumps ? one->gap_mean / (double)jumps : 0;
	sum->stale_mean += one->stale_mean / n;
	if (one->stale_max > sum->stale_max)
		sum->stale_max = one->stale_max;
	if (one->current_min < sum->current_min)
		sum->current_min = one->current_min;
	if (one->current_max > sum->current_max)
		sum->current_max = one->current_max;
	sum->flushes_per_read += (double)flushes / n;
	if (flushes) {
		sum->with_flushes++;
		sum->pairs_per_flush += one->pairs_per_flush / (double)flushes;
	}
}

/* memory.current beside the pages touched: by how much the counter has grown more, or less. */
static void look_at_current(struct teeth *one, int64_t ahead)
{
	if ((double)ahead < one->current_min)
		one->current_min = (double)ahead;
	if ((double)ahead > one->current_max)
		one->current_max = (double)ahead;
}

/* One measurement; returns the CPU that the worker was on last. */
static uint32_t saw_once(struct probe *p, const struct saw *saw, struct teeth *sum)
{
	const struct stat_probe *o = p->o;
	uint64_t room = o->memory > SPARE_PAGES ? o->memory - SPARE_PAGES : o->memory;
	uint64_t touched = 0, reads = 0, jumps = 0, flushes = 0, last_jump = 0;
	struct teeth one = { .current_min = INFINITY, .current_max = -INFINITY };
	struct stat_read read;
	uint32_t cpu = 0;
	int64_t base = read_anon(p, &read), last_value = base;
	int64_t base_current = (int64_t)p->target->memory.usage;

	while (reads < o->steps && touched < room) {
		cpu = saw->spread ? (uint32_t)(reads % p->w->host->nr_cpus) : 0;
		task_pin(p->t, cpu);
		if (!touch_fresh(p, saw->step))
			break;
		touched += saw->step;
		task_pin(p->t, 0);
		int64_t value = read_anon(p, &read);
		double stale = (double)(base + (int64_t)touched - value);

		reads++;
		flushes += read.flushes;
		one.pairs_per_flush += (double)read.pairs;
		one.stale_mean += stale;
		if (stale > one.stale_max)
			one.stale_max = stale;
		look_at_current(&one, (int64_t)p->target->memory.usage - base_current - (int64_t)touched);
		if (value != last_value) {
			jumps++;
			one.gap_mean += (double)(touched - last_jump);
			last_jump = touched;
			last_value = value;
		}
	}
	if (reads)
		end_of_tooth(sum, &one, reads, jumps, flushes);
	return cpu;
}

static void record_teeth(struct probe *p, const struct saw *saw, const struct teeth *sum)
{
	double n = sum->measured;

	if (!sum->measured)
		return;
	record(p, saw->name, GAP_MEAN, sum->gap_mean / n);
	record(p, saw->name, STALE_MEAN, sum->stale_mean / n);
	record(p, saw->name, STALE_MAX, sum->stale_max);
	record(p, saw->name, CURRENT_MIN, sum->current_min);
	record(p, saw->name, CURRENT_MAX, sum->current_max);
	record(p, saw->name, FLUSHES_PER_READ, sum->flushes_per_read / n);
	if (sum->with_flushes)
		record(p, saw->name, PAIRS_PER_FLUSH, sum->pairs_per_flush / sum->with_flushes);
}

static void sawtooth(struct probe *p)
{
	for (size_t i = 0; i < p->o->series.nr; i++) {
		const struct saw *saw = p->o->series.items[i];
		struct teeth sum = { .current_min = INFINITY, .current_max = -INFINITY };

		p->target = memcg_find(p->w->host, saw->target);
		for (uint32_t k = 0; k < p->o->repeat; k++) {
			task_pin(p->t, 0);
			if (!settle(p))
				return;
			task_pin(p->t, saw_once(p, saw, &sum));
			anon_unmap(p->t, p->memory);
		}
		record_teeth(p, saw, &sum);
	}
}

/* ---- visible ---- */

static void visible(struct probe *p)
{
	const struct stat_probe *o = p->o;
	struct stat_read read;

	task_pin(p->t, 0);
	if (!touch(p, 0))
		return;
	wait_for_flush(p);
	task_sleep(p->t, o->phase);
	cpu_stat_read(p->t, p->parent);
	int64_t base = read_anon(p, &read);

	p->position = 1;
	if (!touch_fresh(p, o->step))
		return;
	sim_time_t begin = p->t->clock;

	while (read_anon(p, &read) < base + (int64_t)o->step) {
		if (p->t->clock - begin >= GIVE_UP)
			return;
		task_sleep(p->t, o->poll);
	}
	record(p, NULL, VISIBLE_AFTER, sim_nanoseconds(p->t->clock - begin));
}

/* ---- fanout ---- */

struct leaves {
	struct memcg **all;
	struct file_object **files;
	uint32_t nr;
};

static bool fill(struct probe *p, struct leaves *leaves)
{
	struct host *host = p->w->host;
	uint64_t pages = p->o->step * host->nr_cpus * FANOUT_SPARE;

	leaves->all = sim_alloc(host->sim, host->cgroups->nr * sizeof(struct memcg *));
	leaves->nr = memcg_match(host, p->o->of, leaves->all);
	leaves->files = sim_alloc(host->sim, leaves->nr * sizeof(struct file_object *));
	for (uint32_t i = 0; i < leaves->nr; i++) {
		leaves->files[i] = file_create(host, pages);
		for (uint64_t k = 0; k < pages; k++) {
			struct memcg *level;

			if (file_read(p->t, leaves->all[i], leaves->files[i], k, &level) == FILE_NOMEM) {
				workload_out_of_memory(p->w, level);
				return false;
			}
			p->w->ops++;
		}
	}
	return true;
}

static void read_target(struct probe *p, uint64_t *flushes, uint64_t *pairs)
{
	const struct flush_count *count = stat_flush_count(p->w->host);
	struct flush_count before = *count;
	struct stat_read read;

	if (p->o->file == CPU_STAT)
		cpu_stat_read(p->t, p->target);
	else
		memory_stat_read(p->t, p->target, &read);
	*flushes = count->flushes - before.flushes;
	*pairs = count->pairs - before.pairs;
}

static void fanout(struct probe *p)
{
	uint64_t step = p->o->step, flushes, pairs;
	struct leaves leaves;

	task_pin(p->t, 0);
	if (!fill(p, &leaves))
		return;
	p->parent = leaves.all[0]->parent;
	lru_add_drain_all(p->t);
	cpu_stat_read(p->t, p->parent);
	wait_for_flush(p);
	cpu_stat_read(p->t, p->parent);
	for (uint32_t cpu = 0; cpu < p->w->host->nr_cpus; cpu++) {
		task_pin(p->t, cpu);
		for (uint32_t i = 0; i < leaves.nr; i++)
			file_drop(p->t, leaves.files[i], cpu * step * FANOUT_SPARE, step);
	}
	task_pin(p->t, 0);
	read_target(p, &flushes, &pairs);
	record(p, NULL, FLUSH_CALLS, (double)flushes);
	record(p, NULL, PAIRS_FIRST, (double)pairs);
	read_target(p, &flushes, &pairs);
	record(p, NULL, PAIRS_SECOND, (double)pairs);
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
		.parent = w->memcg->parent ? w->memcg->parent : w->memcg,
		.memory = anon_create(w->host, w->memcg, o->memory + o->own_pages),
	};

	switch ((enum probe_mode)o->mode) {
	case SAWTOOTH:
		sawtooth(&p);
		break;
	case VISIBLE:
		visible(&p);
		break;
	case FANOUT:
		fanout(&p);
		break;
	}
	anon_unmap(t, p.memory);
}

static const struct workload_ops ops = { .check = check, .ends = ends, .run = run };

MODULE(stat_probe) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "stat_probe",
	.help = "touches and reads in lock step, and counts how stale each read is",
	.source = "ground-truth E5a, E5b, E5c",
	.options = &options,
	.ops = &ops,
};
