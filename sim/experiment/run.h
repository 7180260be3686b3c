/*
 * run.h - one run: a variant of a scenario with one seed.
 */
#ifndef SIM_EXPERIMENT_RUN_H
#define SIM_EXPERIMENT_RUN_H

#include "sim/engine/sim.h"
#include "sim/results/record.h"
#include "sim/scenario/scenario.h"

struct run {
	struct sim *sim;
	const struct scenario *scenario;
	struct record *record;
	uint64_t unfinished; /* workloads that `until: done` waits for */
	bool measuring;      /* the warm-up is over */
	void *model;         /* of the one MODULE_MODEL that builds the host */
};

/* A workload that `until: done` has to wait for, and its end. */
void run_hold(struct run *run);
void run_release(struct run *run);

struct model_ops {
	/* After binding, before any run: what no option table can know. */
	void (*check)(const struct scenario *s, struct complaints *c);
	void (*build)(struct run *run);   /* everything at time 0; run->sim has its CPUs already */
	void (*measure)(struct run *run); /* end of warm-up: forget what was counted */
	void (*sample)(struct run *run, sim_time_t now);
	void (*finish)(struct run *run);  /* summaries, histograms, locks, invariants into run->record */
};

struct run_setup {
	const struct scenario *scenario;
	uint64_t seed;
	bool random_ties, naive;
	/* Called every few milliseconds of real time, and at the end; may call sim_stop(). NULL: not. */
	void (*progress)(const struct run *run, void *arg);
	void *arg;
};

/* Never NULL: a run that fails says so in its record. */
struct record *run_one(const struct run_setup *setup);

#endif
