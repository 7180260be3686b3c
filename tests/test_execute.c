/*
 * test_execute.c - many runs at a time: in order whatever order they end in, and one that dies is one that
 * failed.
 */
#include "tests/run_model.h"

#include "sim/experiment/execute.h"

#define NR 6

struct seen {
	size_t nr, nr_started;
	uint64_t seeds[NR], fingerprints[NR];
	char errors[NR][160];
	bool done[NR];
	size_t stop_after;
};

static bool on_start(void *arg, const struct job *job)
{
	struct seen *seen = arg;

	assert_int_equal(job->seed, 1 + seen->nr_started);
	seen->nr_started++;
	return true;
}

static bool on_finish(void *arg, const struct job *job, struct record *record)
{
	struct seen *seen = arg;
	const struct record_end *end = record_ended(record);
	size_t i = seen->nr++;

	assert_true(i < NR);
	seen->seeds[i] = job->seed;
	seen->fingerprints[i] = end->fingerprint;
	seen->done[i] = end->done;
	snprintf(seen->errors[i], sizeof(seen->errors[i]), "%s", end->error ? end->error : "");
	record_free(record);
	return seen->nr != seen->stop_after;
}

static enum execute_end run_jobs(const char *trial, uint32_t at_once, struct seen *seen)
{
	struct scenario_set *set = trial_scenario(trial, "until: 20ms");
	struct job jobs[NR];

	for (uint32_t i = 0; i < NR; i++)
		jobs[i] = (struct job){ scenario_variant(set, 0), i, 1 + i };
	enum execute_end end = execute(&(struct execute_setup){
		.jobs = jobs,
		.nr_jobs = NR,
		.at_once = at_once,
		.started = on_start,
		.finished = on_finish,
		.arg = seen,
	});

	scenario_free(set);
	return end;
}

static void test_order(void **state)
{
	struct seen one = { 0 }, many = { 0 };

	(void)state;
	assert_int_equal(run_jobs("tasks: 4", 1, &one), EXECUTE_DONE);
	assert_int_equal(run_jobs("tasks: 4", 4, &many), EXECUTE_DONE);
	assert_int_equal(one.nr, NR);
	assert_int_equal(many.nr, NR);
	for (size_t i = 0; i < NR; i++) {
		assert_true(one.done[i] && many.done[i]);
		assert_int_equal(many.seeds[i], 1 + i);
		assert_int_equal(one.fingerprints[i], many.fingerprints[i]);
	}
	assert_int_not_equal(one.fingerprints[0], one.fingerprints[1]);
}

static void assert_third_failed(const char *mishap, const char *reason)
{
	struct seen seen = { 0 };
	char trial[80];

	snprintf(trial, sizeof(trial), "tasks: 4, mishap: %s, mishap_seed: 3", mishap);
	assert_int_equal(run_jobs(trial, 2, &seen), EXECUTE_DONE);
	assert_int_equal(seen.nr, NR);
	for (size_t i = 0; i < NR; i++)
		assert_int_equal(seen.done[i], i != 2);
	if (!strstr(seen.errors[2], reason))
		fail_msg("'%s' does not say '%s'", seen.errors[2], reason);
}

static void test_deaths(void **state)
{
	(void)state;
	assert_third_failed("abort", "signal 6");
	assert_third_failed("exit", "status 3");
	assert_third_failed("fail", "the test model failed");
}

static void test_stop(void **state)
{
	struct seen seen = { .stop_after = 2 };

	(void)state;
	assert_int_equal(run_jobs("tasks: 4", 2, &seen), EXECUTE_STOPPED);
	assert_int_equal(seen.nr, 2);
}

/* What was complete before the signal has been handed on; the run that was at work has not. */
static void test_interrupt(void **state)
{
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(run_jobs("tasks: 4, mishap: interrupt, mishap_seed: 4", 1, &seen),
			 EXECUTE_INTERRUPTED);
	assert_int_equal(seen.nr, 3);
	assert_int_equal(seen.nr_started, 4);
	for (size_t i = 0; i < 3; i++)
		assert_true(seen.done[i]);
}

static int start(void **state)
{
	(void)state;
	return modules_init() ? 0 : 1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_deaths),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_interrupt),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
