/*
 * test_timer.c - the rounding of the timer wheel, and deferrable timers.
 */
#include "tests/hw_host.h"

#define TICK (SIM_SEC / HZ)

/* Worked out by hand from calc_wheel_index() of Linux 6.1: tick now, tick asked for, tick of expiry. */
static void the_wheel_rounds_up_by_level(void **state)
{
	static const struct {
		uint64_t now, expires, fires;
	} table[] = {
		{ 0, 0, 1 },         { 0, 1, 2 },         { 100, 101, 102 },
		{ 0, 62, 63 }, /* exact, and one */
		{ 0, 63, 64 },       { 0, 64, 72 },       { 0, 71, 72 },
		{ 1, 64, 72 }, /* of 8 */
		{ 0, 500, 504 },     { 0, 503, 504 },     { 4, 504, 512 },
		{ 3, 503, 504 },     { 0, 504, 512 },     { 0, 511, 512 },
		{ 0, 512, 576 },     { 7, 600, 640 }, /* of 64 */
		{ 0, 4031, 4032 },   { 0, 4032, 4096 },   { 0, 4096, 4608 },
		{ 9, 32000, 32256 },                      /* of 512 */
		{ 0, 32256, 32768 }, { 0, 32768, 36864 }, /* of 4096 */
		{ 50, 40, 50 },                           /* past */
	};

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		assert_int_equal(ktimer_wheel(table[i].now, table[i].expires), table[i].fires);
}

static void the_wheel_is_never_early_and_late_by_its_granularity(void **state)
{
	uint64_t random = 5;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		uint64_t now = draw(&random, 1000000),
			 delta = draw(&random, (uint64_t)1 << draw(&random, 31));
		uint64_t fires = ktimer_wheel(now, now + delta), granularity = 1;

		for (uint64_t reach = 63; delta >= reach && granularity < (uint64_t)1 << 24; reach *= 8)
			granularity *= 8;
		if (delta >= (uint64_t)63 << 24) { /* beyond the wheel: as late as it can */
			assert_true(fires <= now + ((uint64_t)63 << 24));
			continue;
		}
		assert_true(fires > now + delta);
		assert_true(fires <= now + delta + granularity);
		assert_int_equal(fires % granularity, 0);
	}
}

struct alarm {
	struct ktimer timer;
	sim_time_t fired;
	uint32_t times;
};

static void ring(struct sim *sim, struct ktimer *timer)
{
	struct alarm *a = (struct alarm *)(void *)timer;

	a->fired = sim_now(sim);
	a->times++;
}

static void sets_alarms(struct task *t, void *arg)
{
	struct alarm *a = arg;

	cpu_work(t, 5 * TICK + TICK / 2);
	task_sync(t);
	ktimer_arm(&a[0].timer, 0, 1);
	ktimer_arm(&a[1].timer, 0, 500);
	ktimer_arm(&a[2].timer, 0, 3);
	ktimer_arm(&a[2].timer, 0, 10); /* moved */
	ktimer_arm(&a[3].timer, 0, 3);
	assert_true(ktimer_pending(&a[3].timer));
	ktimer_cancel(&a[3].timer);
	assert_false(ktimer_pending(&a[3].timer));
}

static void timers_fire_on_ticks(void **state)
{
	struct machine m = plain_machine(1);
	struct sim *sim = host_new(&m);
	struct alarm a[4] = { { .times = 0 } };

	(void)state;
	for (int i = 0; i < 4; i++)
		ktimer_init(sim, &a[i].timer, ring);
	host_task(sim, 0, sets_alarms, a);
	host_finish(sim);
	assert_int_equal(a[0].fired, 7 * TICK);
	assert_int_equal(a[1].fired, 512 * TICK);
	assert_int_equal(a[2].fired, 16 * TICK);
	assert_int_equal(a[2].times, 1);
	assert_int_equal(a[3].times, 0);
	ktimer_release(&a[3].timer);
	sim_destroy(sim);
}

/* HZ 300 has no whole number of picoseconds in a tick. */
static void ticks_of_any_hz_keep_their_number(void **state)
{
	static const uint32_t hz[] = { 100, 250, 300, 1000, 1024, 999 };

	(void)state;
	for (size_t i = 0; i < sizeof hz / sizeof hz[0]; i++) {
		struct machine m = plain_machine(1);
		struct alarm a = { .times = 0 };

		m.hz = hz[i];
		struct sim *sim = host_new(&m);

		ktimer_init(sim, &a.timer, ring);
		for (uint64_t k = 2; k < 5000; k += 2) {
			ktimer_arm(&a.timer, 0, 1); /* from tick k - 2 to tick k */
			host_run(sim, k * SIM_SEC / hz[i] + 2);
			assert_int_equal(a.times, k / 2);
			assert_in_range(a.fired, k * SIM_SEC / hz[i], k * SIM_SEC / hz[i] + 1);
			sim_run(sim, a.fired);
		}
		sim_destroy(sim);
	}
}

static void busy_at_last(struct task *t, void *arg)
{
	(void)arg;
	user_work(t, 3 * TICK / 4); /* over before a tick: 50.1 to 50.85 */
	task_sleep(t, 10 * TICK);
	user_work(t, 3 * TICK); /* 60.85 to 63.85 */
}

/* Due at tick 11 on an idle CPU; that is busy first between two ticks, then at tick 61. */
static void a_deferrable_timer_waits_for_a_tick_that_is_not_idle(void **state)
{
	struct machine m = plain_machine(2);
	struct sim *sim = host_new(&m);
	struct alarm deferrable = { .times = 0 }, plain = { .times = 0 }, elsewhere = { .times = 0 };
	struct task_attr attr = {
		.name = "late", .run = busy_at_last, .cpu = 0, .start = 50 * TICK + TICK / 10
	};

	(void)state;
	ktimer_init(sim, &deferrable.timer, ring);
	ktimer_init(sim, &elsewhere.timer, ring);
	ktimer_init(sim, &plain.timer, ring);
	deferrable.timer.deferrable = elsewhere.timer.deferrable = true;
	ktimer_arm(&deferrable.timer, 0, 10);
	ktimer_arm(&plain.timer, 0, 10);
	ktimer_arm(&elsewhere.timer, 1, 10);
	task_spawn(sim, &attr);
	host_run(sim, 20 * TICK);
	assert_int_equal(plain.fired, 11 * TICK);
	assert_int_equal(deferrable.times, 0);
	assert_true(ktimer_pending(&deferrable.timer));
	host_finish(sim);
	assert_int_equal(deferrable.times, 1);
	assert_int_equal(deferrable.fired, 61 * TICK);
	assert_int_equal(elsewhere.times, 0); /* its CPU never runs, and no event is spent on it */
	assert_true(ktimer_pending(&elsewhere.timer));
	ktimer_cancel(&elsewhere.timer);
	assert_false(ktimer_pending(&elsewhere.timer));
	sim_destroy(sim);
}

static void nothing(struct sim *sim, struct rcu_head *head)
{
	(void)sim;
	(void)head;
}

/* Busy between two ticks only, but what it leaves to RCU keeps the tick of its CPU, not of the other one. */
static void leaves_a_callback(struct task *t, void *arg)
{
	task_sync(t);
	call_rcu_on(t->sim, t->cpu->id, arg, nothing);
}

static void a_deferrable_timer_runs_on_an_idle_cpu_with_callbacks(void **state)
{
	struct machine m = plain_machine(2);

	m.rcu_gp_poll = 3 * TICK;
	struct sim *sim = host_new(&m);
	struct alarm here = { .times = 0 }, elsewhere = { .times = 0 };
	struct rcu_head callback;
	struct task_attr attr = {
		.name = "closer", .run = leaves_a_callback, .arg = &callback, .start = 50 * TICK + TICK / 10
	};

	(void)state;
	ktimer_init(sim, &here.timer, ring);
	ktimer_init(sim, &elsewhere.timer, ring);
	here.timer.deferrable = elsewhere.timer.deferrable = true;
	ktimer_arm(&here.timer, 0, 10);
	ktimer_arm(&elsewhere.timer, 1, 10);
	task_spawn(sim, &attr);
	host_finish(sim);
	assert_int_equal(here.fired, 51 * TICK);
	assert_int_equal(elsewhere.times, 0);
	assert_false(rcu_needs_cpu(sim, 0));
	ktimer_cancel(&elsewhere.timer);
	sim_destroy(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_wheel_rounds_up_by_level),
		cmocka_unit_test(the_wheel_is_never_early_and_late_by_its_granularity),
		cmocka_unit_test(timers_fire_on_ticks),
		cmocka_unit_test(ticks_of_any_hz_keep_their_number),
		cmocka_unit_test(a_deferrable_timer_waits_for_a_tick_that_is_not_idle),
		cmocka_unit_test(a_deferrable_timer_runs_on_an_idle_cpu_with_callbacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
