/*
 * test_workqueue.c - work queues: how many at once, where, in which order, and delayed work.
 */
#include "tests/hw_host.h"

#define TICK (SIM_SEC / HZ)

struct job {
	struct work work;
	struct bench *bench;
	sim_time_t length, began, ended;
	uint32_t cpu, runs, repeats;
	bool sleeps;
};

struct bench {
	struct workqueue *wq;
	struct job jobs[16];
	uint32_t nr, running, most, most_on_cpu0, on_cpu0;
	bool twice; /* a second request, while the first runs, is taken */
};

static void job_main(struct task *t, struct work *work)
{
	struct job *j = (struct job *)(void *)work;
	struct bench *b = j->bench;

	task_sync(t);
	j->began = t->clock;
	j->cpu = t->cpu->id;
	j->runs++;
	b->running++;
	b->on_cpu0 += j->cpu == 0;
	if (b->running > b->most)
		b->most = b->running;
	if (b->on_cpu0 > b->most_on_cpu0)
		b->most_on_cpu0 = b->on_cpu0;
	if (j->repeats) {
		j->repeats--;
		assert_true(queue_work_on(t->sim, t, t->cpu->id, b->wq, work)); /* while it runs */
	}
	if (j->sleeps)
		task_sleep(t, j->length);
	else
		cpu_work(t, j->length);
	task_sync(t);
	j->ended = t->clock;
	b->running--;
	b->on_cpu0 -= j->cpu == 0;
}

static void queue_all(struct task *t, void *arg)
{
	struct bench *b = arg;

	for (uint32_t i = 0; i < b->nr; i++)
		assert_true(queue_work_on(t->sim, t, i % 2, b->wq, &b->jobs[i].work));
	/* The last one still waits for a worker. */
	assert_false(queue_work_on(t->sim, t, 0, b->wq, &b->jobs[b->nr - 1].work));
}

static void bench_init(struct bench *b, struct sim *sim, bool unbound, uint32_t max_active, uint32_t nr)
{
	b->wq = workqueue_create(sim, "wq", unbound, max_active);
	b->nr = nr;
	for (uint32_t i = 0; i < nr; i++) {
		b->jobs[i].bench = b;
		b->jobs[i].length = 1 * SIM_MS;
		b->jobs[i].sleeps = true;
		work_init(&b->jobs[i].work, job_main);
	}
}

static void at_most_max_active_run_at_once(void **state)
{
	(void)state;
	for (uint32_t max = 1; max <= 4; max++) {
		struct machine m = plain_machine(8);
		struct sim *sim = host_new(&m);
		struct bench b = { .nr = 0 };

		bench_init(&b, sim, true, max, 12);
		host_task(sim, 7, queue_all, &b);
		host_run(sim, 1 * SIM_SEC);
		assert_int_equal(b.most, max);
		for (uint32_t i = 0; i < 12; i++) {
			assert_int_equal(b.jobs[i].runs, 1);
			/* First come, first served: in groups of max, 1 ms apart. */
			assert_int_equal(b.jobs[i].began, i / max * SIM_MS);
		}
		assert_int_equal(sim_sched(sim)->nr_tasks, max); /* workers are kept, and no more are made */
		sim_destroy(sim);
	}
}

static void a_per_cpu_queue_runs_work_where_it_was_queued(void **state)
{
	struct machine m = plain_machine(4);
	struct sim *sim = host_new(&m);
	struct bench b = { .nr = 0 };

	(void)state;
	bench_init(&b, sim, false, 3, 16);
	host_task(sim, 3, queue_all, &b);
	host_run(sim, 1 * SIM_SEC);
	assert_int_equal(b.most_on_cpu0, 3); /* max_active counts for each CPU */
	assert_int_equal(b.most, 6);
	for (uint32_t i = 0; i < 16; i++) {
		assert_int_equal(b.jobs[i].runs, 1);
		assert_int_equal(b.jobs[i].cpu, i % 2);
	}
	sim_destroy(sim);
}

static void queue_one(struct task *t, void *arg)
{
	struct bench *b = arg;

	assert_true(queue_work_on(t->sim, t, 0, b->wq, &b->jobs[0].work));
	task_sleep(t, SIM_MS / 2);
	if (b->nr > 1)
		assert_int_equal(queue_work_on(t->sim, t, 0, b->wq, &b->jobs[0].work), b->twice);
}

static void work_is_never_run_by_two_workers(void **state)
{
	struct machine m = plain_machine(4);
	struct sim *sim = host_new(&m);
	struct bench b = { .nr = 0 };

	(void)state;
	bench_init(&b, sim, true, 4, 2);
	b.jobs[0].repeats = 9;
	host_task(sim, 3, queue_one, &b);
	host_run(sim, 1 * SIM_SEC);
	/* The other request is none: the work had been queued already by itself. */
	assert_int_equal(b.jobs[0].runs, 10);
	assert_int_equal(b.most, 1);
	assert_int_equal(b.jobs[0].ended, 10 * SIM_MS);
	sim_destroy(sim);
}

static void work_that_runs_can_be_queued_again_by_others(void **state)
{
	struct machine m = plain_machine(4);
	struct sim *sim = host_new(&m);
	struct bench b = { .twice = true }; /* after it, not beside it, though workers are idle */

	(void)state;
	bench_init(&b, sim, true, 4, 2);
	host_task(sim, 3, queue_one, &b);
	host_run(sim, 1 * SIM_SEC);
	assert_int_equal(b.jobs[0].runs, 2);
	assert_int_equal(b.most, 1);
	assert_int_equal(b.jobs[0].ended, 2 * SIM_MS);
	sim_destroy(sim);
}

static void dispatch_costs_what_the_machine_says(void **state)
{
	struct machine m = plain_machine(4);
	struct bench b = { .nr = 0 };

	(void)state;
	m.work_dispatch = 5 * SIM_US;
	m.wakeup = 1 * SIM_US;
	m.wakeup_remote = 2 * SIM_US;
	m.context_switch = 3 * SIM_US;
	struct sim *sim = host_new(&m);

	bench_init(&b, sim, true, 4, 1);
	b.jobs[0].sleeps = false;
	host_task(sim, 3, queue_one, &b);
	host_run(sim, 1 * SIM_SEC);
	sim_time_t queued = m.wakeup_remote + m.context_switch; /* the queueing task had to be woken itself */

	assert_int_equal(b.jobs[0].began, queued + m.wakeup_remote + m.context_switch + m.work_dispatch);
	sim_destroy(sim);
}

/* ---- freed in its own function, as the release of a cgroup does ---- */

struct mortal {
	struct work work;
	uint32_t *dead;
};

static void frees_itself(struct task *t, struct work *work)
{
	uint32_t *dead = ((struct mortal *)(void *)work)->dead;

	sim_free(t->sim, work, sizeof(struct mortal));
	struct mortal *next = sim_alloc(t->sim, sizeof *next); /* at the same address */

	if (++*dead == 5)
		return;
	next->dead = dead;
	work_init(&next->work, frees_itself);
	assert_true(queue_work_on(t->sim, t, 0, *(struct workqueue **)(void *)(dead + 2), &next->work));
	task_sleep(t, 1 * SIM_MS);
}

static void queue_mortal(struct task *t, void *arg)
{
	struct mortal *m = sim_alloc(t->sim, sizeof *m);

	m->dead = arg;
	work_init(&m->work, frees_itself);
	queue_work_on(t->sim, t, 0, *(struct workqueue **)(void *)((uint32_t *)arg + 2), &m->work);
}

static void work_may_free_itself(void **state)
{
	struct machine m = plain_machine(2);
	struct sim *sim = host_new(&m);
	struct {
		uint32_t dead, pad;
		struct workqueue *wq;
	} arg = { 0, 0, workqueue_create(sim, "wq", true, 0) };

	(void)state;
	host_task(sim, 0, queue_mortal, &arg);
	host_run(sim, 1 * SIM_SEC);
	assert_int_equal(arg.dead, 5);
	sim_destroy(sim);
}

/* ---- delayed work ---- */

struct periodic {
	struct delayed_work dw;
	struct workqueue *wq;
	sim_time_t queued, ran[64];
	uint32_t nr, cpu;
	sim_time_t delay;
};

static void periodic_main(struct task *t, struct work *work)
{
	struct periodic *p = (struct periodic *)(void *)work;

	task_sync(t);
	p->ran[p->nr++] = t->clock;
	p->cpu = t->cpu->id;
	if (p->nr < 64)
		queue_delayed_work(t->sim, t->cpu->id, p->wq, &p->dw, p->delay);
}

static void queue_later(struct task *t, void *arg)
{
	struct periodic *p = arg;

	cpu_work(t, p->queued);
	task_sync(t);
	queue_delayed_work(t->sim, t->cpu->id, p->wq, &p->dw, p->delay);
	queue_delayed_work(t->sim, t->cpu->id, p->wq, &p->dw, 1 * SIM_MS); /* no effect */
}

/* The flusher of cgroup statistics: 2 s at HZ 250 are 500 ticks, which the wheel rounds to 8. */
static void delayed_work_of_2s_runs_after_2000_to_2032_ms(void **state)
{
	uint64_t random = 3;
	sim_time_t least = SIM_SEC, most = 0;

	(void)state;
	for (int i = 0; i < 500; i++) {
		struct machine m = plain_machine(2);
		struct sim *sim = host_new(&m);
		struct periodic p = { .queued = draw(&random, 100 * SIM_MS), .nr = 63, .delay = 2 * SIM_SEC };

		p.wq = workqueue_create(sim, "events_unbound", true, 0);
		delayed_work_init(sim, &p.dw, false, periodic_main);
		host_task(sim, 1, queue_later, &p);
		host_run(sim, 10 * SIM_SEC);
		assert_int_equal(p.nr, 64);
		sim_time_t late = p.ran[63] - p.queued - 2 * SIM_SEC;

		assert_in_range(late, 1, 32 * SIM_MS);
		assert_int_equal(p.ran[63] % (8 * TICK), 0);
		least = late < least ? late : least;
		most = late > most ? late : most;
		sim_destroy(sim);
	}
	assert_true(least < 2 * SIM_MS && most > 30 * SIM_MS);
}

static void delayed_work_queues_itself_again(void **state)
{
	struct machine m = plain_machine(2);
	struct sim *sim = host_new(&m);
	struct periodic p = { .delay = 2 * SIM_SEC };

	(void)state;
	p.wq = workqueue_create(sim, "events", false, 0);
	delayed_work_init(sim, &p.dw, false, periodic_main);
	host_task(sim, 1, queue_later, &p);
	host_run(sim, 1000 * SIM_SEC);
	assert_int_equal(p.nr, 64);
	assert_int_equal(p.cpu, 1);
	for (uint32_t i = 1; i < 64; i++) /* from a multiple of 8 ticks to the next but 62 */
		assert_int_equal(p.ran[i] - p.ran[i - 1], 504 * TICK);
	sim_destroy(sim);
}

static void no_delay_runs_at_once(void **state)
{
	struct machine m = plain_machine(2);
	struct sim *sim = host_new(&m);
	struct periodic p = { .nr = 63 };

	(void)state;
	p.wq = workqueue_create(sim, "events", false, 0);
	delayed_work_init(sim, &p.dw, true, periodic_main);
	queue_delayed_work(sim, 0, p.wq, &p.dw, 0);
	host_run(sim, 1 * SIM_SEC);
	assert_int_equal(p.nr, 64);
	assert_int_equal(p.ran[63], 0);
	sim_destroy(sim);
}

/* ---- a worker beside a task that computes ---- */

static void queue_and_go_on(struct task *t, void *arg)
{
	struct bench *b = arg;

	cpu_work(t, 1 * SIM_MS);
	queue_work_on(t->sim, t, t->cpu->id, b->wq, &b->jobs[0].work);
	for (uint32_t i = 0; i < 100; i++) {
		cpu_work(t, SIM_MS / 10);
		cond_resched(t);
	}
}

/* The pool had one that slept, and it may be as far ahead as one that sleeps later in the run. */
static void the_first_work_of_a_run_does_not_wait_for_a_slice(void **state)
{
	struct machine m = plain_machine(1);
	struct sim *sim = host_new(&m);
	struct bench b = { .nr = 0 };

	(void)state;
	bench_init(&b, sim, false, 1, 1);
	b.jobs[0].sleeps = false;
	host_task(sim, 0, queue_and_go_on, &b);
	host_run(sim, 1 * SIM_SEC);
	assert_int_equal(b.jobs[0].runs, 1);
	assert_in_range(b.jobs[0].began, 1 * SIM_MS, SIM_MS + SIM_MS / 5);
	sim_destroy(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_most_max_active_run_at_once),
		cmocka_unit_test(a_per_cpu_queue_runs_work_where_it_was_queued),
		cmocka_unit_test(work_is_never_run_by_two_workers),
		cmocka_unit_test(work_that_runs_can_be_queued_again_by_others),
		cmocka_unit_test(dispatch_costs_what_the_machine_says),
		cmocka_unit_test(work_may_free_itself),
		cmocka_unit_test(delayed_work_of_2s_runs_after_2000_to_2032_ms),
		cmocka_unit_test(delayed_work_queues_itself_again),
		cmocka_unit_test(no_delay_runs_at_once),
		cmocka_unit_test(the_first_work_of_a_run_does_not_wait_for_a_slice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
