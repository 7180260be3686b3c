/*
 * test_sched.c - who runs where, and for how long: shares, slices, placement of wakers, pulling, pinning.
 *
 * Costs are zero unless a test is about them, so times come out exactly.
 */
#include "tests/hw_host.h"

#include <math.h>

/* ---- shares of one CPU ---- */

static void run_for_ever(struct task *t, void *arg)
{
	(void)arg;
	for (;;)
		user_work(t, 100 * SIM_MS);
}

static struct task *hog(struct sim *sim, uint32_t cpu, uint32_t weight)
{
	return task_spawn(
		sim, &(struct task_attr){
			     .name = "hog", .run = run_for_ever, .cpu = (int32_t)cpu, .weight = weight });
}

static void weights_share_a_cpu(void **state)
{
	const struct machine m = plain_machine(1);
	struct sim *sim = host_new(&m);
	struct task *light = hog(sim, 0, 1024), *heavy = hog(sim, 0, 2048), *tiny = hog(sim, 0, 128);

	(void)state;
	host_run(sim, 40 * SIM_SEC);
	double unit = (double)light->clocks[CLOCK_USER];

	assert_true(fabs((double)heavy->clocks[CLOCK_USER] / unit - 2) < 0.02 * 2);
	assert_true(fabs((double)tiny->clocks[CLOCK_USER] / unit - 0.125) < 0.02 * 0.125);
	assert_true(fabs(unit - 40e12 * 1024 / 3200) < 0.02 * unit);
	sim_destroy(sim);
}

static void equals_alternate_by_slices(void **state)
{
	const struct machine m = plain_machine(1);
	struct sim *sim = host_new(&m);
	struct task *a = hog(sim, 0, 1024), *b = hog(sim, 0, 1024);
	const struct task *last = NULL;
	sim_time_t since = 0;
	uint32_t changes = 0;

	(void)state;
	/* Two tasks: a slice is 24 ms / 2. Looked at between the milliseconds, to stay clear of the ends. */
	for (sim_time_t ms = 1; ms < 1200; ms++) {
		host_run(sim, ms * SIM_MS + SIM_MS / 2);
		const struct task *now = sim_sched(sim)->cpus[0].current;

		assert_true(now == a || now == b);
		if (now != last && last) {
			assert_int_equal(ms - since, 12);
			changes++;
		}
		if (now != last)
			since = last ? ms : 0;
		last = now;
	}
	assert_int_equal(changes, 99);
	assert_in_range(a->switches, 49, 51);
	sim_destroy(sim);
}

static void work_100ms(struct task *t, void *arg)
{
	sim_time_t *end = arg;

	user_work(t, 100 * SIM_MS);
	*end = sim_now(t->sim);
}

static void more_tasks_than_cpus(void **state)
{
	const struct machine m = plain_machine(4);
	struct sim *sim = host_new(&m);
	sim_time_t ends[10] = { 0 }, last = 0, busy = 0, clocks[NR_TASK_CLOCKS];

	(void)state;
	for (int i = 0; i < 10; i++)
		task_spawn(sim, &(struct task_attr){
					.name = "worker", .run = work_100ms, .arg = &ends[i], .cpu = -1 });
	host_finish(sim);
	for (int i = 0; i < 10; i++) {
		assert_in_range(ends[i], 100 * SIM_MS, 325 * SIM_MS);
		last = ends[i] > last ? ends[i] : last;
	}
	/* No scheduler that leaves no CPU idle for nothing is later (Graham): total/m + (1 - 1/m) longest. */
	assert_in_range(last, 250 * SIM_MS, 325 * SIM_MS);
	for (uint32_t i = 0; i < 4; i++) {
		sim_time_t one = cpu_busy(sim, &sim_sched(sim)->cpus[i]);

		assert_true(one <= last);
		busy += one;
	}
	assert_int_equal(busy, SIM_SEC);
	sched_clocks(sim, clocks);
	assert_int_equal(clocks[CLOCK_USER], SIM_SEC);
	assert_int_equal(clocks[CLOCK_SYS] + clocks[CLOCK_SPIN], 0);
	sim_destroy(sim);
}

/* ---- where a woken task goes ---- */

static void occupy(struct task *t, void *arg)
{
	user_work(t, *(const sim_time_t *)arg);
}

/* Keeps the CPUs of a mask busy in [from, from + *length). */
static void occupy_mask(struct sim *sim, uint32_t mask, sim_time_t from, const sim_time_t *length)
{
	for (uint32_t cpu = 0; mask >> cpu; cpu++)
		if (mask >> cpu & 1)
			task_spawn(sim, &(struct task_attr){ .name = "occupant",
							     .run = occupy,
							     .arg = (void *)(uintptr_t)length,
							     .cpu = (int32_t)cpu,
							     .start = from });
}

#define NR_WAKES 4

struct wakes {
	uint32_t cpus[NR_WAKES];
	sim_time_t when[NR_WAKES];
};

/* Runs for 1 ms at 1, 20, 40, 60 ms and so on. */
static void wake_and_note(struct task *t, void *arg)
{
	struct wakes *w = arg;

	cpu_work(t, SIM_MS);
	for (uint32_t i = 0; i < NR_WAKES; i++) {
		task_sync(t);
		task_sleep(t, 20 * (i + 1) * SIM_MS - sim_now(t->sim));
		w->cpus[i] = t->cpu->id;
		w->when[i] = sim_now(t->sim);
		cpu_work(t, SIM_MS);
	}
}

static void placement_of_the_woken(void **state)
{
	struct machine m = plain_machine(8);
	static const sim_time_t ten = 10 * SIM_MS;
	struct wakes w;

	(void)state;
	m.nodes = 2; /* CPUs 0-3 and 4-7 */
	struct sim *sim = host_new(&m);

	occupy_mask(sim, 0xdf, 0, &ten); /* only CPU 5 is left for it to begin on */
	struct task *t = task_spawn(
		sim,
		&(struct task_attr){
			.name = "sleeper", .run = wake_and_note, .arg = &w, .cpu = -1, .start = SIM_MS });

	occupy_mask(sim, 0x2f, 35 * SIM_MS, &ten); /* at 40 ms CPUs 4, 6, 7 are idle */
	occupy_mask(sim, 0xfb, 55 * SIM_MS, &ten); /* at 60 ms only CPU 2, of the other socket */
	occupy_mask(sim, 0xff, 75 * SIM_MS, &ten); /* at 80 ms none */
	host_run(sim, 2 * SIM_MS);
	assert_int_equal(t->cpu->id, 5);
	host_finish(sim);
	assert_int_equal(w.cpus[0], 5); /* its last, which is idle */
	assert_int_equal(w.cpus[1], 4 + 2);
	assert_int_equal(w.cpus[2], 2);
	assert_int_equal(w.cpus[3], 2);           /* its last, which is busy */
	assert_int_equal(w.when[3], 80 * SIM_MS); /* and is preempted for a sleeper */
	sim_destroy(sim);
}

/* When a task that wakes at 50 ms on a CPU with a hog runs. */
static sim_time_t runs_at(sim_time_t granularity)
{
	struct machine m = plain_machine(1);
	struct wakes w;

	m.wakeup_granularity = granularity;
	struct sim *sim = host_new(&m);

	hog(sim, 0, 1024);
	host_task(sim, 0, wake_and_note, &w);
	host_run(sim, 200 * SIM_MS);
	sim_destroy(sim);
	return w.when[1];
}

static void the_woken_preempts_by_its_lag(void **state)
{
	(void)state;
	assert_int_equal(runs_at(4 * SIM_MS), 40 * SIM_MS);
	/* Its credit is 12 ms; with less than the granularity it waits for the end of a slice. */
	assert_in_range(runs_at(20 * SIM_MS), 40 * SIM_MS + 1, 40 * SIM_MS + 24 * SIM_MS);
}

/* ---- no CPU idles while a task that could run there waits ---- */

struct restless {
	uint64_t random;
	uint32_t rounds;
};

static void restless_run(struct task *t, void *arg)
{
	struct restless *r = arg;

	while (r->rounds--) {
		sim_time_t d = draw(&r->random, 300 * SIM_US);

		if (draw(&r->random, 2))
			user_work(t, d);
		else
			cpu_work(t, d);
		if (draw(&r->random, 3) == 0)
			task_sleep(t, draw(&r->random, 200 * SIM_US));
		else if (draw(&r->random, 2))
			cond_resched(t);
	}
}

/* Checks the property, and returns whether any task waits at all. */
static bool check_conserving(const struct sim *sim)
{
	const struct sched *s = sim_sched(sim);
	bool idle = false, waits = false, movable = false;

	for (uint32_t i = 0; i < s->nr_cpus; i++) {
		idle |= !s->cpus[i].current;
		waits |= s->cpus[i].nr_queued > 0;
		movable |= s->cpus[i].nr_movable > 0;
		assert_false(s->cpus[i].nr_queued && !s->cpus[i].current);
	}
	assert_false(idle && movable);
	return waits;
}

static void work_is_conserved(void **state)
{
	struct machine m = plain_machine(8);
	struct restless tasks[16];
	uint32_t waiting = 0;
	uint64_t random = 7;

	(void)state;
	m.nodes = 3; /* sockets of 2 and 3 CPUs */
	m.slice = 30 * SIM_US;
	m.latency = 200 * SIM_US;
	m.wakeup_granularity = 10 * SIM_US;
	m.context_switch = SIM_US;
	m.migration = 3 * SIM_US;
	struct sim *sim = host_new_as(&m, PREEMPT_FULL, false);

	for (uint32_t i = 0; i < 16; i++) {
		tasks[i] = (struct restless){ .random = i + 1, .rounds = 400 };
		task_spawn(sim, &(struct task_attr){ .name = "restless",
						     .run = restless_run,
						     .arg = &tasks[i],
						     .cpu = i % 4 ? -1 : (int32_t)draw(&random, 8) });
	}
	while (sim_sched(sim)->nr_tasks) {
		host_run(sim, sim_now(sim) + 10 * SIM_US + draw(&random, 40 * SIM_US));
		waiting += check_conserving(sim);
	}
	assert_in_range(waiting, 100, 100000);
	sim_destroy(sim);
}

static void the_preempted_moves_to_an_idle_cpu(void **state)
{
	const struct machine m = plain_machine(2);
	struct sim *sim = host_new(&m);
	static const sim_time_t ten = 10 * SIM_MS;
	sim_time_t end = 0;

	(void)state;
	task_spawn(sim, &(struct task_attr){ .name = "movable", .run = work_100ms, .arg = &end, .cpu = -1 });
	struct wakes w;

	host_task(sim, 0, wake_and_note, &w);
	occupy_mask(sim, 2, 5 * SIM_MS, &ten);
	host_finish(sim);
	assert_int_equal(w.when[0], 20 * SIM_MS);
	/* It has stayed or moved, but has never waited after the beginning, where it shared CPU 0. */
	assert_in_range(end, 100 * SIM_MS, 101 * SIM_MS);
	sim_destroy(sim);
}

/* ---- pinning ---- */

static void wander(struct task *t, void *arg)
{
	uint32_t *visits = arg;

	for (uint32_t i = 0; i < 24; i++) {
		task_pin(t, i * 5 % 8);
		assert_int_equal(t->cpu->id, i * 5 % 8);
		assert_ptr_equal(t->cpu->current, t);
		user_work(t, 7 * SIM_MS);
		assert_int_equal(t->cpu->id, i * 5 % 8);
		visits[t->cpu->id]++;
	}
}

static void pinned_tasks_stay(void **state)
{
	struct machine m = plain_machine(8);
	uint32_t visits[8] = { 0 };

	(void)state;
	m.migration = 10 * SIM_US;
	struct sim *sim = host_new_as(&m, PREEMPT_FULL, false);

	for (int i = 0; i < 12; i++)
		task_spawn(sim, &(struct task_attr){ .name = "hog", .run = run_for_ever, .cpu = -1 });
	struct task *t = task_spawn(
		sim, &(struct task_attr){ .name = "wanderer", .run = wander, .arg = visits, .cpu = 3 });

	host_run(sim, SIM_SEC / 2);
	assert_in_range(t->migrations, 5, 24);
	host_run(sim, 20 * SIM_SEC);
	assert_int_equal(sim_sched(sim)->nr_tasks, 12);
	for (int i = 0; i < 8; i++)
		assert_int_equal(visits[i], 3);
	sim_destroy(sim);
}

static void note_turn(struct task *t, void *arg)
{
	uint32_t **next = arg;

	for (int i = 0; i < 3; i++) {
		*(*next)++ = t->id;
		task_yield(t);
	}
}

static void yield_lets_another_go_first(void **state)
{
	const struct machine m = plain_machine(1);
	struct sim *sim = host_new(&m);
	uint32_t turns[9], *next = turns;

	(void)state;
	for (int i = 0; i < 3; i++)
		host_task(sim, 0, note_turn, &next);
	host_finish(sim);
	assert_int_equal(turns[0] + turns[1] + turns[2], 3); /* each has been once: 0, 1, 2 */
	for (uint32_t i = 1; i < 7; i++)                     /* as long as nobody has ended */
		assert_int_not_equal(turns[i], turns[i - 1]);
	sim_destroy(sim);
}

/* ---- equals ---- */

struct equals {
	struct task *sleepers[2], *waker;
	uint32_t order[2], nr;
};

static void sleep_and_note(struct task *t, void *arg)
{
	struct equals *e = arg;

	task_block(t);
	e->order[e->nr++] = t->id;
}

/* It is behind the front itself, so that the front does not move while it wakes the others. */
static void wake_the_younger_first(struct task *t, void *arg)
{
	struct equals *e = arg;

	task_block(t);
	for (int i = 1; i >= 0; i--) {
		cpu_work(t, SIM_US);
		task_sync(t);
		task_wake(t->sim, t, e->sleepers[i]);
	}
}

static void run_ahead(struct task *t, void *arg)
{
	struct equals *e = arg;

	cpu_work(t, 100 * SIM_MS);
	task_sync(t);
	task_wake(t->sim, t, e->waker);
}

/* Sleepers with the same credit have the same vruntime: whoever was woken first runs first. */
static void equals_run_in_the_order_of_waking(void **state)
{
	const struct machine m = plain_machine(1);
	struct sim *sim = host_new(&m);
	struct equals e = { 0 };

	(void)state;
	e.sleepers[0] = host_task(sim, 0, sleep_and_note, &e);
	e.sleepers[1] = host_task(sim, 0, sleep_and_note, &e);
	e.waker = host_task(sim, 0, wake_the_younger_first, &e);
	host_task(sim, 0, run_ahead, &e);
	uint32_t first = e.sleepers[1]->id, second = e.sleepers[0]->id;

	host_finish(sim);
	assert_int_equal(e.nr, 2);
	assert_true(first > second);
	assert_int_equal(e.order[0], first);
	assert_int_equal(e.order[1], second);
	sim_destroy(sim);
}

static void note_begin(struct task *t, void *arg)
{
	*(sim_time_t *)arg = t->clock;
	user_work(t, SIM_MS);
}

/* A task of another address space than the last that had one; what has none runs on with that. */
static void address_spaces(void **state)
{
	static char a, b;
	static const struct {
		void *owner;
		bool other;
	} order[] = { { &a, true },    { NULL, false }, { &a, false }, { &b, true },
		      { NULL, false }, { NULL, false }, { &b, false }, { &a, true } };
	struct machine m = plain_machine(1);
	sim_time_t begin[8];

	(void)state;
	m.context_switch = SIM_US;
	m.space_switch = 20 * SIM_US;
	struct sim *sim = host_new(&m);

	for (uint32_t i = 0; i < 8; i++)
		task_spawn(sim, &(struct task_attr){ .name = "t",
						     .run = note_begin,
						     .arg = &begin[i],
						     .owner = order[i].owner,
						     .start = i * 10 * SIM_MS });
	host_finish(sim);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(begin[i] - i * 10 * SIM_MS, order[i].other ? 21 * SIM_US : SIM_US);
	sim_destroy(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_share_a_cpu),
		cmocka_unit_test(equals_alternate_by_slices),
		cmocka_unit_test(more_tasks_than_cpus),
		cmocka_unit_test(placement_of_the_woken),
		cmocka_unit_test(the_woken_preempts_by_its_lag),
		cmocka_unit_test(work_is_conserved),
		cmocka_unit_test(the_preempted_moves_to_an_idle_cpu),
		cmocka_unit_test(pinned_tasks_stay),
		cmocka_unit_test(yield_lets_another_go_first),
		cmocka_unit_test(equals_run_in_the_order_of_waking),
		cmocka_unit_test(address_spaces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
