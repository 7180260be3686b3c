/*
 * test_bind.c - option tables at work: values, defaults, bounds, places, and each kind of mistake.
 */
#include "tests/language.h"

#include <math.h>

#include "sim/scenario/table.h"

static const struct option_list *groups_of(const struct scenario_set *set)
{
	return scenario_section(scenario_variant(set, 0), "t_groups");
}

static void defaults(void **state)
{
	struct scenario_set *set = t_load(HEAD "t_groups: [ { name: a } ]\n");
	const struct scenario *s = scenario_variant(set, 0);
	const struct t_group *group = groups_of(set)->items[0];
	const struct t_costs *costs = scenario_costs(s, "t_costs");
	const struct host_options *host = scenario_section(s, "host");
	const struct t_flush *flush = scenario_policy(s, "t_flush")->options;

	(void)state;
	assert_int_equal(groups_of(set)->nr, 1);
	assert_string_equal(group->name, "a");
	assert_int_equal(group->limit, UINT64_MAX);
	assert_int_equal(group->low, 0);
	assert_int_equal(group->reclaim.batch, 32);
	assert_true(fabs(group->reclaim.share - 0.5) < 1e-15);
	assert_int_equal(group->children.nr, 0);
	assert_int_equal(costs->step, SIM_NS);
	assert_true(fabs(costs->rate - 2e6) < 1e-6);
	assert_int_equal(host->cpus, 4);
	assert_int_equal(host->nodes, 1);
	assert_null(host->machine);
	assert_string_equal(scenario_policy(s, "t_flush")->module->name, "all");
	assert_int_equal(flush->batch, 64);
	assert_false(flush->late);
	assert_int_equal(((const struct option_list *)scenario_section(s, "t_tasks"))->nr, 0);
	assert_true(scenario_run(s)->until_done);
	scenario_free(set);
}

/* Lists of a table within itself, an embedded map, keys with dots, and a module's keys among the others. */
static void nested(void **state)
{
	struct scenario_set *set = t_load(
		HEAD "t_groups:\n"
		     "  - name: a{1..3}\n"
		     "    size.max: 1MiB\n"
		     "    reclaim: { batch: 8, share: 12.5% }\n"
		     "    labels: [x, y]\n"
		     "    children:\n"
		     "      - { name: b, size.low: 4K, labels: z, children: [ { name: c } ] }\n"
		     "    tasks:\n"
		     "      - { pages: 2K, workload: t_churn, count: 10, pause: 5ms }\n");
	const struct t_group *group = groups_of(set)->items[0];
	const struct t_group *child = group->children.items[0];
	const struct t_task *task = group->tasks.items[0];
	const struct t_churn *churn = task->work.options;
	const char *const *names;

	(void)state;
	assert_int_equal(group->limit, 1 << 20);
	assert_int_equal(group->reclaim.batch, 8);
	assert_true(fabs(group->reclaim.share - 0.125) < 1e-15);
	assert_int_equal(group->labels.nr, 2);
	assert_string_equal(group->labels.items[1], "y");
	assert_int_equal(child->low, 4000);
	assert_string_equal(child->labels.items[0], "z");
	assert_string_equal(((const struct t_group *)child->children.items[0])->name, "c");
	assert_int_equal(task->count, 10);
	assert_string_equal(task->work.module->name, "t_churn");
	assert_int_equal(churn->pages, 2000);
	assert_int_equal(churn->pause.kind, DIST_CONSTANT);
	assert_true(fabs(churn->pause.a - 5e9) < 1);
	assert_int_equal(scenario_expand_name(scenario_variant(set, 0), group->name, &names), 3);
	assert_string_equal(names[2], "a3");
	scenario_free(set);
}

static void places(void **state)
{
	struct scenario_set *set = t_load(HEAD "t_groups:\n"
					       "  - name: a\n"
					       "    size.max: 1MiB\n"
					       "    reclaim:\n"
					       "      batch: 8\n"
					       "    tasks:\n"
					       "      - { workload: t_churn, pages: 2 }\n"
					       "policies:\n"
					       "  t_flush: one\n");
	const struct t_group *group = groups_of(set)->items[0];
	const struct t_task *task = group->tasks.items[0];
	struct where at;

	(void)state;
	at = option_where(group, "size.max");
	assert_int_equal(at.line, 6);
	assert_int_equal(at.column, 15);
	assert_string_equal(at.file, "test.yaml");
	at = option_where(group, NULL);
	assert_int_equal(at.line, 5);
	assert_int_equal(at.column, 5);
	at = option_where(group, "reclaim.batch");
	assert_int_equal(at.line, 8);
	at = option_where(group, "size.low");
	assert_int_equal(at.line, 0);
	at = option_where(group, "reclaim.share");
	assert_int_equal(at.line, 0);
	at = option_where(task->work.options, "pages");
	assert_int_equal(at.line, 10);
	assert_int_equal(at.column, 37);
	at = scenario_policy_where(scenario_variant(set, 0), "t_flush");
	assert_int_equal(at.line, 12);
	assert_int_equal(at.column, 12);
	scenario_free(set);
}

static void policies(void **state)
{
	struct scenario_set *set = t_load(HEAD "policies: { t_flush: { name: all, batch: 7, late: yes } }\n");
	const struct t_flush *flush = scenario_policy(scenario_variant(set, 0), "t_flush")->options;

	(void)state;
	assert_int_equal(flush->batch, 7);
	assert_true(flush->late);
	scenario_free(set);

	set = t_load(HEAD "policies: { t_flush: 64 }\n");
	assert_string_equal(scenario_policy(scenario_variant(set, 0), "t_flush")->module->name, "64");
	assert_null(scenario_policy(scenario_variant(set, 0), "t_flush")->options);
	scenario_free(set);

	t_refused(HEAD "policies: { t_flush: al, t_flsh: one }\n",
		  "test.yaml:4:22: unknown policy 'al' of axis 't_flush'; did you mean 'all'?\n"
		  "test.yaml:4:26: unknown key 't_flsh' in policies; did you mean 't_flush'?\n");
	t_refused(HEAD "policies: { t_flush: { name: all, bach: 7 } }\n",
		  "test.yaml:4:35: unknown key 'bach' in all; did you mean 'batch'?\n");
	t_refused(HEAD "policies: { t_flush: { name: one, batch: 7 } }\n",
		  "test.yaml:4:35: unknown key 'batch' in one; known: name\n");
	t_refused(HEAD "policies: { t_flush: [all] }\n",
		  "test.yaml:4:22: t_flush: the name of a policy is expected, or { name: ... }\n");
}

static void scalars(void **state)
{
	(void)state;
	t_refused(
		HEAD
		"t_groups: [ { name: a, size.max: 10ms, size.low: -1, reclaim: { batch: 0, share: 2 } } ]\n",
		"test.yaml:4:34: size.max: '10ms' has no unit of a size in bytes: 'ms' is not B, K, M, G, T, "
		"KiB, "
		"MiB, GiB or TiB\n"
		"test.yaml:4:50: size.low: '-1' is negative; allowed: 0 to 2^64 - 1\n"
		"test.yaml:4:72: batch: '0' is out of range; allowed: 1 to 4294967295\n"
		"test.yaml:4:82: share: '2' is out of range; allowed: 0 to 100%\n");
	t_refused(HEAD "t_tasks: [ { workload: t_reader, target: a, interval: 0s, count: 5G } ]\n",
		  "test.yaml:4:55: interval: '0s' is out of range; allowed: more than 0s, at most 213d\n"
		  "test.yaml:4:66: count: '5G' is out of range; allowed: 1 to 4294967295\n");
	t_refused("schema: 1\nscenario: test\nhost: { cpus: 70K, nodes: max, preemption: fully }\n"
		  "allow_unreal: maybe\n",
		  "test.yaml:3:15: cpus: '70K' is out of range; allowed: 1 to 65536\n"
		  "test.yaml:3:27: nodes: 'max' is not a count\n"
		  "test.yaml:3:44: preemption: unknown value 'fully'; did you mean 'full'?\n"
		  "test.yaml:4:15: allow_unreal: 'maybe' is neither true nor false (or on, off, yes, no)\n");
	t_refused(HEAD "run: { until: , sample: [1s], warmup: { a: b } }\n",
		  "test.yaml:4:15: key 'until' has no value\n"
		  "test.yaml:4:25: sample: a single value is expected, not a list\n"
		  "test.yaml:4:39: warmup: a single value is expected, not a map\n");
}

static void shapes(void **state)
{
	(void)state;
	t_refused(HEAD "t_groups: { name: a }\nt_tasks: [ 3, [] ]\nrun: []\n",
		  "test.yaml:4:11: t_groups: a list of maps is expected, not a map\n"
		  "test.yaml:5:12: t_tasks: a map is expected here, not a single value\n"
		  "test.yaml:5:15: t_tasks: a map is expected here, not a list\n"
		  "test.yaml:6:6: run: a map is expected, not a list\n");
	t_refused(HEAD
		  "t_groups: [ { size.max: max, labels: { a: 1 } } ]\nt_tasks: [ { count: 1, pages: 3 } ]\n",
		  "test.yaml:4:13: key 'name' of t_groups is missing\n"
		  "test.yaml:4:38: labels: a text or a list of texts is expected, not a map\n"
		  "test.yaml:5:12: key 'workload' of t_tasks is missing\n");
	t_refused(HEAD "t_tasks: [ { workload: t_chrun, pages: 3 }, { workload: t_reader, target: x } ]\n",
		  "test.yaml:4:24: unknown workload 't_chrun'; did you mean 't_churn'?\n"
		  "test.yaml:4:45: key 'interval' of t_reader is missing\n");
	/* What belongs to one workload is unknown to another. */
	t_refused(
		HEAD "t_tasks: [ { workload: t_reader, target: x, interval: 1s, pages: 3 } ]\n",
		"test.yaml:4:59: unknown key 'pages' in t_tasks; known: workload, count, target, interval\n");
}

static void check_dist(const char *text, enum dist_kind kind, double a, double b)
{
	struct scenario_set *set;
	const struct option_list *tasks;
	const struct t_churn *churn;
	char *body = xasprintf(HEAD "t_tasks: [ { workload: t_churn, pause: %s } ]\n", text);

	set = t_load(body);
	tasks = scenario_section(scenario_variant(set, 0), "t_tasks");
	churn = ((const struct t_task *)tasks->items[0])->work.options;
	assert_int_equal(churn->pause.kind, kind);
	assert_true(fabs(churn->pause.a - a) < 1e-9 * fabs(a) + 1e-12);
	assert_true(fabs(churn->pause.b - b) < 1e-9 * fabs(b) + 1e-12);
	scenario_free(set);
	free(body);
}

static void distributions(void **state)
{
	struct scenario_set *set;
	const struct option_list *tasks;
	const struct t_churn *churn;

	(void)state;
	check_dist("2ms", DIST_CONSTANT, 2e9, 0);
	check_dist("{ constant: 2ms }", DIST_CONSTANT, 2e9, 0);
	check_dist("{ uniform: [1us, 2us] }", DIST_UNIFORM, 1e6, 2e6);
	check_dist("{ exponential: 0.2ns }", DIST_EXPONENTIAL, 200, 0);
	check_dist("{ normal: [1us, 100ns] }", DIST_NORMAL, 1e6, 1e5);
	check_dist("{ lognormal: [1us, 0.7] }", DIST_LOGNORMAL, 1e6, 0.7);
	check_dist("{ pareto: [1us, 1.5] }", DIST_PARETO, 1e6, 1.5);

	set = t_load(HEAD "t_tasks: [ { workload: t_churn, ranks: { zipf: [1K, 0.9] }, "
			  "size: { table: [[4KiB, 3], [2MiB, 1]] } } ]\n");
	tasks = scenario_section(scenario_variant(set, 0), "t_tasks");
	churn = ((const struct t_task *)tasks->items[0])->work.options;
	assert_int_equal(churn->ranks.kind, DIST_ZIPF);
	assert_true(fabs(churn->ranks.a - 1000) < 1e-9);
	assert_int_equal(churn->size.nr, 2);
	assert_true(fabs(churn->size.table[2] - 2097152) < 1e-9);
	assert_true(fabs(churn->size.table[1] - 3) < 1e-9);
	assert_non_null(churn->size.lookup);
	scenario_free(set);
}

static void wrong_distributions(void **state)
{
	static const char *const bad[][2] = {
		/* the value, and from the column on what is said of it */
		{ "{ uniform: [1ms] }", "51: uniform takes [lowest, highest]" },
		{ "{ uniform: [2ms, 1ms] }", "51: pause: uniform: its lowest value is above its highest" },
		{ "{ uniform: [1ms, 2min] }", "57: pause: '2min' is out of range; allowed: 0 to 1min" },
		{ "{ exponential: 3 }", "55: pause: '3' needs a unit: ps, ns, us, ms, s, min, h or d" },
		{ "{ exponental: 3ms }",
		  "42: unknown distribution 'exponental'; did you mean 'exponential'?" },
		{ "{ lognormal: [0s, 1] }", "53: pause: lognormal: its median must be above 0" },
		{ "{ lognormal: [1s, -1] }", "58: pause: '-1' is out of range; allowed: at least 0" },
		{ "{ pareto: [1s, 0] }", "50: pause: pareto: its scale and shape must be above 0" },
		{ "{ zipf: [10, 1] }", "48: pause: zipf gives ranks, not values with a unit" },
		{ "{ table: [] }", "49: table takes [[value, weight], ...]" },
		{ "{ table: [[1s]] }", "50: table takes [[value, weight], ...]" },
		{ "{ table: [[1s, 0]] }", "49: pause: the weights add up to nothing" },
		{ "{ table: [[1s, inf]] }", "55: pause: 'inf' is not a number" },
		{ "{ uniform: [1s, 2s], normal: [1s, 1s] }",
		  "40: pause: a value is expected, or a map of one distribution: { exponential: ... }" },
		{ "[1s]",
		  "40: pause: a value is expected, or a map of one distribution: { exponential: ... }" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char body[400], expected[400];

		snprintf(body, sizeof(body), HEAD "t_tasks: [ { workload: t_churn, pause: %s } ]\n",
			 bad[i][0]);
		snprintf(expected, sizeof(expected), "test.yaml:4:%s\n", bad[i][1]);
		t_refused(body, expected);
	}
}

static void name_bounds(void **state)
{
	(void)state;
	t_refused(HEAD "t_groups:\n"
		       "  - name: a{1..1000}\n"
		       "    children: [ { name: \"b{1..1000}\" } ]\n",
		  "test.yaml:6:25: 'b{1..1000}': with it the names of the scenario pass 1000000\n");
	t_refused(HEAD "t_groups: [ { name: a/b }, { name: \"c{2..1}\" } ]\n",
		  "test.yaml:4:21: name: 'a/b' has a '/': a name is one level of a path\n"
		  "test.yaml:4:36: name: 'c{2..1}' has a range that runs backwards\n");
	scenario_free(t_load(
		HEAD "t_groups: [ { name: \"a{1..999}\", children: [ { name: \"b{1..999}\" } ] } ]\n"));
}

/* A table with a mistake of its own is found before any scenario is. */
static void wrong_tables(void **state)
{
	static const struct option good = OPTION(struct t_costs, step, OPT_DURATION, .help = "h");
	struct option rows[2] = { good, good };
	struct option_table table = { .name = "t", .size = sizeof(struct t_costs), .rows = rows, .nr = 1 };
	struct option_table within = { .name = "w", .size = sizeof(struct t_costs), .rows = rows, .nr = 1 };
	char buf[TABLE_TEXT];

	(void)state;
	assert_null(table_check(&table, buf));
	table.nr = 2;
	assert_string_equal(table_check(&table, buf), "option 'step' of 't': stands there twice");
	table.nr = 1;
	rows[0].help = NULL;
	assert_string_equal(table_check(&table, buf), "option 'step' of 't': has no help");
	rows[0] = good;
	rows[0].fallback = "10";
	assert_string_equal(table_check(&table, buf),
			    "option 'step' of 't': step: '10' needs a unit: ps, ns, us, "
			    "ms, s, min, h or d");
	rows[0].fallback = "1s";
	rows[0].max = "1ms";
	assert_string_equal(table_check(&table, buf),
			    "option 'step' of 't': step: '1s' is out of range; allowed: "
			    "0 to 1ms");
	rows[0] = good;
	rows[0].min = "1KiB";
	assert_string_equal(table_check(&table, buf),
			    "option 'step' of 't': has a bound that is no value of its "
			    "type");
	rows[0] = good;
	rows[0].offset = sizeof(struct t_costs);
	assert_string_equal(table_check(&table, buf), "option 'step' of 't': lies outside of its structure");
	rows[0] = (struct option){ .name = "m", .type = OPT_MAP, .sub = &within, .help = "h" };
	assert_string_equal(table_check(&table, buf), "table 't' holds itself other than through a list");
}

static int setup(void **state)
{
	(void)state;
	return modules_init() ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),      cmocka_unit_test(nested),
		cmocka_unit_test(places),        cmocka_unit_test(policies),
		cmocka_unit_test(scalars),       cmocka_unit_test(shapes),
		cmocka_unit_test(distributions), cmocka_unit_test(wrong_distributions),
		cmocka_unit_test(name_bounds),   cmocka_unit_test(wrong_tables),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
