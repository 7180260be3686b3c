/*
 * startup.c - how long a large host takes to start: from the text of a scenario to the end of the first
 * simulated microsecond, results included.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "sim/experiment/run.h"

static const char text[] = "schema: 1\n"
			   "scenario: start-up\n"
			   "kernel: v6.6\n"
			   "host: { cpus: 4096, nodes: 8, memory: 8TiB }\n"
			   "cgroups: [ { name: \"job{1..10000}\" } ]\n"
			   "run: { until: 1us, sample: 0 }\n";

void bench_startup(struct bench *b)
{
	double began = bench_cpu_seconds();
	struct complaints *c = complaints_new();
	struct scenario_set *set = scenario_load(&(struct scenario_source){ .path = "bench", .text = text },
						 c);

	if (!set) {
		complaints_print(c, stderr);
		exit(1);
	}
	struct record *record = run_one(
		&(struct run_setup){ .scenario = scenario_variant(set, 0), .seed = 1 });

	if (!record_ended(record)->done) {
		fprintf(stderr, "memcgsim-bench: start-up: %s\n", record_ended(record)->error);
		exit(1);
	}
	bench_row(b, "start-up", "4096 CPUs, 10000 cgroups", bench_cpu_seconds() - began, "s", BAR_AT_MOST,
		  5);
	record_free(record);
	scenario_free(set);
	complaints_free(c);
}
