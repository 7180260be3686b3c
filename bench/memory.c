/*
 * memory.c - what a page costs the simulator in memory: a host all of whose pages are in use, half of them
 * anonymous and half of a file, some of which are then reclaimed.
 *
 * The whole tebibyte is simulated where there is room for it (it takes 11 GiB), else a sixteenth: the row
 * says which. It is done in a child, whose peak is its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/host.h"
#include "models/page/page.h"

#define PAGES_PER_GIB ((uint64_t)262144)
#define RECLAIMED     PAGES_PER_GIB

struct load {
	struct host *host;
	struct memcg *memcg;
	uint64_t pages;
	bool done;
};

static void use_all(struct task *t, void *arg)
{
	struct load *load = arg;
	uint64_t half = load->pages / 2;
	struct anon_object *a = anon_create(load->host, load->memcg, half);
	struct file_object *f = file_create(load->host, half);

	for (uint64_t i = 0; i < half; i++)
		if (!anon_touch(t, a, i, NULL) || file_read(t, load->memcg, f, i, NULL) == FILE_NOMEM)
			break;
	load->done = anon_present(a) + file_present(f) == load->pages &&
		     memcg_proactive_reclaim(t, load->memcg, RECLAIMED);
	sim_stop(t->sim);
}

/* In the child: its exit status. */
static int use(uint64_t gib)
{
	struct load load = { .pages = gib * PAGES_PER_GIB };
	struct bench_host h;
	char text[512];

	snprintf(text, sizeof text,
		 "schema: 1\nscenario: bench\nkernel: v6.12\nhost: { cpus: 1, memory: %lluGiB }\n"
		 "cgroups: [ { name: a, children: [ { name: b } ] } ]\n",
		 (unsigned long long)(gib + gib / 64));
	bench_host_open(&h, text);
	load.host = h.run.model;
	load.memcg = memcg_find(load.host, "/a/b");
	bench_host_run(&h, use_all, &load);
	return !load.done;
}

/* 0: unknown. */
static uint64_t gib_available(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	unsigned long long kib = 0;
	char line[128];

	while (f && !kib && fgets(line, sizeof line, f))
		sscanf(line, "MemAvailable: %llu kB", &kib);
	if (f)
		fclose(f);
	return kib >> 20;
}

void bench_memory(struct bench *b)
{
	uint64_t gib = gib_available() >= 13 ? 1024 : 64;
	const char *what = gib == 1024 ? "1 TiB in use" : "64 GiB in use";
	struct rusage usage;
	int status;

	fflush(NULL);
	pid_t child = fork();

	if (!child)
		_exit(use(gib));
	if (child < 0 || wait4(child, &status, 0, &usage) < 0 || status) {
		fprintf(stderr, "memcgsim-bench: %s: failed\n", what);
		exit(1);
	}
	double bytes = (double)usage.ru_maxrss * 1024;
	double seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			 1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);

	bench_row(b, "memory of pages", what, bytes / (1 << 30), "GiB", BAR_AT_MOST, (double)gib / 64);
	bench_row(b, "memory a page", what, bytes / (double)(gib * PAGES_PER_GIB), "bytes", BAR_NONE, 0);
	bench_row(b, "time to use them", what, seconds, "s", BAR_NONE, 0);
}
