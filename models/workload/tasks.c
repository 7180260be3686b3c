/*
 * tasks.c - from `tasks:` to simulated tasks, and what they did as results.
 *
 * A task belongs to the cgroup whose `tasks:` it stands in, or for the top-level list to each cgroup that its
 * `cgroup:` names, else to the root. It inherits cpu.max and cpu.weight from there. What a task allocates
 * beyond its own memory object (page tables above the lowest, memory areas, open files) is charged as far as
 * its `kernel_memory` says so.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/cgroup/life.h"
#include "models/cgroup/options.h"
#include "models/cgroup/stock.h"
#include "models/stat/stat.h"
#include "models/workload/registry.h"
#include "sim/module.h"

/* Some 10 KB each, before they have done anything. */
#define MOST_TASKS 1000000

static const struct option task_rows[] = {
	OPTION(struct task_options, workload, OPT_MODULE, .kind = MODULE_WORKLOAD, .required = true,
	       .help = "what it does; its own options stand beside"),
	OPTION(struct task_options, count, OPT_U32, .fallback = "1", .max = "1M",
	       .help = "tasks of this kind"),
	OPTION(struct task_options, name, OPT_STRING,
	       .help = "name in results; that of the workload if none"),
	OPTION(struct task_options, cpu, OPT_NUMBER, .fallback = "-1", .min = "-1",
	       .help = "CPU that it stays on; -1: wherever the scheduler puts it"),
	OPTION(struct task_options, weight, OPT_U32, .fallback = "0", .max = "10K",
	       .help = "as cpu.weight, of this task alone; 0: that of its cgroup"),
	OPTION(struct task_options, start, OPT_DIST_DURATION, .fallback = "0s",
	       .help = "when it begins; a distribution staggers many"),
	OPTION(struct task_options, start_every, OPT_DURATION, .fallback = "0s", .max = "1d",
	       .help = "and so much later for each of its kind before it, cgroup by cgroup: as a shell "
		       "starts them"),
	OPTION(struct task_options, kernel_memory, OPT_BYTES, .fallback = "0", .max = "1TiB",
	       .help = "that it has from its beginning to its end besides what is modelled: upper page "
		       "tables, memory areas, open files; charged to its cgroup"),
	OPTION(struct task_options, oom_score_adj, OPT_NUMBER, .fallback = "0", .min = "-1000", .max = "1000",
	       .help = "thousandths of what the limit and swap allow that the OOM killer adds to what the "
		       "task has; -1000: it is never killed",
	       .source = "/proc/PID/oom_score_adj"),
	OPTION(struct task_options, cgroup, OPT_STRING,
	       .help = "top level only: cgroup that it runs in, by path or pattern; the root if none"),
};
const struct option_table task_options_table = OPTION_TABLE("task", struct task_options, task_rows);

MODULE(tasks_section) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_SECTION,
	.name = "tasks",
	.help = "tasks in the root cgroup, or in cgroups that each names",
	.options = &task_options_table,
	.order = 200,
	.list = true,
};

enum { OPS, RATE, OOM, READS, MISSES, NOSPC };

static const struct metric metrics[] = {
	[OPS] = { "task.ops", "1", METRIC_COUNTER, "work done, in the workload's own unit (pages, reads)" },
	[RATE] = { "task.rate", "1/s", METRIC_RATE,
		   "work done per second, from when the first of the tasks began until the last ended" },
	[READS] = { "task.file_reads", "1", METRIC_COUNTER, "pages of files that were accessed" },
	[MISSES] = { "task.file_misses", "1", METRIC_COUNTER,
		     "pages of files that were accessed, and read from the device for it" },
	[OOM] = { "task.oom", "1", METRIC_COUNTER, "tasks that ended for want of memory" },
	[NOSPC] = { "task.enospc", "1", METRIC_COUNTER,
		    "tasks that ended for want of room on the disk of their file" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(task_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "task",
	.help = "work done by workloads",
	.ops = &table,
};

static const struct workload_ops *ops_of(const struct task_options *o)
{
	return o->workload.module->ops;
}

struct workload_task *workload_of(const struct task *t)
{
	/* Kernel workers have no owner; every task of a workload has. */
	return t->owner;
}

struct workload_task *workload_tasks(const struct host *host, uint32_t *nr)
{
	*nr = host->workloads->nr;
	return host->workloads->tasks;
}

void workload_out_of_memory(struct workload_task *w, struct memcg *level)
{
	w->failed = true;
	w->oom = level;
}

void workload_no_space(struct workload_task *w)
{
	w->no_space = true;
}

/* ---- checks ---- */

struct check {
	const struct scenario *scenario;
	struct complaints *complaints;
	uint64_t tasks; /* so far */
};

/* `places`: the cgroups that the item is for. */
static void check_count(struct check *check, const struct task_options *o, uint64_t places)
{
	struct where at = option_where(o, "count");
	uint64_t before = check->tasks;

	check->tasks += places * o->count;
	if (before <= MOST_TASKS && check->tasks > MOST_TASKS)
		complain(check->complaints, at.line ? at : option_where(o, "workload"),
			 "count: more than %d tasks in all", MOST_TASKS);
}

/* `times`: the cgroups whose list this is; 0 for the list on top. */
static void check_list(struct check *check, const struct option_list *list, uint64_t times)
{
	const struct scenario *s = check->scenario;
	struct complaints *c = check->complaints;
	uint32_t cpus = scenario_machine(s)->cpus;

	for (size_t i = 0; i < list->nr; i++) {
		const struct task_options *o = list->items[i];

		if (o->cpu != floor(o->cpu) || o->cpu >= cpus)
			complain(c, option_where(o, "cpu"), "cpu: the host has CPUs 0 to %u", cpus - 1);
		if (o->cgroup && times)
			complain(c, option_where(o, "cgroup"),
				 "cgroup: a task in a cgroup's list belongs there");
		else if (o->cgroup)
			cgroup_check_pattern(s, o->cgroup, o, "cgroup", c);
		if (o->workload.module && ops_of(o)->check)
			ops_of(o)->check(s, o, o->workload.options, c);
		check_count(check, o, times ? times : cgroup_options_match(s, o->cgroup ? o->cgroup : "/"));
	}
}

static void check_cgroups(struct check *check, const struct option_list *list, uint64_t times)
{
	for (size_t i = 0; i < list->nr; i++) {
		const struct cgroup_options *o = list->items[i];
		const char *const *names;
		uint64_t here = times * scenario_expand_name(check->scenario, o->name, &names);

		check_list(check, &o->tasks, here);
		check_cgroups(check, &o->children, here);
	}
}

void workload_check(const struct scenario *s, struct complaints *c)
{
	struct check check = { .scenario = s, .complaints = c };

	check_list(&check, scenario_section(s, "tasks"), 0);
	check_cgroups(&check, scenario_section(s, "cgroups"), 1);
}

/* ---- building ---- */

/* Whole pages, and an object of a slab for the rest. */
static bool take_kernel_memory(struct task *t, struct workload_task *w, uint32_t node)
{
	uint32_t pages = (uint32_t)(w->options->kernel_memory / PAGE_SIZE);
	uint32_t bytes = (uint32_t)(w->options->kernel_memory % PAGE_SIZE);
	struct memcg *level;

	task_sync(t);
	if (pages && !kmem_charge_pages(t, w->memcg, pages, &level)) {
		workload_out_of_memory(w, level);
		return false;
	}
	task_sync(t);
	if (!bytes || object_charge(t, w->memcg, node, NR_SLAB_UNRECLAIMABLE_B, bytes, &level))
		return true;
	if (pages)
		kmem_uncharge_pages(t, w->memcg->objcg->id, pages);
	workload_out_of_memory(w, level);
	return false;
}

static void give_kernel_memory(struct task *t, const struct workload_task *w, uint32_t objcg, uint32_t node)
{
	uint32_t pages = (uint32_t)(w->options->kernel_memory / PAGE_SIZE);
	uint32_t bytes = (uint32_t)(w->options->kernel_memory % PAGE_SIZE);

	task_sync(t);
	if (bytes)
		object_uncharge(t, objcg, node, NR_SLAB_UNRECLAIMABLE_B, bytes);
	if (pages)
		kmem_uncharge_pages(t, objcg, pages);
}

static void task_main(struct task *t, void *arg)
{
	struct workload_task *w = arg;

	w->began = t->clock;
	if (!w->options->kernel_memory) {
		ops_of(w->options)->run(t, w);
		return;
	}
	uint32_t objcg = w->memcg->objcg->id, node = t->cpu->node;

	if (take_kernel_memory(t, w, node)) {
		ops_of(w->options)->run(t, w);
		give_kernel_memory(t, w, objcg, node);
	}
}

static bool task_ends(const struct task_options *o)
{
	return ops_of(o)->ends && ops_of(o)->ends(o->workload.options);
}

static void task_exit(struct task *t)
{
	struct workload_task *w = t->owner;

	w->ended = sim_now(t->sim);
	cgroup_exit(t, &w->task);
	if (task_ends(w->options))
		run_release(w->host->run);
}

/* How many tasks of its item come before the one to be added. */
static uint32_t ordinal_of(const struct workload_state *state, const struct task_options *o)
{
	if (o->start_every)
		for (uint32_t i = state->nr; i--;)
			if (state->tasks[i].options == o)
				return state->tasks[i].ordinal + 1;
	return 0;
}

static const char *task_name(struct host *host, const struct workload_task *w)
{
	char text[1024];

	snprintf(text, sizeof text, "%s:%s/%u", w->memcg->path, w->label, w->index);
	return arena_strdup(sim_arena(host->sim), text);
}

static void add_task(struct host *host, struct memcg *m, const struct task_options *o, uint32_t index)
{
	struct workload_task *w = &host->workloads->tasks[host->workloads->nr];

	w->ordinal = ordinal_of(host->workloads, o);
	w->began = w->ended = SIM_NEVER;
	host->workloads->nr++;
	w->host = host;
	w->options = o;
	w->own = o->workload.options;
	w->memcg = m;
	w->label = o->name ? o->name : o->workload.module->name;
	w->index = index;
	w->count = o->count;
	w->name = task_name(host, w);
}

/* Calls add_task() for each task of the scenario, or only counts them. */
static uint32_t each_task(struct host *host, bool add)
{
	const struct option_list *top = scenario_section(host->scenario, "tasks");
	struct memcg **at = sim_alloc(host->sim, host->cgroups->nr * sizeof(*at));
	uint32_t nr = 0;

	for (size_t i = 0; i < top->nr; i++) {
		const struct task_options *o = top->items[i];
		uint32_t places = memcg_match(host, o->cgroup ? o->cgroup : "/", at);

		for (uint32_t k = 0; k < places; k++)
			for (uint32_t n = 0; n < o->count; n++, nr++)
				if (add)
					add_task(host, at[k], o, n);
	}
	for (uint32_t k = 1; k < host->cgroups->nr; k++) {
		struct memcg *m = host->cgroups->all[k];

		for (size_t i = 0; i < m->options->tasks.nr; i++) {
			const struct task_options *o = m->options->tasks.items[i];

			for (uint32_t n = 0; n < o->count; n++, nr++)
				if (add)
					add_task(host, m, o, n);
		}
	}
	sim_free(host->sim, at, host->cgroups->nr * sizeof(*at));
	return nr;
}

static void spawn(struct workload_task *w)
{
	const struct task_options *o = w->options;
	struct stream stream;
	double start;

	stream_init(&stream, sim_seed(w->host->sim), w->name, "start");
	start = dist_draw(&o->start, &stream) + (double)w->ordinal * (double)o->start_every;
	if (task_ends(o))
		run_hold(w->host->run);
	w->task.oom_score_adj = (int32_t)o->oom_score_adj;
	cgroup_task_attach(&w->task, w->memcg);
	w->task.task = task_spawn(w->host->sim,
				  &(struct task_attr){
					  .name = w->name,
					  .run = task_main,
					  .arg = w,
					  .owner = w,
					  .on_exit = task_exit,
					  .weight = o->weight ? cgroup_weight(o->weight) : w->memcg->weight,
					  .cpu = (int32_t)o->cpu,
					  .bandwidth = w->memcg->bandwidth,
					  .start = (sim_time_t)fmin(start, DIST_LARGEST),
				  });
}

void workload_build(struct host *host)
{
	struct workload_state *state = sim_alloc(host->sim, sizeof *state);
	uint32_t nr = each_task(host, false);

	host->workloads = state;
	state->tasks = arena_array(sim_arena(host->sim), nr ? nr : 1, sizeof *state->tasks);
	each_task(host, true);
	for (uint32_t i = 0; i < nr; i++)
		if (ops_of(state->tasks[i].options)->prepare)
			ops_of(state->tasks[i].options)->prepare(&state->tasks[i]);
	for (uint32_t i = 0; i < nr; i++)
		spawn(&state->tasks[i]);
}

bool workload_leave_for(struct task *t, struct workload_task *w, struct memcg *m)
{
	task_sync(t);
	w->memcg->nr_away++;
	return cgroup_move(t, &w->task, m) == CGROUP_OK;
}

void workload_come_home(struct task *t, struct workload_task *w)
{
	cgroup_move(t, &w->task, w->memcg);
	task_sync(t);
	w->memcg->nr_away--;
}

/* ---- results ---- */

bool workload_shares(const struct workload_task *a, const struct workload_task *b)
{
	return workload_is(a, b->options->workload.module) && !strcmp(a->label, b->label);
}

bool workload_leads(const struct workload_task *tasks, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (workload_shares(&tasks[k], &tasks[i]))
			return false;
	return true;
}

/* The workloads that have tasks, each once. */
static void each_workload(struct host *host, void (*call)(const struct module *m, struct host *host))
{
	const struct workload_state *state = host->workloads;
	size_t nr;
	const struct module *const *modules = modules_of(MODULE_WORKLOAD, &nr);

	for (size_t i = 0; i < nr; i++)
		for (uint32_t k = 0; k < state->nr; k++)
			if (state->tasks[k].options->workload.module == modules[i]) {
				call(modules[i], host);
				break;
			}
}

static void call_measure(const struct module *m, struct host *host)
{
	const struct workload_ops *ops = m->ops;

	if (ops->measure)
		ops->measure(host, m);
}

static void call_finish(const struct module *m, struct host *host)
{
	const struct workload_ops *ops = m->ops;

	if (ops->finish)
		ops->finish(host, m);
}

static void set_before(struct workload_task *w)
{
	w->ops_before = w->ops;
	w->reads_before = w->reads;
	w->misses_before = w->misses;
}

void workload_measure(struct host *host)
{
	struct workload_state *state = host->workloads;

	state->measured_from = sim_now(host->sim);
	for (uint32_t i = 0; i < state->nr; i++)
		set_before(&state->tasks[i]);
	each_workload(host, call_measure);
}

struct work_done {
	uint64_t ops, failed, no_space, reads, misses;
	sim_time_t from, to; /* `to` 0: there was no task */
};

/* Of all that has been added up. */
static double seconds_of(const struct work_done *done)
{
	return done->to > done->from ? sim_seconds(done->to - done->from) : 0;
}

static void record_work(struct host *host, const char *entity, const struct work_done *done)
{
	double seconds = seconds_of(done);

	record_summary(host->run->record, &metrics[OPS], entity, (double)done->ops);
	if (seconds > 0)
		record_summary(host->run->record, &metrics[RATE], entity, (double)done->ops / seconds);
	if (done->reads) {
		record_summary(host->run->record, &metrics[READS], entity, (double)done->reads);
		record_summary(host->run->record, &metrics[MISSES], entity, (double)done->misses);
	}
	if (done->failed)
		record_summary(host->run->record, &metrics[OOM], entity, (double)done->failed);
	if (done->no_space)
		record_summary(host->run->record, &metrics[NOSPC], entity, (double)done->no_space);
}

static void add_work(struct work_done *done, const struct workload_task *w)
{
	sim_time_t now = sim_now(w->host->sim), measured_from = w->host->workloads->measured_from;
	sim_time_t from = w->began > measured_from ? w->began : measured_from;
	sim_time_t to = w->ended < now ? w->ended : now;

	if (from < to) {
		done->from = done->to && done->from < from ? done->from : from;
		done->to = done->to > to ? done->to : to;
	}
	done->ops += w->ops - w->ops_before;
	done->failed += w->failed;
	done->no_space += w->no_space;
	done->reads += w->reads - w->reads_before;
	done->misses += w->misses - w->misses_before;
}

/* By name in results: the sum over all tasks that share it. */
static void record_labels(struct host *host)
{
	const struct workload_state *state = host->workloads;
	const char *done_label = NULL;

	for (uint32_t i = 0; i < state->nr; i++) {
		const char *label = state->tasks[i].label;
		struct work_done done = { 0 };
		bool first = true;

		if (done_label && !strcmp(done_label, label))
			continue; /* neighbours mostly share it */
		for (uint32_t k = 0; k < i && first; k++)
			first = strcmp(state->tasks[k].label, label) != 0;
		done_label = label;
		if (!first)
			continue;
		for (uint32_t k = i; k < state->nr; k++)
			if (!strcmp(state->tasks[k].label, label))
				add_work(&done, &state->tasks[k]);
		record_work(host, label, &done);
	}
}

static void record_cgroups(struct host *host)
{
	const struct workload_state *state = host->workloads;
	struct work_done *done = sim_alloc(host->sim, host->cgroups->nr * sizeof *done);
	bool *has = sim_alloc(host->sim, host->cgroups->nr * sizeof *has);

	for (uint32_t i = 0; i < state->nr; i++) {
		add_work(&done[state->tasks[i].memcg->id], &state->tasks[i]);
		has[state->tasks[i].memcg->id] = true;
	}
	for (uint32_t i = 0; i < host->cgroups->nr; i++)
		if (has[i] && host->cgroups->all[i])
			record_work(host, host->cgroups->all[i]->path, &done[i]);
}

void workload_finish(struct host *host)
{
	record_labels(host);
	record_cgroups(host);
	each_workload(host, call_finish);
}
