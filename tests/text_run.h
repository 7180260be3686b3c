/*
 * text_run.h - for tests of workloads: one run of a scenario that is given as text, and what it came to.
 */
#ifndef TESTS_TEXT_RUN_H
#define TESTS_TEXT_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "sim/experiment/run.h"
#include "sim/experiment/validate.h"
#include "sim/module.h"

/*
 * The first variant of a scenario, with seed 1; free it with record_free(). Mistakes, a run that fails and a
 * broken invariant fail the test.
 */
static inline struct record *run_text_by(const char *text, bool naive)
{
	struct complaints *complaints = complaints_new();

	assert_true(modules_init());
	struct scenario_set *set = scenario_load(
		&(struct scenario_source){ .path = "test.yaml", .text = text }, complaints);

	if (!set)
		complaints_print(complaints, stderr);
	assert_non_null(set);
	struct record *record = run_one(
		&(struct run_setup){ .scenario = scenario_variant(set, 0), .seed = 1, .naive = naive });

	if (!record_ended(record)->done)
		fail_msg("%s", record_ended(record)->error);
	if (record_invariants_broken(record))
		fail_msg("%s", record_invariants_text(record));
	scenario_free(set);
	complaints_free(complaints);
	return record;
}

static inline struct record *run_text(const char *text)
{
	return run_text_by(text, false);
}

/* In the metric's unit. */
static inline double value(const struct record *r, const char *metric, const char *entity)
{
	double v = -1;

	if (!validate_value(r, &(struct validate_row){ .metric = metric, .entity = entity }, &v))
		fail_msg("there is no %s of %s", metric, entity);
	return v;
}

/* The same of what is not recorded where it did not happen. */
static inline double value_or_0(const struct record *r, const char *metric, const char *entity)
{
	double v = 0;

	validate_value(r, &(struct validate_row){ .metric = metric, .entity = entity }, &v);
	return v;
}

#endif
