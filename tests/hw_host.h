/*
 * hw_host.h - a small host for the tests of sim/hw: a machine of round costs and tasks pinned to its CPUs.
 *
 * Costs that a test does not look at are zero, so that closed forms come out exactly.
 */
#ifndef TESTS_HW_HOST_H
#define TESTS_HW_HOST_H

/* cmocka.h needs these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sim/hw/lock.h"
#include "sim/hw/rcu.h"
#include "sim/hw/task.h"
#include "sim/hw/work.h"
#include "tests/draw.h"

#define HZ 250

static inline struct machine plain_machine(uint32_t cpus)
{
	return (struct machine){
		.cpus = cpus,
		.nodes = 1,
		.threads_per_core = 1,
		.hz = HZ,
		.slice = 3 * SIM_MS,
		.latency = 24 * SIM_MS,
		.wakeup_granularity = 4 * SIM_MS,
		.bandwidth_slice = 5 * SIM_MS,
		.rcu_gp_start = 100 * SIM_US,
		.rcu_gp_poll = 4 * SIM_MS,
	};
}

static inline struct sim *host_new_as(const struct machine *m, enum preempt_model preempt, bool naive)
{
	const struct sim_config config = { .seed = 1, .naive = naive, .cross_check = true };
	const struct sched_config sched = { .machine = m, .preempt = preempt };
	struct sim *sim = sim_create(&config);

	assert_non_null(sim);
	sched_init(sim, &sched);
	return sim;
}

static inline struct sim *host_new(const struct machine *m)
{
	return host_new_as(m, PREEMPT_VOLUNTARY, false);
}

static inline struct task *host_task(struct sim *sim, uint32_t cpu, void (*run)(struct task *t, void *arg),
				     void *arg)
{
	const struct task_attr attr = { .name = "test", .run = run, .arg = arg, .cpu = (int32_t)cpu };

	return task_spawn(sim, &attr);
}

/* Runs until nothing is left to do. */
static inline void host_finish(struct sim *sim)
{
	enum sim_end end = sim_run(sim, 1000 * SIM_SEC);

	if (sim_error(sim))
		fail_msg("%s", sim_error(sim));
	assert_int_equal(end, SIM_END_IDLE);
	assert_int_equal(sim_sched(sim)->nr_tasks, 0);
}

/* Runs for a while; tasks may be left (workers are). */
static inline void host_run(struct sim *sim, sim_time_t until)
{
	sim_run(sim, until);
	if (sim_error(sim))
		fail_msg("%s", sim_error(sim));
}

#endif
