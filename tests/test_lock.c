/*
 * test_lock.c - spinlocks and the accounts of lock classes, against closed forms.
 */
#include "tests/hw_host.h"

#include <math.h>
#include <string.h>

/* ---- a queue of waiters ---- */

struct queue {
	struct spinlock lock;
	sim_time_t hold;
	uint32_t order[64], nr;
	bool inside;
};

static void hold_once(struct task *t, void *arg)
{
	struct queue *q = arg;

	spin_lock(t, &q->lock);
	assert_false(q->inside);
	q->inside = true;
	q->order[q->nr++] = t->cpu->id;
	cpu_work(t, q->hold);
	task_sync(t);
	q->inside = false;
	spin_unlock(t, &q->lock);
}

static void waits_add_up(uint32_t n, sim_time_t transfer, bool naive)
{
	struct machine m = plain_machine(n);
	struct queue q = { .hold = 7 * SIM_US };

	m.line_socket = transfer;
	struct sim *sim = host_new_as(&m, PREEMPT_VOLUNTARY, naive);
	struct lock_class *class = lock_class(sim, "q");

	spin_lock_init(&q.lock, class);
	for (uint32_t i = 0; i < n; i++)
		host_task(sim, i, hold_once, &q);
	host_finish(sim);

	/* A release takes two transfers: the copy of the first in the queue goes, and it reads the line. */
	sim_time_t waits = n * (n - 1) / 2 * (q.hold + 2 * transfer);

	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(q.order[i], i);
	assert_int_equal(class->acquisitions, n);
	assert_int_equal(class->contended, n - 1);
	assert_int_equal(class->wait_total, waits);
	assert_int_equal(class->spin_total, waits);
	assert_int_equal(class->wait_max, (n - 1) * (q.hold + 2 * transfer));
	assert_int_equal(class->hold_total, n * q.hold);
	assert_int_equal(class->hold_max, q.hold);
	assert_int_equal(class->wait->count, n - 1);
	assert_int_equal(class->hold->count, n);
	assert_int_equal(class->most_waiting, n - 1);
	assert_true(class->queue_area == (double)waits);

	/* Waiting burns the CPUs, and nothing else does so. */
	sim_time_t clocks[NR_TASK_CLOCKS];

	sched_clocks(sim, clocks);
	assert_int_equal(clocks[CLOCK_SPIN], waits);
	assert_int_equal(clocks[CLOCK_SYS], n * q.hold);
	sim_destroy(sim);
}

static void n_waiters_wait_n_times_n_minus_1_over_2_holds(void **state)
{
	(void)state;
	for (uint32_t n = 2; n <= 64; n += 31) {
		waits_add_up(n, 0, false);
		waits_add_up(n, 60 * SIM_NS, false);
		waits_add_up(n, 60 * SIM_NS, true);
	}
}

/* ---- an uncontended pair ---- */

static void lock_and_unlock(struct task *t, void *arg)
{
	const struct machine *m = sim_sched(t->sim)->machine;
	struct spinlock *l = arg;

	for (int i = 0; i < 2; i++) {
		sim_time_t before = t->clock;

		spin_lock(t, l);
		assert_int_equal(t->clock - before, (i ? m->line_hit : m->line_memory) + m->atomic);
		assert_false(spin_is_contended(l));
		spin_unlock(t, l);
		assert_int_equal(t->clock - before,
				 (i ? 2 : 1) * m->line_hit + (i ? 0 : m->line_memory) + m->atomic);
	}
	assert_int_equal(t->preempt_count, 0);
}

static void a_free_lock_costs_one_atomic(void **state)
{
	struct machine m = plain_machine(1);
	struct spinlock l;

	(void)state;
	m.line_hit = 1 * SIM_NS;
	m.line_memory = 80 * SIM_NS;
	m.atomic = 5 * SIM_NS;
	struct sim *sim = host_new(&m);

	spin_lock_init(&l, lock_class(sim, "l"));
	host_task(sim, 0, lock_and_unlock, &l);
	host_finish(sim);
	assert_int_equal(l.class->acquisitions, 2);
	assert_int_equal(l.class->contended, 0);
	sim_destroy(sim);
}

/* ---- trylock, interrupts, who waits ---- */

static void owner_main(struct task *t, void *arg)
{
	struct spinlock *l = arg;

	spin_lock_irq(t, l);
	assert_false(spin_is_contended(l));
	cpu_work(t, 10 * SIM_US);
	task_sync(t);
	assert_true(spin_is_contended(l));
	spin_unlock_irq(t, l);
	assert_int_equal(t->irq_count, 0);
	assert_int_equal(t->preempt_count, 0);
}

static void trier_main(struct task *t, void *arg)
{
	struct spinlock *l = arg;

	cpu_work(t, 2 * SIM_US);
	assert_false(spin_trylock(t, l));
	assert_int_equal(t->preempt_count, 0);
	spin_lock(t, l);
	assert_int_equal(t->clock, 10 * SIM_US);
	spin_unlock(t, l);
	assert_true(spin_trylock(t, l));
	spin_unlock(t, l);
}

static void trylock_fails_and_irq_sections_are_recorded(void **state)
{
	struct machine m = plain_machine(2);
	struct sim *sim = host_new(&m);
	struct spinlock l;

	(void)state;
	spin_lock_init(&l, lock_class(sim, "l"));
	host_task(sim, 0, owner_main, &l);
	host_task(sim, 1, trier_main, &l);
	host_finish(sim);
	assert_int_equal(l.class->acquisitions, 3);
	assert_int_equal(l.class->contended, 1);
	assert_int_equal(l.class->wait_total, 8 * SIM_US);
	assert_int_equal(sim_sched(sim)->irq_off->count, 1);
	assert_int_equal(sim_sched(sim)->irq_off->max, 10000);
	sim_destroy(sim);
}

/* ---- classes ---- */

static void classes_are_found_by_name_and_reset(void **state)
{
	struct machine m = plain_machine(1);
	struct sim *sim = host_new(&m), *other = host_new(&m);
	struct lock_class *a = lock_class(sim, "a"), *b = lock_class(sim, "b");
	struct spinlock l;

	(void)state;
	assert_ptr_not_equal(a, b);
	assert_ptr_equal(lock_class(sim, "a"), a);
	assert_ptr_equal(lock_class(sim, "b"), b);
	assert_ptr_not_equal(lock_class(other, "a"), a);
	assert_ptr_equal(lock_classes(sim), a);
	assert_ptr_equal(a->next, b);
	assert_null(b->next);
	spin_lock_init(&l, a);
	host_task(sim, 0, lock_and_unlock, &l);
	host_finish(sim);
	assert_int_equal(a->acquisitions, 2);
	assert_int_equal(a->hold->count, 2);
	lock_classes_reset(sim);
	assert_int_equal(a->acquisitions, 0);
	assert_int_equal(a->hold_total, 0);
	assert_int_equal(a->hold->count, 0);
	sim_destroy(sim);
	sim_destroy(other);
}

/* ---- Little's law ---- */

struct load {
	struct spinlock spin;
	struct mutex mutex;
	struct rwsem rwsem;
	int rounds;
};

struct client {
	struct load *load;
	uint64_t random;
};

static void client_main(struct task *t, void *arg)
{
	struct client *c = arg;
	struct load *l = c->load;

	for (int i = 0; i < l->rounds; i++) {
		cpu_work(t, draw(&c->random, 20 * SIM_US));
		spin_lock(t, &l->spin);
		cpu_work(t, draw(&c->random, 2 * SIM_US));
		spin_unlock(t, &l->spin);
		if (draw(&c->random, 3) == 0)
			task_sleep(t, draw(&c->random, 50 * SIM_US));
		mutex_lock(t, &l->mutex);
		cpu_work(t, draw(&c->random, 3 * SIM_US));
		if (draw(&c->random, 20) == 0)
			task_sleep(t, 10 * SIM_US);
		mutex_unlock(t, &l->mutex);
		if (draw(&c->random, 4)) {
			down_read(t, &l->rwsem);
			cpu_work(t, draw(&c->random, 4 * SIM_US));
			up_read(t, &l->rwsem);
		} else {
			down_write(t, &l->rwsem);
			cpu_work(t, draw(&c->random, 2 * SIM_US));
			up_write(t, &l->rwsem);
		}
	}
}

/* Arrivals a second times mean wait is the mean number of waiters, whatever the load and the kind of lock. */
static void littles_law_holds_on_every_lock(void **state)
{
	enum { CPUS = 8, CLIENTS = 20 };
	struct machine m = plain_machine(CPUS);
	struct load load = { .rounds = 150 };
	struct client clients[CLIENTS];

	(void)state;
	m.line_hit = 1 * SIM_NS;
	m.line_socket = 60 * SIM_NS;
	m.line_memory = 90 * SIM_NS;
	m.atomic = 5 * SIM_NS;
	m.context_switch = m.wakeup = m.wakeup_remote = 1 * SIM_US;
	struct sim *sim = host_new(&m);

	spin_lock_init(&load.spin, lock_class(sim, "spin"));
	mutex_init(&load.mutex, lock_class(sim, "mutex"));
	rwsem_init(&load.rwsem, lock_class(sim, "rwsem"));
	for (uint32_t i = 0; i < CLIENTS; i++) {
		clients[i] = (struct client){ &load, i + 1 };
		host_task(sim, i % CPUS, client_main, &clients[i]);
	}
	host_finish(sim);

	double elapsed = (double)sim_now(sim);
	uint32_t n = 0;

	for (const struct lock_class *c = lock_classes(sim); c; c = c->next, n++) {
		double rate = (double)c->contended / elapsed;
		double mean_wait = (double)c->wait_total / (double)c->contended;
		double mean_queue = c->queue_area / elapsed;

		assert_int_equal(c->acquisitions, CLIENTS * load.rounds);
		assert_in_range(c->contended, 100, c->acquisitions);
		assert_true(mean_queue > 0.01);
		assert_true(fabs(rate * mean_wait / mean_queue - 1) < 1e-9);
		assert_int_equal(c->waiting, 0);
		assert_true(c->hold_total <= sim_now(sim)); /* no lock is held by two */
	}
	assert_int_equal(n, 3);
	sim_destroy(sim);
}

/* ---- a holder whose CPU is wanted ---- */

static void hog(struct task *t, void *arg)
{
	(void)arg;
	user_work(t, 50 * SIM_MS);
}

static void long_holder(struct task *t, void *arg)
{
	struct queue *q = arg;

	for (int i = 0; i < 20; i++) {
		hold_once(t, q);
		q->nr = 0;
		cond_resched(t);
	}
}

/* With preemption off nobody takes the CPU from an owner, so no wait is longer than the holds before it. */
static void a_spinlock_does_not_wait_for_the_scheduler(void **state)
{
	(void)state;
	for (int full = 0; full < 2; full++) {
		struct machine m = plain_machine(4);
		struct queue q = { .hold = 5 * SIM_MS };
		struct sim *sim = host_new_as(&m, full ? PREEMPT_FULL : PREEMPT_VOLUNTARY, false);

		spin_lock_init(&q.lock, lock_class(sim, "q"));
		for (uint32_t i = 0; i < 4; i++) {
			host_task(sim, i, long_holder, &q);
			host_task(sim, i, hog, NULL);
		}
		host_finish(sim);
		assert_true(q.lock.class->contended > 10);
		assert_in_range(q.lock.class->wait_max, 1, 3 * q.hold);
		assert_int_equal(q.lock.class->hold_max, q.hold);
		sim_destroy(sim);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(n_waiters_wait_n_times_n_minus_1_over_2_holds),
		cmocka_unit_test(a_free_lock_costs_one_atomic),
		cmocka_unit_test(trylock_fails_and_irq_sections_are_recorded),
		cmocka_unit_test(classes_are_found_by_name_and_reset),
		cmocka_unit_test(littles_law_holds_on_every_lock),
		cmocka_unit_test(a_spinlock_does_not_wait_for_the_scheduler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
