/*
 * test_summary.c - the exact text of summary tables, and what programs get to read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "sim/results/summary.h"
#include "tests/scratch.h"

static const struct metric p50 = { "stat.read_latency.p50", "ns", METRIC_GAUGE, "" };
static const struct metric pages = { "staleness.pages.mean", "pages", METRIC_GAUGE, "" };
static const struct metric ops = { "task.ops", "1", METRIC_COUNTER, "" };

static const struct summary_row reader_rows[] = {
	{ .label = "read latency p50",
	  .metric = "stat.read_latency.p50",
	  .entity = "all",
	  .scale = 1e-3,
	  .unit = "us",
	  .decimals = 2 },
	{ .label = "never measured", .metric = "nothing", .entity = "all" },
	{ .label = "staleness",
	  .metric = "staleness.pages.mean",
	  .entity = "all",
	  .unit = "pages",
	  .decimals = 1 },
};

static const struct summary_row work_rows[] = {
	{ .label = "operations", .metric = "task.ops", .entity = "/p*", .combine = SUMMARY_SUM },
	{ .label = "operations, most", .metric = "task.ops", .entity = "/p*", .combine = SUMMARY_MAX },
	{ .label = "operations, mean", .metric = "task.ops", .entity = "/p*", .decimals = 1 },
};

static const struct summary_row empty_rows[] = {
	{ .label = "nothing", .metric = "nothing", .entity = "all" }
};

/* Without a label of its own: that of a line is its entity. */
static const struct summary_row each_rows[] = {
	{ .metric = "task.ops",
	  .entity = "/p*",
	  .combine = SUMMARY_EACH,
	  .scale = 1e-6,
	  .unit = "M",
	  .decimals = 2 },
};

static const struct summary_table readers = { "Statistics readers", reader_rows, 3 };
static const struct summary_table empty = { "Empty", empty_rows, 1 };
static const struct summary_table work = { "Work done", work_rows, 3 };
static const struct summary_table each = { "Work by name", each_rows, 1 };
static const struct summary_table *const tables[] = { &readers, &empty, &work };

static void add_run(struct store *s, const char *experiment, const char *variant, bool done, double latency,
		    double stale)
{
	struct record *r = record_new(10);
	int64_t id = store_begin(s, &(struct store_run){ .experiment = experiment,
							 .scenario = "readers",
							 .variant = variant,
							 .params = "{}",
							 .scenario_yaml = "",
							 .provenance = "{}" });

	record_summary(r, &p50, "all", latency);
	record_summary(r, &pages, "all", stale);
	record_summary(r, &ops, "/p1", 1000);
	record_summary(r, &ops, "/p2", 3000);
	record_summary(r, &ops, "/q", 70000);
	record_finish(r, &(struct record_end){ .done = done });
	assert_true(id > 0 && store_finish(s, id, r));
	record_free(r);
}

static int setup(void **state)
{
	char *path, *error;

	if (scratch_setup(state))
		return -1;
	path = scratch_path(state, "out.db");
	struct store *s = store_open(path, STORE_WRITE, &error);

	add_run(s, "one", "base", true, 1234, 0);
	add_run(s, "one", "patched", true, 2468, 12.5);
	for (int i = 0; i < 3; i++) {
		add_run(s, "many", "unified", true, 1000 + 10 * i, 100);
		add_run(s, "many", "nonunified_user", true, 30000 + 300 * i, 95 + 5 * i);
		add_run(s, "many", "a_name_that_is_too_long", i == 2, 1e9, 150);
		add_run(s, "many", "fourth", true, 900 + 100 * i, 0);
	}
	for (int v = 0; v < 8; v++) {
		char name[32];

		snprintf(name, sizeof name, "limit-%dM-of-memory", 64 << v);
		for (int i = 0; i < 2; i++)
			add_run(s, "sweep", name, true, 1000 * (v + 1) + i, 10 * v);
	}
	add_run(s, "near", "base", true, 100000, 1);
	add_run(s, "near", "patched", true, 99990, 1);
	add_run(s, "lone", "base", true, 500, 1);
	store_close(s);
	free(path);
	return 0;
}

static char *print_these(void **state, const char *experiment, enum summary_format format,
			 const struct summary_table *const *these, size_t nr)
{
	char *path = scratch_path(state, "out.db"), *error, *text;
	struct store *s = store_open(path, STORE_READ, &error);
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_true(summary_print_tables(s, experiment, these, nr, format, out));
	fclose(out);
	store_close(s);
	free(path);
	return text;
}

static char *print(void **state, const char *experiment, enum summary_format format)
{
	return print_these(state, experiment, format, tables, sizeof(tables) / sizeof(tables[0]));
}

static void assert_print(void **state, const char *experiment, enum summary_format format,
			 const char *expected)
{
	char *text = print(state, experiment, format);

	assert_string_equal(text, expected);
	free(text);
}

static void one_run_a_variant(void **state)
{
	assert_print(state, "one", SUMMARY_TEXT,
		     "readers, simulated; 1 run a variant\n"
		     "\n"
		     "Statistics readers      base  patched\n"
		     "read latency p50, us    1.23     2.47 +100.0%\n"
		     "staleness, pages         0.0     12.5       -\n"
		     "\n"
		     "Work done               base  patched\n"
		     "operations              4000     4000    0.0%\n"
		     "operations, most        3000     3000    0.0%\n"
		     "operations, mean      2000.0   2000.0    0.0%\n");
}

/* No "-0.0%". */
static void hardly_any_difference(void **state)
{
	char *text = print(state, "near", SUMMARY_TEXT);

	assert_non_null(strstr(text, "read latency p50, us  100.00    99.99    0.0%\n"));
	free(text);
}

static void the_newest_experiment_alone(void **state)
{
	assert_print(state, NULL, SUMMARY_TEXT,
		     "readers, simulated; 1 run a variant\n"
		     "\n"
		     "Statistics readers      base\n"
		     "read latency p50, us    0.50\n"
		     "staleness, pages         1.0\n"
		     "\n"
		     "Work done               base\n"
		     "operations              4000\n"
		     "operations, most        3000\n"
		     "operations, mean      2000.0\n");
}

static void replications_and_blocks(void **state)
{
	assert_print(state, "many", SUMMARY_TEXT,
		     "readers, simulated; 1 to 3 runs a variant\n"
		     "\n"
		     "Statistics readers        unified  nonunified_user\n"
		     "read latency p50, us    1.01 +-1%       30.30 +-1%   x30.0 *\n"
		     "staleness, pages       100.0 +-0%       100.0 +-5%    0.0%\n"
		     "\n"
		     "Work done                 unified  nonunified_user\n"
		     "operations              4000 +-0%        4000 +-0%    0.0%\n"
		     "operations, most        3000 +-0%        3000 +-0%    0.0%\n"
		     "operations, mean      2000.0 +-0%      2000.0 +-0%    0.0%\n"
		     "\n"
		     "Statistics readers        unified  a_name_that_\n"
		     "                                    is_too_long\n"
		     "read latency p50, us    1.01 +-1%    1000000.00 x990099\n"
		     "staleness, pages       100.0 +-0%         150.0  +50.0%\n"
		     "\n"
		     "Work done                 unified  a_name_that_\n"
		     "                                    is_too_long\n"
		     "operations              4000 +-0%          4000    0.0%\n"
		     "operations, most        3000 +-0%          3000    0.0%\n"
		     "operations, mean      2000.0 +-0%        2000.0    0.0%\n"
		     "\n"
		     "Statistics readers        unified       fourth\n"
		     "read latency p50, us    1.01 +-1%   1.00 +-10%   -1.0%\n"
		     "staleness, pages       100.0 +-0%    0.0 +-0.0 -100.0% *\n"
		     "\n"
		     "Work done                 unified       fourth\n"
		     "operations              4000 +-0%    4000 +-0%    0.0%\n"
		     "operations, most        3000 +-0%    3000 +-0%    0.0%\n"
		     "operations, mean      2000.0 +-0%  2000.0 +-0%    0.0%\n"
		     "\n"
		     "Median of the runs +- half their range; * the difference exceeds both.\n"
		     "a_name_that_is_too_long: 2 of 3 runs failed or did not finish; not counted.\n");
}

/* Too many to stand beside each other: each is a row, and the numbers are columns. */
static void many_variants_are_rows(void **state)
{
	assert_print(state, "sweep", SUMMARY_TEXT,
		     "readers, simulated; 2 runs a variant\n"
		     "\n"
		     "Statistics readers\n"
		     "  a  read latency p50, us\n"
		     "  b  staleness, pages\n"
		     "                         a     b\n"
		     "limit-64M-of-memory   1.00   0.0\n"
		     "limit-128M-of-memory  2.00* 10.0*\n"
		     "limit-256M-of-memory  3.00* 20.0*\n"
		     "limit-512M-of-memory  4.00* 30.0*\n"
		     "limit-1024M-of-memory 5.00* 40.0*\n"
		     "limit-2048M-of-memory 6.00* 50.0*\n"
		     "limit-4096M-of-memory 7.00* 60.0*\n"
		     "limit-8192M-of-memory 8.00* 70.0*\n"
		     "\n"
		     "Work done\n"
		     "  a  operations\n"
		     "  b  operations, most\n"
		     "  c  operations, mean\n"
		     "                         a     b       c\n"
		     "limit-64M-of-memory   4000  3000  2000.0\n"
		     "limit-128M-of-memory  4000  3000  2000.0\n"
		     "limit-256M-of-memory  4000  3000  2000.0\n"
		     "limit-512M-of-memory  4000  3000  2000.0\n"
		     "limit-1024M-of-memory 4000  3000  2000.0\n"
		     "limit-2048M-of-memory 4000  3000  2000.0\n"
		     "limit-4096M-of-memory 4000  3000  2000.0\n"
		     "limit-8192M-of-memory 4000  3000  2000.0\n"
		     "\n"
		     "Median of the runs +- half their range; * the difference exceeds both.\n");
}

/* A row for each entity has no label: the letters of a table of many variants stand for the entities. */
static void letters_stand_for_entities(void **state)
{
	static const struct summary_table *const these[] = { &each };
	char *text = print_these(state, "sweep", SUMMARY_TEXT, these, 1);

	assert_non_null(strstr(text, "\nWork by name\n  a  /p1, M\n  b  /p2, M\n"));
	free(text);
}

/* What the decimals of a row cannot show is not a zero, or its difference could not be read. */
static void little_is_not_nothing(void **state)
{
	static const struct summary_table *const these[] = { &each };
	char *text = print_these(state, "lone", SUMMARY_TEXT, these, 1);

	assert_string_equal(text, "readers, simulated; 1 run a variant\n"
				  "\n"
				  "Work by name       base\n"
				  "/p1, M            <0.01\n"
				  "/p2, M            <0.01\n");
	free(text);
}

static void no_line_is_too_long(void **state)
{
	char *text = print(state, "many", SUMMARY_TEXT);

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 75 && line[strlen(line) - 1] != ' ');
	free(text);
}

static void unknown_experiment_prints_nothing(void **state)
{
	assert_print(state, "none", SUMMARY_TEXT, "");
}

static void csv_for_programs(void **state)
{
	assert_print(state, "one", SUMMARY_CSV,
		     "table,row,metric,entity,unit,variant,runs,median,spread,difference_percent,beyond_sp"
		     "read\n"
		     "Statistics readers,read latency p50,stat.read_latency.p50,all,us,base,1,1.234,,0,0\n"
		     "Statistics readers,read latency "
		     "p50,stat.read_latency.p50,all,us,patched,1,2.468,,100,0\n"
		     "Statistics readers,staleness,staleness.pages.mean,all,pages,base,1,0,,0,0\n"
		     "Statistics readers,staleness,staleness.pages.mean,all,pages,patched,1,12.5,,,0\n"
		     "Work done,operations,task.ops,/p*,,base,1,4000,,0,0\n"
		     "Work done,operations,task.ops,/p*,,patched,1,4000,,0,0\n"
		     "Work done,\"operations, most\",task.ops,/p*,,base,1,3000,,0,0\n"
		     "Work done,\"operations, most\",task.ops,/p*,,patched,1,3000,,0,0\n"
		     "Work done,\"operations, mean\",task.ops,/p*,,base,1,2000,,0,0\n"
		     "Work done,\"operations, mean\",task.ops,/p*,,patched,1,2000,,0,0\n");
}

static void json_for_programs(void **state)
{
	assert_print(state, "lone", SUMMARY_JSON,
		     "{\"experiment\": \"lone\", \"scenario\": \"readers\", \"rows\": [\n"
		     " {\"table\": \"Statistics readers\", \"label\": \"read latency p50\", \"metric\": "
		     "\"stat.read_latency.p50\", \"entity\": \"all\", \"unit\": \"us\", \"variants\": [\n"
		     "  {\"variant\": \"base\", \"runs\": 1, \"median\": 0.5, \"spread\": null, "
		     "\"difference_percent\": 0, \"beyond_spread\": false}]},\n"
		     " {\"table\": \"Statistics readers\", \"label\": \"staleness\", \"metric\": "
		     "\"staleness.pages.mean\", \"entity\": \"all\", \"unit\": \"pages\", \"variants\": "
		     "[\n"
		     "  {\"variant\": \"base\", \"runs\": 1, \"median\": 1, \"spread\": null, "
		     "\"difference_percent\": 0, \"beyond_spread\": false}]},\n"
		     " {\"table\": \"Work done\", \"label\": \"operations\", \"metric\": \"task.ops\", "
		     "\"entity\": \"/p*\", \"unit\": null, \"variants\": [\n"
		     "  {\"variant\": \"base\", \"runs\": 1, \"median\": 4000, \"spread\": null, "
		     "\"difference_percent\": 0, \"beyond_spread\": false}]},\n"
		     " {\"table\": \"Work done\", \"label\": \"operations, most\", \"metric\": "
		     "\"task.ops\", \"entity\": \"/p*\", \"unit\": null, \"variants\": [\n"
		     "  {\"variant\": \"base\", \"runs\": 1, \"median\": 3000, \"spread\": null, "
		     "\"difference_percent\": 0, \"beyond_spread\": false}]},\n"
		     " {\"table\": \"Work done\", \"label\": \"operations, mean\", \"metric\": "
		     "\"task.ops\", \"entity\": \"/p*\", \"unit\": null, \"variants\": [\n"
		     "  {\"variant\": \"base\", \"runs\": 1, \"median\": 2000, \"spread\": null, "
		     "\"difference_percent\": 0, \"beyond_spread\": false}]}\n"
		     "]}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_run_a_variant),
		cmocka_unit_test(hardly_any_difference),
		cmocka_unit_test(the_newest_experiment_alone),
		cmocka_unit_test(replications_and_blocks),
		cmocka_unit_test(many_variants_are_rows),
		cmocka_unit_test(letters_stand_for_entities),
		cmocka_unit_test(little_is_not_nothing),
		cmocka_unit_test(no_line_is_too_long),
		cmocka_unit_test(csv_for_programs),
		cmocka_unit_test(json_for_programs),
		cmocka_unit_test(unknown_experiment_prints_nothing),
	};

	return cmocka_run_group_tests(tests, setup, scratch_teardown);
}
