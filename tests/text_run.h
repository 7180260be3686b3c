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

struct result {
	struct complaints *complaints;
	struct scenario_set *set;
	struct record *record;
};

/* Its first variant, with seed 1. Mistakes, a run that fails and a broken invariant fail the test. */
static inline void open_run(struct result *r, const char *text)
{
	r->complaints = complaints_new();
	r->set = scenario_load(&(struct scenario_source){ .path = "test.yaml", .text = text }, r->complaints);
	if (!r->set)
		complaints_print(r->complaints, stderr);
	assert_non_null(r->set);
	r->record = run_one(&(struct run_setup){ .scenario = scenario_variant(r->set, 0), .seed = 1 });
	if (!record_ended(r->record)->done)
		fail_msg("%s", record_ended(r->record)->error);
	assert_int_equal(record_invariants_broken(r->record), 0);
}

static inline void close_run(struct result *r)
{
	record_free(r->record);
	scenario_free(r->set);
	complaints_free(r->complaints);
}

/* In the metric's unit. */
static inline double value(const struct result *r, const char *metric, const char *entity)
{
	double v = -1;

	if (!validate_value(r->record, &(struct validate_row){ .metric = metric, .entity = entity }, &v))
		fail_msg("there is no %s of %s", metric, entity);
	return v;
}

#endif
