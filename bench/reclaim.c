/*
 * reclaim.c - what it takes to simulate the reclaim of a page: from its LRU list to the free list, with its
 * shadow, its statistics and its charge; for anonymous memory with its way to zram too.
 *
 * A cgroup two levels down is filled, then emptied by writes to memory.reclaim, which since 6.7 asks for
 * 32 pages at a time as a limit does. Filling is not measured, nor the first round, in which the simulator
 * itself faults in the memory of what is touched for the first time.
 */
#include <stdio.h>

#include "bench/host.h"
#include "models/page/page.h"

#define HOST                                                                                  \
	"schema: 1\nscenario: bench\nkernel: v6.12\nhost: { cpus: 1, memory: 1GiB }\n"        \
	"devices: [ { name: z, device: zram, size: 1GiB, ratio: 4 } ]\nswap: { device: z }\n" \
	"cgroups: [ { name: a, children: [ { name: b } ] } ]\n"

#define PAGES 131072u /* 512 MiB; the pages' entries do not fit into a cache */

struct load {
	struct host *host;
	struct memcg *memcg;
	void (*run)(struct task *t, struct load *load);
	double seconds;
	uint64_t reclaimed;
};

static void empty(struct task *t, struct load *load)
{
	uint64_t before = memcg_current(load->memcg);
	double began = bench_cpu_seconds();

	memcg_proactive_reclaim(t, load->memcg, before);
	load->seconds = bench_cpu_seconds() - began;
	load->reclaimed = before - memcg_current(load->memcg);
}

static void files(struct task *t, struct load *load)
{
	struct file_object *f = file_create(load->host, PAGES);

	for (int round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < PAGES; i++)
			file_read(t, load->memcg, f, i, NULL);
		empty(t, load);
	}
}

static void anon(struct task *t, struct load *load)
{
	struct anon_object *a = anon_create(load->host, load->memcg, PAGES);

	for (int round = 0; round < 2; round++) {
		anon_unmap(t, a);
		for (uint64_t i = 0; i < PAGES; i++)
			anon_touch(t, a, i, NULL);
		empty(t, load);
	}
}

static void run_load(struct task *t, void *arg)
{
	struct load *load = arg;

	load->run(t, load);
	sim_stop(t->sim);
}

static void measure(struct bench *b, const char *what, const char *lru,
		    void (*run)(struct task *t, struct load *load))
{
	struct bench_host h;
	struct load load = { .run = run };
	char text[1024];

	snprintf(text, sizeof text, HOST "policies: { reclaim: %s }\n", lru);
	bench_host_open(&h, text);
	load.host = h.run.model;
	load.memcg = memcg_find(load.host, "/a/b");
	bench_host_run(&h, run_load, &load);
	bench_host_close(&h);
	bench_row(b, what, lru, 1e9 * load.seconds / (double)load.reclaimed, "ns", BAR_AT_MOST, 150);
}

void bench_reclaim(struct bench *b)
{
	measure(b, "reclaim, file", "classic", files);
	measure(b, "reclaim, file", "mglru", files);
	measure(b, "reclaim, anon, zram", "classic", anon);
	measure(b, "reclaim, anon, zram", "mglru", anon);
}
