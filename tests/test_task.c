/*
 * test_task.c - the life of tasks: start, sleep, deadlines, wake-ups, end; and what is left of them.
 */
#include "tests/hw_host.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef SANITIZED
#define NR_SHORT_TASKS 100000 /* a new stack has 32 KiB of shadow to clear */
#else
#define NR_SHORT_TASKS 1000000
#endif

struct sleeper {
	sim_time_t d, begin, end;
	bool woken;
};

static void block_for(struct task *t, void *arg)
{
	struct sleeper *s = arg;

	cpu_work(t, SIM_MS);
	task_sync(t);
	s->begin = sim_now(t->sim);
	s->woken = s->d == SIM_NEVER ? task_block(t) : task_block_until(t, s->d);
	s->end = sim_now(t->sim);
}

static void sleep_for(struct task *t, void *arg)
{
	struct sleeper *s = arg;

	cpu_work(t, SIM_MS);
	task_sleep(t, s->d);
	s->end = sim_now(t->sim);
}

struct waker {
	struct task *target;
	sim_time_t at, every;
	uint32_t times, woken;
};

static void wake_often(struct task *t, void *arg)
{
	struct waker *w = arg;

	cpu_work(t, w->at);
	for (uint32_t i = 0; i < w->times; i++) {
		w->woken += task_wake(t->sim, t, w->target);
		cpu_work(t, w->every);
	}
}

static struct sleeper block_and_wake(sim_time_t deadline, sim_time_t wake_at)
{
	const struct machine m = plain_machine(2);
	struct sim *sim = host_new(&m);
	struct sleeper s = { .d = deadline };
	struct waker w = { .target = host_task(sim, 0, block_for, &s), .at = wake_at, .times = 1 };

	if (wake_at)
		host_task(sim, 1, wake_often, &w);
	host_finish(sim);
	sim_destroy(sim);
	return s;
}

static void deadlines_and_wakeups(void **state)
{
	(void)state;
	struct sleeper s = block_and_wake(SIM_NEVER, 5 * SIM_MS);

	assert_true(s.woken);
	assert_int_equal(s.end, 5 * SIM_MS);
	s = block_and_wake(7 * SIM_MS, 5 * SIM_MS);
	assert_true(s.woken);
	assert_int_equal(s.end, 5 * SIM_MS);
	s = block_and_wake(7 * SIM_MS, 0);
	assert_false(s.woken);
	assert_int_equal(s.end, 7 * SIM_MS);
}

/* A deadline of now or earlier is over at once: the timer must find the task asleep. */
static void deadlines_that_are_over(void **state)
{
	(void)state;
	for (sim_time_t d = 0; d <= SIM_MS; d += SIM_MS / 2) {
		struct sleeper s = block_and_wake(d, 0);

		assert_false(s.woken);
		assert_int_equal(s.end, SIM_MS);
	}
}

static void work_20ms(struct task *t, void *arg)
{
	(void)arg;
	cpu_work(t, 20 * SIM_MS);
}

/* Woken in time, but its CPU is taken until long after its deadline. */
static void woken_first_and_late_on_the_cpu(void **state)
{
	const struct machine m = plain_machine(2);
	struct sim *sim = host_new(&m);
	struct sleeper s = { .d = 7 * SIM_MS };
	struct waker w = { .target = host_task(sim, 0, block_for, &s), .at = 5 * SIM_MS, .times = 1 };

	(void)state;
	host_task(sim, 0, work_20ms, NULL);
	host_task(sim, 1, wake_often, &w);
	host_finish(sim);
	assert_true(s.woken);
	assert_int_equal(s.end, 21 * SIM_MS);
	sim_destroy(sim);
}

static void sleep_is_not_cut_short(void **state)
{
	const struct machine m = plain_machine(2);
	struct sim *sim = host_new(&m);
	struct sleeper s = { .d = 10 * SIM_MS };
	struct waker w = { .target = host_task(sim, 0, sleep_for, &s), .every = SIM_MS / 2, .times = 20 };

	(void)state;
	host_task(sim, 1, wake_often, &w);
	host_finish(sim);
	assert_int_equal(s.end, 11 * SIM_MS);
	/* At 0 and 0.5 ms it runs, at 1 ms CPU 0 is first and asleep; then it is back asleep for each. */
	assert_int_equal(w.woken, 18);
	sim_destroy(sim);
}

static void starts_in_time(void **state)
{
	const struct machine m = plain_machine(1);
	struct sim *sim = host_new(&m);
	struct sleeper s = { .d = 0 };

	(void)state;
	task_spawn(sim,
		   &(struct task_attr){
			   .name = "late", .run = sleep_for, .arg = &s, .cpu = -1, .start = 3 * SIM_MS });
	host_finish(sim);
	assert_int_equal(s.end, 4 * SIM_MS);
	sim_destroy(sim);
}

/* ---- what operations cost whom ---- */

static void costs_of_switching(void **state)
{
	struct machine m = plain_machine(2);
	struct sleeper s = { .d = SIM_NEVER };

	(void)state;
	m.context_switch = 2 * SIM_US;
	m.wakeup = 3 * SIM_US;
	m.wakeup_remote = 5 * SIM_US;
	m.migration = 7 * SIM_US;
	struct sim *sim = host_new(&m);
	struct waker w = { .target = host_task(sim, 0, block_for, &s), .at = 5 * SIM_MS, .times = 1 };
	sim_time_t clocks[NR_TASK_CLOCKS];

	host_task(sim, 1, wake_often, &w);
	host_run(sim, 2 * SIM_MS);
	assert_int_equal(s.begin, SIM_MS + 7 * SIM_US); /* to wake an idle CPU, and to switch */
	host_finish(sim);
	assert_int_equal(s.end, 5 * SIM_MS + 7 * SIM_US + 7 * SIM_US);
	sched_clocks(sim, clocks);
	assert_int_equal(clocks[CLOCK_SYS], 6 * SIM_MS + 3 * 7 * SIM_US + 3 * SIM_US);
	sim_destroy(sim);
}

static void move_once(struct task *t, void *arg)
{
	cpu_work(t, SIM_MS);
	task_pin(t, 1);
	*(sim_time_t *)arg = sim_now(t->sim);
	assert_int_equal(t->migrations, 1);
}

static void cost_of_moving(void **state)
{
	struct machine m = plain_machine(2);
	sim_time_t end = 0;

	(void)state;
	m.context_switch = 2 * SIM_US;
	m.migration = 7 * SIM_US;
	struct sim *sim = host_new(&m);

	host_task(sim, 0, move_once, &end);
	host_finish(sim);
	assert_int_equal(end, SIM_MS + 2 * 2 * SIM_US + 7 * SIM_US);
	sim_destroy(sim);
}

/* ---- the end ---- */

struct crowd {
	uint32_t ran, ended;
	size_t committed, resident;
};

static void be_short(struct task *t, void *arg)
{
	struct crowd *c = arg;

	cpu_work(t, SIM_US);
	task_sync(t);
	c->ran++;
}

static void count_end(struct task *t)
{
	((struct crowd *)t->arg)->ended++;
}

static size_t resident_pages(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	size_t total, resident;

	assert_int_equal(fscanf(f, "%zu %zu", &total, &resident), 2);
	fclose(f);
	return resident;
}

static void spawn_many(struct task *t, void *arg)
{
	struct crowd *c = arg;

	for (uint32_t i = 0; i < NR_SHORT_TASKS; i++) {
		task_sync(t);
		task_spawn(t->sim, &(struct task_attr){ .name = "short",
							.run = be_short,
							.arg = c,
							.on_exit = count_end,
							.cpu = -1 });
		if (i == NR_SHORT_TASKS / 10) {
			c->committed = arena_committed(sim_arena(t->sim));
			c->resident = resident_pages();
		}
		cpu_work(t, 2 * SIM_US);
	}
}

static void short_tasks_leave_nothing(void **state)
{
	const struct machine m = plain_machine(4);
	struct sim *sim = sim_create(&(struct sim_config){ .seed = 1 });
	struct crowd c = { 0 };

	(void)state;
	sched_init(sim, &(struct sched_config){ .machine = &m });
	host_task(sim, 0, spawn_many, &c);
	host_finish(sim);
	assert_int_equal(c.ran, NR_SHORT_TASKS);
	assert_int_equal(c.ended, NR_SHORT_TASKS);
	assert_int_equal(arena_committed(sim_arena(sim)), c.committed);
	assert_true(resident_pages() < c.resident + 256);
	sim_time_t clocks[NR_TASK_CLOCKS];

	sched_clocks(sim, clocks);
	assert_int_equal(clocks[CLOCK_SYS], NR_SHORT_TASKS * 3 * SIM_US);
	sim_destroy(sim);
}

static void sleep_twice(struct task *t, void *arg)
{
	task_sleep(t, SIM_MS);
	task_sleep(t, SIM_NEVER - SIM_US);
	*(bool *)arg = true;
}

/* Its end would lie beyond the end of time, not before now. */
static void sleep_for_ever(void **state)
{
	const struct machine m = plain_machine(1);
	struct sim *sim = host_new(&m);
	bool woke = false;

	(void)state;
	host_task(sim, 0, sleep_twice, &woke);
	sim_run(sim, SIM_SEC);
	assert_null(sim_error(sim));
	assert_false(woke);
	sim_destroy(sim);
}

/* ---- misuse ---- */

static void sleep_atomic(struct task *t, void *arg)
{
	(void)arg;
	preempt_disable(t);
	task_sleep(t, SIM_US);
}

static void end_atomic(struct task *t, void *arg)
{
	(void)arg;
	local_irq_disable(t);
}

static void move_atomic(struct task *t, void *arg)
{
	(void)arg;
	preempt_disable(t);
	task_pin(t, 1);
}

static void sections_are_left_before_giving_way(void **state)
{
	static void (*const bodies[])(struct task * t, void *arg) = { sleep_atomic, end_atomic, move_atomic };
	static const char *const texts[] = { "sleeps", "ends", "moves" };

	(void)state;
	for (int i = 0; i < 3; i++) {
		const struct machine m = plain_machine(2);
		struct sim *sim = host_new(&m);

		host_task(sim, 0, bodies[i], NULL);
		assert_int_equal(sim_run(sim, SIM_SEC), SIM_END_ASKED);
		assert_non_null(strstr(sim_error(sim), texts[i]));
		assert_non_null(strstr(sim_error(sim), "task test"));
		sim_destroy(sim);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deadlines_and_wakeups),
		cmocka_unit_test(deadlines_that_are_over),
		cmocka_unit_test(woken_first_and_late_on_the_cpu),
		cmocka_unit_test(sleep_is_not_cut_short),
		cmocka_unit_test(sleep_for_ever),
		cmocka_unit_test(starts_in_time),
		cmocka_unit_test(costs_of_switching),
		cmocka_unit_test(cost_of_moving),
		cmocka_unit_test(short_tasks_leave_nothing),
		cmocka_unit_test(sections_are_left_before_giving_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
