/*
 * test_flush_policies.c - who flushes when, with one threshold for the machine or none: each rule that sets a
 * policy apart from others.
 */
#include "tests/flush_rig.h"

static void every_reader_flushes_its_subtree(void **state)
{
	struct play p;

	(void)state;
	raise(&p, &(struct rig_config){
			  .cpus = CPUS, .version = 515, .update = "rstat_none", .flush = "always_subtree" });
	do_update(&p, p.leaf, 1);
	do_update(&p, p.other, 1);
	assert_int_equal(flushes_of_read(&p, p.leaf), 1);
	assert_int_equal(p.read.pairs, 1);
	assert_int_equal(p.read.error, 0);
	assert_int_equal(flushes_of_read(&p, p.leaf), 1); /* even with nothing to do */
	assert_int_equal(p.read.pairs, 0);
	assert_int_equal(flushes_of_read(&p, p.root), 1);
	assert_int_equal(p.read.pairs, 3);
	rig_free(p.rig);
}

/*
 * 5.15: reclaim and refaults flush the root, unless somebody is at it, and wait for nobody. Before, what
 * they look at was no matter of rstat.
 */
static void in_5_15_the_kernel_tries_for_the_root(void **state)
{
	static const enum flush_caller callers[] = { FLUSH_RECLAIM, FLUSH_REFAULT };

	(void)state;
	for (uint32_t version = 514; version <= 515; version++) {
		for (int i = 0; i < 2; i++) {
			struct play p, first;

			raise(&p, &(struct rig_config){ .cpus = CPUS,
							.version = version,
							.update = "rstat_none",
							.flush = "always_subtree" });
			do_update(&p, p.other, 1);
			assert_int_equal(flushes_of_call(&p, p.leaf, callers[i]), version == 515);
			assert_int_equal(stat_reported(p.root, NR_ANON_MAPPED), version == 515);
			for (int k = 0; k < 60; k++)
				do_update(&p, rig_memcg(p.rig, p.parent, "m"), 10);
			first = p;
			first.caller = FLUSH_PERIODIC;
			first.of = p.root;
			rig_task(p.rig, 1, call, &first);
			wait_a_bit(&p, 20 * SIM_US);
			p.of = p.leaf;
			p.caller = callers[i];
			rig_task(p.rig, 2, call, &p);
			wait_a_bit(&p, 10 * SIM_MS);
			assert_true(p.end < p.begin + 2 * SIM_US);
			if (version == 515)
				assert_true(p.begin > first.begin && p.end < first.end);
			rig_free(p.rig);
		}
	}
}

/* A read of a subtree leaves the machine's threshold alone; the root's clears it from v2 of the series on. */
static void nonunified_reads_and_the_threshold(void **state)
{
	static const struct {
		const char *flush;
		bool root_clears, cleared;
	} cases[] = {
		{ "nonunified_user", false, false },
		{ "nonunified_user", true, true },
		{ "nonunified_user_mutex", false, true },
		{ "everyone_waits", false, true },
	};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		const uint64_t options = cases[i].root_clears;
		struct play p;

		raise(&p, &(struct rig_config){
				  .cpus = CPUS, .flush = cases[i].flush, .flush_options = &options });
		do_update(&p, p.leaf, 10 * (BATCH + 1));
		assert_int_equal(p.rig->host.stat->flush_threshold, CPUS + 1);
		assert_int_equal(flushes_of_read(&p, p.leaf), 1);
		assert_int_equal(p.rig->host.stat->flush_threshold, CPUS + 1);
		assert_int_equal(flushes_of_read(&p, p.root), 1);
		assert_int_equal(p.read.error, 0);
		assert_int_equal(p.rig->host.stat->flush_threshold, cases[i].cleared ? 0 : CPUS + 1);
		rig_free(p.rig);
	}
}

/*
 * What is counted while the root is flushed: cleared with the rest when the flush is over, or, from version
 * 2 of the series on, left to count towards the next one. Whether it is a reader or the unified flusher
 * that flushes.
 */
static void what_is_counted_meanwhile(void **state)
{
	static const struct {
		const char *flush;
		bool root_clears;
		enum flush_caller caller;
		bool kept;
	} cases[] = {
		{ "nonunified_user", false, FLUSH_RECLAIM, false },
		{ "nonunified_user", true, FLUSH_RECLAIM, true },
		{ "nonunified_user", true, FLUSH_READER, true },
		{ "nonunified_user_mutex", false, FLUSH_RECLAIM, true },
		{ "nonunified_user_mutex", false, FLUSH_READER, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const uint64_t options = cases[i].root_clears;
		struct play p, meanwhile;

		raise(&p, &(struct rig_config){
				  .cpus = CPUS, .flush = cases[i].flush, .flush_options = &options });
		do_update(&p, p.leaf, 10 * (BATCH + 1));
		for (int k = 0; k < 60; k++)
			do_update(&p, rig_memcg(p.rig, p.parent, "m"), 10);
		meanwhile = p;
		p.of = p.root;
		p.caller = cases[i].caller;
		rig_task(p.rig, 1, call, &p);
		rig_run(p.rig, sim_now(p.rig->sim) + 10 * SIM_US);
		meanwhile.of = p.other;
		meanwhile.pages = 3 * (BATCH + 1);
		rig_task(p.rig, 2, update, &meanwhile);
		wait_a_bit(&p, 10 * SIM_MS);
		assert_int_equal(p.rig->host.stat->count.flushes, 1);
		assert_int_equal(p.rig->host.stat->flush_threshold, cases[i].kept ? 3 : 0);
		rig_free(p.rig);
	}
}

/* Of the callers in the kernel only writeback was converted, and that only at first. */
static void writeback_is_a_reader_in_version_1(void **state)
{
	static const uint64_t options = 0;
	struct play p;

	(void)state;
	raise(&p,
	      &(struct rig_config){ .cpus = CPUS, .flush = "nonunified_user", .flush_options = &options });
	do_update(&p, p.leaf, 1);
	assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_WRITEBACK), 1);
	rig_free(p.rig);
	raise(&p, &(struct rig_config){ .cpus = CPUS, .flush = "nonunified_user_mutex" });
	do_update(&p, p.leaf, 1);
	assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_WRITEBACK), 0);
	rig_free(p.rig);
}

/* A refault flushes only when the worker has missed a whole cycle; reclaim goes by the threshold. */
static void unified_in_the_kernel(void **state)
{
	struct play p;

	(void)state;
	raise(&p, &(struct rig_config){ .cpus = CPUS });
	do_update(&p, p.leaf, 10 * (BATCH + 1));
	assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_RECLAIM), 1);
	assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_RECLAIM), 0);
	do_update(&p, p.leaf, 10 * (BATCH + 1));
	assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_REFAULT), 0);
	wait_a_bit(&p, 2 * FLUSH_TIME);
	assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_REFAULT), 1);
	assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_ZSWAP), 1);    /* always, its subtree */
	assert_int_equal(flushes_of_call(&p, p.root, FLUSH_PERIODIC), 1); /* whatever the threshold */
	rig_free(p.rig);
	raise(&p, &(struct rig_config){ .cpus = CPUS, .version = 516 });
	assert_int_equal(flushes_of_call(&p, p.root, FLUSH_PERIODIC), 0); /* but in 5.16 */
	rig_free(p.rig);
	for (uint32_t version = 517; version <= 518;
	     version++) { /* a refault, by the threshold alone up to 5.17 */
		raise(&p, &(struct rig_config){ .cpus = CPUS, .version = version });
		do_update(&p, p.leaf, 10 * BATCH);
		assert_int_equal(flushes_of_call(&p, p.leaf, FLUSH_REFAULT), version == 517);
		rig_free(p.rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reader_flushes_its_subtree),
		cmocka_unit_test(in_5_15_the_kernel_tries_for_the_root),
		cmocka_unit_test(nonunified_reads_and_the_threshold),
		cmocka_unit_test(what_is_counted_meanwhile),
		cmocka_unit_test(writeback_is_a_reader_in_version_1),
		cmocka_unit_test(unified_in_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
