/*
 * stats_stream.c - a container engine that streams statistics: a thread a container, each of which opens and
 * reads a number of files of several controllers in every period.
 *
 * Each open looks up the components of its path under one lock of the whole file system: a mutex before Linux
 * 5.15 (kernfs_mutex), a rw_semaphore taken for reading since (7ba0273b2f34). With all threads in phase they
 * queue for it. One of the files is memory.stat, whose flush comes on top; `referenced` instead of it is the
 * count of referenced bytes, for which every page of the container is looked at.
 */
#include "models/cgroup/options.h"
#include "models/host/costs.h"
#include "models/stat/stat.h"
#include "models/workload/workload.h"
#include "sim/hw/lock.h"
#include "sim/module.h"
#include "sim/results/record.h"
#include "sim/stats/histogram.h"

enum { KERNFS_MUTEX, KERNFS_RWSEM };
enum { STREAM_ALIGNED, STREAM_STAGGERED };

struct stats_stream {
	struct option_list target;
	int kernfs, phase;
	uint32_t files, components;
	sim_time_t interval, lookup, read, decode, per_page;
};

static const struct enum_name locks[] = {
	{ "mutex", KERNFS_MUTEX, "one lookup at a time, before Linux 5.15" },
	{ "rwsem", KERNFS_RWSEM, "many at a time" },
	{ NULL, 0, NULL },
};
static const struct enum_name phases[] = {
	{ "aligned", STREAM_ALIGNED, "all threads at once" },
	{ "staggered", STREAM_STAGGERED, "evenly spread over the interval" },
	{ NULL, 0, NULL },
};

static const struct option rows[] = {
	OPTION(struct stats_stream, target, OPT_STRINGS, .required = true,
	       .help = "cgroups of the containers; thread i of `count` has the i-th"),
	OPTION(struct stats_stream, kernfs, OPT_ENUM, .names = locks, .fallback = "rwsem",
	       .help = "lock of a path lookup"),
	OPTION(struct stats_stream, phase, OPT_ENUM, .names = phases, .fallback = "aligned",
	       .help = "when threads begin, relative to each other"),
	OPTION(struct stats_stream, interval, OPT_DURATION, .fallback = "1s", .min = "1ms",
	       .help = "between two rounds of a thread"),
	OPTION(struct stats_stream, files, OPT_U32, .fallback = "16", .min = "1", .max = "10K",
	       .help = "files of a round, memory.stat among them"),
	OPTION(struct stats_stream, components, OPT_U32, .fallback = "5", .min = "1", .max = "64",
	       .help = "of a file's path"),
	OPTION(struct stats_stream, lookup, OPT_DURATION, .fallback = "1us",
	       .help = "under the lock, for each component",
	       .source = "estimate: kernfs_dop_revalidate() and kernfs_iop_permission()"),
	OPTION(struct stats_stream, read, OPT_DURATION, .fallback = "10us",
	       .help = "in the kernel for each file, beside that", .source = "estimate: as read_format"),
	OPTION(struct stats_stream, decode, OPT_DURATION, .fallback = "100us",
	       .help = "in user mode for each file"),
	OPTION(struct stats_stream, per_page, OPT_DURATION, .fallback = "0s",
	       .help = "for each page of anonymous memory of the container: referenced bytes",
	       .source = "4.8 s for 1 TiB are 18 ns"),
};
static const struct option_table options = OPTION_TABLE("stats_stream", struct stats_stream, rows);

enum { LATENCY };

static const struct metric metrics[] = {
	[LATENCY] = { "stats_stream.latency", "ns", METRIC_DISTRIBUTION, "of a round of a thread" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(stats_stream_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "stats_stream",
	.help = "rounds of reading that stream statistics",
	.ops = &table,
};

/* Of all threads: the first to be prepared makes it. */
struct engine {
	struct mutex mutex;
	struct rwsem rwsem;
	struct histogram *latency;
};

static void check(const struct scenario *s, const struct task_options *task, const void *own,
		  struct complaints *c)
{
	const struct stats_stream *o = own;

	(void)task;
	for (size_t i = 0; i < o->target.nr; i++)
		cgroup_check_pattern(s, o->target.items[i], own, "target", c);
}

static const struct module module_stats_stream;

static void prepare(struct workload_task *w)
{
	uint32_t nr;
	const struct workload_task *tasks = workload_tasks(w->host, &nr);
	struct engine *e;

	for (uint32_t i = 0; i < nr && !w->state; i++)
		if (workload_is(&tasks[i], &module_stats_stream))
			w->state = tasks[i].state;
	if (w->state)
		return;
	e = w->state = sim_alloc(w->host->sim, sizeof *e);
	mutex_init(&e->mutex, lock_class(w->host->sim, "kernfs_mutex"));
	rwsem_init(&e->rwsem, lock_class(w->host->sim, "kernfs_rwsem"));
	e->latency = histogram_create(sim_arena(w->host->sim));
}

static void look_up(struct task *t, struct engine *e, const struct stats_stream *o)
{
	for (uint32_t i = 0; i < o->components; i++)
		if (o->kernfs == KERNFS_MUTEX) {
			mutex_lock(t, &e->mutex);
			cpu_work(t, o->lookup);
			mutex_unlock(t, &e->mutex);
		} else {
			down_read(t, &e->rwsem);
			cpu_work(t, o->lookup);
			up_read(t, &e->rwsem);
		}
}

/* The pages of the container one by one, giving way after each table of them. */
static void count_referenced(struct task *t, const struct memcg *m, sim_time_t per_page)
{
	int64_t left = stat_truth(m, NR_ANON_MAPPED);

	for (; left > 0; left -= 512) {
		cpu_work(t, (sim_time_t)(left < 512 ? left : 512) * per_page);
		cond_resched(t);
	}
}

static void one_round(struct task *t, struct workload_task *w, struct memcg *m)
{
	const struct stats_stream *o = w->own;
	struct engine *e = w->state;
	struct stat_read read;

	for (uint32_t i = 0; i < o->files; i++) {
		cpu_work(t, w->host->costs->syscall);
		look_up(t, e, o);
		if (!i)
			memory_stat_read(t, m, &read);
		else
			cpu_work(t, o->read);
		user_work(t, o->decode);
	}
	if (o->per_page)
		count_referenced(t, m, o->per_page);
	w->ops++;
}

static struct memcg *container(struct workload_task *w)
{
	const struct stats_stream *o = w->own;
	uint32_t most = w->host->cgroups->nr, nr = 0;
	struct memcg **all = sim_alloc(w->host->sim, most * o->target.nr * sizeof(struct memcg *)), *m;

	for (size_t i = 0; i < o->target.nr; i++)
		nr += memcg_match(w->host, o->target.items[i], all + nr);
	m = all[w->index % nr];
	sim_free(w->host->sim, all, most * o->target.nr * sizeof(struct memcg *));
	return m;
}

static void run(struct task *t, struct workload_task *w)
{
	const struct stats_stream *o = w->own;
	struct engine *e = w->state;
	struct memcg *m = container(w);

	if (o->phase == STREAM_STAGGERED && w->index)
		task_sleep(t, (sim_time_t)((double)o->interval * w->index / w->count));
	for (sim_time_t begin = t->clock;; begin += o->interval) {
		one_round(t, w, m);
		task_sync(t);
		if (w->host->run->measuring)
			histogram_add(e->latency, (t->clock - begin) / SIM_NS, 1);
		if (begin + o->interval > t->clock)
			task_sleep(t, begin + o->interval - t->clock);
		else
			cond_resched(t);
	}
}

static void finish(struct host *host, const struct module *self)
{
	uint32_t nr;
	const struct workload_task *tasks = workload_tasks(host, &nr);

	for (uint32_t i = 0; i < nr; i++)
		if (workload_is(&tasks[i], self)) {
			const struct engine *e = tasks[i].state;

			record_histogram(host->run->record, &metrics[LATENCY], tasks[i].label, e->latency);
			return;
		}
}

static const struct workload_ops ops = { .check = check, .prepare = prepare, .run = run, .finish = finish };

MODULE(stats_stream) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "stats_stream",
	.help = "threads that read many statistics files of a container each period; task.ops counts rounds",
	.source = "container engines while statistics stream",
	.options = &options,
	.ops = &ops,
};
