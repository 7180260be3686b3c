/*
 * test_unified.c - the unified flush: one flusher; who comes meanwhile does not wait and reads stale data.
 */
#include "tests/stat_rig.h"

#define CPUS   4
#define LEAVES 40

struct scene {
	struct rig *rig;
	struct memcg *leaf[LEAVES];
	struct stat_read first, second;
	sim_time_t first_end, second_begin, second_end;
};

static void update_all(struct task *t, void *arg)
{
	struct scene *s = arg;

	for (int i = 0; i < LEAVES; i++)
		rig_update(t, s->leaf[i], 100);
}

static void read_first(struct task *t, void *arg)
{
	struct scene *s = arg;

	memory_stat_read(t, s->leaf[0], &s->first);
	s->first_end = t->clock;
}

/* In the middle of the first one's flush. The leaf is among the last that it comes to. */
static void read_second(struct task *t, void *arg)
{
	struct scene *s = arg;

	s->second_begin = t->clock;
	memory_stat_read(t, s->leaf[0], &s->second);
	s->second_end = t->clock;
}

/* The same by a caller in the kernel. */
static void reclaim_second(struct task *t, void *arg)
{
	struct scene *s = arg;

	s->second_begin = t->clock;
	stat_flush(t, s->leaf[0], FLUSH_RECLAIM);
	task_sync(t);
	s->second_end = t->clock;
}

static void play_with(struct scene *s, const struct rig_config *config,
		      void (*second)(struct task *t, void *arg))
{
	struct memcg *parent;

	s->rig = rig_new(config);
	parent = rig_memcg(s->rig, NULL, "p");
	for (int i = 0; i < LEAVES; i++)
		s->leaf[i] = rig_memcg(s->rig, parent, "l");
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		rig_task(s->rig, cpu, update_all, s);
	rig_run(s->rig, SIM_MS);
	task_spawn(s->rig->sim,
		   &(struct task_attr){ .name = "first", .run = read_first, .arg = s, .start = SIM_MS });
	task_spawn(
		s->rig->sim,
		&(struct task_attr){
			.name = "second", .run = second, .arg = s, .cpu = 1, .start = SIM_MS + 30 * SIM_US });
	rig_run(s->rig, SIM_SEC);
	assert_int_equal(sim_sched(s->rig->sim)->nr_tasks, 0);
}

static void play(struct scene *s, const struct rig_config *config)
{
	play_with(s, config, read_second);
}

static void losers_do_not_wait_and_read_stale_data(void **state)
{
	static const uint32_t versions[] = { 519, 601, 606 }; /* trylock, trylock, flag */
	const struct kernel_costs *c;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct rig_config config = { .cpus = CPUS, .version = versions[i] };
		struct scene s;

		play(&s, &config);
		c = &s.rig->costs;
		assert_true(s.second_begin < s.first_end && s.second_end < s.first_end);
		assert_true(s.second.latency < c->read_open + c->read_format + SIM_US);
		assert_int_equal(s.second.flushes, 0);
		assert_true(s.second.error > 0);
		assert_int_equal(s.second.anon_truth, 100 * CPUS);
		assert_int_equal(s.rig->host.stat->count.skipped, 1);

		/*
		 * The winner flushed the whole tree for one leaf: 4 x (leaves, parent, root), and is exact.
		 */
		assert_int_equal(s.first.flushes, 1);
		assert_int_equal(s.first.pairs, CPUS * (LEAVES + 2));
		assert_int_equal(s.first.error, 0);
		assert_int_equal(s.rig->host.stat->flush_threshold, 0);
		rig_free(s.rig);
	}
}

static void nonunified_readers_wait_and_are_exact(void **state)
{
	static const uint64_t options; /* root_clears: false */
	struct rig_config config = { .cpus = CPUS, .flush = "nonunified_user", .flush_options = &options };
	struct scene s;

	(void)state;
	play(&s, &config);
	assert_int_equal(s.first.error, 0);
	assert_int_equal(s.second.error, 0);
	assert_int_equal(s.first.pairs, CPUS); /* its own leaf alone */
	assert_int_equal(s.second.pairs, 0);
	assert_int_equal(s.second.flushes, 1);
	assert_true(s.rig->host.stat->flush_threshold >
		    CPUS); /* and whoever comes next still flushes the root */
	rig_free(s.rig);
}

/* Nobody is skipped: the second flushes the tree as well, when the first has left next to nothing in it. */
static void unified_waiters_flush_the_tree_again(void **state)
{
	static const uint32_t versions[] = { 601, 606 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct rig_config config = {
			.cpus = CPUS, .version = versions[i], .flush = "unified_waits", .lock = "spin_hold"
		};
		struct scene s;

		play(&s, &config);
		assert_int_equal(s.first.pairs, CPUS * (LEAVES + 2));
		assert_int_equal(s.second.flushes, 1);
		assert_true(s.second.pairs < CPUS);
		assert_true(s.second_end > s.first_end); /* it waited */
		assert_int_equal(s.second.error, 0);
		assert_int_equal(s.rig->host.stat->flush_threshold, 0);
		assert_int_equal(s.rig->host.stat->count.skipped, 0);
		rig_free(s.rig);
	}
}

/* The reader that comes second has nothing to flush, and sees all that the first one has taken in. */
static void readers_wait_for_the_flush_under_way(void **state)
{
	static const bool everyone[] = { false, true };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct rig_config config = { .cpus = CPUS,
					     .flush = "waits_if_ongoing",
					     .flush_options = &everyone[i] };
		struct scene s;

		play(&s, &config);
		assert_int_equal(s.first.flushes, 1);
		assert_int_equal(s.second.flushes, 0);
		assert_true(s.second_begin < s.first_end);
		assert_true(s.second_end > s.first_end - s.rig->costs.read_format);
		assert_int_equal(s.second.error, 0);
		assert_int_equal(s.rig->host.stat->count.skipped, 1);
		rig_free(s.rig);
	}
}

/* And callers in the kernel go on at once unless everyone waits. */
static void kernel_callers_wait_if_everyone_does(void **state)
{
	static const bool everyone[] = { false, true };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct rig_config config = { .cpus = CPUS,
					     .flush = "waits_if_ongoing",
					     .flush_options = &everyone[i] };
		struct scene s;

		play_with(&s, &config, reclaim_second);
		assert_true(s.second_begin < s.first_end);
		if (everyone[i])
			assert_true(s.second_end > s.first_end - s.rig->costs.read_format);
		else
			assert_true(s.second_end < s.second_begin + SIM_US);
		rig_free(s.rig);
	}
}

static void below_the_threshold_nobody_flushes(void **state)
{
	struct scene s = { .rig = rig_new(&(struct rig_config){ .cpus = CPUS, .version = 601 }) };

	(void)state;
	s.leaf[0] = rig_memcg(s.rig, NULL, "l");
	for (int i = 1; i < LEAVES; i++)
		s.leaf[i] = s.leaf[0];
	s.rig->host.charge_batch = 4000; /* the updates stay in the CPUs */
	rig_task(s.rig, 0, update_all, &s);
	rig_run(s.rig, SIM_MS);
	rig_task(s.rig, 1, read_first, &s);
	rig_run(s.rig, 2 * SIM_MS);
	assert_int_equal(s.first.flushes, 0);
	assert_int_equal(s.first.error, 100 * LEAVES);
	assert_int_equal(s.first.pending, 100 * LEAVES);
	assert_int_equal(s.rig->host.stat->count.skipped, 1);
	rig_free(s.rig);
}

/* Until 6.3 a unified flush runs with interrupts off from the first CPU to the last; later it lets go. */
static void irqs_are_off_for_all_of_an_old_flush(void **state)
{
	struct rig_config config = { .cpus = CPUS, .version = 601 };
	uint64_t off[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct scene s;

		config.version = i ? 606 : 601;
		play(&s, &config);
		off[i] = sim_sched(s.rig->sim)->irq_off->max;
		assert_true(off[i] * SIM_NS > s.first.latency * 9 / 10 - s.rig->costs.read_format - SIM_US);
		rig_free(s.rig);
	}
	/* Nobody waited for the lock, so neither had a reason to let go. */
	assert_true(off[0] >= off[1]);
}

struct direct {
	struct rig *rig;
	struct memcg *leaf, *root;
	int64_t leaf_value, root_value;
};

static void direct_calls(struct task *t, void *arg)
{
	struct direct *d = arg;

	rig_update(t, d->leaf, 3);
	cpu_stat_read(t, d->root); /* the root's cpu.stat flushes nothing */
	d->root_value = stat_reported(d->root, NR_ANON_MAPPED);
	assert_int_equal(d->root_value, 0);
	cpu_stat_read(t, d->leaf);
	d->leaf_value = stat_reported(d->leaf, NR_ANON_MAPPED);
}

static void cpu_stat_always_flushes_its_subtree(void **state)
{
	struct direct d = { .rig = rig_new(&(struct rig_config){ .cpus = CPUS, .version = 601 }) };

	(void)state;
	d.leaf = rig_memcg(d.rig, NULL, "l");
	d.root = d.rig->host.cgroups->root;
	rig_task(d.rig, 0, direct_calls, &d);
	rig_run(d.rig, SIM_MS);
	assert_int_equal(d.leaf_value, 3);
	assert_int_equal(stat_reported(d.root, NR_ANON_MAPPED), 0);
	rig_free(d.rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losers_do_not_wait_and_read_stale_data),
		cmocka_unit_test(nonunified_readers_wait_and_are_exact),
		cmocka_unit_test(unified_waiters_flush_the_tree_again),
		cmocka_unit_test(readers_wait_for_the_flush_under_way),
		cmocka_unit_test(kernel_callers_wait_if_everyone_does),
		cmocka_unit_test(below_the_threshold_nobody_flushes),
		cmocka_unit_test(irqs_are_off_for_all_of_an_old_flush),
		cmocka_unit_test(cpu_stat_always_flushes_its_subtree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
