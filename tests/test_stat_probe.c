/*
 * test_stat_probe.c - the probe of staleness against what the rules of a kernel say it must find.
 *
 * On 6.1 a flush is due when the machine's CPUs have passed on more batches of 65 updates than there are
 * CPUs, and visits whoever had any; from 6.8 on it is due for a cgroup by the updates below it alone, and
 * visits those.
 */
#include <math.h>

#include "tests/text_run.h"

#define SCENARIO(kernel, series)                                                                  \
	"schema: 1\nscenario: test\nhost: { cpus: 1, nodes: 1, memory: 256MiB }\nkernel: " kernel \
	"\nrun: { until: done, sample: 0 }\n"                                                     \
	"cgroups: [ { name: p, children: [ { name: a }, { name: b } ] } ]\n"                      \
	"tasks: [ { workload: stat_probe, steps: 250, memory: 4096, series: [ " series " ] } ]\n"

static double of(const struct record *r, const char *metric, const char *name)
{
	char entity[64];

	snprintf(entity, sizeof entity, "stat_probe/%s", name);
	return value(r, metric, entity);
}

#define ALONE "{ name: alone, step: 2, worker: /p/a, target: /p/a }"
#define IDLE                                                                    \
	"{ name: idle, step: 2, worker: /p/a, second: /p/b, target: /p/a }, "   \
	"{ name: idle-root, step: 2, worker: /p/a, second: /p/b, target: / }, " \
	"{ name: idle-b, step: 2, worker: /p/a, second: /p/b, target: /p/b }"
#define BOTH                                                                              \
	"{ name: both, step: 2, worker: /p/a, second: /p/b, both: true, target: /p/a }, " \
	"{ name: both-p, step: 2, worker: /p/a, second: /p/b, both: true, target: /p }"
#define ALL ALONE ", " IDLE ", " BOTH

/* Four updates a page, 130 to a flush, of whatever cgroup; every flush visits everybody. */
static void of_the_machine(void **state)
{
	struct record *r;

	(void)state;
	r = run_text(SCENARIO("v6.1", ALL));
	assert_true(fabs(of(r, "stat_probe.gap_mean", "alone") - 130 / 4.) < 2);
	assert_true(of(r, "stat_probe.pairs_per_flush", "alone") == 3);
	/* The neighbour waits: CPU time puts it on the list too, but moves nothing else. */
	assert_true(fabs(of(r, "stat_probe.gap_mean", "idle") - 130 / 4.) < 2);
	assert_true(of(r, "stat_probe.pairs_per_flush", "idle") == 4);
	assert_true(of(r, "stat_probe.pairs_per_flush", "idle-root") == 4);
	assert_true(of(r, "stat_probe.stale_max", "idle-b") == 0);
	/* What the neighbour does makes half of the gap. */
	assert_true(fabs(of(r, "stat_probe.gap_mean", "both") - 130 / 4.) < 4);
	assert_true(fabs(of(r, "stat_probe.gap_mean_own", "both") - 130 / 8.) < 2);
	record_free(r);
}

/* Three updates a page, in batches of 64, more than one; of the cgroup that is read and what is below. */
static void of_the_cgroup(void **state)
{
	struct record *r;

	(void)state;
	r = run_text(SCENARIO("v6.12", ALL));
	double gap = of(r, "stat_probe.gap_mean", "alone");

	assert_true(gap >= 128 / 3. && gap < 128 / 3. + 31 / 3. + 2);
	assert_true(of(r, "stat_probe.pairs_per_flush", "alone") == 1);
	assert_true(of(r, "stat_probe.pairs_per_flush", "idle") == 1);
	assert_true(of(r, "stat_probe.pairs_per_flush", "idle-root") == 4);
	assert_true(of(r, "stat_probe.jumps", "idle-b") == 0);
	assert_true(of(r, "stat_probe.flushes", "idle-b") == 0);
	/* The neighbour changes nothing for the leaf; the parent has the updates of both. */
	assert_true(fabs(of(r, "stat_probe.gap_mean_own", "both") - gap) < 3);
	assert_true(fabs(of(r, "stat_probe.gap_mean", "both-p") - gap) < 6);
	assert_true(of(r, "stat_probe.pairs_per_flush", "both-p") == 3);
	record_free(r);
}

/* From 6.16 on CPU time has a tree of its own: who only waits is not flushed with memory statistics. */
static void cpu_time_has_its_own_tree(void **state)
{
	struct record *r;

	(void)state;
	r = run_text(SCENARIO("v6.18", IDLE));
	/* Once for the page of the neighbour that was still in the folio batch. */
	double flushes = of(r, "stat_probe.flushes", "idle-root");

	assert_true(flushes > 8);
	assert_true(of(r, "stat_probe.pairs", "idle-root") <= 3 * flushes + 1);
	record_free(r);
}

/* Charges come out of a stock of 64 pages: the counter runs ahead of what is used by one stock at most. */
static void the_counter_runs_ahead(void **state)
{
	struct record *r;

	(void)state;
	r = run_text(SCENARIO("v6.1", ALONE));
	double least = of(r, "stat_probe.current_min", "alone");
	double most = of(r, "stat_probe.current_max", "alone");

	assert_true(least <= 0 && most >= 0);
	assert_true(most - least >= 60 && most - least < 64);
	record_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_the_machine),
		cmocka_unit_test(of_the_cgroup),
		cmocka_unit_test(cpu_time_has_its_own_tree),
		cmocka_unit_test(the_counter_runs_ahead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
