/*
 * test_bandwidth.c - cpu.max: throughput is quota over period, at every level; throttling is seen and ends.
 */
#include "tests/hw_host.h"

#include <math.h>

#define PERIOD (100 * SIM_MS)

static void run_for_ever(struct task *t, void *arg)
{
	(void)arg;
	for (;;)
		user_work(t, 100 * SIM_MS);
}

/* A system call of 3 ms in every 4: kernel work that runs over the end of the quota. */
static void system_calls(struct task *t, void *arg)
{
	(void)arg;
	for (;;) {
		cpu_work(t, 3 * SIM_MS);
		user_work(t, SIM_MS);
	}
}

static struct task *spawn_in(struct sim *sim, struct bandwidth *b, int32_t cpu,
			     void (*run)(struct task *t, void *arg), void *arg)
{
	return task_spawn(
		sim,
		&(struct task_attr){ .name = "limited", .run = run, .arg = arg, .cpu = cpu, .bandwidth = b });
}

static sim_time_t cpu_time(const struct sim *sim)
{
	sim_time_t clocks[NR_TASK_CLOCKS];

	sched_clocks(sim, clocks);
	return clocks[CLOCK_USER] + clocks[CLOCK_SYS];
}

static void assert_within(double value, double expected, double share)
{
	if (fabs(value - expected) > share * expected)
		fail_msg("%g is not within %g %% of %g", value, 100 * share, expected);
}

/* CPU time used by `nr` tasks on four CPUs, as a share of one CPU; 20 s after a warm-up of 1 s. */
static double throughput(uint32_t nr, int32_t cpu, sim_time_t quota, void (*run)(struct task *t, void *arg))
{
	struct machine m = plain_machine(4);
	struct sim *sim = host_new(&m);
	struct bandwidth *b = bandwidth_create(sim, quota, PERIOD, NULL);

	for (uint32_t i = 0; i < nr; i++)
		spawn_in(sim, b, cpu, run, NULL);
	host_run(sim, SIM_SEC);
	sim_time_t before = cpu_time(sim);

	host_run(sim, 21 * SIM_SEC);
	double share = sim_seconds(cpu_time(sim) - before) / 20;

	assert_true(bandwidth_nr_throttled(b) > 150);
	sim_destroy(sim);
	return share;
}

static void throughput_is_quota_over_period(void **state)
{
	(void)state;
	assert_within(throughput(1, 0, 20 * SIM_MS, run_for_ever), 0.2, 0.01);
	assert_within(throughput(1, 0, 7 * SIM_MS, run_for_ever), 0.07, 0.01);
	assert_within(throughput(4, -1, 250 * SIM_MS, run_for_ever), 2.5, 0.01);
	assert_within(throughput(9, -1, 90 * SIM_MS, run_for_ever), 0.9, 0.01);
	assert_within(throughput(3, 2, 50 * SIM_MS, run_for_ever), 0.5, 0.01);
	assert_within(throughput(2, -1, 30 * SIM_MS, system_calls), 0.3, 0.01);
}

static void no_limit_that_is_not_reached(void **state)
{
	const struct machine m = plain_machine(2);
	struct sim *sim = host_new(&m);
	struct bandwidth *b = bandwidth_create(sim, 200 * SIM_MS, PERIOD, NULL);

	(void)state;
	spawn_in(sim, b, -1, run_for_ever, NULL);
	host_run(sim, 10 * SIM_SEC);
	assert_int_equal(cpu_time(sim), 10 * SIM_SEC);
	assert_int_equal(bandwidth_nr_throttled(b), 0);
	assert_int_equal(bandwidth_throttled_time(sim, b), 0);
	sim_destroy(sim);
}

/* ---- groups in groups ---- */

static double child_share(sim_time_t parent_quota, sim_time_t child_quota, double *sibling)
{
	const struct machine m = plain_machine(4);
	struct sim *sim = host_new(&m);
	struct bandwidth *parent = bandwidth_create(sim, parent_quota, PERIOD, NULL);
	struct bandwidth *child = bandwidth_create(sim, child_quota, PERIOD / 2, parent);
	struct task *in_child = spawn_in(sim, child, 0, run_for_ever, NULL);
	struct task *in_parent = spawn_in(sim, parent, 1, run_for_ever, NULL);

	host_run(sim, 20 * SIM_SEC);
	*sibling = sim_seconds(in_parent->clocks[CLOCK_USER]) / 20;
	double share = sim_seconds(in_child->clocks[CLOCK_USER]) / 20;

	sim_destroy(sim);
	return share;
}

static void limits_hold_at_every_level(void **state)
{
	double sibling, child = child_share(60 * SIM_MS, 10 * SIM_MS, &sibling);

	(void)state;
	assert_within(child, 0.2, 0.02); /* its own limit; the rest of the parent's is its sibling's */
	assert_within(sibling + child, 0.6, 0.01);
	child = child_share(60 * SIM_MS, 45 * SIM_MS, &sibling);
	assert_true(child < 0.6);
	assert_within(sibling + child, 0.6, 0.01);
}

/* ---- throttled time ---- */

static void throttled_time_is_counted(void **state)
{
	const struct machine m = plain_machine(1);
	struct sim *sim = host_new(&m);
	struct bandwidth *b = bandwidth_create(sim, 30 * SIM_MS, PERIOD, NULL);

	(void)state;
	spawn_in(sim, b, 0, run_for_ever, NULL);
	host_run(sim, 10 * PERIOD - 1);
	/* 30 ms of each period it runs, 70 ms it is parked; the last one is still going on. */
	assert_int_equal(bandwidth_nr_throttled(b), 10);
	assert_int_equal(bandwidth_throttled_time(sim, b), 700 * SIM_MS - 1);
	assert_int_equal(cpu_time(sim), 300 * SIM_MS);
	assert_int_equal(cpu_busy(sim, &sim_sched(sim)->cpus[0]), 300 * SIM_MS);
	sim_destroy(sim);
}

struct convoy {
	struct mutex mutex;
	sim_time_t released, got;
};

static void hold(struct task *t, void *arg)
{
	struct convoy *c = arg;

	mutex_lock(t, &c->mutex);
	for (int i = 0; i < 40; i++) { /* 40 ms of kernel work that gives way each millisecond */
		cpu_work(t, SIM_MS);
		cond_resched(t);
	}
	mutex_unlock(t, &c->mutex);
	c->released = sim_now(t->sim);
}

static void want(struct task *t, void *arg)
{
	struct convoy *c = arg;

	cpu_work(t, SIM_MS);
	mutex_lock(t, &c->mutex);
	c->got = sim_now(t->sim);
	mutex_unlock(t, &c->mutex);
}

/* A holder that is throttled comes back in the next period, and lets the waiter wait until then. */
static void a_throttled_holder_comes_back(void **state)
{
	const struct machine m = plain_machine(2);
	struct sim *sim = host_new(&m);
	struct convoy c = { .released = 0 };
	struct bandwidth *b = bandwidth_create(sim, 25 * SIM_MS, PERIOD, NULL);

	(void)state;
	mutex_init(&c.mutex, lock_class(sim, "mutex"));
	spawn_in(sim, b, 0, hold, &c);
	host_task(sim, 1, want, &c);
	host_finish(sim);
	assert_int_equal(bandwidth_nr_throttled(b), 1);
	assert_int_equal(bandwidth_throttled_time(sim, b), 75 * SIM_MS);
	assert_int_equal(c.released, 115 * SIM_MS);
	assert_int_equal(c.got, 115 * SIM_MS);
	sim_destroy(sim);
}

static void hold_atomic(struct task *t, void *arg)
{
	preempt_disable(t);
	cpu_work(t, 250 * SIM_MS);
	preempt_enable(t);
	cond_resched(t);
	task_sync(t);
	*(sim_time_t *)arg = sim_now(t->sim);
}

/* What ran over in a section is a debt: it is paid before the task runs again. */
static void debts_are_paid(void **state)
{
	const struct machine m = plain_machine(1);
	struct sim *sim = host_new(&m);
	struct bandwidth *b = bandwidth_create(sim, 50 * SIM_MS, PERIOD, NULL);
	sim_time_t end = 0;

	(void)state;
	spawn_in(sim, b, 0, hold_atomic, &end);
	host_finish(sim);
	/* 250 ms of use: 50 each at 0, 100, 200, 300, 400 ms; the next quota lets it go on. */
	assert_int_equal(end, 500 * SIM_MS);
	sim_destroy(sim);
}

/* ---- slack ---- */

struct turn {
	sim_time_t begin, work, end;
};

static void take_turn(struct task *t, void *arg)
{
	struct turn *turn = arg;

	user_work(t, turn->work);
	task_sync(t);
	turn->end = sim_now(t->sim);
}

/*
 * The quota is 10 ms. The first task takes a slice of 5 ms on its CPU, uses 1 ms and ends; but for 1 ms the
 * rest goes back, so that another CPU has 10 - 1 - 1 = 8 ms left in this period, and not 5.
 */
static void slack_goes_back_to_the_pool(void **state)
{
	const struct machine m = plain_machine(2);
	struct sim *sim = host_new(&m);
	struct bandwidth *b = bandwidth_create(sim, 10 * SIM_MS, PERIOD, NULL);
	struct turn first = { .work = SIM_MS }, second = { .work = 8 * SIM_MS - 1 };

	(void)state;
	spawn_in(sim, b, 0, take_turn, &first);
	task_spawn(sim, &(struct task_attr){ .name = "second",
					     .run = take_turn,
					     .arg = &second,
					     .cpu = 1,
					     .bandwidth = b,
					     .start = 2 * SIM_MS });
	host_finish(sim);
	assert_int_equal(first.end, SIM_MS);
	assert_int_equal(second.end, 10 * SIM_MS - 1);
	assert_int_equal(bandwidth_nr_throttled(b), 0);
	sim_destroy(sim);
}

/* A group that moves takes its time with it: nothing is lost on CPUs that it has left. */
static void a_task_that_moves_is_not_starved(void **state)
{
	const struct machine m = plain_machine(4);
	struct sim *sim = host_new_as(&m, PREEMPT_FULL, false);
	struct bandwidth *b = bandwidth_create(sim, 40 * SIM_MS, PERIOD, NULL);
	struct task *t = spawn_in(sim, b, -1, run_for_ever, NULL);
	struct turn turns[3] = { { .work = SIM_SEC }, { .work = SIM_SEC }, { .work = SIM_SEC } };

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		host_task(sim, i, take_turn, &turns[i]);
	for (uint32_t i = 0; i < 20; i++) /* pinned work that drives it from CPU to CPU */
		task_spawn(sim, &(struct task_attr){ .name = "turn",
						     .run = take_turn,
						     .arg = &turns[0],
						     .cpu = (int32_t)(i % 4),
						     .start = i * SIM_SEC + 100 * SIM_MS });
	host_run(sim, 20 * SIM_SEC);
	assert_in_range(t->migrations, 2, 1000);
	assert_within(sim_seconds(t->clocks[CLOCK_USER]), 8, 0.02);
	sim_destroy(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(throughput_is_quota_over_period),
		cmocka_unit_test(no_limit_that_is_not_reached),
		cmocka_unit_test(limits_hold_at_every_level),
		cmocka_unit_test(throttled_time_is_counted),
		cmocka_unit_test(a_throttled_holder_comes_back),
		cmocka_unit_test(debts_are_paid),
		cmocka_unit_test(slack_goes_back_to_the_pool),
		cmocka_unit_test(a_task_that_moves_is_not_starved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
