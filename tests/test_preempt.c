/*
 * test_preempt.c - when a running task gives way: models of preemption, sections, spinning, user work.
 *
 * In most tests a task works on a CPU while a sleeper of the same CPU wakes up; what is looked at is when the
 * sleeper gets to run, and when the worker is done. Costs are zero.
 */
#include "tests/hw_host.h"

#include "sim/hw/sched.h"

#define WAKE  (10 * SIM_MS)
#define SHORT (2 * SIM_MS) /* what the sleeper does when it runs */

struct pair {
	void (*body)(struct task *t, struct pair *p);
	struct task *sleeper;
	struct spinlock lock;
	bool flag;
	sim_time_t ran, done; /* the sleeper; the worker */
};

static void sleeper_run(struct task *t, void *arg)
{
	struct pair *p = arg;

	task_block(t);
	p->ran = sim_now(t->sim);
	cpu_work(t, SHORT);
}

static void worker_run(struct task *t, void *arg)
{
	struct pair *p = arg;

	p->body(t, p);
	task_sync(t);
	p->done = sim_now(t->sim);
}

struct wake_up {
	struct slot slot;
	struct task *task;
};

static void wake_up(struct sim *sim, struct slot *slot)
{
	task_wake(sim, NULL, ((struct wake_up *)(void *)slot)->task);
}

static struct pair run_pair(void (*body)(struct task *t, struct pair *p), enum preempt_model model)
{
	struct machine m = plain_machine(1);
	struct pair p = { .body = body };
	struct wake_up alarm;

	m.latency = 12 * SIM_MS; /* a credit of 6 ms, more than the granularity of 4 */
	struct sim *sim = host_new_as(&m, model, false);

	slot_init(sim, &alarm.slot, SIM_CLASS_TIMER, wake_up);
	slot_arm(sim, &alarm.slot, WAKE);
	spin_lock_init(&p.lock, lock_class(sim, "lock"));
	p.sleeper = alarm.task = host_task(sim, 0, sleeper_run, &p);
	host_task(sim, 0, worker_run, &p);
	host_finish(sim);
	sim_destroy(sim);
	return p;
}

/* ---- kernel work ---- */

static void kernel_work(struct task *t, struct pair *p)
{
	(void)p;
	cpu_work(t, 20 * SIM_MS);
	cpu_work(t, 30 * SIM_MS);
	cond_resched(t);
	cpu_work(t, 5 * SIM_MS);
}

static void voluntary_kernel_work_is_not_preempted(void **state)
{
	struct pair p = run_pair(kernel_work, PREEMPT_VOLUNTARY);

	(void)state;
	assert_int_equal(p.ran, 50 * SIM_MS);
	assert_int_equal(p.done, 57 * SIM_MS);
}

static void full_preempts_kernel_work(void **state)
{
	struct pair p = run_pair(kernel_work, PREEMPT_FULL);

	(void)state;
	assert_int_equal(p.ran, WAKE);
	assert_int_equal(p.done, 57 * SIM_MS);
}

/* Taking a lock that may sleep is a place to give way under the voluntary model, and not under `none`. */
static void kernel_work_and_a_mutex(struct task *t, struct pair *p)
{
	(void)p;
	struct mutex m;

	mutex_init(&m, lock_class(t->sim, "mutex"));
	cpu_work(t, 20 * SIM_MS);
	mutex_lock(t, &m);
	mutex_unlock(t, &m);
	cpu_work(t, 30 * SIM_MS);
}

static void a_mutex_is_a_place_to_give_way_if_voluntary(void **state)
{
	(void)state;
	assert_int_equal(run_pair(kernel_work_and_a_mutex, PREEMPT_VOLUNTARY).ran, 20 * SIM_MS);
	assert_true(run_pair(kernel_work_and_a_mutex, PREEMPT_NONE).ran >= 50 * SIM_MS);
	assert_int_equal(run_pair(kernel_work, PREEMPT_NONE).ran,
			 50 * SIM_MS); /* cond_resched() is one in both */
}

static void plain_user_work(struct task *t, struct pair *p)
{
	(void)p;
	user_work(t, 50 * SIM_MS);
}

static void user_work_is_preempted_in_all(void **state)
{
	(void)state;
	for (enum preempt_model model = PREEMPT_VOLUNTARY; model <= PREEMPT_NONE; model++) {
		struct pair p = run_pair(plain_user_work, model);

		assert_int_equal(p.ran, WAKE);
		assert_int_equal(p.done, 52 * SIM_MS);
	}
}

static void system_calls(struct task *t, struct pair *p)
{
	(void)p;
	cpu_work(t, 20 * SIM_MS); /* the sleeper wakes in here */
	user_work(t, 10 * SIM_MS);
}

static void return_to_user_mode_gives_way(void **state)
{
	struct pair p = run_pair(system_calls, PREEMPT_VOLUNTARY);

	(void)state;
	assert_int_equal(p.ran, 20 * SIM_MS);
	assert_int_equal(p.done, 32 * SIM_MS);
}

/* ---- sections ---- */

static void section(struct task *t, struct pair *p)
{
	(void)p;
	cpu_work(t, 5 * SIM_MS);
	preempt_disable(t);
	cpu_work(t, 10 * SIM_MS);
	local_irq_disable(t);
	cond_resched(t); /* not here */
	cpu_work(t, 10 * SIM_MS);
	local_irq_enable(t);
	cpu_work(t, 5 * SIM_MS);
	preempt_enable(t);
	cpu_work(t, 10 * SIM_MS);
}

static void sections_hold_preemption_off(void **state)
{
	struct pair p = run_pair(section, PREEMPT_FULL);

	(void)state;
	assert_int_equal(p.ran, 30 * SIM_MS);
	assert_int_equal(p.done, 42 * SIM_MS);
	p = run_pair(section, PREEMPT_VOLUNTARY); /* it ends before anything gives way */
	assert_int_equal(p.ran, 40 * SIM_MS);
	assert_int_equal(p.done, 40 * SIM_MS);
}

static void three_sections(struct task *t, void *arg)
{
	(void)arg;
	for (sim_time_t us = 1; us <= 3; us++) {
		preempt_disable(t);
		cpu_work(t, us * SIM_US);
		preempt_disable(t);
		local_irq_disable(t);
		cpu_work(t, 10 * us * SIM_US);
		local_irq_enable(t);
		preempt_enable(t);
		cpu_work(t, us * SIM_US);
		preempt_enable(t);
		cpu_work(t, 70 * SIM_US);
	}
}

static void lengths_of_sections_are_recorded(void **state)
{
	const struct machine m = plain_machine(2);
	struct sim *sim = host_new(&m);

	(void)state;
	host_task(sim, 0, three_sections, NULL);
	host_task(sim, 1, three_sections, NULL);
	host_finish(sim);
	const struct sched *s = sim_sched(sim);

	assert_int_equal(s->preempt_off->count, 6);
	assert_int_equal(s->preempt_off->min, 12000);
	assert_int_equal(s->preempt_off->max, 36000);
	assert_int_equal((int)s->preempt_off->sum, 2 * (12 + 24 + 36) * 1000);
	assert_int_equal(s->irq_off->count, 6);
	assert_int_equal(s->irq_off->min, 10000);
	assert_int_equal(s->irq_off->max, 30000);
	assert_int_equal((int)s->irq_off->sum, 2 * (10 + 20 + 30) * 1000);
	sim_destroy(sim);
}

/* ---- in the middle of a step ---- */

static void wakes_it(struct task *t, struct pair *p)
{
	cpu_work(t, 8 * SIM_MS);
	task_wake(t->sim, t, p->sleeper);
	p->flag = !p->ran; /* the step goes on */
	cpu_work(t, 10 * SIM_MS);
}

static void a_waker_finishes_its_step_and_gives_way(void **state)
{
	struct pair p = run_pair(wakes_it, PREEMPT_FULL);

	(void)state;
	assert_true(p.flag);
	assert_int_equal(p.ran, 8 * SIM_MS);
	assert_int_equal(p.done, 20 * SIM_MS);
	p = run_pair(wakes_it, PREEMPT_VOLUNTARY);
	assert_int_equal(p.ran, 18 * SIM_MS);
}

static void wakes_it_inside(struct task *t, struct pair *p)
{
	spin_lock(t, &p->lock);
	cpu_work(t, 8 * SIM_MS);
	task_wake(t->sim, t, p->sleeper);
	cpu_work(t, 10 * SIM_MS);
	spin_unlock(t, &p->lock);
	cpu_work(t, 10 * SIM_MS);
}

static void a_waker_with_preemption_off_gives_way_after(void **state)
{
	struct pair p = run_pair(wakes_it_inside, PREEMPT_FULL);

	(void)state;
	assert_int_equal(p.ran, 18 * SIM_MS);
	assert_int_equal(p.done, 30 * SIM_MS);
}

/* ---- spinning ---- */

static void spins(struct task *t, struct pair *p)
{
	cpu_work(t, SIM_MS);
	p->flag = task_spin(t);
	assert_true(need_resched(t));
	cpu_work(t, SIM_MS);
	cond_resched(t);
}

static void a_spinner_that_must_go_gives_up(void **state)
{
	struct pair p = run_pair(spins, PREEMPT_VOLUNTARY);

	(void)state;
	assert_false(p.flag);
	assert_int_equal(p.ran, WAKE + SIM_MS);
	assert_int_equal(p.done, WAKE + SIM_MS + SHORT);
}

struct grant {
	struct slot slot;
	struct task *spinner, *owner;
	sim_time_t until, end, spun;
	bool granted;
};

static void grant(struct sim *sim, struct slot *slot)
{
	struct grant *g = (struct grant *)(void *)slot;

	task_grant(sim, g->spinner, g->until);
}

static void spin_for_grant(struct task *t, void *arg)
{
	struct grant *g = arg;

	user_work(t, SIM_MS);
	preempt_disable(t);
	g->granted = task_spin(t);
	g->end = sim_now(t->sim);
	preempt_enable(t);
	cpu_work(t, SIM_MS);
	task_sync(t);
	sched_account(t);
	g->spun = t->clocks[CLOCK_SPIN];
	assert_int_equal(t->clocks[CLOCK_USER], SIM_MS);
	assert_int_equal(t->clocks[CLOCK_SYS], SIM_MS);
}

static void a_grant_ends_the_spin_when_it_arrives(void **state)
{
	const struct machine m = plain_machine(1);
	struct sim *sim = host_new(&m);
	struct grant g = { .until = 7 * SIM_MS };
	sim_time_t clocks[NR_TASK_CLOCKS];

	(void)state;
	slot_init(sim, &g.slot, SIM_CLASS_TIMER, grant);
	slot_arm(sim, &g.slot, 5 * SIM_MS);
	g.spinner = host_task(sim, 0, spin_for_grant, &g);
	host_run(sim, 6 * SIM_MS); /* granted, but not there yet */
	sched_clocks(sim, clocks);
	assert_int_equal(clocks[CLOCK_SPIN], 5 * SIM_MS);
	host_finish(sim);
	assert_true(g.granted);
	assert_int_equal(g.end, 7 * SIM_MS);
	assert_int_equal(g.spun, 6 * SIM_MS);
	sim_destroy(sim);
}

static void own_then_leave(struct task *t, void *arg)
{
	(void)arg;
	cpu_work(t, 3 * SIM_MS);
	task_sleep(t, 10 * SIM_MS);
}

static void watch(struct task *t, void *arg)
{
	struct grant *g = arg;

	cpu_work(t, SIM_MS);
	task_sync(t);
	g->granted = task_watch(t, g->owner);
	g->end = sim_now(t->sim);
}

static void watchers_see_their_owner_leave_its_cpu(void **state)
{
	const struct machine m = plain_machine(3);
	struct sim *sim = host_new(&m);
	struct grant a = { 0 }, b = { 0 };

	(void)state;
	a.owner = b.owner = host_task(sim, 0, own_then_leave, NULL);
	host_task(sim, 1, watch, &a);
	host_task(sim, 2, watch, &b);
	host_finish(sim);
	assert_false(a.granted || b.granted);
	assert_int_equal(a.end, 3 * SIM_MS);
	assert_int_equal(b.end, 3 * SIM_MS);
	sim_destroy(sim);
}

/* ---- remaining work ---- */

static void interrupt_often(struct task *t, void *arg)
{
	uint64_t random = 5;

	(void)arg;
	for (int i = 0; i < 200; i++) {
		task_sleep(t, draw(&random, 500 * SIM_US));
		cpu_work(t, 100 * SIM_US + draw(&random, 99999));
	}
}

static void long_user_work(struct task *t, void *arg)
{
	user_work(t, 100 * SIM_MS);
	task_sync(t);
	*(sim_time_t *)arg = sim_now(t->sim);
	sched_account(t);
	assert_int_equal(t->clocks[CLOCK_USER], 100 * SIM_MS);
}

static void preempted_work_is_neither_lost_nor_repeated(void **state)
{
	struct machine m = plain_machine(1);
	sim_time_t end = 0, clocks[NR_TASK_CLOCKS];

	(void)state;
	m.latency = 10 * SIM_MS;
	m.wakeup_granularity = 0;
	struct sim *sim = host_new(&m);

	struct task *t = host_task(sim, 0, long_user_work, &end);

	host_task(sim, 0, interrupt_often, NULL);
	host_run(sim, 90 * SIM_MS);
	assert_in_range(t->switches, 100, 250); /* the test is about something */
	while (!end)
		host_run(sim, sim_now(sim) + SIM_US);
	/* At the end the CPU has been busy with nothing else than the two. */
	sched_clocks(sim, clocks);
	assert_int_equal(clocks[CLOCK_USER], 100 * SIM_MS);
	assert_int_equal(clocks[CLOCK_USER] + clocks[CLOCK_SYS], cpu_busy(sim, &sim_sched(sim)->cpus[0]));
	assert_in_range(end - clocks[CLOCK_SYS], 100 * SIM_MS - SIM_US, 100 * SIM_MS);
	sim_destroy(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(voluntary_kernel_work_is_not_preempted),
		cmocka_unit_test(full_preempts_kernel_work),
		cmocka_unit_test(a_mutex_is_a_place_to_give_way_if_voluntary),
		cmocka_unit_test(user_work_is_preempted_in_all),
		cmocka_unit_test(return_to_user_mode_gives_way),
		cmocka_unit_test(sections_hold_preemption_off),
		cmocka_unit_test(lengths_of_sections_are_recorded),
		cmocka_unit_test(a_waker_finishes_its_step_and_gives_way),
		cmocka_unit_test(a_waker_with_preemption_off_gives_way_after),
		cmocka_unit_test(a_spinner_that_must_go_gives_up),
		cmocka_unit_test(a_grant_ends_the_spin_when_it_arrives),
		cmocka_unit_test(watchers_see_their_owner_leave_its_cpu),
		cmocka_unit_test(preempted_work_is_neither_lost_nor_repeated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
