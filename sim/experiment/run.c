/*
 * run.c - one run, from an empty simulation to a finished record.
 *
 * Everything the experiment itself does to a simulation (end of warm-up, samples, end) happens in one event
 * of class SIM_CLASS_CONTROL. One, not three: at equal times they must come in this order, and the rule for
 * ties, which may be random, says nothing about events of the same class.
 *
 * `until: done` ends where the last workload that was held is released: the control event is moved to that
 * instant, so the step at hand is completed and nothing later happens.
 */
#include "sim/experiment/run.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "sim/experiment/hardware.h"
#include "sim/experiment/ticker.h"
#include "sim/hw/task.h"
#include "sim/module.h"

#ifdef NDEBUG
#define CROSS_CHECK false
#else
#define CROSS_CHECK true
#endif

struct running {
	struct run run;
	struct slot control;
	const struct run_options *options;
	sim_time_t next_sample, end; /* SIM_NEVER: not known, or not any more */
	bool ended;
	struct hardware_start start;
	const struct module *const *models;
	size_t nr_models;
};

static struct running *running_of(struct run *run)
{
	return (struct running *)((char *)run - offsetof(struct running, run));
}

static const struct model_ops *model_ops(const struct running *r, size_t i)
{
	return r->models[i]->ops;
}

void run_hold(struct run *run)
{
	run->unfinished++;
	run->held++;
}

void run_release(struct run *run)
{
	struct running *r = running_of(run);

	if (--run->unfinished || !r->options->until_done)
		return;
	r->end = sim_now(run->sim);
	slot_arm(run->sim, &r->control, r->end);
}

static void measure(struct running *r)
{
	for (size_t i = 0; i < r->nr_models; i++)
		if (model_ops(r, i)->measure)
			model_ops(r, i)->measure(&r->run);
	hardware_measure(r->run.sim, &r->start);
	r->run.measuring = true;
	if (r->options->sample)
		r->next_sample = sim_now(r->run.sim);
}

static void sample(struct running *r, sim_time_t now)
{
	for (size_t i = 0; i < r->nr_models; i++)
		if (model_ops(r, i)->sample)
			model_ops(r, i)->sample(&r->run, now);
	r->next_sample = now + r->options->sample;
}

static sim_time_t earlier(sim_time_t a, sim_time_t b)
{
	return a < b ? a : b;
}

static void control_fire(struct sim *sim, struct slot *slot)
{
	struct running *r = (struct running *)((char *)slot - offsetof(struct running, control));
	sim_time_t now = sim_now(sim);
	sim_time_t warmup = r->run.measuring ? SIM_NEVER : r->options->warmup;

	if (now >= warmup)
		measure(r);
	if (now >= r->next_sample)
		sample(r, now);
	if (now >= r->end) {
		r->ended = true;
		sim_stop(sim);
		return;
	}
	slot_arm(sim, slot, earlier(r->run.measuring ? r->next_sample : warmup, r->end));
}

static bool build(struct running *r)
{
	struct run *run = &r->run;
	const struct host_options *host = scenario_section(run->scenario, "host");

	sched_init(run->sim, &(struct sched_config){
				     .machine = scenario_machine(run->scenario),
				     .preempt = (enum preempt_model)host->preemption,
			     });
	slot_init(run->sim, &r->control, SIM_CLASS_CONTROL, control_fire);
	r->next_sample = SIM_NEVER;
	r->end = r->options->until_done ? r->options->give_up : r->options->until;
	for (size_t i = 0; i < r->nr_models && !sim_error(run->sim); i++)
		model_ops(r, i)->build(run);
	if (r->options->until_done && !run->held && !sim_error(run->sim))
		sim_fail(run->sim, "'until: done', but no workload of this scenario ends");
	slot_arm(run->sim, &r->control, earlier(r->options->warmup, r->end));
	return !sim_error(run->sim);
}

/* Runs to the end; NULL, or why it is not one. */
static const char *simulate(struct running *r, const struct run_setup *setup, char message[256])
{
	struct sim *sim = r->run.sim;
	struct ticker ticker;
	bool ticking = setup->progress && ticker_start(&ticker, sim, RUN_PROGRESS_MS);

	/* Asked to stop, but neither ended nor failed: that was the ticker. */
	while (sim_run(sim, SIM_NEVER - 1) == SIM_END_ASKED && !r->ended && !sim_error(sim))
		if (setup->progress)
			setup->progress(&r->run, setup->arg);
	if (ticking)
		ticker_stop(&ticker);
	if (setup->progress)
		setup->progress(&r->run, setup->arg);

	if (sim_error(sim))
		return sim_error(sim);
	if (!r->ended)
		return "simulated time ran out";
	if (!r->run.measuring)
		return "the run was done before its warm-up was over";
	if (r->options->until_done && r->run.unfinished) {
		snprintf(message, 256,
			 "gave up after %g s (run.give_up): %llu of %llu workloads were not done",
			 sim_seconds(r->end), (unsigned long long)r->run.unfinished,
			 (unsigned long long)r->run.held);
		return message;
	}
	return NULL;
}

static void finish(struct running *r)
{
	size_t n;
	const struct module *const *axes = modules_of(MODULE_AXIS, &n);

	hardware_finish(r->run.sim, &r->start, r->run.record);
	for (size_t i = 0; i < r->nr_models; i++)
		if (model_ops(r, i)->finish)
			model_ops(r, i)->finish(&r->run);
	for (size_t i = 0; i < n; i++)
		record_module(r->run.record, axes[i]->name,
			      scenario_policy(r->run.scenario, axes[i]->name)->module->name);
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t peak_rss(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_maxrss * 1024;
}

static void run_in(struct running *r, const struct run_setup *setup, double began)
{
	struct sim *sim = r->run.sim;
	char message[256];
	const char *error = build(r) ? simulate(r, setup, message) : sim_error(sim);

	if (!error) {
		finish(r);
		error = sim_error(sim);
		if (!error && record_invariants_broken(r->run.record))
			error = "an invariant is broken";
	}
	record_finish(r->run.record, &(struct record_end){
					     .done = !error,
					     .error = error,
					     .sim_time = sim_now(sim),
					     .events = sim_events(sim),
					     .fingerprint = sim_fingerprint(sim),
					     .wall_s = seconds_now() - began,
					     .peak_rss_bytes = peak_rss(),
				     });
}

struct record *run_one(const struct run_setup *setup)
{
	const struct run_options *options = scenario_run(setup->scenario);
	struct running r = { .options = options };
	double began = seconds_now();

	r.run.scenario = setup->scenario;
	r.run.record = record_new(options->rows);
	r.models = modules_of(MODULE_MODEL, &r.nr_models);
	r.run.sim = sim_create(&(struct sim_config){
		.seed = setup->seed,
		.naive = setup->naive,
		.random_ties = setup->random_ties,
		.cross_check = CROSS_CHECK,
	});
	if (r.run.sim) {
		run_in(&r, setup, began);
		sim_destroy(r.run.sim);
	} else {
		record_finish(r.run.record,
			      &(struct record_end){ .error = "no address space for a simulation is left" });
	}
	return r.run.record;
}

double run_share(const struct run *run)
{
	const struct run_options *options = scenario_run(run->scenario);

	if (!options->until_done)
		return (double)sim_now(run->sim) / (double)options->until;
	return run->held ? (double)(run->held - run->unfinished) / (double)run->held : 0;
}
