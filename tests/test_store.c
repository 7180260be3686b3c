/*
 * test_store.c - the result store: what goes in, and what comes out.
 */
#include "tests/store_fixture.h"

static void file_appears_with_the_first_run(void **state)
{
	char *path = scratch_path(state, "out.db");
	struct store *s = open_or_fail(path, STORE_WRITE);

	assert_null(store_database(s));
	assert_int_equal(scratch_files(state), 0);
	assert_true(announce(s, "base", 1) > 0);
	assert_int_equal(scratch_files(state), 1);
	store_close(s);
	s = open_or_fail(path, STORE_READ);
	assert_query(s, "SELECT status FROM run", "running");
	assert_query(s, "PRAGMA user_version", "2");
	assert_query(s,
		     "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
		     " AND name NOT LIKE 'sqlite%' AND NOT strict",
		     "0");
	store_close(s);
	free(path);
}

static void rows_come_out_as_they_went_in(void **state)
{
	char *path = scratch_path(state, "out.db");
	struct store *s = open_or_fail(path, STORE_WRITE);

	store_one(s, "base", 3);
	assert_query(s, "SELECT status || error IS NULL FROM run", "1");
	assert_query(s, "SELECT sim_time_ns || ' ' || events || ' ' || fingerprint FROM run",
		     "5000000000 77 8000000000000001");
	assert_query(s, "SELECT modules FROM run",
		     "{\"flush\":\"unified\",\"workload\":[\"anon_churn\",\"stat_reader\"]}");
	assert_query(s, "SELECT provenance ->> '$.arguments[2]' FROM run", "a \"b\".yaml");
	assert_query(s, "SELECT provenance ->> '$.arguments[3]' FROM run", "\xef\xbf\xbd");
	assert_query(s, "SELECT kind || unit FROM metric WHERE name = 'stat.read_latency'", "distributionns");
	assert_query(
		s, "SELECT value FROM summary WHERE metric = 'stat.read_latency.max' AND entity = '/parent2'",
		"5000.0");
	assert_query(s, "SELECT sum(value) FROM sample WHERE entity = '/parent1' AND t_ns >= 18000000",
		     "39.0");
	assert_query(s, "SELECT sum(count) FROM histogram WHERE lo <= 100 AND 100 < hi", "9");
	assert_query(s, "SELECT wait_mean_ns FROM lock_wait WHERE variant = 'base'", "75.0");
	assert_query(s, "SELECT count(*) FROM pragma_foreign_key_check", "0");
	store_close(s);
	free(path);
}

/* What the variant set, and where it set one of them alone, that for the others too. */
static void cpus_of_a_run(void **state)
{
	static const char *const cases[][2] = {
		{ "{}", "" },
		{ "{\"policies.flush\": \"unified\"}", "" },
		{ "{\"host.cpus\": \"8\"}", "8 8 8" },
		{ "{\"host.cpus\": \"8\", \"host.possible_cpus\": \"128\"}", "8 128 8" },
		{ "{\"host.cpus\": \"8\", \"cgroups[0].tasks[0].count\": \"3\"}", "8 8 3" },
		{ "{\"host.possible_cpus\": \"128\"}", "128" },
	};
	char *path = scratch_path(state, "out.db");
	struct store *s = open_or_fail(path, STORE_WRITE);

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_true(store_begin(s, &(struct store_run){ .experiment = "x",
								.scenario = "s",
								.variant = cases[i][0],
								.params = cases[i][0],
								.scenario_yaml = "",
								.provenance = "{}" }) > 0);
		assert_query(s,
			     "SELECT trim(printf('%s %s %s', cpus, possible_cpus, threads))"
			     " FROM run_cpus ORDER BY run_id DESC LIMIT 1",
			     cases[i][1]);
	}
	assert_query(s, "SELECT count(*) FROM run_cpus", "6");
	store_close(s);
	free(path);
}

static void huge_numbers_fit(void **state)
{
	char *path = scratch_path(state, "out.db");
	struct store *s = open_or_fail(path, STORE_WRITE);
	struct record *r = record_new(10);
	struct histogram h;
	int64_t id;

	histogram_init(&h, NULL);
	histogram_add(&h, UINT64_MAX, 1);
	histogram_add(&h, UINT64_MAX / 2, 1);
	histogram_add(&h, UINT64_MAX / 2 + 1, 1);
	record_histogram(r, &latency, "all", &h);
	record_sample(r, &pages, "all", SIM_NEVER - 1, 1e300);
	record_finish(r, &(struct record_end){ .done = true, .events = UINT64_MAX });
	id = announce(s, "base", UINT64_MAX);
	assert_true(store_finish(s, id, r));
	assert_query(s, "SELECT seed || ' ' || events FROM run", "-1 9223372036854775807");
	assert_query(s, "SELECT group_concat(count) FROM (SELECT count FROM histogram ORDER BY lo)", "1,2");
	assert_query(s, "SELECT t_ns FROM sample", "18446744073709551");
	histogram_release(&h);
	record_free(r);
	store_close(s);
	free(path);
}

static void check_entry(const struct store_entry *e, void *arg)
{
	assert_int_equal(e->run_id, 2);
	assert_string_equal(e->variant, "patched");
	assert_string_equal(e->experiment, "exp-1");
	assert_string_equal(e->scenario_yaml, "scenario: readers\n");
	assert_string_equal(e->params, "{\"policies.flush\":\"unified\"}");
	assert_string_equal(e->status, "done");
	assert_null(e->error);
	assert_int_equal(e->replication, 2);
	assert_true(e->seed == 1);
	assert_true(e->fingerprint == 0x8000000000000001);
	assert_true(e->sim_time == 5 * SIM_SEC);
	++*(int *)arg;
}

static void runs_can_be_read_back(void **state)
{
	char *path = scratch_path(state, "out.db");
	struct store *s = open_or_fail(path, STORE_WRITE);
	int visits = 0;
	char *last;

	assert_null(store_last_experiment(s));
	assert_false(store_visit(s, 1, count_entry, &visits));
	store_one(s, "base", 1);
	store_one(s, "patched", 1);
	assert_true(store_visit(s, 2, check_entry, &visits));
	assert_int_equal(visits, 1);
	assert_false(store_visit(s, 3, count_entry, &visits));
	assert_non_null(strstr(store_error(s), "has no run 3"));
	assert_true(store_each(s, NULL, count_entry, &visits));
	assert_int_equal(visits, 3);
	assert_true(store_each(s, "other", count_entry, &visits));
	assert_int_equal(visits, 3);
	last = store_last_experiment(s);
	assert_string_equal(last, "exp-1");
	free(last);
	store_close(s);
	free(path);
}

static void equal_runs_make_equal_tables(void **state)
{
	static const char all[] =
		"SELECT group_concat(x, char(10)) FROM ("
		"SELECT metric || entity || value AS x FROM summary WHERE run_id = %d UNION ALL "
		"SELECT metric || entity || t_ns || value FROM sample WHERE run_id = %d UNION ALL "
		"SELECT metric || entity || lo || hi || count FROM histogram WHERE run_id = %d)";
	char *path = scratch_path(state, "out.db"), *sql[2], *text[2];
	struct store *s = open_or_fail(path, STORE_WRITE);
	struct record *records[2] = { make_record(5), record_new(100) };

	/* The second reports the same in another order. */
	for (uint32_t i = 5; i-- > 0;) {
		uint32_t entity = record_entity(records[1], records[0]->entities[i]);
		struct histogram *h = &records[0]->histograms[i].histogram;
		const struct series *series = &records[0]->series[i].series;

		for (uint32_t j = 0; j < series->nr; j++)
			record_sample(records[1], &pages, records[1]->entities[entity], series->rows[j].t,
				      series->rows[j].value);
		record_histogram(records[1], &latency, records[1]->entities[entity], h);
	}
	record_finish(records[1], &(struct record_end){ .done = true });
	for (int i = 0; i < 2; i++) {
		int64_t id = announce(s, "base", 1);

		assert_true(store_finish(s, id, records[i]));
		record_free(records[i]);
		sql[i] = xasprintf(all, i + 1, i + 1, i + 1);
		text[i] = query(s, sql[i]);
	}
	assert_true(strlen(text[0]) > 1000);
	assert_string_equal(text[0], text[1]);
	for (int i = 0; i < 2; i++) {
		free(sql[i]);
		free(text[i]);
	}
	store_close(s);
	free(path);
}

static void failed_runs_say_why(void **state)
{
	char *path = scratch_path(state, "out.db");
	struct store *s = open_or_fail(path, STORE_WRITE);
	struct record *r = record_new(10);
	int64_t id = announce(s, "base", 1);

	record_invariant(r, "sum", false, "1, not 2");
	record_finish(r, &(struct record_end){ .error = "no progress" });
	assert_true(store_finish(s, id, r));
	record_free(r);
	assert_true(store_fail(s, announce(s, "patched", 1), "killed by signal 11"));
	assert_query(s, "SELECT group_concat(status || ': ' || error, '; ') FROM run",
		     "failed: no progress\ninvariant sum: 1, not 2; failed: killed by signal 11");
	assert_query(s, "SELECT count(*) FROM staleness", "0");
	store_close(s);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SCRATCH(file_appears_with_the_first_run),
		IN_SCRATCH(rows_come_out_as_they_went_in),
		IN_SCRATCH(cpus_of_a_run),
		IN_SCRATCH(huge_numbers_fit),
		IN_SCRATCH(runs_can_be_read_back),
		IN_SCRATCH(equal_runs_make_equal_tables),
		IN_SCRATCH(failed_runs_say_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
