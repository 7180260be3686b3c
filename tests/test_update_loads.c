/*
 * test_update_loads.c - what a statistics update costs by policy, depth, and what has streamed through the
 * caches: the stat_update policies of seed 3 differ by the lines they touch and by nothing else.
 */
#include "tests/stat_rig.h"

#define DEPTH 2

struct probe {
	struct rig *rig;
	struct memcg *leaf;
	uint64_t streams;           /* bytes before the update that is measured */
	uint32_t before;            /* updates before it, beside one that makes all that an update needs */
	sim_time_t update, section; /* its cost; that of one under a lock, as the lock sees it */
};

static sim_time_t update(struct task *t, struct memcg *m)
{
	task_sync(t);
	sim_time_t begin = t->clock;

	mod_lruvec_state(t, m, 0, NR_ANON_MAPPED, 1);
	return t->clock - begin;
}

static void measure(struct task *t, void *arg)
{
	struct probe *p = arg;
	struct spinlock lock;

	for (uint32_t i = 0; i <= p->before; i++)
		update(t, p->leaf);
	cache_stream(t, p->streams);
	p->update = update(t, p->leaf);
	spin_lock_init(&lock, lock_class(t->sim, "test"));
	spin_lock(t, &lock);
	update(t, p->leaf);
	spin_unlock(t, &lock);
	p->section = lock.class->hold_total;
}

static struct probe probe(const char *policy, uint32_t depth, uint64_t streams, uint32_t before)
{
	const struct rig_config config = { .cpus = 2, .update = policy, .caches = true, .version = 606 };
	struct probe p = { .rig = rig_new(&config), .streams = streams, .before = before };
	struct memcg *m = NULL;

	for (uint32_t i = 0; i < depth; i++)
		m = rig_memcg(p.rig, m, "m");
	p.leaf = m;
	rig_task(p.rig, 0, measure, &p);
	rig_run(p.rig, SIM_SEC);
	assert_int_equal(sim_sched(p.rig->sim)->nr_tasks, 0);
	rig_free(p.rig);
	return p;
}

#define HIT   SIM_NS /* of the rig's machine */
#define L2    (4 * SIM_NS)
#define LEVEL (2 * SIM_NS)
#define BASE  (6 * SIM_NS) /* stat_update and rstat_check */

static const char *const with_loads[] = { "rstat_memcg_threshold", "rstat_memcg_threshold_fixlet",
					  "rstat_memcg_threshold_inline" };

static void a_level_is_three_loads(void **state)
{
	(void)state;
	assert_int_equal(probe("rstat_global_threshold", DEPTH, 0, 0).update, BASE);
	assert_int_equal(probe("rstat_memcg_threshold_cached", DEPTH, 0, 0).update, BASE + 3 * LEVEL);
	for (size_t i = 0; i < 3; i++)
		for (uint32_t depth = 1; depth < 6; depth++)
			assert_int_equal(probe(with_loads[i], depth, 0, 0).update,
					 BASE + (depth + 1) * (LEVEL + 3 * HIT));
}

/* Three lines on the way to the block, two slots, and of each level what the policy touches there. */
static void what_streamed_makes_them_dearer(void **state)
{
	const sim_time_t block = 5 * (L2 - HIT), levels = DEPTH + 1;

	(void)state;
	assert_int_equal(probe("rstat_global_threshold", DEPTH, 4096, 0).update, BASE);
	assert_int_equal(probe("rstat_global_threshold", DEPTH, 32 << 10, 0).update, BASE + block + L2 - HIT);
	assert_int_equal(probe("rstat_memcg_threshold_cached", DEPTH, 32 << 10, 0).update,
			 BASE + block + levels * (LEVEL + L2 - HIT));
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(probe(with_loads[i], DEPTH, 32 << 10, 0).update,
				 BASE + block + levels * (LEVEL + 3 * L2));
}

/* A dearer update makes a section longer by as much. */
static void loads_lengthen_the_section_they_are_made_in(void **state)
{
	sim_time_t base = probe("rstat_global_threshold", DEPTH, 0, 0).section;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(probe(with_loads[i], DEPTH, 0, 0).section - base,
				 (DEPTH + 1) * (LEVEL + 3 * HIT));
}

/*
 * The 64th update has a full batch at each level: as posted the way to the word, and the word taken from no
 * cache; inline the word alone. Due words are left alone: 64 x 2 CPUs are due.
 */
static void a_full_batch_goes_to_the_word(void **state)
{
	const sim_time_t levels = DEPTH + 1, walk = BASE + levels * (LEVEL + 3 * HIT);
	const sim_time_t memory = 90 * SIM_NS, atomic = 5 * SIM_NS;
	const uint32_t first = 62,
		       due = 64 * 4 - 2; /* updates before: the first batch; two past the threshold */

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(probe(with_loads[i], DEPTH, 0, first).update,
				 walk + levels * (memory + memory + HIT + atomic));
		assert_int_equal(probe(with_loads[i], DEPTH, 0, due).update, walk + levels * (HIT + HIT));
	}
	assert_int_equal(probe("rstat_memcg_threshold_inline", DEPTH, 0, first).update,
			 walk + levels * (memory + HIT + atomic));
	assert_int_equal(probe("rstat_memcg_threshold_inline", DEPTH, 0, due).update, walk + levels * HIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_level_is_three_loads),
		cmocka_unit_test(what_streamed_makes_them_dearer),
		cmocka_unit_test(loads_lengthen_the_section_they_are_made_in),
		cmocka_unit_test(a_full_batch_goes_to_the_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
