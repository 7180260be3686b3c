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
	uint64_t held;       /* of those, all that there ever were */
	bool measuring;      /* the warm-up is over */
	void *model;         /* of the one MODULE_MODEL that builds the host */
};

/* A workload that `until: done` has to wait for, and its end. */
void run_hold(struct run *run);
void run_release(struct run *run);

/*
 * The run itself, not the models, resets and records what the hardware layer counts: locks, sections with
 * interrupts or preemption off, CPU time, and which policies made the run (hardware.h).
 */
struct model_ops {
	/* After binding, before any run: what no option table can know. */
	void (*check)(const struct scenario *s, struct complaints *c);
	void (*build)(struct run *run);   /* everything at time 0; run->sim has its CPUs already */
	void (*measure)(struct run *run); /* end of warm-up: forget what was counted */
	void (*sample)(struct run *run, sim_time_t now);
	void (*finish)(struct run *run); /* summaries, histograms, invariants into run->record */
};

struct run_setup {
	const struct scenario *scenario;
	uint64_t seed;
	bool random_ties, naive;
	/* Called every RUN_PROGRESS_MS of real time, and at the end. NULL: not. */
	void (*progress)(const struct run *run, void *arg);
	void *arg;
};

#define RUN_PROGRESS_MS 100

/* Never NULL: a run that fails says so in its record. */
struct record *run_one(const struct run_setup *setup);

/* What share of the run lies behind it, 0 to 1, by its own measure: simulated time, or workloads ended. */
double run_share(const struct run *run);

#endif
