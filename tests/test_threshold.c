/*
 * test_threshold.c - how far off a reader can be: never more than the thresholds and the counters that hide
 * in the CPUs allow, and in the worst case just that much.
 */
#include "tests/stat_rig.h"

#define CPUS 4

struct worst {
	struct rig *rig;
	struct memcg *leaf, *target;
	uint64_t rounds, most; /* of |reported - true|, by a reader who flushes by policy */
	int64_t updates, last;
};

/* Updates one page at a time on all CPUs in turn, and reads after each. */
static void update_and_read(struct task *t, void *arg)
{
	struct worst *w = arg;
	struct stat_read read;

	for (uint64_t i = 0; i < w->rounds; i++) {
		task_pin(t, (uint32_t)(i % CPUS));
		rig_update(t, w->leaf, 1);
		memory_stat_read(t, w->target, &read);
		if (read.error > w->most)
			w->most = read.error;
	}
}

static uint64_t worst_error(const struct rig_config *config, bool read_root)
{
	struct worst w = { .rig = rig_new(config), .rounds = 4000 };

	w.leaf = rig_memcg(w.rig, rig_memcg(w.rig, NULL, "p"), "l");
	w.target = read_root ? w.rig->host.cgroups->root : w.leaf;
	rig_task(w.rig, 0, update_and_read, &w);
	rig_run(w.rig, 10 * SIM_SEC);
	assert_int_equal(sim_sched(w.rig->sim)->nr_tasks, 0);
	rig_free(w.rig);
	return w.most;
}

/*
 * The machine's word must pass the number of CPUs, and an update counts there when the CPU's counter passes
 * B: CPUS batches of B + 1 may be flagged without a flush, and B more hide in each CPU.
 */
static void global_threshold_bounds_the_error(void **state)
{
	struct rig_config config = { .cpus = CPUS };

	(void)state;
	for (uint32_t version = 517; version <= 606; version += 606 - 517) {
		uint64_t b = version < 601 ? 32 : 64;

		config.version = version;
		assert_int_equal(worst_error(&config, true), CPUS * (b + 1) + CPUS * b);
		assert_int_equal(worst_error(&config, false), CPUS * (b + 1) + CPUS * b);
	}
}

/* I7: more than B x CPUs must be flagged, in moves of B, and B - 1 hide in each CPU. */
static void memcg_threshold_bounds_the_error(void **state)
{
	struct rig_config config = { .cpus = CPUS, .version = 608, .flush = "memcg_threshold" };
	const char *const updates[] = { "rstat_memcg_threshold", "rstat_memcg_threshold_fixlet",
					"rstat_memcg_threshold_inline", "rstat_memcg_threshold_cached",
					"rstat_memcg_threshold_cached_stop" };

	(void)state;
	for (size_t i = 0; i < sizeof updates / sizeof updates[0]; i++) {
		config.update = updates[i];
		assert_int_equal(worst_error(&config, true), CPUS * 64 + CPUS * 63);
		assert_int_equal(worst_error(&config, false), CPUS * 64 + CPUS * 63);
	}
}

/* ---- many at once ---- */

struct crowd {
	struct memcg *leaf, *target;
	uint32_t running;
	bool both_ways;
	uint64_t most;
};

struct writer {
	struct crowd *crowd;
	uint64_t random;
};

static uint64_t next_random(struct writer *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random;
}

static void write_at_random(struct task *t, void *arg)
{
	struct writer *w = arg;

	for (int i = 0; i < 1500; i++) {
		task_sleep(t, next_random(w) % 200 * SIM_US);
		rig_update(t, w->crowd->leaf, w->crowd->both_ways && next_random(w) % 2 ? -1 : 1);
	}
	w->crowd->running--;
}

static void read_till_they_end(struct task *t, void *arg)
{
	struct crowd *crowd = arg;

	while (crowd->running) {
		struct stat_read read;

		memory_stat_read(t, crowd->target, &read);
		if (read.error > crowd->most)
			crowd->most = read.error;
		task_sleep(t, 50 * SIM_US);
	}
}

static uint64_t worst_of_a_crowd(const struct rig_config *config, bool both_ways)
{
	struct rig *r = rig_new(config);
	struct crowd crowd = { .running = CPUS, .both_ways = both_ways };
	struct writer writers[CPUS];

	crowd.leaf = rig_memcg(r, rig_memcg(r, NULL, "p"), "l");
	crowd.target = crowd.leaf->parent;
	for (uint32_t i = 0; i < CPUS; i++) {
		writers[i] = (struct writer){ .crowd = &crowd, .random = config->seed * 64 + i + 1 };
		rig_task(r, i, write_at_random, &writers[i]);
	}
	rig_task(r, 0, read_till_they_end, &crowd);
	rig_run(r, 10 * SIM_SEC);
	assert_int_equal(sim_sched(r->sim)->nr_tasks, 0);
	rig_free(r);
	return crowd.most;
}

/*
 * The same bounds when all CPUs update when they like; one update of each may come during the read. With
 * all of one sign the error comes near the bound, which wants every CPU's counter full at once.
 */
static void a_crowd_stays_within_the_bounds(void **state)
{
	struct rig_config configs[] = {
		{ .cpus = CPUS, .version = 601 },
		{ .cpus = CPUS,
		  .version = 612,
		  .update = "rstat_memcg_threshold_cached",
		  .flush = "memcg_threshold" },
	};
	const uint64_t bounds[] = { CPUS * 65 + CPUS * 64, CPUS * 64 + CPUS * 63 };

	(void)state;
	for (size_t i = 0; i < 2; i++)
		for (uint64_t seed = 0; seed < 4; seed++) {
			configs[i].seed = seed;
			uint64_t near = worst_of_a_crowd(&configs[i], false);

			assert_in_range(near, bounds[i] * 3 / 4, bounds[i] + CPUS);
			assert_in_range(worst_of_a_crowd(&configs[i], true), 1, bounds[i] + CPUS);
		}
}

static void some_pages(struct task *t, void *arg)
{
	struct worst *w = arg;

	for (uint64_t i = 0; i < w->rounds; i++)
		rig_update(t, w->leaf, w->updates);
}

static struct rig *after_updates(const struct rig_config *config, uint64_t rounds, int64_t val)
{
	struct rig *r = rig_new(config);
	struct worst w = { .rig = r, .leaf = rig_memcg(r, NULL, "l"), .rounds = rounds, .updates = val };

	rig_task(r, 0, some_pages, &w);
	rig_run(r, SIM_SEC);
	return r;
}

/* "> B", the word grows by the batches in the counter, what the division leaves is lost, and |val| counts. */
static void batches_are_counted_as_in_the_kernel(void **state)
{
	static const struct {
		uint32_t version;
		uint64_t rounds;
		int64_t val;
		uint64_t threshold, hidden;
	} cases[] = {
		{ 601, 64, 1, 0, 64 },    { 601, 65, 1, 1, 0 },
		{ 601, 1, 1000, 15, 0 },  { 601, 65, -1, 1, 0 },
		{ 519, 32, 1, 0, 32 },    { 519, 33, 1, 1, 0 },
		{ 519, 1, 1000, 31, 0 },  { 516, 31, 1000, 0, 31 },
		{ 516, 32, 1000, 1, 32 }, /* calls, not pages */
		{ 516, 64, 1000, 2, 64 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct rig_config config = { .cpus = CPUS, .version = cases[i].version };
		struct rig *r = after_updates(&config, cases[i].rounds, cases[i].val);

		assert_int_equal(r->host.stat->flush_threshold, cases[i].threshold);
		assert_int_equal(r->host.stat->cpus[0].updates, cases[i].hidden);
		rig_free(r);
	}
}

/* From 6.1 on the word stays where it is once it has passed; before it grows on. */
static void the_word_is_left_alone_once_it_has_passed(void **state)
{
	struct rig_config config = { .cpus = CPUS, .version = 601 };
	struct rig *r = after_updates(&config, 65 * 20, 1);

	(void)state;
	assert_int_equal(r->host.stat->flush_threshold, CPUS + 1);
	rig_free(r);
	config.version = 519;
	r = after_updates(&config, 33 * 20, 1);
	assert_int_equal(r->host.stat->flush_threshold, 20);
	rig_free(r);
}

/*
 * A cgroup that is due goes on telling its ancestors up to 6.15, and its own counter starts anew with each
 * batch; from 6.16 on nothing is counted any more. Below a batch 6.8 looks at no shared word at all, 6.16
 * at every one.
 */
static void the_walk_ends_where_a_flush_is_due_from_6_16_on(void **state)
{
	static const char *const updates[] = { "rstat_memcg_threshold_cached",
					       "rstat_memcg_threshold_cached_stop" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		const struct rig_config config = { .cpus = CPUS,
						   .version = i ? 616 : 608,
						   .update = updates[i],
						   .flush = "memcg_threshold" };
		struct rig *r = after_updates(&config, 63, 1);
		const struct memcg *root = r->host.cgroups->root;

		assert_int_equal(root->stat->line.owner, i ? 0 : LINE_NOWHERE);
		rig_free(r);
		/*
		 * The leaf is due with (CPUS + 1) batches, of which the root knows too; then one batch more.
		 */
		r = after_updates(&config, (CPUS + 2) * 64, 1);
		root = r->host.cgroups->root;
		assert_int_equal(r->host.cgroups->all[1]->stat->stats_updates, (CPUS + 1) * 64);
		assert_int_equal(root->stat->stats_updates, (CPUS + 1) * 64);
		assert_int_equal(root->stat->pairs->updates, 0);
		rig_free(r);
		/* The root short of a flush while the leaf is due: who goes on counting there? */
		r = rig_new(&config);
		struct worst w = { .rig = r, .leaf = rig_memcg(r, NULL, "l"), .rounds = 64, .updates = 1 };

		w.leaf->stat->stats_updates = (CPUS + 1) * 64;
		rig_task(r, 0, some_pages, &w);
		rig_run(r, SIM_SEC);
		assert_int_equal(r->host.cgroups->root->stat->stats_updates, i ? 0 : 64);
		assert_int_equal(w.leaf->stat->stats_updates, (CPUS + 1) * 64);
		rig_free(r);
	}
}

/* 63 updates, a flush, and one more: as posted the CPU's counter has outlived the flush. */
static void short_of_a_batch(struct task *t, void *arg)
{
	struct worst *w = arg;
	struct stat_read read;

	for (uint32_t i = 0; i < 63; i++)
		rig_update(t, w->leaf, 1);
	memory_stat_read(t, w->leaf, &read);
	assert_int_equal(read.error, 0);
	rig_update(t, w->leaf, 1);
}

static void a_flush_clears_the_cpus_counter_with_the_correction(void **state)
{
	const char *const updates[] = { "rstat_memcg_threshold", "rstat_memcg_threshold_fixlet",
					"rstat_memcg_threshold_inline", "rstat_memcg_threshold_cached" };

	(void)state;
	for (size_t i = 0; i < sizeof updates / sizeof updates[0]; i++) {
		const struct rig_config config = {
			.cpus = CPUS, .version = 608, .update = updates[i], .flush = "always_subtree"
		};
		struct rig *r = rig_new(&config);
		struct worst w = { .leaf = rig_memcg(r, NULL, "l") };

		rig_task(r, 0, short_of_a_batch, &w);
		rig_run(r, SIM_SEC);
		assert_int_equal(w.leaf->stat->stats_updates, i ? 0 : 64);
		assert_int_equal(rstat_pair_find(&r->host, 0, w.leaf)->updates, i ? 1 : 0);
		rig_free(r);
	}
}

/* Bytes count as bytes before 6.8, as pages and at least one from then on. */
static void bytes(struct task *t, void *arg)
{
	struct worst *w = arg;

	task_sync(t);
	mod_lruvec_state(t, w->leaf, 0, NR_SLAB_RECLAIMABLE_B, w->updates);
}

static void bytes_count_by_version(void **state)
{
	struct rig_config config = { .cpus = CPUS, .version = 601 };
	struct rig *r = rig_new(&config);
	struct worst w = { .rig = r, .leaf = rig_memcg(r, NULL, "l"), .updates = 4096 };

	(void)state;
	rig_task(r, 0, bytes, &w);
	rig_run(r, SIM_SEC);
	assert_int_equal(r->host.stat->flush_threshold, 64);
	rig_free(r);

	config = (struct rig_config){ .cpus = CPUS,
				      .version = 608,
				      .update = "rstat_memcg_threshold_cached",
				      .flush = "memcg_threshold" };
	for (int64_t size = 100; size <= 8292; size += 8192) {
		r = rig_new(&config);
		w = (struct worst){ .rig = r, .leaf = rig_memcg(r, NULL, "l"), .updates = size };
		rig_task(r, 0, bytes, &w);
		rig_run(r, SIM_SEC);
		assert_int_equal(rstat_pair_find(&r->host, 0, w.leaf)->updates, size == 100 ? 1 : 2);
		rig_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(global_threshold_bounds_the_error),
		cmocka_unit_test(memcg_threshold_bounds_the_error),
		cmocka_unit_test(a_crowd_stays_within_the_bounds),
		cmocka_unit_test(batches_are_counted_as_in_the_kernel),
		cmocka_unit_test(the_word_is_left_alone_once_it_has_passed),
		cmocka_unit_test(the_walk_ends_where_a_flush_is_due_from_6_16_on),
		cmocka_unit_test(a_flush_clears_the_cpus_counter_with_the_correction),
		cmocka_unit_test(bytes_count_by_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
