/*
 * test_stat_reader.c - how targets are shared out among readers: each is read once a round where there are fewer
 * readers, and no reader is without one where there are more.
 */
#include "models/stat/stat_impl.h"
#include "tests/host_fixture.h"

static const char cgroups[] = FIXTURE_BASE(2, 64, 1) "statistics: { per_cgroup: mean }\n"
						     "cgroups: [ { name: \"c{1..4}\" } ]\n";

static uint64_t reads(int readers, bool of_all[4])
{
	char text[1024];
	struct fixture f;

	snprintf(text, sizeof text,
		 "%stasks: [ { workload: stat_reader, count: %d, target: \"c*\", reads: 3 } ]\n", cgroups,
		 readers);
	fixture_open(&f, text);
	sim_run(f.run.sim, 20 * SIM_SEC);
	uint64_t calls = stat_flush_count(f.host)->calls[FLUSH_READER];

	for (int i = 0; i < 4; i++) {
		char path[8];

		snprintf(path, sizeof path, "/c%d", i + 1);
		of_all[i] = memcg_find(f.host, path)->stat->reads;
	}
	fixture_close(&f);
	return calls;
}

static void targets_are_shared_out(void **state)
{
	bool of_all[4];

	(void)state;
	assert_int_equal(reads(1, of_all), 3 * 4);
	assert_int_equal(reads(3, of_all), 3 * 4);
	assert_true(of_all[0] && of_all[1] && of_all[2] && of_all[3]);
	assert_int_equal(reads(4, of_all), 3 * 4);
}

static void more_readers_than_targets_share_them(void **state)
{
	bool of_all[4];

	(void)state;
	assert_int_equal(reads(10, of_all), 3 * 10);
	assert_true(of_all[0] && of_all[1] && of_all[2] && of_all[3]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets_are_shared_out),
		cmocka_unit_test(more_readers_than_targets_share_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
