/*
 * test_flush_metrics.c - what is recorded of flushes: the worker's period with its lag, how long flushes of
 * the root and of subtrees take and how many there were, and reads that flush themselves.
 */
#include <string.h>

#include "sim/results/record_rows.h"
#include "tests/text_run.h"

#define TEXT(flush)                                                                                       \
	"schema: 1\nscenario: test\nhost: { cpus: 4, nodes: 1, memory: 256MiB }\nkernel: v6.6\n"          \
	"policies: { flush: " flush " }\n"                                                                \
	"cgroups: [ { name: \"g{1..3}\", tasks: [ { workload: anon_churn, pages: 8, pause: 5ms } ] } ]\n" \
	"tasks: [ { workload: stat_reader, target: g1, interval: 100ms } ]\n"                             \
	"run: { until: 9s, sample: 0 }\n"

static struct record *run(const char *text)
{
	return run_text(text);
}

/* -1: there is no such value. */
static double value_of(const struct record *r, const char *metric, const char *entity)
{
	double v = -1;

	validate_value(r, &(struct validate_row){ .metric = metric, .entity = entity }, &v);
	return v;
}

static uint32_t marks(const struct record *r)
{
	for (uint32_t i = 0; i < r->nr_series; i++)
		if (!strcmp(r->metrics[r->series[i].metric].name, "flush.root"))
			return r->series[i].series.nr;
	return 0;
}

static void of_a_worker(void **state)
{
	struct record *r = run(TEXT("periodic_only"));

	(void)state;
	/* Two seconds and what it is late by, at 2, 4, 6 and 8 s. */
	assert_in_range(value_of(r, "flush.period", "all"), 2e9, 2.1e9);
	assert_int_equal(value_of(r, "flush.duration.count", "root"), 4);
	assert_int_equal(marks(r), 4);
	assert_int_equal(value_of(r, "flush.duration.count", "subtree"), -1);
	/* No read flushes. */
	assert_int_equal(value_of(r, "stat.flushing_read_latency.count", "all"), -1);
	record_free(r);
}

static void of_readers(void **state)
{
	struct record *r = run(TEXT("nonunified_user"));

	(void)state;
	double reads = value_of(r, "stat.read_latency.count", "all");

	assert_true(reads > 80);
	assert_true(value_of(r, "stat.flushing_read_latency.count", "level:1") == reads);
	assert_true(value_of(r, "flush.duration.count", "subtree") == reads);
	assert_true(value_of(r, "flush.duration.max", "subtree") <
		    value_of(r, "stat.flushing_read_latency.max", "all"));
	assert_int_equal(marks(r), value_of(r, "flush.duration.count", "root"));
	record_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_worker),
		cmocka_unit_test(of_readers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
