/*
 * stat_reader.c - a task that reads the statistics files of cgroups, over and over.
 *
 * The reader of seed 5 is a shell loop, `while true; do cat memory.stat; sleep 1; done`: the pause begins
 * when the read is over (`drift: true`). A monitoring agent keeps a fixed schedule (`drift: false`) and reads
 * many files in a row. So the targets are shared out: task i of `count` reads target i, i + count, and so on
 * in each round. With as many tasks as targets each has its own; with more, task i reads target i modulo
 * their number. Each read of a shell loop starts a process first (`fork`).
 *
 * What a file takes while it is open is charged to the reader's own cgroup (stat_file.c): a reader inside a
 * group updates the statistics of that group.
 */
#include <math.h>
#include <string.h>

#include "models/cgroup/options.h"
#include "models/host/costs.h"
#include "models/stat/stat.h"
#include "models/workload/stat_file.h"
#include "models/workload/workload.h"
#include "sim/module.h"

enum which_file { MEMORY_STAT, CPU_STAT };
enum phase { PHASE_ALIGNED, PHASE_STAGGERED, PHASE_RANDOM };

struct stat_reader {
	int file, phase;
	struct option_list target; /* patterns */
	struct dist interval;
	sim_time_t fork;
	bool drift;
	uint64_t reads;
};

static const struct enum_name file_names[] = {
	{ "memory.stat", MEMORY_STAT, "flushed by policy" },
	{ "cpu.stat", CPU_STAT, "flushed exactly, up to 6.15" },
	{ NULL, 0, NULL },
};
static const struct enum_name phase_names[] = {
	{ "aligned", PHASE_ALIGNED, "all readers begin at once" },
	{ "staggered", PHASE_STAGGERED, "evenly spread over the interval" },
	{ "random", PHASE_RANDOM, "each at a random point of the interval" },
	{ NULL, 0, NULL },
};

static const struct option rows[] = {
	OPTION(struct stat_reader, file, OPT_ENUM, .fallback = "memory.stat", .names = file_names,
	       .help = "file that it reads"),
	OPTION(struct stat_reader, target, OPT_STRINGS, .required = true,
	       .help = "paths or patterns of the cgroups read, shared out among the tasks; `.`: its own"),
	OPTION(struct stat_reader, interval, OPT_DIST_DURATION, .fallback = "1s",
	       .help = "between rounds of reads"),
	OPTION(struct stat_reader, phase, OPT_ENUM, .fallback = "aligned", .names = phase_names,
	       .help = "when the readers begin, relative to each other"),
	OPTION(struct stat_reader, fork, OPT_DURATION, .fallback = "0s",
	       .help = "CPU time of the command that reads, before each read: fork, exec, libraries"),
	OPTION(struct stat_reader, drift, OPT_BOOL, .fallback = "true",
	       .help = "the interval begins when a round is over, not when it began"),
	OPTION(struct stat_reader, reads, OPT_U64, .fallback = "0", .help = "rounds of reads; 0: for ever"),
};
static const struct option_table options = OPTION_TABLE("stat_reader", struct stat_reader, rows);

static bool is_own(const char *target)
{
	return !strcmp(target, ".");
}

static void check(const struct scenario *s, const struct task_options *task, const void *own,
		  struct complaints *c)
{
	const struct stat_reader *o = own;

	(void)task;
	for (size_t i = 0; i < o->target.nr; i++)
		if (!is_own(o->target.items[i]))
			cgroup_check_pattern(s, o->target.items[i], own, "target", c);
}

static bool ends(const void *own)
{
	return ((const struct stat_reader *)own)->reads > 0;
}

struct targets {
	struct memcg **all;
	uint32_t nr;
};

/* What all patterns match, in order. */
static struct targets all_targets(struct workload_task *w)
{
	const struct stat_reader *o = w->own;
	struct targets t = { 0 };

	t.all = sim_alloc(w->host->sim, w->host->cgroups->nr * o->target.nr * sizeof(struct memcg *));
	for (size_t i = 0; i < o->target.nr; i++)
		if (is_own(o->target.items[i]))
			t.all[t.nr++] = w->memcg;
		else
			t.nr += memcg_match(w->host, o->target.items[i], t.all + t.nr);
	return t;
}

/* The task's share of them. */
static struct targets targets_of(struct workload_task *w)
{
	const struct stat_reader *o = w->own;
	struct targets all = all_targets(w), share = { 0 };
	uint32_t first = all.nr ? w->index % all.nr : 0;

	share.all = sim_alloc(w->host->sim, (all.nr / w->count + 1) * sizeof(struct memcg *));
	for (uint32_t k = first; k < all.nr; k += w->count)
		share.all[share.nr++] = all.all[k];
	sim_free(w->host->sim, all.all, w->host->cgroups->nr * o->target.nr * sizeof(struct memcg *));
	return share;
}

static void read_one(struct task *t, struct workload_task *w, struct memcg *target)
{
	const struct stat_reader *o = w->own;
	struct stat_file file;
	struct stat_read read;

	if (o->fork)
		user_work(t, o->fork);
	if (!stat_file_open(t, w->memcg, &file))
		return; /* there is no room for it within the limit */
	if (o->file == MEMORY_STAT)
		memory_stat_read(t, target, &read);
	else
		cpu_stat_read(t, target);
	stat_file_close(t, &file);
	w->ops++;
}

static void sleep_to_phase(struct task *t, const struct workload_task *w, struct stream *draws)
{
	const struct stat_reader *o = w->own;
	double interval = dist_mean(&o->interval), part = 0;

	if (o->phase == PHASE_STAGGERED)
		part = (double)w->index / w->count;
	else if (o->phase == PHASE_RANDOM)
		part = stream_uniform(draws);
	if (part > 0)
		task_sleep(t, (sim_time_t)fmin(interval * part, DIST_LARGEST));
}

static void run(struct task *t, struct workload_task *w)
{
	const struct stat_reader *o = w->own;
	struct targets targets = targets_of(w);
	struct stream phase, intervals;

	stream_init(&phase, sim_seed(t->sim), w->name, "phase");
	stream_init(&intervals, sim_seed(t->sim), w->name, "interval");
	sleep_to_phase(t, w, &phase);
	for (uint64_t round = 0; targets.nr && (!o->reads || round < o->reads); round++) {
		sim_time_t begin = t->clock;

		for (uint32_t i = 0; i < targets.nr; i++)
			read_one(t, w, targets.all[i]);
		task_sync(t);
		sim_time_t pause = (sim_time_t)dist_draw(&o->interval, &intervals);
		sim_time_t until = (o->drift ? t->clock : begin) + pause;

		if (until > t->clock)
			task_sleep(t, until - t->clock);
		else
			cond_resched(t); /* behind its schedule: no pause at all */
	}
}

static const struct workload_ops ops = { .check = check, .ends = ends, .run = run };

MODULE(stat_reader) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "stat_reader",
	.help = "reads memory.stat or cpu.stat of cgroups at intervals; task.ops counts reads",
	.source = "the readers of seed 5",
	.options = &options,
	.ops = &ops,
};
