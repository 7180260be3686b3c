/*
 * paths.c - how many page faults and cached reads are simulated in a second, and how long a large host takes
 * to build. One simulated CPU, one task in a cgroup two levels down.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "models/cgroup/memcg.h"
#include "models/page/page.h"
#include "sim/experiment/run.h"
#include "sim/module.h"

#define POLICIES                                                                                     \
	"policies: { stat_update: rstat_global_threshold, flush: unified, rstat_lock: spin_yield,\n" \
	"  rstat_updated: cpu_lock, charge_batch: 64, charge_stock: 1 }\n"

static const char small_host[] = "schema: 1\nscenario: bench\nhost: { cpus: 1, memory: 1GiB }\n" POLICIES
				 "cgroups: [ { name: a, children: [ { name: b } ] } ]\n";
static const char large_host[] =
	"schema: 1\nscenario: bench\nhost: { cpus: 4096, nodes: 8, memory: 8TiB }\n" POLICIES
	"cgroups: [ { name: 'a{1..100}', children: [ { name: 'b{1..99}' } ] } ]\n";

#define PAGES  8192
#define ROUNDS 200

struct load {
	struct host *host;
	struct memcg *memcg;
	double fault_s, cycle_s, read_s;
};

struct bench_host {
	struct complaints *complaints;
	struct scenario_set *set;
	struct run run;
};

static void open_host(struct bench_host *h, const char *text)
{
	*h = (struct bench_host){ .complaints = complaints_new() };
	h->set = scenario_load(&(struct scenario_source){ .path = "bench", .text = text }, h->complaints);
	if (!h->set) {
		complaints_print(h->complaints, stderr);
		exit(1);
	}
	h->run.scenario = scenario_variant(h->set, 0);
	h->run.record = record_new(64);
	h->run.sim = sim_create(&(struct sim_config){ .seed = 1 });
	sched_init(h->run.sim, &(struct sched_config){ .machine = scenario_machine(h->run.scenario) });
	((const struct model_ops *)module_find(MODULE_MODEL, NULL, "host")->ops)->build(&h->run);
}

static void close_host(struct bench_host *h)
{
	record_free(h->run.record);
	sim_destroy(h->run.sim);
	scenario_free(h->set);
	complaints_free(h->complaints);
}

static void faults(struct task *t, struct load *load)
{
	struct anon_object *a = anon_create(load->host, load->memcg, PAGES);
	double began = bench_cpu_seconds();

	for (int round = 0; round < ROUNDS; round++) {
		double at = bench_cpu_seconds();

		for (uint64_t i = 0; i < PAGES; i++)
			anon_touch(t, a, i, NULL);
		load->fault_s += bench_cpu_seconds() - at;
		anon_zap(t, a, 0, PAGES);
	}
	load->cycle_s = bench_cpu_seconds() - began;
}

static void reads(struct task *t, struct load *load)
{
	struct file_object *file = file_create(load->host, PAGES);

	for (int warm = 0; warm < 3; warm++)
		for (uint64_t i = 0; i < PAGES; i++)
			file_read(t, load->memcg, file, i, NULL);
	double began = bench_cpu_seconds();

	for (int round = 0; round < ROUNDS; round++)
		for (uint64_t i = 0; i < PAGES; i++)
			file_read(t, load->memcg, file, i, NULL);
	load->read_s = bench_cpu_seconds() - began;
}

static void run_load(struct task *t, void *arg)
{
	struct load *load = arg;

	faults(t, load);
	reads(t, load);
	sim_stop(t->sim);
}

void bench_paths(struct bench *b)
{
	struct bench_host h;
	struct load load = { 0 };
	double work = (double)PAGES * ROUNDS;

	open_host(&h, small_host);
	load.host = h.run.model;
	load.memcg = memcg_find(load.host, "/a/b");
	task_spawn(h.run.sim, &(struct task_attr){ .name = "bench", .run = run_load, .arg = &load });
	sim_run(h.run.sim, SIM_NEVER - 1);
	close_host(&h);
	bench_row(b, "anon fault, charge", "1 CPU, depth 2", work / load.fault_s, "1/s", BAR_AT_LEAST, 10e6);
	bench_row(b, "anon fault and zap", "1 CPU, depth 2", work / load.cycle_s, "1/s", BAR_NONE, 0);
	bench_row(b, "cached file read", "1 CPU", work / load.read_s, "1/s", BAR_AT_LEAST, 30e6);

	double began = bench_cpu_seconds();

	open_host(&h, large_host);
	bench_row(b, "host build", "4,096 CPUs, 10,000 cgroups", bench_cpu_seconds() - began, "s",
		  BAR_AT_MOST, 5);
	close_host(&h);
}
