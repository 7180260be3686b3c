/*
 * run_model.h - a model for tests of the experiment layer: a few tasks that work in rounds, and the mishaps
 * that a run can have. It is told what to do through a top-level key, `trial:`.
 */
#ifndef TESTS_RUN_MODEL_H
#define TESTS_RUN_MODEL_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/engine/random.h"
#include "sim/experiment/run.h"
#include "sim/hw/task.h"
#include "sim/module.h"
#include "sim/results/record_rows.h"

enum mishap {
	MISHAP_NONE,
	MISHAP_FAIL,
	MISHAP_STALL,
	MISHAP_ABORT,
	MISHAP_EXIT,
	MISHAP_INTERRUPT,
	MISHAP_BROKEN
};

struct trial {
	uint32_t tasks, rounds; /* rounds 0: for ever, and nobody waits for it */
	sim_time_t pause;       /* mean, exponential */
	int mishap;
	uint64_t mishap_seed; /* only in the run with this seed; 0: in all */
	bool stops;           /* calls sim_stop() every round */
};

static const struct enum_name trial_mishaps[] = {
	{ "none", MISHAP_NONE, "" }, { "fail", MISHAP_FAIL, "" },           { "abort", MISHAP_ABORT, "" },
	{ "exit", MISHAP_EXIT, "" }, { "interrupt", MISHAP_INTERRUPT, "" }, { "broken", MISHAP_BROKEN, "" },
	{ NULL, 0, NULL },
};

static const struct option trial_rows[] = {
	OPTION(struct trial, tasks, OPT_U32, .fallback = "0", .help = "tasks"),
	OPTION(struct trial, rounds, OPT_U32, .fallback = "0", .help = "rounds of each"),
	OPTION(struct trial, pause, OPT_DURATION, .fallback = "1ms", .help = "mean sleep in a round"),
	OPTION(struct trial, mishap, OPT_ENUM, .names = trial_mishaps, .fallback = "none",
	       .help = "what goes wrong"),
	OPTION(struct trial, mishap_seed, OPT_U64, .fallback = "0", .help = "in which run"),
	OPTION(struct trial, stops, OPT_BOOL, .fallback = "false",
	       .help = "interrupt the simulation each round"),
};
static const struct option_table trial_table = OPTION_TABLE("trial", struct trial, trial_rows);

PLUGIN;

MODULE(trial_section) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_SECTION,
	.name = "trial",
	.help = "what the test does",
	.options = &trial_table,
	.order = 500,
};

static const struct metric trial_metrics[] = {
	{ "trial.rounds", "1", METRIC_COUNTER, "rounds of all tasks since the end of the warm-up" },
	{ "trial.now", "ns", METRIC_GAUGE, "simulated time" },
};
static const struct metric_table trial_metric_table = { trial_metrics, 2 };

MODULE(trial_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "trial",
	.help = "what the test counts",
	.ops = &trial_metric_table,
};

struct trial_state {
	struct run *run;
	const struct trial *trial;
	uint64_t rounds;
	struct stream *stream;
};

static inline void trial_mishap(struct trial_state *s, struct task *t)
{
	if (s->trial->mishap_seed && s->trial->mishap_seed != sim_seed(t->sim))
		return;
	switch (s->trial->mishap) {
	case MISHAP_FAIL:
		sim_fail(t->sim, "the test model failed at %d", 42);
		break;
	case MISHAP_ABORT:
		signal(SIGABRT, SIG_DFL);
		abort();
	case MISHAP_EXIT:
		_exit(3);
	case MISHAP_INTERRUPT:
		kill(getppid(), SIGINT);
		pause();
	}
}

static inline void trial_task(struct task *t, void *arg)
{
	struct trial_state *s = arg;
	uint32_t rounds = s->trial->rounds;

	for (uint32_t i = 0; !rounds || i < rounds; i++) {
		trial_mishap(s, t);
		cpu_work(t, 100 * SIM_NS);
		task_sync(t);
		s->rounds++;
		if (s->trial->stops)
			sim_stop(t->sim);
		task_sleep(t, 1 + (sim_time_t)(stream_uniform(s->stream) * 2 * (double)s->trial->pause));
	}
	if (rounds)
		run_release(s->run);
}

/* The models of the tree run beside this one and have the places that are made for a model's state. */
static struct trial_state *trial_now;

static inline void trial_build(struct run *run)
{
	const struct trial *trial = scenario_section(run->scenario, "trial");

	trial_now = sim_alloc(run->sim, sizeof(*trial_now));
	*trial_now = (struct trial_state){ run, trial, 0, stream_open(run->sim, "trial", "pause") };
	for (uint32_t i = 0; i < trial->tasks; i++) {
		if (trial->rounds)
			run_hold(run);
		task_spawn(run->sim,
			   &(struct task_attr){
				   .name = "trial", .run = trial_task, .arg = trial_now, .cpu = -1 });
	}
}

static inline void trial_measure(struct run *run)
{
	assert_false(run->measuring);
	trial_now->rounds = 0;
}

static inline void trial_sample(struct run *run, sim_time_t now)
{
	assert_true(run->measuring);
	record_sample(run->record, &trial_metrics[1], "all", now, sim_nanoseconds(now));
}

static inline void trial_finish(struct run *run)
{
	record_summary(run->record, &trial_metrics[0], "all", (double)trial_now->rounds);
	record_invariant(run->record, "trial.whole", trial_now->trial->mishap != MISHAP_BROKEN,
			 "broken on purpose");
}

static const struct model_ops trial_ops = {
	.build = trial_build,
	.measure = trial_measure,
	.sample = trial_sample,
	.finish = trial_finish,
};

MODULE(trial_model) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_MODEL,
	.name = "trial",
	.help = "the test's own",
	.ops = &trial_ops,
	.order = 900,
};

/* A scenario with these lines for `trial:` and `run:`; its mistakes are shown, and fail the test. */
static inline struct scenario_set *trial_scenario(const char *trial, const char *run)
{
	char text[512];
	struct complaints *c = complaints_new();

	snprintf(text, sizeof(text),
		 "schema: 1\nscenario: trial\nkernel: v6.6\nhost: { cpus: 4 }\ntrial: { %s }\nrun: { %s }\n",
		 trial, run);
	struct scenario_set *set = scenario_load(
		&(struct scenario_source){ .path = "trial.yaml", .text = text }, c);

	complaints_print(c, stderr);
	complaints_free(c);
	assert_non_null(set);
	return set;
}

#endif
