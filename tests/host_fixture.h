/*
 * host_fixture.h - a host from a few lines of scenario, for tests that run tasks of their own on it.
 *
 * Built by the model itself, as a run builds it; the test then spawns its tasks, lets time pass, and looks at
 * whatever it likes. `base` below is a scenario without cgroups: append to it.
 */
#ifndef TESTS_HOST_FIXTURE_H
#define TESTS_HOST_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/cgroup/memcg.h"
#include "models/host/host.h"
#include "sim/experiment/run.h"
#include "sim/hw/task.h"
#include "sim/module.h"
#include "sim/scenario/scenario.h"

#define FIXTURE_BASE(cpus_, batch_, stock_)                                                          \
	"schema: 1\nscenario: test\nhost: { cpus: " #cpus_ ", nodes: 1, memory: 1GiB }\n"           \
	"policies: { stat_update: rstat_global_threshold, flush: unified, rstat_lock: spin_yield,\n" \
	"  rstat_updated: cpu_lock, charge_batch: " #batch_ ", charge_stock: " #stock_ " }\n"

struct fixture {
	struct complaints *complaints;
	struct scenario_set *set;
	struct run run;
	struct host *host;
	int spawned, ended; /* tasks of the test */
};

static inline const struct model_ops *fixture_model(void)
{
	return module_find(MODULE_MODEL, NULL, "host")->ops;
}

/* The scenario's mistakes as text, "" if it has none; the set is freed. */
static inline void fixture_complaints(const char *text, char *out, size_t size)
{
	struct complaints *c = complaints_new();
	struct scenario_set *set = scenario_load(
		&(struct scenario_source){ .path = "test.yaml", .text = text }, c);
	FILE *f = fmemopen(out, size, "w");

	assert_non_null(f);
	complaints_print(c, f);
	fclose(f);
	if (!complaints_count(c))
		out[0] = '\0';
	if (set)
		scenario_free(set);
	complaints_free(c);
}

static inline void fixture_open_as(struct fixture *f, const char *text, bool naive)
{
	assert_true(modules_init());
	memset(f, 0, sizeof *f);
	f->complaints = complaints_new();
	f->set = scenario_load(&(struct scenario_source){ .path = "test.yaml", .text = text }, f->complaints);
	if (!f->set)
		complaints_print(f->complaints, stderr);
	assert_non_null(f->set);
	f->run.scenario = scenario_variant(f->set, 0);
	run_hold(&f->run); /* for good: no experiment is around it that the last one done could end */
	f->run.record = record_new(64);
	f->run.sim = sim_create(&(struct sim_config){ .seed = 1, .naive = naive, .cross_check = true });
	assert_non_null(f->run.sim);
	sched_init(f->run.sim, &(struct sched_config){ .machine = scenario_machine(f->run.scenario) });
	fixture_model()->build(&f->run);
	f->host = f->run.model;
}

static inline void fixture_open(struct fixture *f, const char *text)
{
	fixture_open_as(f, text, false);
}

struct fixture_task {
	struct fixture *f;
	void (*run)(struct task *t, void *arg);
	void *arg;
};

static inline void fixture_task_main(struct task *t, void *arg)
{
	struct fixture_task *ft = arg;

	ft->run(t, ft->arg);
	ft->f->ended++;
}

/* A task that no workload and no cgroup knows of (its owner is NULL, as a kernel thread's). */
static inline void fixture_spawn(struct fixture *f, uint32_t cpu, void (*run)(struct task *t, void *arg),
				 void *arg)
{
	struct fixture_task *ft = sim_alloc(f->run.sim, sizeof *ft);

	*ft = (struct fixture_task){ .f = f, .run = run, .arg = arg };
	task_spawn(f->run.sim, &(struct task_attr){
				       .name = "test",
				       .run = fixture_task_main,
				       .arg = ft,
				       .cpu = (int32_t)cpu,
			       });
	f->spawned++;
}

/*
 * Lets a second pass, which is more than any test needs, and all tasks of the test come to their end in it.
 */
static inline void fixture_run(struct fixture *f)
{
	sim_run(f->run.sim, sim_now(f->run.sim) + SIM_SEC);
	assert_null(sim_error(f->run.sim));
	assert_int_equal(f->ended, f->spawned);
}

static inline void fixture_close(struct fixture *f)
{
	record_free(f->run.record);
	sim_destroy(f->run.sim);
	scenario_free(f->set);
	complaints_free(f->complaints);
}

/* The model's own results and invariants; true if all hold. */
static inline bool fixture_holds(struct fixture *f)
{
	fixture_model()->finish(&f->run);
	if (record_invariants_broken(f->run.record))
		fprintf(stderr, "%s", record_invariants_text(f->run.record));
	return !record_invariants_broken(f->run.record);
}

/* A record of what a check finds on a host that was broken on purpose; its text names `what`. */
static inline void fixture_expect_broken(struct fixture *f, void (*check)(struct host *, struct record *),
					 const char *what)
{
	struct record *record = record_new(64);

	check(f->host, record);
	assert_true(record_invariants_broken(record) > 0);
	assert_non_null(strstr(record_invariants_text(record), what));
	record_free(record);
}

#endif
