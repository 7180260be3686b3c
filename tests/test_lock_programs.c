/*
 * test_lock_programs.c - 1,200 random programs of tasks, locks, lines, sleeps, preemption and quotas.
 *
 * Each program runs twice, with private work merged and on the naive engine that synchronises at every step.
 * In both every lock must exclude whom it has to, nothing may get stuck, and both must come to the same end:
 * the same simulated time, the same accounts of every lock class, the same CPU time of every task.
 */
#include "tests/hw_host.h"
#include "tests/shared.h"

#include <string.h>

#define MAX_TASKS 9

struct program {
	struct spinlock spin[2];
	struct mutex mutex[2];
	struct rwsem rwsem;
	struct seqlock seqlock;
	struct line line;
	uint32_t in_spin[2], in_mutex[2], readers, writers;
	uint64_t first, second;    /* written one after the other in the seqlock, always together */
	uint64_t counter, counted; /* read, worked on and written back in mutex 0 */
	uint64_t loads;            /* of the pair */
	uint64_t digest;           /* of the times at which each task passed each point */
};

struct actor {
	struct program *p;
	uint64_t random;
	uint32_t steps;
	uint32_t depth; /* mutexes held: no sleeping lock is taken inside a spinlock */
};

static void work(struct task *t, struct actor *a)
{
	cpu_work(t, draw(&a->random, 3) ? draw(&a->random, 2 * SIM_US) : draw(&a->random, 200 * SIM_US));
}

static void in_spinlock(struct task *t, struct actor *a)
{
	uint32_t i = (uint32_t)draw(&a->random, 2);
	struct spinlock *l = &a->p->spin[i];
	bool irq = draw(&a->random, 2);

	if (irq)
		spin_lock_irq(t, l);
	else if (draw(&a->random, 4))
		spin_lock(t, l);
	else if (!spin_trylock(t, l))
		return;
	assert_int_equal(a->p->in_spin[i]++, 0);
	work(t, a);
	task_sync(t);
	assert_int_equal(--a->p->in_spin[i], 0);
	if (irq)
		spin_unlock_irq(t, l);
	else
		spin_unlock(t, l);
}

static void in_mutex(struct task *t, struct actor *a)
{
	uint32_t i = (uint32_t)draw(&a->random, 2);
	struct program *p = a->p;

	if (draw(&a->random, 4))
		mutex_lock(t, &p->mutex[i]);
	else if (!mutex_trylock(t, &p->mutex[i]))
		return;
	assert_int_equal(p->in_mutex[i]++, 0);
	uint64_t value = p->counter;

	work(t, a);
	if (draw(&a->random, 3) == 0)
		task_sleep(t, draw(&a->random, 100 * SIM_US));
	if (draw(&a->random, 3) == 0)
		cond_resched(t);
	if (draw(&a->random, 3) == 0)
		in_spinlock(t, a);
	task_sync(t);
	if (i == 0) {
		p->counter = value + 1;
		p->counted++;
	}
	assert_int_equal(--p->in_mutex[i], 0);
	mutex_unlock(t, &p->mutex[i]);
}

static void in_rwsem(struct task *t, struct actor *a)
{
	struct program *p = a->p;

	if (draw(&a->random, 3)) {
		down_read(t, &p->rwsem);
		p->readers++;
		assert_int_equal(p->writers, 0);
		work(t, a);
		if (draw(&a->random, 3) == 0)
			task_sleep(t, draw(&a->random, 50 * SIM_US));
		task_sync(t);
		p->readers--;
		up_read(t, &p->rwsem);
	} else {
		down_write(t, &p->rwsem);
		assert_int_equal(p->writers++, 0);
		assert_int_equal(p->readers, 0);
		work(t, a);
		task_sync(t);
		assert_int_equal(p->readers, 0);
		assert_int_equal(--p->writers, 0);
		up_write(t, &p->rwsem);
	}
}

static void in_seqlock(struct task *t, struct actor *a)
{
	struct program *p = a->p;

	if (draw(&a->random, 2)) {
		uint64_t sequence, first, second;

		do {
			sequence = read_seqbegin(t, &p->seqlock);
			first = p->first;
			work(t, a);
			task_sync(t);
			second = p->second;
		} while (read_seqretry(t, &p->seqlock, sequence));
		assert_int_equal(first, second);
		p->loads++;
	} else {
		write_seqlock(t, &p->seqlock);
		p->first++;
		work(t, a);
		task_sync(t);
		p->second++;
		write_sequnlock(t, &p->seqlock);
	}
}

static void step(struct task *t, struct actor *a)
{
	switch (draw(&a->random, 12)) {
	case 0:
		work(t, a);
		break;
	case 1:
		user_work(t, draw(&a->random, draw(&a->random, 10) ? 20 * SIM_US : 5 * SIM_MS));
		break;
	case 2:
		task_sleep(t, draw(&a->random, 100 * SIM_US));
		break;
	case 3:
		line_rmw(t, &a->p->line);
		break;
	case 4:
		rcu_read_lock(t);
		work(t, a);
		line_read(t, &a->p->line);
		rcu_read_unlock(t);
		break;
	case 5:
	case 6:
		in_spinlock(t, a);
		break;
	case 7:
	case 8:
		in_mutex(t, a);
		break;
	case 9:
	case 10:
		in_rwsem(t, a);
		break;
	default:
		in_seqlock(t, a);
	}
}

static void actor_main(struct task *t, void *arg)
{
	struct actor *a = arg;

	for (uint32_t i = 0; i < a->steps; i++) {
		step(t, a);
		task_sync(t);
		a->p->digest = (a->p->digest ^ t->clock ^ (uint64_t)t->id << 56) * 0x9E3779B97F4A7C15U;
	}
}

struct outcome {
	sim_time_t end;
	uint64_t digest;
	sim_time_t clocks[NR_TASK_CLOCKS];
	struct lock_class class[4];
	uint64_t contended, loads;
};

static void run_program(uint64_t seed, bool naive, struct outcome *o)
{
	uint64_t random = seed * 0x9E3779B97F4A7C15U + 1;
	struct machine m = plain_machine(1 + (uint32_t)draw(&random, 5));
	struct actor actors[MAX_TASKS];
	struct program p = { .digest = 1 };
	static const char *const names[] = { "spin", "mutex", "rwsem", "seqlock" };

	m.threads_per_core = 1 + (uint32_t)draw(&random, 2);
	m.line_hit = draw(&random, 2) * SIM_NS;
	m.line_core = draw(&random, 2) * 10 * SIM_NS;
	m.line_socket = draw(&random, 2) * 60 * SIM_NS;
	m.line_memory = draw(&random, 2) * 90 * SIM_NS;
	m.atomic = draw(&random, 2) * 5 * SIM_NS;
	m.context_switch = draw(&random, 2) * SIM_US;
	m.wakeup = draw(&random, 2) * SIM_US;
	m.wakeup_remote = draw(&random, 2) * 2 * SIM_US;
	m.mutex_slowpath = draw(&random, 2) * 300 * SIM_NS;
	m.rcu_read = draw(&random, 2) * 200 * SIM_PS;
	m.slice = (1 + draw(&random, 20)) * 50 * SIM_US;
	m.latency = 4 * m.slice;
	m.wakeup_granularity = draw(&random, 3) * m.slice;
	struct sim *sim = host_new_as(&m, draw(&random, 2) ? PREEMPT_FULL : PREEMPT_VOLUNTARY, naive);
	struct bandwidth *b = draw(&random, 3) ? NULL : bandwidth_create(sim, 2 * SIM_MS, 10 * SIM_MS, NULL);
	uint32_t nr = 2 + (uint32_t)draw(&random, MAX_TASKS - 1);

	for (int i = 0; i < 2; i++) {
		spin_lock_init(&p.spin[i], lock_class(sim, names[0]));
		mutex_init(&p.mutex[i], lock_class(sim, names[1]));
	}
	rwsem_init(&p.rwsem, lock_class(sim, names[2]));
	seqlock_init(&p.seqlock, lock_class(sim, names[3]));
	line_init(&p.line);
	for (uint32_t i = 0; i < nr; i++) {
		actors[i] = (struct actor){ .p = &p,
					    .random = random + i * 77 + 1,
					    .steps = 1 + (uint32_t)draw(&random, 40) };
		const struct task_attr attr = {
			.name = "actor",
			.run = actor_main,
			.arg = &actors[i],
			.cpu = draw(&random, 2) ? -1 : (int32_t)draw(&random, m.cpus),
			.bandwidth = draw(&random, 2) ? b : NULL,
		};

		task_spawn(sim, &attr);
	}
	host_finish(sim);
	assert_int_equal(p.counter, p.counted);
	assert_int_equal(p.first, p.second);
	o->end = sim_now(sim);
	o->digest = p.digest;
	o->loads = p.loads;
	sched_clocks(sim, o->clocks);
	for (uint32_t i = 0; i < 4; i++) {
		struct lock_class *c = lock_class(sim, names[i]);

		assert_int_equal(c->waiting, 0);
		assert_true(c->queue_area == (double)c->wait_total);
		o->class[i] = *c;
		o->contended += c->contended;
	}
	sim_destroy(sim);
}

static void random_programs_exclude_and_agree_with_the_naive_engine(void **state)
{
	uint64_t contended = 0, loads = 0;

	(void)state;
	for (uint64_t seed = FIRST_SHARED; seed < 1200; seed += NR_SHARING) {
		struct outcome merged = { .end = 0 }, naive = { .end = 0 };

		run_program(seed, false, &merged);
		run_program(seed, true, &naive);
		contended += merged.contended;
		loads += merged.loads;
		if (merged.end != naive.end || merged.digest != naive.digest)
			fail_msg("program %llu: ends at %llu ps, naively at %llu ps",
				 (unsigned long long)seed, (unsigned long long)merged.end,
				 (unsigned long long)naive.end);
		assert_memory_equal(merged.clocks, naive.clocks, sizeof merged.clocks);
		for (int i = 0; i < 4; i++) {
			const struct lock_class *a = &merged.class[i], *b = &naive.class[i];

			assert_int_equal(a->acquisitions, b->acquisitions);
			assert_int_equal(a->contended, b->contended);
			assert_int_equal(a->wait_total, b->wait_total);
			assert_int_equal(a->spin_total, b->spin_total);
			assert_int_equal(a->hold_total, b->hold_total);
		}
	}
	assert_true(contended > 10000 / NR_SHARING); /* the programs do meet */
	assert_true(loads > 1000 / NR_SHARING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_programs_exclude_and_agree_with_the_naive_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
