/*
 * paths.c - how many page faults and cached reads are simulated in a second, and how long a large host takes
 * to build. One simulated CPU, one task in a cgroup two levels down.
 */
#include "bench/host.h"
#include "models/page/page.h"

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

	bench_host_open(&h, small_host);
	load.host = h.run.model;
	load.memcg = memcg_find(load.host, "/a/b");
	bench_host_run(&h, run_load, &load);
	bench_host_close(&h);
	bench_row(b, "anon fault, charge", "1 CPU, depth 2", work / load.fault_s, "1/s", BAR_AT_LEAST, 10e6);
	bench_row(b, "anon fault and zap", "1 CPU, depth 2", work / load.cycle_s, "1/s", BAR_NONE, 0);
	bench_row(b, "cached file read", "1 CPU", work / load.read_s, "1/s", BAR_AT_LEAST, 30e6);

	double began = bench_cpu_seconds();

	bench_host_open(&h, large_host);
	bench_row(b, "host build", "4,096 CPUs, 10,000 cgroups", bench_cpu_seconds() - began, "s",
		  BAR_AT_MOST, 5);
	bench_host_close(&h);
}
