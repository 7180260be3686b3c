/*
 * test_run.c - one run: when it warms up, samples and ends, what it says when it fails, and that nobody who
 * watches it changes it.
 */
#include "tests/run_model.h"

#include "sim/experiment/validate.h"

struct result {
	struct record *record;
	struct scenario_set *set;
};

static struct result run_trial(const char *trial, const char *run, struct run_setup setup)
{
	struct result r = { .set = trial_scenario(trial, run) };

	setup.scenario = scenario_variant(r.set, 0);
	setup.seed = setup.seed ? setup.seed : scenario_run(setup.scenario)->seed;
	r.record = run_one(&setup);
	assert_non_null(record_ended(r.record));
	return r;
}

static void release(struct result r)
{
	record_free(r.record);
	scenario_free(r.set);
}

static double value(const struct result *r, const char *metric)
{
	const struct validate_row row = { .metric = metric, .entity = "all" };
	double v;

	assert_true(validate_value(r->record, &row, &v));
	return v;
}

static const struct series *samples(const struct result *r)
{
	for (uint32_t i = 0; i < r->record->nr_series; i++)
		if (!strcmp(r->record->metrics[r->record->series[i].metric].name, "trial.now"))
			return &r->record->series[i].series;
	fail_msg("there are no samples");
	return NULL;
}

static void assert_failed(const char *trial, const char *run, const char *reason)
{
	struct result r = run_trial(trial, run, (struct run_setup){ 0 });

	assert_false(record_ended(r.record)->done);
	assert_non_null(record_ended(r.record)->error);
	if (!strstr(record_ended(r.record)->error, reason))
		fail_msg("'%s' does not say '%s'", record_ended(r.record)->error, reason);
	release(r);
}

static void test_ends_in_time(void **state)
{
	(void)state;
	struct result r = run_trial("tasks: 8", "until: 50ms, warmup: 20ms, sample: 7ms",
				    (struct run_setup){ 0 });

	assert_true(record_ended(r.record)->done);
	assert_int_equal(record_ended(r.record)->sim_time, 50 * SIM_MS);
	assert_true(value(&r, "time.wall") == 30e6);
	assert_true(value(&r, "trial.rounds") > 0);

	/* At the end of the warm-up and every 7 ms from there. */
	const struct series *s = samples(&r);

	assert_int_equal(s->nr, 5);
	for (uint32_t i = 0; i < s->nr; i++)
		assert_int_equal(s->rows[i].t, (20 + 7 * i) * SIM_MS);
	release(r);
}

/* The warm-up is forgotten: what came before and after adds up to what a run without one counts. */
static void test_warmup_is_forgotten(void **state)
{
	(void)state;
	struct result whole = run_trial("tasks: 8", "until: 50ms", (struct run_setup){ 0 });
	struct result late = run_trial("tasks: 8", "until: 50ms, warmup: 20ms", (struct run_setup){ 0 });
	struct result early = run_trial("tasks: 8", "until: 20ms", (struct run_setup){ 0 });

	assert_true(value(&whole, "trial.rounds") ==
		    value(&late, "trial.rounds") + value(&early, "trial.rounds"));
	assert_true(value(&whole, "ctxt") == value(&late, "ctxt") + value(&early, "ctxt"));
	release(whole);
	release(late);
	release(early);
}

static void test_until_done(void **state)
{
	(void)state;
	struct result r = run_trial("tasks: 3, rounds: 10", "until: done, sample: 0",
				    (struct run_setup){ 0 });

	assert_true(record_ended(r.record)->done);
	assert_true(value(&r, "trial.rounds") == 30);
	/* 10 rounds of a work of 100 ns and a sleep of at most 2 ms. */
	assert_in_range(record_ended(r.record)->sim_time, SIM_US, 21 * SIM_MS);
	release(r);
}

/* What can never be done fails at once, not after an hour (run.give_up). */
static void test_never_done(void **state)
{
	(void)state;
	struct result r = run_trial("tasks: 1", "until: done", (struct run_setup){ 0 });

	assert_false(record_ended(r.record)->done);
	assert_int_equal(record_ended(r.record)->sim_time, 0);
	release(r);
}

static void test_failures(void **state)
{
	(void)state;
	assert_failed("tasks: 1, mishap: fail", "until: 1s", "the test model failed at 42");
	assert_failed("tasks: 1, mishap: broken", "until: 10ms", "invariant");
	assert_failed("tasks: 2, rounds: 1000000", "until: done, give_up: 10ms", "2 of 2 workloads");
	assert_failed("tasks: 1", "until: done", "no workload of this scenario ends");
	assert_failed("tasks: 1, rounds: 1", "until: done, warmup: 1s", "warm-up");
}

/* Who interrupts the simulation and looks at it, as the progress line does, changes nothing. */
static void test_interruption_is_not_noticed(void **state)
{
	(void)state;
	const char *run = "until: 50ms, warmup: 20ms, sample: 7ms";
	struct result alone = run_trial("tasks: 8", run, (struct run_setup){ 0 });
	struct result watched = run_trial("tasks: 8, stops: true", run, (struct run_setup){ 0 });

	assert_true(record_ended(watched.record)->done);
	assert_int_equal(record_ended(alone.record)->fingerprint, record_ended(watched.record)->fingerprint);
	assert_int_equal(record_ended(alone.record)->events, record_ended(watched.record)->events);
	assert_true(value(&alone, "trial.rounds") == value(&watched, "trial.rounds"));
	release(alone);
	release(watched);
}

static void count_calls(const struct run *run, void *arg)
{
	assert_true(run_share(run) >= 0 && run_share(run) <= 1);
	++*(unsigned int *)arg;
}

/* The callback comes at least at the end, whatever real time does. */
static void test_progress(void **state)
{
	(void)state;
	unsigned int calls = 0;
	struct result r = run_trial("tasks: 8, stops: true", "until: 20ms",
				    (struct run_setup){ .progress = count_calls, .arg = &calls });
	struct result without = run_trial("tasks: 8", "until: 20ms", (struct run_setup){ 0 });

	/* One a round, since each asks to stop, and one at the end. */
	assert_true(calls > value(&r, "trial.rounds"));
	assert_int_equal(record_ended(r.record)->fingerprint, record_ended(without.record)->fingerprint);
	release(r);
	release(without);
}

/* Control events that fall on the same instant come in one order even when ties are shuffled. */
static void test_control_under_random_ties(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct result r = run_trial("tasks: 2", "until: 30ms, warmup: 10ms, sample: 10ms",
					    (struct run_setup){ .seed = seed, .random_ties = true });
		const struct series *s = samples(&r);

		/* Also at the end itself. */
		assert_int_equal(s->nr, 3);
		assert_int_equal(s->rows[0].t, 10 * SIM_MS);
		assert_int_equal(s->rows[2].t, 30 * SIM_MS);
		release(r);
	}
}

static void test_seeds_and_replays(void **state)
{
	(void)state;
	struct result a = run_trial("tasks: 4", "until: 20ms", (struct run_setup){ .seed = 5 });
	struct result b = run_trial("tasks: 4", "until: 20ms", (struct run_setup){ .seed = 5 });
	struct result c = run_trial("tasks: 4", "until: 20ms", (struct run_setup){ .seed = 6 });

	assert_int_equal(record_ended(a.record)->fingerprint, record_ended(b.record)->fingerprint);
	assert_int_not_equal(record_ended(a.record)->fingerprint, record_ended(c.record)->fingerprint);
	release(a);
	release(b);
	release(c);
}

/* CPU time is conserved: what tasks used is what CPUs were busy with, and no CPU is busier than time. */
static void test_hardware_adds_up(void **state)
{
	(void)state;
	struct result r = run_trial("tasks: 64, pause: 1us", "until: 10ms, warmup: 3ms",
				    (struct run_setup){ 0 });
	double used = value(&r, "time.sys") + value(&r, "time.user");
	double utilisation = value(&r, "cpu.utilisation");

	assert_true(utilisation > 0.1 && utilisation <= 1);
	assert_true(used > 0 && used <= utilisation * 4 * 7e6 * (1 + 1e-9));
	release(r);
}

static int start(void **state)
{
	(void)state;
	return modules_init() ? 0 : 1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends_in_time),      cmocka_unit_test(test_warmup_is_forgotten),
		cmocka_unit_test(test_until_done),        cmocka_unit_test(test_never_done),
		cmocka_unit_test(test_failures),          cmocka_unit_test(test_interruption_is_not_noticed),
		cmocka_unit_test(test_progress),          cmocka_unit_test(test_control_under_random_ties),
		cmocka_unit_test(test_seeds_and_replays), cmocka_unit_test(test_hardware_adds_up),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
