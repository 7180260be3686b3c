/*
 * host.h - a simulated host for measurements: built from the text of a scenario, driven by one task.
 */
#ifndef BENCH_HOST_H
#define BENCH_HOST_H

#include "bench/bench.h"
#include "models/cgroup/memcg.h"
#include "sim/experiment/run.h"
#include "sim/scenario/scenario.h"

struct bench_host {
	struct complaints *complaints;
	struct scenario_set *set;
	struct run run;
};

/* A text that is no scenario ends the program. */
void bench_host_open(struct bench_host *h, const char *text);
/* Runs one task to the end of the simulation, which is where it calls sim_stop(). */
void bench_host_run(struct bench_host *h, void (*run)(struct task *t, void *arg), void *arg);
void bench_host_close(struct bench_host *h);

#endif
