/*
 * language.h - a small language of their own for the tests of sim/scenario, and ways to load a text in it.
 *
 * The program under test holds whatever modules the tree has, and some of their axes may want a value. So
 * t_text() puts a kernel under a test's text that has one for each. Everything a test looks at is of the
 * modules below; their names begin with "t_" to keep out of everybody's way.
 */
#ifndef TESTS_LANGUAGE_H
#define TESTS_LANGUAGE_H

/* cmocka.h needs these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "sim/engine/random.h"
#include "sim/engine/xalloc.h"
#include "sim/scenario/scenario.h"

struct t_task {
	struct module_use work;
	uint32_t count;
};

struct t_churn {
	struct dist pause, ranks, size;
	uint64_t pages;
};

struct t_reader {
	const char *target;
	sim_time_t interval;
};

struct t_reclaim {
	uint32_t batch;
	double share;
};

struct t_group {
	const char *name;
	uint64_t limit, low;
	struct t_reclaim reclaim;
	struct option_list children, tasks, labels;
};

struct t_flush {
	uint32_t batch;
	bool late;
};

struct t_costs {
	sim_time_t step, jump;
	double rate;
};

static const struct option t_churn_rows[] = {
	OPTION(struct t_churn, pause, OPT_DIST_DURATION, .fallback = "{exponential: 1ms}", .max = "1min",
	       .help = "sleep"),
	OPTION(struct t_churn, ranks, OPT_DIST, .fallback = "1", .help = "which"),
	OPTION(struct t_churn, size, OPT_DIST_BYTES, .fallback = "4KiB", .help = "how much"),
	OPTION(struct t_churn, pages, OPT_U64, .fallback = "256", .min = "1", .max = "1G", .help = "pages"),
};
static const struct option_table t_churn_table = OPTION_TABLE("t_churn", struct t_churn, t_churn_rows);

static const struct option t_reader_rows[] = {
	OPTION(struct t_reader, target, OPT_STRING, .required = true, .help = "whom"),
	OPTION(struct t_reader, interval, OPT_DURATION, .required = true, .min = "0s", .above_min = true,
	       .help = "period"),
};
static const struct option_table t_reader_table = OPTION_TABLE("t_reader", struct t_reader, t_reader_rows);

static const struct option t_task_rows[] = {
	OPTION_AS("workload", struct t_task, work, OPT_MODULE, .kind = MODULE_WORKLOAD, .required = true,
		  .help = "what it does"),
	OPTION(struct t_task, count, OPT_U32, .fallback = "1", .min = "1", .help = "how many"),
};
static const struct option_table t_task_table = OPTION_TABLE("t_tasks", struct t_task, t_task_rows);

static const struct option t_reclaim_rows[] = {
	OPTION(struct t_reclaim, batch, OPT_U32, .fallback = "32", .min = "1", .help = "at a time"),
	OPTION(struct t_reclaim, share, OPT_RATIO, .fallback = "50%", .max = "100%", .help = "of all"),
};
static const struct option_table t_reclaim_table = OPTION_TABLE("reclaim", struct t_reclaim, t_reclaim_rows);

static const struct option_table t_group_table;
static const struct option t_group_rows[] = {
	OPTION(struct t_group, name, OPT_NAME, .required = true, .help = "its name"),
	OPTION_AS("size.max", struct t_group, limit, OPT_BYTES, .allow_max = true, .fallback = "max",
		  .help = "its limit"),
	OPTION_AS("size.low", struct t_group, low, OPT_BYTES, .fallback = "0", .help = "protected"),
	OPTION(struct t_group, reclaim, OPT_MAP, .sub = &t_reclaim_table, .help = "how it is emptied"),
	OPTION(struct t_group, labels, OPT_STRINGS, .help = "words"),
	OPTION(struct t_group, children, OPT_LIST, .sub = &t_group_table, .help = "groups within"),
	OPTION(struct t_group, tasks, OPT_LIST, .sub = &t_task_table, .help = "what runs in it"),
};
static const struct option_table t_group_table = OPTION_TABLE("t_groups", struct t_group, t_group_rows);

static const struct option t_flush_rows[] = {
	OPTION(struct t_flush, batch, OPT_U32, .fallback = "64", .help = "how many at once"),
	OPTION(struct t_flush, late, OPT_BOOL, .fallback = "off", .help = "or rather later"),
};
static const struct option_table t_flush_table = OPTION_TABLE("t_flush_all", struct t_flush, t_flush_rows);

static const struct option t_costs_rows[] = {
	OPTION(struct t_costs, step, OPT_DURATION, .fallback = "1ns", .help = "one step"),
	OPTION(struct t_costs, jump, OPT_DURATION, .fallback = "10ns", .help = "one jump"),
	OPTION(struct t_costs, rate, OPT_RATE, .fallback = "2M/s", .help = "how often"),
};
static const struct option_table t_costs_table = OPTION_TABLE("t_costs", struct t_costs, t_costs_rows);

static const int t_operations;
static const struct axis t_flush_axis = { .fallback = "all" };

PLUGIN;

MODULE(t_groups) = { .abi = MEMCGSIM_ABI,
		     .kind = MODULE_SECTION,
		     .name = "t_groups",
		     .help = "groups",
		     .options = &t_group_table,
		     .list = true,
		     .order = 20 };
MODULE(t_tasks) = { .abi = MEMCGSIM_ABI,
		    .kind = MODULE_SECTION,
		    .name = "t_tasks",
		    .help = "tasks",
		    .options = &t_task_table,
		    .list = true,
		    .order = 30 };
MODULE(t_churn) = { .abi = MEMCGSIM_ABI,
		    .kind = MODULE_WORKLOAD,
		    .name = "t_churn",
		    .help = "churns",
		    .options = &t_churn_table,
		    .ops = &t_operations };
MODULE(t_reader) = { .abi = MEMCGSIM_ABI,
		     .kind = MODULE_WORKLOAD,
		     .name = "t_reader",
		     .help = "reads",
		     .options = &t_reader_table,
		     .ops = &t_operations };
MODULE(t_flush) = { .abi = MEMCGSIM_ABI,
		    .kind = MODULE_AXIS,
		    .name = "t_flush",
		    .help = "who flushes",
		    .ops = &t_flush_axis };
MODULE(t_flush_all) = { .abi = MEMCGSIM_ABI,
			.kind = MODULE_POLICY,
			.axis = "t_flush",
			.name = "all",
			.help = "everybody",
			.options = &t_flush_table,
			.ops = &t_operations };
MODULE(t_flush_one) = { .abi = MEMCGSIM_ABI,
			.kind = MODULE_POLICY,
			.axis = "t_flush",
			.name = "one",
			.help = "one of them",
			.ops = &t_operations };
MODULE(t_flush_64) = { .abi = MEMCGSIM_ABI,
		       .kind = MODULE_POLICY,
		       .axis = "t_flush",
		       .name = "64",
		       .help = "sixty-four of them",
		       .ops = &t_operations };
MODULE(t_costs) = { .abi = MEMCGSIM_ABI,
		    .kind = MODULE_COSTS,
		    .name = "t_costs",
		    .help = "costs",
		    .options = &t_costs_table };

/* Calls see() for every axis that wants a value, with one. */
static inline void t_each_axis(void (*see)(const char *axis, const char *policy, void *arg), void *arg)
{
	const struct module *const *axes, *const *policies;
	size_t nr_axes, nr_policies;

	axes = modules_of(MODULE_AXIS, &nr_axes);
	policies = modules_of(MODULE_POLICY, &nr_policies);
	for (size_t i = 0; i < nr_axes; i++) {
		size_t p = 0;

		if (((const struct axis *)axes[i]->ops)->fallback)
			continue;
		while (p < nr_policies && strcmp(policies[p]->axis, axes[i]->name))
			p++;
		assert_true(p < nr_policies);
		see(axes[i]->name, policies[p]->name, arg);
	}
}

static inline void t_print_axis(const char *axis, const char *policy, void *out)
{
	fprintf(out, "%s%s: %s", ftell(out) ? ", " : "", axis, policy);
}

/* "axis: value, ...": of every axis that wants a value. The caller frees it. */
static inline char *t_policies(void)
{
	size_t length;
	char *text;
	FILE *out = xalloc_checked(open_memstream(&text, &length));

	t_each_axis(t_print_axis, out);
	fclose(out);
	return text;
}

/*
 * The text with a kernel under it, behind its last line. Those policies need not go together, and to models a
 * test of the language is of no interest.
 */
static inline char *t_text(const char *body)
{
	char *policies = t_policies();
	char *text = xasprintf("%skernels: { t_kernel: { kernel: { version: \"1.2\" }, policies: { %s } } }\n"
			       "kernel: t_kernel\n%s",
			       body, policies, strstr(body, "allow_unreal") ? "" : "allow_unreal: true\n");

	free(policies);
	return text;
}

static inline struct scenario_set *t_load_with(const char *body, const char *const *sets, size_t nr_sets,
					       struct complaints *c)
{
	char *text = t_text(body);
	const struct scenario_source source = {
		.path = "test.yaml", .text = text, .sets = sets, .nr_sets = nr_sets
	};
	struct scenario_set *set = scenario_load(&source, c);

	free(text);
	return set;
}

/* What complaints_print() prints. The caller frees it. */
static inline char *t_printed(const struct complaints *c)
{
	char *text;
	size_t length;
	FILE *out = xalloc_checked(open_memstream(&text, &length));

	complaints_print(c, out);
	fclose(out);
	return text;
}

/* A body that has to be good. */
static inline struct scenario_set *t_load(const char *body)
{
	struct complaints *c = complaints_new();
	struct scenario_set *set = t_load_with(body, NULL, 0, c);
	char *text = t_printed(c);

	assert_string_equal(text, "");
	assert_non_null(set);
	free(text);
	complaints_free(c);
	return set;
}

/* A body that is refused with exactly these complaints, sets being given on the command line. */
static inline void t_refused_with(const char *body, const char *const *sets, size_t nr_sets,
				  const char *expected)
{
	struct complaints *c = complaints_new();
	struct scenario_set *set = t_load_with(body, sets, nr_sets, c);
	char *text = t_printed(c);

	assert_string_equal(text, expected);
	assert_null(set);
	free(text);
	complaints_free(c);
}

static inline void t_refused(const char *body, const char *expected)
{
	t_refused_with(body, NULL, 0, expected);
}

/* The effective scenario without comments, which name files. The caller frees it. */
static inline char *t_effective(const struct scenario *s)
{
	char *text, *to;
	size_t length;
	FILE *out = xalloc_checked(open_memstream(&text, &length));

	scenario_print_effective(s, out);
	fclose(out);
	to = text;
	for (char *line = text; *line;) {
		char *end = line + strcspn(line, "\n"),
		     *comment = memmem(line, (size_t)(end - line), "# ", 2);
		char *stop = comment ? comment : end;

		while (stop > line && stop[-1] == ' ')
			stop--;
		memmove(to, line, (size_t)(stop - line));
		to += stop - line;
		*to++ = '\n';
		line = *end ? end + 1 : end;
	}
	*to = '\0';
	return text;
}

#define HEAD "schema: 1\nscenario: test\nhost: { cpus: 4 }\n"

#endif
