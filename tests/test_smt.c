/*
 * test_smt.c - two threads of a core share it: work takes longer while the other works, and only then.
 */
#include "tests/hw_host.h"

#define PIECE (10 * SIM_US)

static struct machine shared_machine(void)
{
	struct machine m = plain_machine(4);

	m.threads_per_core = 2;
	m.smt_share = 0.5; /* exactly twice as long */
	return m;
}

struct job {
	uint32_t pieces;
	sim_time_t took;
};

static void do_job(struct task *t, void *arg)
{
	struct job *j = arg;
	sim_time_t begin = t->clock;

	for (uint32_t i = 0; i < j->pieces; i++) {
		cpu_work(t, PIECE);
		task_sync(t);
	}
	j->took = t->clock - begin;
}

static void alone_a_thread_has_its_core(void **state)
{
	const struct machine m = shared_machine();
	struct sim *sim = host_new(&m);
	struct job a = { .pieces = 10 }, b = { .pieces = 10 };

	(void)state;
	host_task(sim, 0, do_job, &a);
	host_task(sim, 2, do_job, &b); /* another core */
	host_finish(sim);
	assert_int_equal(a.took, 10 * PIECE);
	assert_int_equal(b.took, 10 * PIECE);
	sim_destroy(sim);
}

static void two_threads_of_a_core_slow_each_other_down(void **state)
{
	const struct machine m = shared_machine();
	struct sim *sim = host_new(&m);
	struct job a = { .pieces = 10 }, b = { .pieces = 30 };

	(void)state;
	host_task(sim, 0, do_job, &a);
	host_task(sim, 1, do_job, &b);
	host_finish(sim);
	assert_int_equal(a.took, 20 * PIECE);
	/* While a works, 10 pieces of b take 20; the other 20 take as long as they are. */
	assert_in_range(b.took, 40 * PIECE, 41 * PIECE);
	sim_destroy(sim);
}

static void threads_share_nothing_unless_asked_to(void **state)
{
	struct machine m = shared_machine();
	struct job a = { .pieces = 10 }, b = { .pieces = 10 };

	(void)state;
	m.smt_share = 1;
	struct sim *sim = host_new(&m);

	host_task(sim, 0, do_job, &a);
	host_task(sim, 1, do_job, &b);
	host_finish(sim);
	assert_int_equal(a.took, 10 * PIECE);
	assert_int_equal(b.took, 10 * PIECE);
	sim_destroy(sim);
}

struct holder {
	struct spinlock lock;
	struct job job;
};

static void work_with_lock(struct task *t, void *arg)
{
	struct holder *h = arg;

	spin_lock(t, &h->lock);
	do_job(t, &h->job);
	spin_unlock(t, &h->lock);
}

static void wait_for_lock(struct task *t, void *arg)
{
	struct holder *h = arg;

	cpu_work(t, PIECE / 10);
	spin_lock(t, &h->lock);
	spin_unlock(t, &h->lock);
}

/* The holder's neighbour pauses in its spin loop after a tenth of the first piece, which was slowed down. */
static void a_spinning_thread_takes_nothing(void **state)
{
	const struct machine m = shared_machine();
	struct sim *sim = host_new(&m);
	struct holder h = { .job.pieces = 10 };

	(void)state;
	spin_lock_init(&h.lock, lock_class(sim, "test"));
	host_task(sim, 0, work_with_lock, &h);
	host_task(sim, 1, wait_for_lock, &h);
	host_finish(sim);
	assert_int_equal(h.job.took, 11 * PIECE);
	sim_destroy(sim);
}

struct lines {
	struct line l[10];
	struct job neighbour;
	sim_time_t took;
};

static void write_lines(struct task *t, void *arg)
{
	struct lines *x = arg;
	sim_time_t begin = t->clock;

	for (uint32_t i = 0; i < 10; i++)
		line_write(t, &x->l[i]);
	task_sync(t);
	x->took = t->clock - begin;
}

/* Lines come from another core as fast as ever, whatever the neighbour does. */
static void a_wait_for_a_line_is_no_work(void **state)
{
	struct machine m = shared_machine();
	struct lines x = { .neighbour.pieces = 10 };

	(void)state;
	m.line_socket = SIM_US;
	struct sim *sim = host_new(&m);

	for (uint32_t i = 0; i < 10; i++)
		x.l[i] = (struct line){ .owner = 2 };
	host_task(sim, 1, do_job, &x.neighbour);
	host_task(sim, 0, write_lines, &x);
	host_finish(sim);
	assert_int_equal(x.took, 10 * SIM_US);
	sim_destroy(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alone_a_thread_has_its_core),
		cmocka_unit_test(two_threads_of_a_core_slow_each_other_down),
		cmocka_unit_test(threads_share_nothing_unless_asked_to),
		cmocka_unit_test(a_spinning_thread_takes_nothing),
		cmocka_unit_test(a_wait_for_a_line_is_no_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
