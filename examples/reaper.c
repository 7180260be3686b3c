/*
 * reaper.c - a plug-in, outside of the tree: a daemon that rids a machine of dying cgroups.
 *
 * Cloud kernels have such a thread (user case A07): every `interval` it comes by all removed cgroups and reclaims
 * what is charged to them, up to `pages` a round. A removed cgroup whose last page goes is freed, with all the
 * memory that the kernel has for it. Reclaim on demand would come to that page in the end; the reaper does not
 * wait for pressure, and takes nobody else's pages. What reclaim cannot take it cannot take either: against
 * pinned cgroups it is of no use, and pays for the look at them each time.
 *
 * Built against the headers of the program, here or as installed, and with nothing else:
 *
 *	cc -std=gnu11 -O2 -fPIC -shared -I. -o reaper.so examples/reaper.c
 *	memcgsim run --plugin ./reaper.so examples/reaper.yaml
 *
 * Everything that a module of the program may call it may call too; models/cgroup/memcg.h and
 * models/reclaim/reclaim.h say what holds when. A workload is a task: cpu_work() is its own time, task_sync()
 * comes before it looks at what others change.
 */
#include "models/cgroup/memcg.h"
#include "models/host/costs.h"
#include "models/reclaim/reclaim.h"
#include "models/workload/workload.h"
#include "sim/module.h"

PLUGIN;

struct reaper {
	sim_time_t interval;
	uint64_t pages;
};

static const struct option rows[] = {
	OPTION(struct reaper, interval, OPT_DURATION, .fallback = "5s", .min = "1ms",
	       .help = "between rounds"),
	OPTION(struct reaper, pages, OPT_U64, .fallback = "1310720", .min = "1",
	       .help = "that a round may take, at most; five GiB"),
};
static const struct option_table options = OPTION_TABLE("reaper", struct reaper, rows);

/* Their own pages alone: those of cgroups below are theirs. */
static uint64_t reap(struct task *t, struct memcg *m, uint64_t most)
{
	uint64_t nr = m->nr_charged - m->nr_kmem;

	if (m->life != MEMCG_OFFLINE || !nr)
		return 0;
	return reclaim_memcg(t, m, nr < most ? nr : most, true, true);
}

static void one_round(struct task *t, struct workload_task *w)
{
	const struct reaper *o = w->own;
	struct memcg *root = w->host->cgroups->root, *m = NULL;
	uint64_t taken = 0;

	task_sync(t);
	while ((m = memcg_walk(t, root, m)) && taken < o->pages) {
		taken += reap(t, m, o->pages - taken);
		cpu_work(t, w->host->costs->reclaim_memcg);
		task_sync(t);
	}
	if (m)
		memcg_put(t, m);
	w->ops += taken;
}

static void run(struct task *t, struct workload_task *w)
{
	const struct reaper *o = w->own;

	for (;;) {
		task_sleep(t, o->interval);
		one_round(t, w);
	}
}

static const struct workload_ops ops = { .run = run };

MODULE(reaper) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "reaper",
	.help = "reclaims what removed cgroups left behind; task.ops counts pages",
	.source = "the zombie reaper of a cloud kernel",
	.options = &options,
	.ops = &ops,
};
