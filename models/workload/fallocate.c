/*
 * fallocate.c - a task that gives a file of its own on tmpfs pages with fallocate(2), piece by piece, and
 * takes them away with ftruncate(2) when it is full.
 *
 * fallocate1 of will-it-scale, as it was run for seed 3: pieces of 8 KiB, and 0 again after 128 of them, so
 * that the file is 1 MiB at most. Pages come and go through the LRU lock of their node, to which all tasks
 * of a cgroup queue. An operation is one piece.
 *
 * will-it-scale pins its tasks, to whole cores as long as there are enough; with `spread` task i has the
 * i-th place when cores are dealt out before their further threads, and alternating between sockets.
 */
#include "models/host/costs.h"
#include "models/workload/workload.h"
#include "sim/module.h"

struct fallocate {
	uint64_t pages, piece;
	uint32_t rounds;
	bool spread;
};

static const struct option rows[] = {
	OPTION(struct fallocate, pages, OPT_U64, .fallback = "256", .min = "1", .max = "1G",
	       .help = "of the file when it is full"),
	OPTION(struct fallocate, piece, OPT_U64, .fallback = "2", .min = "1", .max = "1G",
	       .help = "pages of one call"),
	OPTION(struct fallocate, rounds, OPT_U32, .fallback = "0",
	       .help = "how often the file is filled; 0: for ever"),
	OPTION(struct fallocate, spread, OPT_BOOL, .fallback = "false",
	       .help = "tasks are pinned, to other cores first, then to further threads of cores"),
};
static const struct option_table options = OPTION_TABLE("fallocate", struct fallocate, rows);

static bool ends(const void *own)
{
	return ((const struct fallocate *)own)->rounds > 0;
}

/* The CPU of the i-th task when sockets, then cores, then threads are dealt out. */
static uint32_t place(const struct machine *m, uint32_t i)
{
	uint32_t sockets = m->sockets ? m->sockets : m->nodes;
	uint32_t cores = m->cpus / m->threads_per_core;
	uint32_t thread = i / cores % m->threads_per_core, core = i % cores;
	uint32_t socket = core % sockets, first = machine_socket_first(m, socket);
	uint32_t here = (machine_socket_first(m, socket + 1) - first) / m->threads_per_core;

	return first + core / sockets % here * m->threads_per_core + thread;
}

/* All of the file; false: there was no memory. */
static bool fill(struct task *t, struct workload_task *w, struct tmpfs_object *file)
{
	const struct fallocate *o = w->own;
	struct memcg *level;

	for (uint64_t i = 0; i < o->pages;) {
		cpu_work(t, w->host->costs->syscall);
		for (uint64_t end = i + o->piece; i < end && i < o->pages; i++)
			if (tmpfs_fallocate(t, w->memcg, file, i, &level) == FILE_NOMEM) {
				workload_out_of_memory(w, level);
				return false;
			}
		workload_return(t, w);
		w->ops++;
	}
	return true;
}

static void run(struct task *t, struct workload_task *w)
{
	const struct fallocate *o = w->own;
	struct tmpfs_object *file = tmpfs_create(w->host, o->pages);

	if (o->spread)
		task_pin(t, place(w->host->machine, w->index));
	for (uint32_t i = 0; (!o->rounds || i < o->rounds) && fill(t, w, file); i++)
		tmpfs_remove(t, file);
}

static const struct workload_ops ops = { .ends = ends, .run = run };

MODULE(fallocate) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "fallocate",
	.help = "fills a file on tmpfs with fallocate(2) and truncates it; task.ops counts calls",
	.source = "will-it-scale, tests/fallocate1.c; seed 3",
	.options = &options,
	.ops = &ops,
};
