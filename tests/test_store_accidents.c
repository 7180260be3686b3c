/*
 * test_store_accidents.c - the result store: files that are none, full disks, killed programs, two writers.
 */
#include "tests/store_fixture.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

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
		execute(path, "PRAGMA application_id = 0x6d636773; PRAGMA user_version = 3");
		refuses(path, mode, "newer memcgsim");
		execute(path, "PRAGMA user_version = 0");
		refuses(path, mode, "has result format 0; this program knows format 2");
	}
	free(path);
	path = scratch_path(state, "none/x.db");
	refuses(path, STORE_WRITE, "cannot be written");
	free(path);
	path = scratch_path(state, "link.db");
	assert_int_equal(symlink("none.db", path), 0);
	refuses(path, STORE_WRITE, "is a link to a file that is missing");
	free(path);
	refuses("", STORE_WRITE, "the name is empty");
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

static void dead_runs_that_cannot_be_marked(void **state)
{
	char *path = scratch_path(state, "out.db");
	struct store *s = open_or_fail(path, STORE_WRITE);

	assert_int_equal(announce(s, "base", 1), 1);
	store_close(s);
	execute(path, "UPDATE run SET provenance = json_set(provenance, '$.process', 99999999);"
		      "CREATE TRIGGER t BEFORE UPDATE ON run BEGIN SELECT raise(ABORT, 'not so'); END");
	refuses(path, STORE_WRITE, "cannot mark dead runs in it: not so");
	free(path);
}

static void expect_empty(const struct store_entry *e, void *arg)
{
	assert_string_equal(e->experiment, "");
	assert_string_equal(e->variant, "");
	assert_string_equal(e->params, "");
	assert_string_equal(e->scenario_yaml, "");
	assert_string_equal(e->status, "");
	assert_int_equal(e->fingerprint, 0);
	count_entry(e, arg);
}

/* Where a file is damaged, columns may be NULL that the tables want filled. */
static void damaged_rows_can_be_read(void **state)
{
	char *path = scratch_path(state, "out.db");
	struct store *s = open_or_fail(path, STORE_WRITE);
	int nr = 0;

	store_one(s, "base", 1);
	store_close(s);
	execute(path, "ALTER TABLE run RENAME TO old; CREATE TABLE run AS SELECT * FROM old;"
		      "UPDATE run SET experiment = NULL, scenario = NULL, variant = NULL, params = NULL,"
		      " scenario_yaml = NULL, program_version = NULL, status = NULL, fingerprint = NULL");
	s = open_or_fail(path, STORE_READ);
	assert_true(store_visit(s, 1, expect_empty, &nr));
	assert_int_equal(nr, 1);
	store_close(s);
	free(path);
}

static void new_experiments_differ(void **state)
{
	char *path = scratch_path(state, "out.db");
	const struct store_run run = {
		.scenario = "x", .variant = "base", .params = "{}", .scenario_yaml = "", .provenance = "{}"
	};
	struct store *a = open_or_fail(path, STORE_WRITE), *b = open_or_fail(path, STORE_WRITE);

	assert_true(store_begin(a, &run) == 1 && store_begin(b, &run) == 2 && store_begin(a, &run) == 3);
	assert_query(a, "SELECT group_concat(experiment) FROM run", "x,x#2,x#3");
	store_close(a);
	store_close(b);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SCRATCH(other_files_are_refused),          IN_SCRATCH(empty_files_are_filled),
		IN_SCRATCH(read_only_files_can_be_read),      IN_SCRATCH(full_disk_costs_one_run),
		IN_SCRATCH(full_disk_at_once_leaves_nothing), IN_SCRATCH(killed_run_leaves_the_others),
		IN_SCRATCH(dead_runs_that_cannot_be_marked),  IN_SCRATCH(damaged_rows_can_be_read),
		IN_SCRATCH(new_experiments_differ),           IN_SCRATCH(two_writers_share_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
