/*
 * test_mutex.c - the mutex: spinning while the owner runs, sleeping when it does not, and the convoy.
 */
#include "tests/hw_host.h"

struct scene {
	struct mutex mutex;
	struct spinlock spin;
	struct bandwidth *bandwidth;
	struct task *task[8];
	sim_time_t at[8]; /* when each got it */
	uint32_t got;
	sim_time_t clocks[8][NR_TASK_CLOCKS];
};

static void scene_init(struct scene *s, struct sim *sim)
{
	mutex_init(&s->mutex, lock_class(sim, "mutex"));
	spin_lock_init(&s->spin, lock_class(sim, "spin"));
}

static struct machine host_with_costs(uint32_t cpus)
{
	struct machine m = plain_machine(cpus);

	m.line_socket = 60 * SIM_NS;
	m.context_switch = 1 * SIM_US;
	m.wakeup = 1 * SIM_US;
	m.wakeup_remote = 2 * SIM_US;
	m.mutex_slowpath = 500 * SIM_NS;
	return m;
}

/* Takes the mutex after `cpu` microseconds, so that the order of arrival is that of the CPUs. */
static void waiter_main(struct task *t, void *arg)
{
	struct scene *s = arg;
	uint32_t i = t->cpu->id;

	cpu_work(t, i * SIM_US);
	mutex_lock(t, &s->mutex);
	s->at[i] = t->clock;
	cpu_work(t, 10 * SIM_US);
	task_sync(t);
	s->got++;
	mutex_unlock(t, &s->mutex);
	task_sync(t);
	for (int c = 0; c < NR_TASK_CLOCKS; c++)
		s->clocks[i][c] = t->clocks[c];
}

/*
 * While the owner runs, waiters spin and get it in order. A release takes three transfers: the watcher's copy
 * goes, the watcher reads, and takes the line for itself.
 */
static void waiters_of_a_running_owner_spin(void **state)
{
	struct machine m = host_with_costs(4);
	struct sim *sim = host_new(&m);
	struct scene s = { .got = 0 };

	(void)state;
	scene_init(&s, sim);
	for (uint32_t i = 0; i < 4; i++)
		host_task(sim, i, waiter_main, &s);
	host_finish(sim);
	for (uint32_t i = 1; i < 4; i++)
		assert_int_equal(s.at[i] - s.at[i - 1], 10 * SIM_US + 3 * m.line_socket + 2 * m.atomic);
	assert_int_equal(s.mutex.class->contended, 3);
	assert_int_equal(s.mutex.class->spin_total, s.mutex.class->wait_total);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(sim_sched(sim)->cpus[i].switches, 1); /* nobody slept */
	sim_destroy(sim);
}

static void sleeping_owner(struct task *t, void *arg)
{
	struct scene *s = arg;

	mutex_lock(t, &s->mutex);
	cpu_work(t, 10 * SIM_US);
	task_sleep(t, 5 * SIM_MS);
	mutex_unlock(t, &s->mutex);
}

/* When the owner leaves its CPU the spinners notice at once, and then cost nothing. */
static void waiters_of_a_sleeping_owner_do_not_burn_cpu(void **state)
{
	struct machine m = host_with_costs(4);
	struct sim *sim = host_new(&m);
	struct scene s = { .got = 0 };

	(void)state;
	scene_init(&s, sim);
	host_task(sim, 0, sleeping_owner, &s);
	for (uint32_t i = 1; i < 4; i++)
		host_task(sim, i, waiter_main, &s);
	host_finish(sim);
	assert_int_equal(s.got, 3);
	for (uint32_t i = 1; i < 4; i++) {
		assert_true(s.at[i] > 5 * SIM_MS);
		assert_in_range(s.clocks[i][CLOCK_SPIN], 5 * SIM_US, 13 * SIM_US); /* until it slept */
	}
	assert_true(s.mutex.class->wait_total > 15 * SIM_MS);
	assert_true(s.mutex.class->spin_total < 40 * SIM_US);
	sim_destroy(sim);
}

/* ---- cpu.max: the convoy ---- */

/* Works in the mutex or spinlock for 4 ms out of a quota of 2 ms; a scheduling point in the middle. */
static void throttled_owner(struct task *t, void *arg)
{
	struct scene *s = arg;
	bool spin = s->at[0];

	if (spin)
		spin_lock(t, &s->spin);
	else
		mutex_lock(t, &s->mutex);
	for (int i = 0; i < 4; i++) {
		cpu_work(t, 1 * SIM_MS);
		cond_resched(t);
	}
	if (spin)
		spin_unlock(t, &s->spin);
	else
		mutex_unlock(t, &s->mutex);
}

static void short_user(struct task *t, void *arg)
{
	struct scene *s = arg;
	bool spin = s->at[0];
	uint32_t i = t->cpu->id;

	cpu_work(t, i * SIM_US);
	if (spin)
		spin_lock(t, &s->spin);
	else
		mutex_lock(t, &s->mutex);
	s->at[i] = t->clock;
	cpu_work(t, 10 * SIM_US);
	if (spin)
		spin_unlock(t, &s->spin);
	else
		mutex_unlock(t, &s->mutex);
}

static struct lock_class *throttle(struct sim *sim, struct scene *s, uint32_t cpus)
{
	const struct task_attr attr = {
		.name = "throttled",
		.run = throttled_owner,
		.arg = s,
		.cpu = 0,
		.bandwidth = bandwidth_create(sim, 2 * SIM_MS, 100 * SIM_MS, NULL),
	};

	scene_init(s, sim);
	task_spawn(sim, &attr);
	for (uint32_t i = 1; i < cpus; i++)
		host_task(sim, i, short_user, s);
	host_finish(sim);
	return s->at[0] ? s->spin.class : s->mutex.class;
}

static void a_throttled_owner_makes_a_convoy_of_a_mutex_only(void **state)
{
	struct machine m = host_with_costs(6);
	struct scene convoy = { .got = 0 }, none = { .at = { 1 } };

	(void)state;
	struct sim *sim = host_new(&m);
	struct lock_class *class = throttle(sim, &convoy, 6);

	/* The quota ends at 2 ms; the next comes at 100 ms, the owner then has 2 ms to go. */
	assert_true(convoy.at[1] > 101 * SIM_MS);
	assert_int_equal(class->contended, 5);
	assert_true(class->wait_total > 5 * 100 * SIM_MS);
	assert_true(class->spin_total < 5 * 3 * SIM_MS); /* asleep while the owner is parked */
	for (uint32_t i = 2; i < 6; i++)                 /* and woken one after the other */
		assert_in_range(convoy.at[i] - convoy.at[i - 1], 10 * SIM_US + m.wakeup_remote, 20 * SIM_US);
	sim_destroy(sim);

	sim = host_new(&m);
	class = throttle(sim, &none, 6);
	assert_int_equal(class->contended, 5);
	assert_in_range(class->wait_max, 4 * SIM_MS, 4 * SIM_MS + 100 * SIM_US);
	assert_int_equal(class->spin_total, class->wait_total);
	sim_destroy(sim);
}

/* ---- preemption: somebody else wants the owner's CPU ---- */

static void preempted_owner(struct task *t, void *arg)
{
	struct scene *s = arg;

	mutex_lock(t, &s->mutex);
	for (int i = 0; i < 40; i++) {
		cpu_work(t, 1 * SIM_MS);
		cond_resched(t);
	}
	mutex_unlock(t, &s->mutex);
}

static void rival(struct task *t, void *arg)
{
	(void)arg;
	user_work(t, 100 * SIM_MS);
}

static void spinners_give_up_when_the_owner_is_preempted(void **state)
{
	struct machine m = host_with_costs(3);
	struct sim *sim = host_new(&m);
	struct scene s = { .got = 0 };

	(void)state;
	scene_init(&s, sim);
	host_task(sim, 0, preempted_owner, &s);
	host_task(sim, 0, rival, NULL);
	host_task(sim, 1, waiter_main, &s);
	host_task(sim, 2, waiter_main, &s);
	host_finish(sim);
	/* 40 ms of work take about twice as long; the spin ends with the owner's first slice (12 ms). */
	assert_true(s.at[1] > 60 * SIM_MS);
	for (uint32_t i = 1; i < 3; i++)
		assert_in_range(s.clocks[i][CLOCK_SPIN], 11 * SIM_MS, 14 * SIM_MS);
	sim_destroy(sim);
}

static void busy_owner(struct task *t, void *arg)
{
	struct scene *s = arg;

	mutex_lock(t, &s->mutex);
	cpu_work(t, 60 * SIM_MS);
	mutex_unlock(t, &s->mutex);
}

/*
 * A spinner whose CPU is wanted leaves it, but is no sleeper yet: the rival has a slice (12 ms) and then has
 * to let it run once more, for no longer than it takes to go to sleep.
 */
static void a_spinner_that_gives_way_sleeps_when_it_runs_again(void **state)
{
	struct machine m = host_with_costs(2);
	struct sim *sim = host_new(&m);
	struct scene s = { .got = 0 };

	(void)state;
	scene_init(&s, sim);
	host_task(sim, 0, busy_owner, &s);
	host_task(sim, 1, waiter_main, &s);
	host_task(sim, 1, rival, NULL);
	host_run(sim, 20 * SIM_MS);
	assert_int_equal(sim_sched(sim)->cpus[1].switches, 2); /* the spinner, for a slice; the rival */
	assert_int_equal(sim_sched(sim)->cpus[1].nr_queued, 1);
	host_run(sim, 30 * SIM_MS);
	assert_int_equal(sim_sched(sim)->cpus[1].switches, 4);
	assert_int_equal(sim_sched(sim)->cpus[1].nr_queued, 0);
	host_finish(sim);
	assert_in_range(s.clocks[1][CLOCK_SPIN], 11 * SIM_MS, 13 * SIM_MS);
	sim_destroy(sim);
}

/* ---- hand-off ---- */

struct crowd {
	struct mutex mutex;
	uint64_t entries, entries_while_waiting;
	bool waiting, sleeping, done;
};

static void grabber(struct task *t, void *arg)
{
	struct crowd *c = arg;

	for (task_sync(t); !c->done; task_sync(t)) {
		mutex_lock(t, &c->mutex);
		c->entries++;
		c->entries_while_waiting += c->waiting;
		cpu_work(t, 5 * SIM_US);
		mutex_unlock(t, &c->mutex);
		if (c->sleeping)
			cpu_work(t, 3 * SIM_MS); /* an old owner that runs says nothing about the new one */
	}
}

/* Finds the mutex with an owner that sleeps, so it goes to sleep; later only spinners are its rivals. */
static void sleeper(struct task *t, void *arg)
{
	struct crowd *c = arg;

	cpu_work(t, 1 * SIM_US);
	mutex_lock(t, &c->mutex);
	c->waiting = false;
	task_sleep(t, 5 * SIM_MS);
	c->sleeping = false;
	c->done = true;
	mutex_unlock(t, &c->mutex);
}

static void first_owner(struct task *t, void *arg)
{
	struct crowd *c = arg;

	mutex_lock(t, &c->mutex);
	task_sleep(t, 100 * SIM_US);
	c->waiting = c->sleeping = true;
	mutex_unlock(t, &c->mutex);
}

static void late_grabber(struct task *t, void *arg)
{
	task_sleep(t, 99 * SIM_US + t->cpu->id * 100 * SIM_NS);
	grabber(t, arg);
}

/* Two CPUs pass the mutex between them without a pause; a sleeper gets it after losing once. */
static void a_sleeper_is_not_starved(void **state)
{
	struct machine m = host_with_costs(5);
	struct sim *sim = host_new(&m);
	struct crowd c = { .entries = 0 };

	(void)state;
	mutex_init(&c.mutex, lock_class(sim, "mutex"));
	host_task(sim, 0, first_owner, &c);
	host_task(sim, 1, sleeper, &c);
	for (uint32_t i = 2; i < 5; i++)
		host_task(sim, i, late_grabber, &c);
	host_run(sim, 50 * SIM_MS);
	assert_true(c.done);
	/*
	 * It is woken at the first unlock, finds the mutex taken, and is next: a wake-up is 4 us, a hold 5.
	 */
	assert_in_range(c.entries_while_waiting, 1, 3);
	host_finish(sim);
	/* The spinners see that the mutex now belongs to somebody who does not run. */
	assert_true(c.mutex.class->wait_total > 2 * 5 * SIM_MS);
	assert_true(c.mutex.class->spin_total < 200 * SIM_US);
	sim_destroy(sim);
}

static void tries(struct task *t, void *arg)
{
	struct scene *s = arg;

	cpu_work(t, 20 * SIM_US);
	assert_false(mutex_trylock(t, &s->mutex));
	task_sleep(t, 10 * SIM_MS);
	assert_true(mutex_trylock(t, &s->mutex));
	mutex_unlock(t, &s->mutex);
	s->got++;
}

static void trylock_never_waits(void **state)
{
	struct machine m = host_with_costs(2);
	struct sim *sim = host_new(&m);
	struct scene s = { .got = 0 };

	(void)state;
	scene_init(&s, sim);
	host_task(sim, 0, sleeping_owner, &s);
	host_task(sim, 1, tries, &s);
	host_finish(sim);
	assert_int_equal(s.got, 1);
	assert_int_equal(s.mutex.class->acquisitions, 2);
	assert_int_equal(s.mutex.class->contended, 0);
	sim_destroy(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waiters_of_a_running_owner_spin),
		cmocka_unit_test(waiters_of_a_sleeping_owner_do_not_burn_cpu),
		cmocka_unit_test(a_throttled_owner_makes_a_convoy_of_a_mutex_only),
		cmocka_unit_test(spinners_give_up_when_the_owner_is_preempted),
		cmocka_unit_test(a_spinner_that_gives_way_sleeps_when_it_runs_again),
		cmocka_unit_test(a_sleeper_is_not_starved),
		cmocka_unit_test(trylock_never_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
