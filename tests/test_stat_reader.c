/*
 * test_stat_reader.c - how targets are shared out among readers: each is read once a round where there are
 * fewer readers, and no reader is without one where there are more.
 */

#include "tests/text_run.h"

#define TARGETS 4
#define ROUNDS  3

static bool value_of(const struct record *r, const char *metric, const char *entity, double *value)
{
	return validate_value(r, &(struct validate_row){ .metric = metric, .entity = entity }, value);
}

/* Reads that were made, by so many readers; each target has to be among them. */
static int reads(int readers)
{
	char text[1024], path[16];
	double count, mean;

	snprintf(text, sizeof text,
		 "schema: 1\nscenario: test\nhost: { cpus: 2, memory: 64MiB }\n"
		 "policies: { stat_update: rstat_global_threshold, flush: unified, rstat_lock: spin_yield,\n"
		 "  rstat_updated: cpu_lock, charge_batch: 64, charge_stock: 1 }\n"
		 "cgroups: [ { name: \"c{1..%d}\" } ]\n"
		 "tasks: [ { workload: stat_reader, count: %d, target: \"c*\", reads: %d } ]\n",
		 TARGETS, readers, ROUNDS);
	struct record *r = run_text(text);

	assert_true(value_of(r, "stat.read_latency.count", "all", &count));
	for (int i = 1; i <= TARGETS; i++) {
		snprintf(path, sizeof path, "/c%d", i);
		assert_true(value_of(r, "stat.read_latency.mean", path, &mean));
	}
	record_free(r);
	return (int)count;
}

static void targets_are_shared_out(void **state)
{
	(void)state;
	assert_int_equal(reads(1), ROUNDS * TARGETS);
	assert_int_equal(reads(3), ROUNDS * TARGETS);
	assert_int_equal(reads(TARGETS), ROUNDS * TARGETS);
}

static void more_readers_than_targets_share_them(void **state)
{
	(void)state;
	assert_int_equal(reads(10), ROUNDS * 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets_are_shared_out),
		cmocka_unit_test(more_readers_than_targets_share_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
