/*
 * test_store.c - the result store: what goes in, what comes out, and what accidents leave behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "sim/results/provenance.h"
#include "sim/results/record_rows.h"
#include "sim/results/store.h"
#include "tests/scratch.h"

static const struct metric latency = { "stat.read_latency", "ns", METRIC_DISTRIBUTION, "time of a read" };
static const struct metric pages = { "staleness.pages", "pages", METRIC_GAUGE, "reported against true" };

static struct store *open_or_fail(const char *path, enum store_mode mode)
{
	char *error = NULL;
	struct store *s = store_open(path, mode, &error);

	if (!s)
		fail_msg("%s", error);
	return s;
}

static void refuses(const char *path, enum store_mode mode, const char *reason)
{
	char *error = NULL;
	struct store *s = store_open(path, mode, &error);

	assert_null(s);
	if (strncmp(error, path, strlen(path)) != 0 || !strstr(error, reason))
		fail_msg("\"%s\" does not say \"%s: ... %s\"", error, path, reason);
	free(error);
}

static int64_t announce(struct store *s, const char *variant, uint64_t seed)
{
	char *argv[] = { "memcgsim", "run", "a \"b\".yaml", "\xff" };
	char *provenance = provenance_json(4, argv);
	int64_t id = store_begin(s, &(struct store_run){ .experiment = "exp-1",
							 .scenario = "readers",
							 .variant = variant,
							 .replication = 2,
							 .seed = seed,
							 .params = "{\"policies.flush\":\"unified\"}",
							 .scenario_yaml = "scenario: readers\n",
							 .provenance = provenance });

	free(provenance);
	return id;
}

static struct record *make_record(uint32_t entities)
{
	struct record *r = record_new(100);
	struct histogram h;
	char name[32];

	histogram_init(&h, NULL);
	histogram_add(&h, 100, 3);
	histogram_add(&h, 5000, 1);
	for (uint32_t i = 0; i < entities; i++) {
		snprintf(name, sizeof(name), "/parent%u", i);
		record_histogram(r, &latency, name, &h);
		for (uint32_t j = 0; j < 20; j++)
			record_sample(r, &pages, name, j * SIM_MS, j + i);
	}
	record_put_lock(r, &(struct lock_row){ record_entity(r, "lru_lock"), 10, 4, 300, 100, 500, 60 });
	record_module(r, "flush", "unified");
	record_module(r, "workload", "anon_churn");
	record_module(r, "workload", "stat_reader");
	record_finish(r, &(struct record_end){ .done = true,
					       .sim_time = 5 * SIM_SEC,
					       .events = 77,
					       .fingerprint = 0x8000000000000001,
					       .wall_s = 0.25,
					       .peak_rss_bytes = 4096 });
	histogram_release(&h);
	return r;
}

static void store_one(struct store *s, const char *variant, uint32_t entities)
{
	struct record *r = make_record(entities);
	int64_t id = announce(s, variant, 1);

	if (id < 0 || !store_finish(s, id, r))
		fail_msg("%s", store_error(s));
	record_free(r);
}

/* The single value of a query, as text. */
static char *query(struct store *s, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	char *text = NULL;

	if (sqlite3_prepare_v2(store_database(s), sql, -1, &stmt, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(store_database(s)));
	if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_text(stmt, 0))
		text = xstrdup((const char *)sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	return text ? text : xstrdup("(none)");
}

static void assert_query(struct store *s, const char *sql, const char *expected)
{
	char *text = query(s, sql);

	if (strcmp(text, expected) != 0)
		fail_msg("%s: %s, should be %s", sql, text, expected);
	free(text);
}

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
	assert_query(s, "PRAGMA user_version", "1");
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

static void count_entry(const struct store_entry *e, void *arg)
{
	(void)e;
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

static void write_file(const char *path, const char *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static void execute(const char *path, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void other_files_are_refused(void **state)
{
	static const char noise[4096] = "neither a database nor a memcgsim result file";
	char *path = scratch_path(state, "x.db");

	refuses(path, STORE_READ, "cannot be read: No such file");
	refuses(*state, STORE_READ, "is not a file");
	refuses(*state, STORE_WRITE, "is not a file");
	for (enum store_mode mode = STORE_READ; mode <= STORE_WRITE; mode++) {
		write_file(path, noise, sizeof(noise));
		refuses(path, mode, "is not a memcgsim result file");
		write_file(path, noise, 20);
		refuses(path, mode, "is not a memcgsim result file");
		unlink(path);
		execute(path, "CREATE TABLE run (x); PRAGMA user_version = 1");
		refuses(path, mode, "database of another program");
		execute(path, "PRAGMA application_id = 0x6d636773; PRAGMA user_version = 2");
		refuses(path, mode, "newer memcgsim");
	}
	free(path);
	path = scratch_path(state, "none/x.db");
	refuses(path, STORE_WRITE, "cannot be written");
	free(path);
}

static void empty_files_are_filled(void **state)
{
	char *path = scratch_path(state, "x.db");
	struct store *s;

	write_file(path, "", 0);
	refuses(path, STORE_READ, "is empty");
	s = open_or_fail(path, STORE_WRITE);
	store_one(s, "base", 1);
	assert_query(s, "SELECT count(*) FROM run", "1");
	assert_int_equal(scratch_files(state), 1);
	store_close(s);
	free(path);
}

/* Runs `part` in a child and gives its exit status, negative for a signal. */
static int in_child(int (*part)(void **state), void **state)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0)
		_exit(part(state));
	assert_true(child > 0 && waitpid(child, &status, 0) == child);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* As somebody who may not write: root can. */
static int try_read_only(void **state)
{
	char *path = scratch_path(state, "out.db"), *error;
	struct store *s;

	if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
		return 1;
	s = store_open(path, STORE_WRITE, &error);
	if (s || !strstr(error, "Permission denied"))
		return 2;
	s = store_open(path, STORE_READ, &error);
	return s && store_each(s, NULL, count_entry, &(int){ 0 }) ? 0 : 3;
}

static void read_only_files_can_be_read(void **state)
{
	char *path = scratch_path(state, "out.db");
	struct store *s = open_or_fail(path, STORE_WRITE);

	store_one(s, "base", 1);
	store_close(s);
	assert_int_equal(chmod(path, 0444), 0);
	assert_int_equal(chmod(*state, 0555), 0);
	assert_int_equal(in_child(try_read_only, state), 0);
	assert_int_equal(chmod(*state, 0755), 0);
	free(path);
}

/* A limit on the size of files stands for a full disk. */
static int try_full_disk(void **state)
{
	char *path = scratch_path(state, "out.db");
	struct store *s = open_or_fail(path, STORE_WRITE);
	struct rlimit limit = { 200 * 1024, 200 * 1024 };
	struct record *r = make_record(500);
	int64_t id = announce(s, "patched", 1);

	signal(SIGXFSZ, SIG_IGN);
	if (id != 2 || setrlimit(RLIMIT_FSIZE, &limit))
		return 1;
	if (store_finish(s, id, r))
		return 2;
	return strstr(store_error(s), "cannot store run 2 in it: ") ? 0 : 3;
}

static void full_disk_costs_one_run(void **state)
{
	char *path = scratch_path(state, "out.db");
	struct store *s = open_or_fail(path, STORE_WRITE);

	store_one(s, "base", 1);
	store_close(s);
	assert_int_equal(in_child(try_full_disk, state), 0);
	s = open_or_fail(path, STORE_READ);
	assert_query(s, "PRAGMA integrity_check", "ok");
	assert_query(s, "SELECT group_concat(status) FROM run", "done,running");
	assert_query(s, "SELECT count(*) FROM summary WHERE run_id = 1", "7");
	assert_query(s, "SELECT count(*) FROM summary WHERE run_id = 2", "0");
	store_close(s);
	free(path);
}

static int try_full_disk_at_once(void **state)
{
	char *path = scratch_path(state, "out.db");
	struct store *s = open_or_fail(path, STORE_WRITE);
	struct rlimit limit = { 4096, 4096 };

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit) || announce(s, "base", 1) != -1)
		return 1;
	return strstr(store_error(s), "cannot make it: ") ? 0 : 2;
}

static void full_disk_at_once_leaves_nothing(void **state)
{
	assert_int_equal(in_child(try_full_disk_at_once, state), 0);
	assert_int_equal(scratch_files(state), 0);
}

static void die_after_some(void *left, int operation, const char *db, const char *table, sqlite3_int64 row)
{
	(void)operation;
	(void)db;
	(void)table;
	(void)row;
	if (--*(int *)left == 0)
		raise(SIGKILL);
}

/* With a tiny cache SQLite writes to the file long before the end of the transaction. */
static int try_kill(void **state)
{
	char *path = scratch_path(state, "out.db");
	struct store *s = open_or_fail(path, STORE_WRITE);
	struct record *r = make_record(500);
	int64_t id = announce(s, "patched", 1);
	int left = 1; /* of the tables with row numbers, the only ones that a hook sees, `run` comes last */

	sqlite3_exec(store_database(s), "PRAGMA cache_size = 5; PRAGMA cache_spill = 1", NULL, NULL, NULL);
	sqlite3_update_hook(store_database(s), die_after_some, &left);
	store_finish(s, id, r);
	return 1;
}

static void killed_run_leaves_the_others(void **state)
{
	char *path = scratch_path(state, "out.db"), *journal = scratch_path(state, "out.db-journal");
	struct store *s = open_or_fail(path, STORE_WRITE);

	store_one(s, "base", 1);
	store_close(s);
	assert_int_equal(in_child(try_kill, state), -SIGKILL);
	assert_int_equal(access(journal, F_OK), 0); /* it was in the middle of writing */

	s = open_or_fail(path, STORE_READ);
	assert_query(s, "PRAGMA integrity_check", "ok");
	assert_query(s, "SELECT group_concat(status) FROM run", "done,running");
	assert_query(s, "SELECT count(*) FROM summary WHERE run_id = 2", "0");
	store_close(s);

	s = open_or_fail(path, STORE_WRITE);
	assert_query(s, "SELECT group_concat(status) FROM run", "done,failed");
	assert_query(s, "SELECT error FROM run WHERE run_id = 2", "never finished: its program ended");
	store_close(s);
	free(journal);
	free(path);
}

static void two_writers_share_a_file(void **state)
{
	char *path = scratch_path(state, "out.db");
	struct store *a = open_or_fail(path, STORE_WRITE), *b = open_or_fail(path, STORE_WRITE);
	struct record *r = make_record(2);
	int64_t from_a = announce(a, "base", 1), from_b = announce(b, "patched", 1);

	assert_true(from_a == 1 && from_b == 2);
	assert_true(store_finish(b, from_b, r));
	store_close(b);
	b = open_or_fail(path, STORE_WRITE);
	assert_query(b, "SELECT group_concat(status) FROM run", "running,done"); /* its writer lives */
	assert_true(store_finish(a, from_a, r));
	assert_query(b, "SELECT group_concat(status) FROM run", "done,done");
	record_free(r);
	store_close(a);
	store_close(b);
	free(path);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SCRATCH(file_appears_with_the_first_run),
		IN_SCRATCH(rows_come_out_as_they_went_in),
		IN_SCRATCH(huge_numbers_fit),
		IN_SCRATCH(runs_can_be_read_back),
		IN_SCRATCH(equal_runs_make_equal_tables),
		IN_SCRATCH(failed_runs_say_why),
		IN_SCRATCH(other_files_are_refused),
		IN_SCRATCH(empty_files_are_filled),
		IN_SCRATCH(read_only_files_can_be_read),
		IN_SCRATCH(full_disk_costs_one_run),
		IN_SCRATCH(full_disk_at_once_leaves_nothing),
		IN_SCRATCH(killed_run_leaves_the_others),
		IN_SCRATCH(two_writers_share_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
