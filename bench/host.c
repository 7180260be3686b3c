/*
 * host.c - see host.h.
 */
#include "bench/host.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/module.h"

void bench_host_open(struct bench_host *h, const char *text)
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

void bench_host_run(struct bench_host *h, void (*run)(struct task *t, void *arg), void *arg)
{
	task_spawn(h->run.sim, &(struct task_attr){ .name = "bench", .run = run, .arg = arg });
	sim_run(h->run.sim, SIM_NEVER - 1);
	if (sim_error(h->run.sim)) {
		fprintf(stderr, "memcgsim-bench: %s\n", sim_error(h->run.sim));
		exit(1);
	}
}

void bench_host_close(struct bench_host *h)
{
	record_free(h->run.record);
	sim_destroy(h->run.sim);
	scenario_free(h->set);
	complaints_free(h->complaints);
}
