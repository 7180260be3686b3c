/*
 * test_rstat_lock.c - what waiting for the rstat lock is like, by lock policy.
 */
#include "tests/stat_rig.h"

#define CPUS   8
#define LEAVES 16

struct scene {
	struct rig *rig;
	struct memcg *leaf[LEAVES];
	sim_time_t long_flush, worst_short; /* latencies */
	const struct spinlock *lock;
	uint32_t most_waiters;
	bool ended;
};

/* Of a pair of another CPU. */
static sim_time_t pair_time(const struct scene *s)
{
	return s->rig->host.stat->pair_cost + s->rig->host.stat->pair_lines * s->rig->costs.flush_line;
}

static void update_all(struct task *t, void *arg)
{
	struct scene *s = arg;

	for (int i = 0; i < LEAVES; i++)
		rig_update(t, s->leaf[i], 1);
}

static void raise(struct scene *s, const struct rig_config *config)
{
	*s = (struct scene){ .rig = rig_new(config) };
	for (int i = 0; i < LEAVES; i++)
		s->leaf[i] = rig_memcg(s->rig, NULL, "l");
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		rig_task(s->rig, cpu, update_all, s);
	rig_run(s->rig, SIM_MS);
}

static void flush_root(struct task *t, void *arg)
{
	struct scene *s = arg;
	struct flush f = { .memcg = s->rig->host.cgroups->root, .caller = FLUSH_RELEASE };
	sim_time_t begin = t->clock;

	rstat_flush(t, &f, f.memcg, true);
	s->long_flush = t->clock - begin;
	s->ended = true;
}

/* Flushes of a leaf, one after the other, as long as the long one lasts. */
static void flush_leaf(struct task *t, void *arg)
{
	struct scene *s = arg;

	while (!s->ended) {
		struct flush f = { .memcg = s->leaf[0], .caller = FLUSH_RELEASE };
		sim_time_t begin = t->clock;

		rstat_flush(t, &f, f.memcg, true);
		if (t->clock - begin > s->worst_short)
			s->worst_short = t->clock - begin;
	}
}

static void contend_as(struct scene *s, const struct rig_config *config, uint32_t others)
{
	raise(s, config);
	task_spawn(s->rig->sim,
		   &(struct task_attr){ .name = "root", .run = flush_root, .arg = s, .start = SIM_MS });
	for (uint32_t cpu = 1; cpu <= others; cpu++)
		task_spawn(s->rig->sim, &(struct task_attr){ .name = "leaf",
							     .run = flush_leaf,
							     .arg = s,
							     .cpu = (int32_t)cpu,
							     .start = SIM_MS + SIM_US });
	rig_run(s->rig, SIM_SEC);
	assert_int_equal(sim_sched(s->rig->sim)->nr_tasks, 0);
}

static void contend(struct scene *s, const char *lock, uint32_t others)
{
	contend_as(s, &(struct rig_config){ .cpus = CPUS, .flush = "everyone_waits", .lock = lock }, others);
}

/*
 * Between two CPUs' steps of a yielding flush all others get a turn, so a long flush grows with the number of
 * those who wait, and each of theirs with the number of CPUs; held, the long one is not disturbed at all,
 * and nobody waits longer than for the whole of it and of the others before.
 */
static void yielding_lengthens_the_longest_and_shortens_the_wait(void **state)
{
	struct scene alone, hold, yield_2, yield_6;

	(void)state;
	contend(&alone, "spin_hold", 0);
	contend(&hold, "spin_hold", 6);
	contend(&yield_2, "spin_yield", 2);
	contend(&yield_6, "spin_yield", 6);
	assert_true(hold.long_flush < alone.long_flush + alone.long_flush / 10);
	assert_true(yield_2.long_flush > hold.long_flush);
	assert_true(yield_6.long_flush > yield_2.long_flush);
	assert_true(hold.worst_short > hold.long_flush * 9 / 10);
	const struct histogram *held = lock_class(yield_6.rig->sim, "cgroup_rstat_lock")->hold;

	/* One step and not all of them: a CPU's pairs, its lock, and a little. */
	assert_true(held->max * SIM_NS < 2 * (LEAVES + 1) * pair_time(&yield_6));
	assert_true(lock_class(hold.rig->sim, "cgroup_rstat_lock")->hold->max * SIM_NS >
		    (CPUS - 1) * LEAVES * pair_time(&hold));
	rig_free(alone.rig);
	rig_free(hold.rig);
	rig_free(yield_2.rig);
	rig_free(yield_6.rig);
}

/*
 * Who sees that somebody waits: full preemption always; a PREEMPT_DYNAMIC kernel of 5.16 to 6.11 in any
 * model.
 */
static void waiters_are_seen_by_version_and_build(void **state)
{
	static const struct {
		uint32_t version;
		enum preempt_model preempt;
		bool preempt_static, seen;
	} cases[] = {
		{ 606, PREEMPT_VOLUNTARY, false, true }, { 606, PREEMPT_NONE, false, true },
		{ 606, PREEMPT_VOLUNTARY, true, false }, { 606, PREEMPT_NONE, true, false },
		{ 606, PREEMPT_FULL, true, true },       { 515, PREEMPT_VOLUNTARY, false, false },
		{ 611, PREEMPT_VOLUNTARY, false, true }, { 612, PREEMPT_VOLUNTARY, false, false },
		{ 612, PREEMPT_FULL, false, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct scene s;

		contend_as(&s,
			   &(struct rig_config){ .cpus = CPUS,
						 .flush = "everyone_waits",
						 .version = cases[i].version,
						 .preempt = cases[i].preempt,
						 .preempt_static = cases[i].preempt_static },
			   2);
		sim_time_t held = lock_class(s.rig->sim, "cgroup_rstat_lock")->hold->max * SIM_NS;

		/* One CPU's step at most, or all of them. */
		if (cases[i].seen)
			assert_true(held < 2 * (LEAVES + 1) * pair_time(&s));
		else
			assert_true(held > (CPUS - 1) * LEAVES * pair_time(&s));
		rig_free(s.rig);
	}
}

static void want_the_cpu(struct task *t, void *arg)
{
	(void)arg;
	user_work(t, SIM_US);
}

/* Where waiters are not seen, a task that wants the flusher's CPU still ends the hold. */
static void who_wants_the_cpu_ends_the_hold(void **state)
{
	struct scene s;

	(void)state;
	raise(&s, &(struct rig_config){ .cpus = CPUS, .flush = "everyone_waits", .version = 612 });
	rig_task(s.rig, 0, flush_root, &s);
	rig_run(s.rig, sim_now(s.rig->sim) + SIM_US);
	s.rig->machine.slice = s.rig->machine.latency = 50 * SIM_US;
	task_spawn(s.rig->sim, &(struct task_attr){ .name = "other",
						    .run = want_the_cpu,
						    .cpu = 0,
						    .start = sim_now(s.rig->sim) + 20 * SIM_US });
	rig_run(s.rig, SIM_SEC);
	assert_true(s.ended);
	assert_true(lock_class(s.rig->sim, "cgroup_rstat_lock")->hold->max * SIM_NS <
		    (CPUS - 2) * LEAVES * pair_time(&s));
	rig_free(s.rig);
}

/* 6.15 and later: interrupts are off for a CPU's step, and the CPU's own lock for the taking of its list. */
static void steps_bound_the_time_without_interrupts(void **state)
{
	static const char *const locks[] = { "spin_hold", "per_cpu_step", "per_subsystem" };
	uint64_t irq_off[3], cpu_lock[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct scene s;

		contend(&s, locks[i], 0);
		irq_off[i] = sim_sched(s.rig->sim)->irq_off->max;
		cpu_lock[i] = lock_class(s.rig->sim, "cgroup_rstat_cpu_lock")->hold->max;
		rig_free(s.rig);
	}
	assert_true(irq_off[1] < irq_off[0] / (CPUS - 1) && irq_off[2] < irq_off[0] / (CPUS - 1));
	assert_true(cpu_lock[1] < cpu_lock[0] / 4);
}

static void read_cpu_stat(struct task *t, void *arg)
{
	struct scene *s = arg;
	sim_time_t begin = t->clock;

	cpu_stat_read(t, s->leaf[0]);
	s->worst_short = t->clock - begin;
}

/* From 6.16 on a reader of cpu.stat does not meet memory's flushers, nor does it make memory.stat fresh. */
static void cpu_stat_and_memory_part(void **state)
{
	static const char *const locks[] = { "spin_hold", "per_subsystem" };
	sim_time_t wait[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct scene s;

		raise(&s, &(struct rig_config){ .cpus = CPUS, .flush = "everyone_waits", .lock = locks[i] });
		rig_task(s.rig, 0, flush_root, &s);
		rig_run(s.rig, sim_now(s.rig->sim) + SIM_US);
		rig_task(s.rig, 1, read_cpu_stat, &s);
		rig_run(s.rig, sim_now(s.rig->sim) + SIM_SEC);
		wait[i] = s.worst_short;
		rig_task(s.rig, 0, update_all, &s);
		rig_run(s.rig, sim_now(s.rig->sim) + SIM_MS);
		rig_task(s.rig, 1, read_cpu_stat, &s);
		rig_run(s.rig, sim_now(s.rig->sim) + SIM_MS);
		assert_int_equal(stat_reported(s.leaf[0], NR_ANON_MAPPED), i == 0 ? CPUS + 1 : CPUS);
		rig_free(s.rig);
	}
	assert_true(wait[1] < wait[0] / 10);
}

/* ---- the convoy ---- */

struct reader {
	struct scene *scene;
	sim_time_t worst;
	int reads;
};

static void reader(struct task *t, void *arg)
{
	struct reader *r = arg;

	for (int i = 0; i < r->reads; i++) {
		struct stat_read read;

		task_sleep(t, 100 * SIM_US);
		memory_stat_read(t, r->scene->rig->host.cgroups->root, &read);
		if (read.latency > r->worst)
			r->worst = read.latency;
	}
}

static void hog(struct task *t, void *arg)
{
	(void)arg;
	for (int i = 0; i < 200; i++)
		user_work(t, SIM_MS);
}

/*
 * A reader whose CPU is wanted by tasks that never sleep, and readers who have CPUs of their own. A flush
 * takes 8 ms, some time slices.
 */
static sim_time_t worst_of_others(const char *lock, enum preempt_model preempt)
{
	struct scene s;
	struct reader slow = { .scene = &s, .reads = 10 }, others[3];
	sim_time_t worst = 0;

	raise(&s, &(struct rig_config){
			  .cpus = CPUS,
			  .possible = 4096,
			  .flush = "everyone_waits",
			  .lock = lock,
			  .preempt = preempt });
	s.rig->costs.flush_cpu = 2 * SIM_US;
	rig_task(s.rig, 0, reader, &slow);
	for (int i = 0; i < 6; i++)
		rig_task(s.rig, 0, hog, NULL);
	for (uint32_t i = 0; i < 3; i++) {
		others[i] = (struct reader){ .scene = &s, .reads = 20 };
		rig_task(s.rig, i + 1, reader, &others[i]);
	}
	rig_run(s.rig, 10 * SIM_SEC);
	assert_int_equal(sim_sched(s.rig->sim)->nr_tasks, 0);
	for (int i = 0; i < 3; i++)
		if (others[i].worst > worst)
			worst = others[i].worst;
	rig_free(s.rig);
	return worst;
}

/*
 * A holder that is taken off its CPU with the mutex in hand keeps everybody waiting for the time slices of
 * others; if it lets go of the lock the worst wait is a few flushes. It cannot be taken off where the kernel
 * is not preemptible, since a flush under the mutex never gives way; but a waiter that asked for a hand-off
 * and then had to leave its CPU may be handed the mutex there, so that others wait for that CPU once.
 */
static void a_preempted_holder_makes_a_convoy(void **state)
{
	sim_time_t convoy = worst_of_others("mutex", PREEMPT_FULL);
	sim_time_t kept = worst_of_others("mutex_preempt_off", PREEMPT_FULL);

	(void)state;
	assert_true(convoy > kept * 3 / 2);
	assert_true(convoy > 2 * worst_of_others("spin_yield", PREEMPT_FULL));
	assert_int_equal(worst_of_others("mutex", PREEMPT_VOLUNTARY), kept);
}

/* ---- two contenders ---- */

static void look(struct task *t, void *arg)
{
	struct scene *s = arg;

	while (t->clock < 30 * SIM_MS) {
		task_sync(t);
		if (s->lock->waiters.nr > s->most_waiters)
			s->most_waiters = s->lock->waiters.nr;
		cpu_work(t, 500 * SIM_NS);
	}
}

static void kernel_flusher(struct task *t, void *arg)
{
	struct scene *s = arg;

	while (t->clock < 30 * SIM_MS) {
		for (int i = 0; i < 10; i++)
			rig_update(t, s->leaf[i], 64);
		stat_flush(t, s->leaf[0], FLUSH_RECLAIM);
	}
}

static uint32_t most_waiters(const char *flush)
{
	static const uint64_t options;
	struct scene s;
	struct reader readers[5];

	raise(&s, &(struct rig_config){ .cpus = CPUS, .flush = flush, .flush_options = &options });
	s.lock = s.rig->host.stat->policy[AXIS_LOCK].state;
	for (uint32_t i = 0; i < 5; i++) {
		readers[i] = (struct reader){ .scene = &s, .reads = 100 };
		rig_task(s.rig, i, reader, &readers[i]);
	}
	rig_task(s.rig, 5, kernel_flusher, &s);
	rig_task(s.rig, 6, kernel_flusher, &s);
	rig_task(s.rig, 7, look, &s);
	rig_run(s.rig, SIM_SEC);
	assert_true(s.rig->host.stat->count.flushes > 500);
	rig_free(s.rig);
	return s.most_waiters;
}

/* One reader and one unified flusher: one holds the lock, so one waits. Without the mutex all readers do. */
static void the_user_mutex_bounds_the_contenders(void **state)
{
	(void)state;
	assert_int_equal(most_waiters("nonunified_user_mutex"), 1);
	assert_true(most_waiters("nonunified_user") >= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(yielding_lengthens_the_longest_and_shortens_the_wait),
		cmocka_unit_test(waiters_are_seen_by_version_and_build),
		cmocka_unit_test(who_wants_the_cpu_ends_the_hold),
		cmocka_unit_test(steps_bound_the_time_without_interrupts),
		cmocka_unit_test(cpu_stat_and_memory_part),
		cmocka_unit_test(a_preempted_holder_makes_a_convoy),
		cmocka_unit_test(the_user_mutex_bounds_the_contenders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
