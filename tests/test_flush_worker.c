/*
 * test_flush_worker.c - the periodic flush: how often its worker comes, on a busy and on an idle machine, and
 * what readers see who flush nothing themselves.
 */
#include "tests/flush_rig.h"

static void be_busy(struct task *t, void *arg)
{
	(void)arg;
	for (int i = 0; i < 1000; i++)
		user_work(t, 10 * SIM_MS);
}

/* Calls of the worker in 9.9 s during which the CPUs below `busy` have something to do. */
static uint64_t calls_of_worker(const struct rig_config *config, uint32_t busy)
{
	struct play p;

	raise(&p, config);
	for (uint32_t cpu = 0; cpu < busy; cpu++)
		rig_task(p.rig, cpu, be_busy, NULL);
	stat_start(&p.rig->host);
	wait_a_bit(&p, 9900 * SIM_MS);
	uint64_t calls = p.rig->host.stat->count.calls[FLUSH_PERIODIC];

	assert_int_equal(p.rig->host.stat->count.flushes, calls);
	rig_free(p.rig);
	return calls;
}

/* The worker comes again two seconds, rounded up by the wheel, after it was done. */
static void the_worker_has_its_period(void **state)
{
	static const sim_time_t half = SIM_SEC / 2;
	struct rig_config config = { .cpus = CPUS };

	(void)state;
	assert_int_equal(calls_of_worker(&config, CPUS), 4);
	config.update = "rstat_none";
	config.flush = "always_subtree";
	config.version = 515;
	assert_int_equal(calls_of_worker(&config, CPUS), 4);
	config.version = 513;
	assert_int_equal(calls_of_worker(&config, CPUS), 0);
	config.flush = "periodic_only";
	config.flush_options = &half;
	config.version = 606;
	assert_in_range(calls_of_worker(&config, CPUS), 17, 19);
}

/*
 * Its timer goes on where the worker ran last. That is an idle CPU if there is one, and there a deferrable
 * timer waits for as long as the CPU has nothing else to do: why a nearly idle machine has the oldest
 * statistics.
 */
static void the_worker_lags_on_an_idle_machine(void **state)
{
	const struct rig_config config = { .cpus = CPUS };

	(void)state;
	assert_int_equal(calls_of_worker(&config, 1), 1);
	assert_int_equal(calls_of_worker(&config, 0), 0);
}

static void periodic_only_readers_take_what_is_there(void **state)
{
	static const sim_time_t period = 2 * SIM_SEC;
	struct play p;

	(void)state;
	raise(&p, &(struct rig_config){ .cpus = CPUS,
					.update = "rstat_none",
					.flush = "periodic_only",
					.flush_options = &period });
	do_update(&p, p.leaf, 1000);
	assert_int_equal(flushes_of_read(&p, p.leaf), 0);
	assert_int_equal(p.read.error, 1000);
	assert_int_equal(flushes_of_call(&p, p.root, FLUSH_PERIODIC), 1);
	assert_int_equal(flushes_of_read(&p, p.leaf), 0);
	assert_int_equal(p.read.error, 0);
	rig_free(p.rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worker_has_its_period),
		cmocka_unit_test(the_worker_lags_on_an_idle_machine),
		cmocka_unit_test(periodic_only_readers_take_what_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
