/*
 * memhog.c - a task that takes memory, waits, takes more, and holds it.
 *
 * Before anything else it may open a file and read it a few times. Several hogs in one cgroup show whom the
 * OOM killer takes (E13 of the counts from real kernels); many at once make the swap-out load of seed 2. What
 * happened from `grow_at` on, in the cgroup and in its parent, is recorded as NAME/all and NAME/parent/all.
 */
#include <stdio.h>

#include "models/host/costs.h"
#include "models/workload/passes.h"
#include "sim/module.h"
#include "sim/results/record.h"

struct memhog {
	uint64_t pages, grow, file_pages, file_blocks;
	uint32_t repeat, file_passes;
	const char *file;
	sim_time_t grow_at;
	sim_time_t hold, work;
};

static const struct option rows[] = {
	OPTION(struct memhog, pages, OPT_U64, .fallback = "0", .max = "1G", .help = "taken at once"),
	OPTION(struct memhog, repeat, OPT_U32, .fallback = "1", .min = "1",
	       .help = "how often they are written to in order (-r)"),
	OPTION(struct memhog, grow, OPT_U64, .fallback = "0", .max = "1G", .help = "pages taken later"),
	OPTION(struct memhog, grow_at, OPT_DURATION, .fallback = "0s",
	       .help = "simulated time at which it takes more, at the earliest"),
	OPTION(struct memhog, hold, OPT_DURATION, .never = "ever", .fallback = "0s",
	       .help = "how long it keeps all before it ends; ever: nobody waits for its end"),
	OPTION(struct memhog, file, OPT_STRING, .help = "file that it reads first; the cgroup's own if none"),
	OPTION(struct memhog, file_pages, OPT_U64, .fallback = "0", .max = "1G", .help = "pages of it"),
	OPTION(struct memhog, file_blocks, OPT_U64, .fallback = "0", .max = "1M",
	       .help = "blocks of the disk that opening it reads first; the last 16 stay in use"),
	OPTION(struct memhog, file_passes, OPT_U32, .fallback = "1", .help = "how often they are read"),
	OPTION(struct memhog, work, OPT_DURATION, .fallback = "0s",
	       .help = "time in user mode for each page"),
};
static const struct option_table options = OPTION_TABLE("memhog", struct memhog, rows);

enum { POSITION, DEAD };

static const struct metric metrics[] = {
	[POSITION] = { "memhog.position", "pages", METRIC_COUNTER, "pages that it could take" },
	[DEAD] = { "memhog.dead", "1", METRIC_COUNTER, "tasks that did not live to their end" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(memhog_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "memhog",
	.help = "how far tasks got that take memory",
	.ops = &table,
};

static const struct module module_memhog;
static const struct passes_options one_pass = { .late = 1 };

struct hog {
	struct passes own, parent; /* from grow_at on */
	uint64_t position;
	bool began, done;
};

static bool ends(const void *own)
{
	return ((const struct memhog *)own)->hold != SIM_NEVER;
}

static void prepare(struct workload_task *w)
{
	const struct memhog *o = w->own;

	w->state = sim_alloc(w->host->sim, sizeof(struct hog));
	if (o->file_pages)
		workload_file_declare(w, o->file, o->file_pages);
}

static bool read_file(struct task *t, struct workload_task *w)
{
	const struct memhog *o = w->own;
	struct file_object *file = o->file_pages ? workload_file(w->host, w->memcg, o->file) : NULL;
	uint64_t position = NO_INDEX;

	for (uint64_t i = 0; i < o->file_passes * o->file_pages; i++) {
		struct memcg *level;

		cpu_work(t, w->host->costs->syscall);
		if (file_read_open(t, w->memcg, file, i % o->file_pages, &position, &level) == FILE_NOMEM) {
			workload_out_of_memory(w, level);
			return false;
		}
		workload_return(t, w);
	}
	return true;
}

static bool take(struct task *t, struct workload_task *w, struct anon_object *memory, uint64_t from,
		 uint64_t upto)
{
	const struct memhog *o = w->own;
	struct hog *hog = w->state;
	struct memcg *level;

	for (uint64_t i = from; i < upto; i++) {
		if (!anon_touch(t, memory, i, &level)) {
			workload_out_of_memory(w, level);
			return false;
		}
		workload_return(t, w);
		if (hog->position == i)
			hog->position++;
		w->ops++;
		if (o->work)
			user_work(t, o->work);
	}
	return true;
}

static void begin_growth(struct task *t, struct workload_task *w)
{
	struct hog *hog = w->state;
	struct memcg *parent = w->memcg->parent ? w->memcg->parent : w->memcg;
	const char *name = pass_entity(w->host, w->label, "parent");

	passes_begin(t, &hog->own, w->memcg, w->label, &one_pass);
	passes_begin(t, &hog->parent, parent, name, &one_pass);
	hog->began = true;
}

/* False if it is killed meanwhile. */
static bool hold(struct task *t, sim_time_t how_long)
{
	sim_time_t until = how_long == SIM_NEVER ? SIM_NEVER : t->clock + how_long;

	while (!task_killed(t) && (until == SIM_NEVER || t->clock < until)) {
		if (until == SIM_NEVER)
			task_block(t);
		else
			task_block_until(t, until);
		task_sync(t);
	}
	return !task_killed(t);
}

static bool grow(struct task *t, struct workload_task *w, struct anon_object *memory)
{
	const struct memhog *o = w->own;

	if (t->clock < o->grow_at && !hold(t, o->grow_at - t->clock))
		return false;
	begin_growth(t, w);
	return take(t, w, memory, o->pages, o->pages + o->grow);
}

static void run(struct task *t, struct workload_task *w)
{
	const struct memhog *o = w->own;
	struct hog *hog = w->state;
	struct anon_object *memory;
	bool alive = true;

	if (!workload_read_blocks(t, w, ((const struct memhog *)w->own)->file_blocks) || !read_file(t, w))
		return;
	memory = anon_create(w->host, w->memcg, o->pages + o->grow + 1);
	for (uint32_t i = 0; alive && i < o->repeat; i++)
		alive = take(t, w, memory, 0, o->pages);
	if (alive && grow(t, w, memory)) {
		hog->done = true; /* a run may end before it does */
		hog->done = hold(t, o->hold);
	}
	anon_unmap(t, memory);
}

/* Of several tasks of one name each has a row, by its number. */
static void finish(struct host *host, const struct module *self)
{
	uint32_t nr;
	const struct workload_task *tasks = workload_tasks(host, &nr);

	for (uint32_t i = 0; i < nr; i++) {
		struct hog *hog = tasks[i].state;
		char number[16];

		if (!workload_is(&tasks[i], self))
			continue;
		snprintf(number, sizeof number, "%u", tasks[i].index);
		const char *name = pass_entity(host, tasks[i].label, tasks[i].count > 1 ? number : NULL);

		record_summary(host->run->record, &metrics[POSITION], name, (double)hog->position);
		record_summary(host->run->record, &metrics[DEAD], name, !hog->done);
		if (hog->began) {
			passes_truth(&hog->own, hog->position, 0);
			passes_truth(&hog->parent, hog->position, 0);
		}
	}
}

static const struct workload_ops ops = { .ends = ends, .prepare = prepare, .run = run, .finish = finish };

MODULE(memhog) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "memhog",
	.help = "takes memory, waits, takes more, holds it; task.ops counts pages",
	.source = "memhog(8) of numactl; E13 of the counts from real kernels",
	.options = &options,
	.ops = &ops,
};
