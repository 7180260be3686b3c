/*
 * service.c - a server with a working set: requests arrive at random, touch memory, and take as long as they
 * take.
 *
 * Arrivals are a Poisson process and do not wait for the server (an open loop), so what reclaim or the device
 * does to one request is felt by those behind it. The latency of a request runs from its arrival to its end.
 * Each request touches some anonymous pages (the heap) and some pages of a file, both by Zipf's law or
 * whatever the pattern says, and works between. `count` tasks are so many threads, each with arrivals of its
 * own and a heap of its own; the file is shared.
 */
#include <gsl/gsl_randist.h>
#include <string.h>

#include "models/backing/backing.h"
#include "models/host/costs.h"
#include "models/workload/access.h"
#include "sim/module.h"
#include "sim/results/record.h"
#include "sim/stats/histogram.h"

struct service {
	const char *file, *disk;
	uint64_t anon_pages, file_pages, requests;
	struct dist anon, reads, work;
	double rate, writes;
	struct access_options access;
};

static const struct option rows[] = {
	OPTION(struct service, rate, OPT_RATE, .fallback = "1K/s", .min = "0", .above_min = true,
	       .help = "requests a second of each task, at random times"),
	OPTION(struct service, requests, OPT_U64, .fallback = "0", .help = "0: for ever"),
	OPTION(struct service, anon_pages, OPT_U64, .fallback = "4096", .max = "1G",
	       .help = "pages of heap of each task"),
	OPTION(struct service, file_pages, OPT_U64, .fallback = "0", .max = "1G",
	       .help = "pages of the file"),
	OPTION(struct service, disk, OPT_STRING, .help = "device that the file lies on; a RAM disk if none"),
	OPTION(struct service, file, OPT_STRING, .help = "name of the file; the cgroup's own if none"),
	OPTION(struct service, anon, OPT_DIST, .fallback = "8", .help = "heap pages that a request touches"),
	OPTION(struct service, reads, OPT_DIST, .fallback = "8", .help = "file pages that a request reads"),
	OPTION(struct service, writes, OPT_RATIO, .fallback = "0", .min = "0", .max = "1",
	       .help = "share of the file pages that it writes instead"),
	OPTION(struct service, work, OPT_DIST_DURATION, .fallback = "20us",
	       .help = "time in user mode for a request"),
	ACCESS_OPTIONS(struct service, access),
};
static const struct option_table options = OPTION_TABLE("service", struct service, rows);

enum { LATENCY };

static const struct metric metrics[] = {
	[LATENCY] = { "service.latency", "ns", METRIC_DISTRIBUTION, "from a request's arrival to its end" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(service_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "service",
	.help = "requests of services",
	.ops = &table,
};

/* Of one task; after the run, what tasks of one name did is added up. */
struct server {
	struct histogram *latency;
};

struct request {
	struct task *t;
	struct workload_task *w;
	struct anon_object *heap;
	struct file_object *file;
	struct access anon, reads;
	struct stream draws;
};

static bool ends(const void *own)
{
	return ((const struct service *)own)->requests > 0;
}

static void check(const struct scenario *s, const struct task_options *task, const void *own,
		  struct complaints *c)
{
	const struct service *o = own;

	(void)task;
	disk_check(s, o->disk, own, "disk", c);
	access_check(&o->access, o->anon_pages, own, "anon_pages", c);
	access_check(&o->access, o->file_pages, own, "file_pages", c);
	if (!o->anon_pages && !o->file_pages)
		complain(c, option_where(own, NULL), "service: neither heap nor file has a page");
}

static void prepare(struct workload_task *w)
{
	const struct service *o = w->own;
	struct server *server = sim_alloc(w->host->sim, sizeof *server);

	server->latency = histogram_create(sim_arena(w->host->sim));
	w->state = server;
	if (o->file_pages) {
		workload_file_declare(w, o->file, o->file_pages);
		workload_file_place(w, o->file, o->disk);
	}
}

static bool touch_heap(struct request *r, uint64_t nr)
{
	struct memcg *level;

	for (; nr; nr--) {
		if (!anon_touch(r->t, r->heap, access_next(&r->anon), &level)) {
			workload_out_of_memory(r->w, level);
			return false;
		}
		workload_return(r->t, r->w);
	}
	return true;
}

static bool use_file(struct request *r, uint64_t nr)
{
	const struct service *o = r->w->own;
	struct memcg *level;

	for (; nr; nr--) {
		uint64_t page = access_next(&r->reads);
		bool write = o->writes > 0 && stream_uniform(&r->draws) < o->writes;

		cpu_work(r->t, r->w->host->costs->syscall);
		enum file_result result = write ? file_write(r->t, r->w->memcg, r->file, page, &level)
						: file_read(r->t, r->w->memcg, r->file, page, &level);

		if (result == FILE_NOMEM) {
			workload_out_of_memory(r->w, level);
			return false;
		}
		workload_return(r->t, r->w);
		if (!write)
			workload_count_read(r->w, result);
	}
	return true;
}

static bool serve(struct request *r)
{
	const struct service *o = r->w->own;

	if (o->anon_pages && !touch_heap(r, (uint64_t)dist_draw(&o->anon, &r->draws)))
		return false;
	if (o->file_pages && !use_file(r, (uint64_t)dist_draw(&o->reads, &r->draws)))
		return false;
	user_work(r->t, (sim_time_t)dist_draw(&o->work, &r->draws));
	task_sync(r->t);
	return true;
}

static void run(struct task *t, struct workload_task *w)
{
	const struct service *o = w->own;
	struct server *server = w->state;
	struct request r = { .t = t, .w = w };
	sim_time_t arrival = t->clock;
	struct stream arrivals;

	stream_init(&arrivals, sim_seed(t->sim), w->name, "arrivals");
	stream_init(&r.draws, sim_seed(t->sim), w->name, "requests");
	if (o->anon_pages) {
		r.heap = anon_create(w->host, w->memcg, o->anon_pages);
		access_open(&r.anon, w, &o->access, o->anon_pages, "heap");
	}
	if (o->file_pages) {
		r.file = workload_file(w->host, w->memcg, o->file);
		access_open(&r.reads, w, &o->access, o->file_pages, "file");
	}
	for (uint64_t i = 0; !o->requests || i < o->requests; i++) {
		arrival += (sim_time_t)gsl_ran_exponential(&arrivals.rng, (double)SIM_SEC / o->rate);
		if (arrival > t->clock)
			task_sleep(t, arrival - t->clock);
		if (!serve(&r))
			break;
		if (w->host->run->measuring)
			histogram_add(server->latency, (uint64_t)sim_nanoseconds(t->clock - arrival), 1);
		w->ops++;
	}
	if (r.heap)
		anon_unmap(t, r.heap);
}

/* ---- results ---- */

static void measure(struct host *host, const struct module *self)
{
	uint32_t nr;
	struct workload_task *tasks = workload_tasks(host, &nr);

	for (uint32_t i = 0; i < nr; i++)
		if (workload_is(&tasks[i], self)) {
			struct server *server = tasks[i].state;

			histogram_reset(server->latency);
		}
}

static void record_name(struct host *host, const struct workload_task *tasks, uint32_t first, uint32_t nr)
{
	struct histogram all;

	histogram_init(&all, sim_arena(host->sim));
	for (uint32_t i = first; i < nr; i++) {
		const struct server *server = tasks[i].state;

		if (workload_shares(&tasks[i], &tasks[first]))
			histogram_merge(&all, server->latency);
	}
	record_histogram(host->run->record, &metrics[LATENCY], tasks[first].label, &all);
}

static void finish(struct host *host, const struct module *self)
{
	uint32_t nr;
	const struct workload_task *tasks = workload_tasks(host, &nr);

	for (uint32_t i = 0; i < nr; i++)
		if (workload_is(&tasks[i], self) && workload_leads(tasks, i))
			record_name(host, tasks, i, nr);
}

static const struct workload_ops ops = {
	.check = check,
	.ends = ends,
	.prepare = prepare,
	.run = run,
	.measure = measure,
	.finish = finish,
};

MODULE(service) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "service",
	.help = "requests at random times on a working set, and how long they take; task.ops counts requests",
	.options = &options,
	.ops = &ops,
};
