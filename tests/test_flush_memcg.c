/*
 * test_flush_memcg.c - who flushes when, with a threshold for each cgroup, from 6.8 on; and who may do
 * without a flush because another is under way.
 */
#include "tests/flush_rig.h"

/* I6: a flush of a memcg clears its word and those of all it visits, and no ancestor's. */
static void a_memcg_flushes_by_its_own_threshold(void **state)
{
	struct play p;

	(void)state;
	raise(&p, &(struct rig_config){ .cpus = CPUS,
					.version = 608,
					.update = "rstat_memcg_threshold_cached",
					.flush = "memcg_threshold" });
	do_update(&p, p.leaf, CPUS * BATCH);
	assert_int_equal(flushes_of_read(&p, p.leaf), 0); /* not more than B x CPUs */
	do_update(&p, p.leaf, BATCH);
	assert_int_equal(p.leaf->stat->stats_updates, (CPUS + 1) * BATCH);
	assert_int_equal(p.root->stat->stats_updates, (CPUS + 1) * BATCH);
	assert_int_equal(flushes_of_read(&p, p.other), 0); /* nothing of its own */
	assert_int_equal(flushes_of_read(&p, p.leaf), 1);
	assert_int_equal(p.leaf->stat->stats_updates, 0);
	assert_int_equal(p.parent->stat->stats_updates, (CPUS + 1) * BATCH);
	do_update(&p, p.leaf, 2 * BATCH + 5);
	assert_int_equal(p.leaf->stat->stats_updates, 2 * BATCH);
	assert_int_equal(flushes_of_read(&p, p.parent), 1);
	assert_int_equal(p.leaf->stat->stats_updates, 0);
	assert_int_equal(rstat_pair_find(&p.rig->host, 0, p.leaf)->updates, 0);
	assert_int_equal(p.parent->stat->stats_updates, 0);
	assert_true(p.root->stat->stats_updates > CPUS * BATCH);
	rig_free(p.rig);
}

/* Ratelimited means "only when the root was not flushed for two periods", not "every two periods". */
static void ratelimited_callers_flush_when_the_worker_is_late(void **state)
{
	static const char *const policies[] = { "memcg_threshold", "memcg_ratelimited" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct play p;

		raise(&p, &(struct rig_config){ .cpus = CPUS,
						.version = 612,
						.update = "rstat_memcg_threshold_cached",
						.flush = policies[i] });
		assert_int_equal(flushes_of_call(&p, p.root, FLUSH_PERIODIC), 1);
		do_update(&p, p.leaf, 10 * BATCH);
		assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_REFAULT), 0);
		assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_RECLAIM), i == 0);
		do_update(&p, p.leaf, 10 * BATCH);
		wait_a_bit(&p, 2 * FLUSH_TIME);
		assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_REFAULT), 1);
		do_update(&p, p.leaf, 10 * BATCH);
		assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_RECLAIM), 1); /* a subtree moves no time */
		rig_free(p.rig);
	}
}

/* A long flush of the root by a reader, and a caller for a leaf while it is under way. */
static void second_caller(struct play *p, const char *flush, const char *lock, enum flush_caller caller,
			  bool relaxed)
{
	struct play first;
	const uint64_t options = relaxed;

	raise(p, &(struct rig_config){ .cpus = CPUS,
				       .version = 612,
				       .update = "rstat_memcg_threshold_cached",
				       .flush = flush,
				       .flush_options = &options,
				       .lock = lock });
	do_update(p, p->leaf, 10 * BATCH); /* first updated, last flushed */
	for (int i = 0; i < 60; i++)
		do_update(p, rig_memcg(p->rig, p->parent, "m"), 10);
	first = *p;
	first.of = p->root;
	rig_task(p->rig, 1, read, &first);
	wait_a_bit(p, 20 * SIM_US);
	p->of = p->leaf;
	p->caller = caller;
	rig_task(p->rig, 2, call, p);
	wait_a_bit(p, SIM_SEC);
	assert_int_equal(first.read.error, 0);
	first.begin = p->begin;
	p->begin = first.end; /* of the first flush; the second began before it ended */
	assert_true(first.begin < first.end);
}

static void covered_callers_wait_for_the_flush_under_way(void **state)
{
	struct play p;

	(void)state;
	second_caller(&p, "skip_if_ongoing", NULL, FLUSH_READER, true);
	assert_int_equal(p.rig->host.stat->count.flushes, 1);
	assert_true(p.end + p.rig->costs.read_format + SIM_US >= p.begin);
	assert_true(p.end < p.begin + 20 * SIM_US);
	assert_int_equal(stat_reported(p.leaf, NR_ANON_MAPPED), 10 * BATCH);
	rig_free(p.rig);
}

static void relaxed_callers_skip_it(void **state)
{
	struct play p;

	(void)state;
	second_caller(&p, "skip_if_ongoing", NULL, FLUSH_ZSWAP, true);
	assert_int_equal(p.rig->host.stat->count.flushes, 1);
	assert_true(p.end + 50 * SIM_US < p.begin);
	rig_free(p.rig);
	second_caller(&p, "skip_if_ongoing", NULL, FLUSH_ZSWAP, false);
	assert_true(p.end + p.rig->costs.read_format >= p.begin);
	rig_free(p.rig);
}

/* Without it the second one waits for the lock and flushes for itself. */
static void memcg_flushers_wait_for_the_lock(void **state)
{
	struct play p;

	(void)state;
	second_caller(&p, "memcg_ratelimited", "spin_hold", FLUSH_ZSWAP, false);
	assert_int_equal(p.rig->host.stat->count.flushes, 2);
	assert_true(p.end + p.rig->costs.read_format >= p.begin);
	rig_free(p.rig);
}

static void sublinear_thresholds(void **state)
{
	static const struct {
		uint32_t cpus, possible, factor[2];
	} cases[] = {
		{ 4, 14, { 3, 4 } }, { 64, 64, { 7, 8 } }, { 512, 512, { 10, 22 } }, { 1, 1, { 1, 1 } }
	};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		for (int formula = 0; formula < 2; formula++) {
			struct rig *r = rig_new(
				&(struct rig_config){ .cpus = cases[i].cpus,
						      .possible = cases[i].possible,
						      .version = 618,
						      .update = "rstat_memcg_threshold_cached_stop",
						      .flush = "sublinear_threshold",
						      .flush_options = &formula });

			assert_int_equal(r->host.stat->memcg_threshold, BATCH * cases[i].factor[formula]);
			rig_free(r);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_memcg_flushes_by_its_own_threshold),
		cmocka_unit_test(ratelimited_callers_flush_when_the_worker_is_late),
		cmocka_unit_test(covered_callers_wait_for_the_flush_under_way),
		cmocka_unit_test(relaxed_callers_skip_it),
		cmocka_unit_test(memcg_flushers_wait_for_the_lock),
		cmocka_unit_test(sublinear_thresholds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
