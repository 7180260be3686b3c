/*
 * test_record.c - what a record keeps, what it makes of it, and that only a whole one survives a pipe.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/results/record_rows.h"

static const struct metric latency = { "stat.read_latency", "ns", METRIC_DISTRIBUTION, "time of a read" };
static const struct metric pages = { "staleness.pages", "pages", METRIC_GAUGE, "reported against true" };
static const struct metric ops = { "task.ops", "1", METRIC_COUNTER, NULL };

static const struct value_row *find(const struct record *r, const char *metric, const char *entity)
{
	for (uint32_t i = 0; i < r->nr_values; i++)
		if (strcmp(r->metrics[r->values[i].metric].name, metric) == 0 &&
		    strcmp(r->entities[r->values[i].entity], entity) == 0)
			return &r->values[i];
	return NULL;
}

static void assert_value(const struct record *r, const char *metric, const char *entity, double value)
{
	const struct value_row *row = find(r, metric, entity);

	if (!row)
		fail_msg("no %s of %s", metric, entity);
	else if (row->value != value)
		fail_msg("%s of %s is %.17g, should be %.17g", metric, entity, row->value, value);
}

static void later_values_replace(void **state)
{
	const struct metric twin = { "task.ops", "1", METRIC_COUNTER,
				     "another table's row of the same name" };
	struct record *r = record_new(10);

	(void)state;
	record_summary(r, &ops, "/a", 1);
	record_summary(r, &ops, "/b", 2);
	record_summary(r, &twin, "/a", 3);
	record_summary(r, &pages, "/a", NAN);
	assert_int_equal(r->nr_values, 2);
	assert_int_equal(r->nr_metrics, 1);
	assert_value(r, "task.ops", "/a", 3);
	assert_value(r, "task.ops", "/b", 2);
	record_free(r);
}

static void each_series_has_the_budget(void **state)
{
	struct record *r = record_new(4);

	(void)state;
	for (uint32_t i = 0; i < 6; i++) {
		record_sample(r, &pages, "/a", i * SIM_SEC, i);
		if (i < 3)
			record_sample(r, &pages, "/b", i * SIM_SEC, 10 * i);
	}
	assert_int_equal(r->nr_series, 2);
	assert_int_equal(r->series[0].series.nr, 3);
	assert_true(r->series[0].series.rows[2].value == 4);
	assert_int_equal(r->series[1].series.nr, 3);
	assert_true(r->series[1].series.rows[2].value == 20);
	record_free(r);
}

static void histograms_become_summaries(void **state)
{
	struct record *r = record_new(4);
	struct histogram h;

	(void)state;
	histogram_init(&h, NULL);
	record_histogram(r, &latency, "/none", &h);
	assert_value(r, "stat.read_latency.count", "/none", 0);
	assert_null(find(r, "stat.read_latency.p50", "/none"));
	for (uint64_t i = 1; i <= 100; i++)
		histogram_add(&h, i, 10);
	record_histogram(r, &latency, "/a", &h);
	record_histogram(r, &latency, "/a", &h); /* replaces, does not add */
	assert_value(r, "stat.read_latency.count", "/a", 1000);
	assert_value(r, "stat.read_latency.mean", "/a", 50.5);
	assert_value(r, "stat.read_latency.p50", "/a", 50);
	assert_value(r, "stat.read_latency.p90", "/a", 90);
	assert_value(r, "stat.read_latency.p99", "/a", 99);
	assert_value(r, "stat.read_latency.p999", "/a", 100);
	assert_value(r, "stat.read_latency.max", "/a", 100);
	assert_string_equal(r->metrics[find(r, "stat.read_latency.p99", "/a")->metric].unit, "ns");
	assert_string_equal(r->metrics[find(r, "stat.read_latency.count", "/a")->metric].unit, "1");
	assert_int_equal(r->nr_histograms, 2);
	histogram_release(&h);
	record_free(r);
}

static void locks_round_to_nanoseconds(void **state)
{
	struct histogram wait, hold;
	const struct lock_class class = {
		.name = "lru_lock",
		.acquisitions = 3,
		.contended = 1,
		.most_waiting = 2,
		.wait_total = 1499,
		.wait_max = 1500,
		.hold_total = 3 * SIM_US,
		.hold_max = 2 * SIM_US,
		.wait = &wait,
		.hold = &hold,
	};
	struct record *r = record_new(4);

	(void)state;
	histogram_init(&wait, NULL);
	histogram_init(&hold, NULL);
	histogram_add(&wait, 1, 1);
	histogram_add(&hold, 1000, 3);
	record_lock(r, &class);
	record_lock(r, &class);
	assert_int_equal(r->nr_locks, 1);
	assert_int_equal(r->locks[0].wait_total_ns, 1);
	assert_int_equal(r->locks[0].wait_max_ns, 2);
	assert_int_equal(r->locks[0].hold_total_ns, 3000);
	assert_value(r, "lock.acquire", "lru_lock", 3);
	assert_value(r, "lock.waiters", "lru_lock", 2);
	assert_value(r, "lock.wait.count", "lru_lock", 1);
	assert_value(r, "lock.hold.mean", "lru_lock", 1000);
	histogram_release(&wait);
	histogram_release(&hold);
	record_free(r);
}

static void broken_invariants_keep_their_text(void **state)
{
	struct record *r = record_new(4);

	(void)state;
	record_invariant(r, "sum", true, "%d", 1);
	assert_string_equal(record_invariants_text(r), "");
	record_invariant(r, "sum", false, "%s: %d, not %d", "/a", 1, 2);
	record_invariant(r, "age", false, "negative");
	assert_int_equal(record_invariants_held(r), 1);
	assert_int_equal(record_invariants_broken(r), 2);
	assert_string_equal(record_invariants_text(r),
			    "invariant sum: /a: 1, not 2\ninvariant age: negative\n");
	record_free(r);
}

static struct record *full_record(void)
{
	struct record *r = record_new(8);
	struct histogram h;

	histogram_init(&h, NULL);
	histogram_add(&h, 0, 1);
	histogram_add(&h, 12345, 7);
	histogram_add(&h, UINT64_MAX, 2);
	record_summary(r, &ops, "/a b", 1.0 / 3);
	record_summary(r, &ops, "", INFINITY);
	for (uint32_t i = 0; i < 21; i++)
		record_sample(r, &pages, "/c", i * SIM_MS, i);
	record_histogram(r, &latency, "all", &h);
	record_put_lock(r, &(struct lock_row){ record_entity(r, "lru_lock"), 1, 2, 3, 4, 5, UINT64_MAX });
	record_module(r, "flush", "unified");
	record_module(r, "flush", "unified");
	record_invariant(r, "sum", true, "-");
	record_invariant(r, "age", false, "negative");
	record_finish(r, &(struct record_end){ .error = "gave up",
					       .sim_time = 5 * SIM_SEC,
					       .events = 77,
					       .fingerprint = UINT64_MAX,
					       .wall_s = 0.25,
					       .peak_rss_bytes = 4096 });
	histogram_release(&h);
	return r;
}

static char *bytes_of(const struct record *r, size_t *size)
{
	char *bytes;
	FILE *out = open_memstream(&bytes, size);

	assert_true(record_write(r, out));
	fclose(out);
	return bytes;
}

static struct record *read_bytes(char *bytes, size_t size)
{
	FILE *in = fmemopen(bytes, size, "r");
	struct record *r = record_read(in);

	fclose(in);
	return r;
}

static void a_pipe_changes_nothing(void **state)
{
	struct record *r = full_record(), *copy;
	size_t size, copy_size;
	char *bytes = bytes_of(r, &size), *copy_bytes;

	(void)state;
	copy = read_bytes(bytes, size);
	assert_non_null(copy);
	copy_bytes = bytes_of(copy, &copy_size);
	assert_int_equal(size, copy_size);
	assert_memory_equal(bytes, copy_bytes, size);
	assert_value(copy, "task.ops", "/a b", 1.0 / 3);
	assert_value(copy, "stat.read_latency.max", "all", 0x1p64);
	assert_string_equal(record_ended(copy)->error, "gave up");
	assert_int_equal(record_ended(copy)->events, 77);
	assert_int_equal(copy->nr_modules, 1);
	/* Both go on from where they are in the same way. */
	record_sample(r, &pages, "/c", SIM_SEC, 1);
	record_sample(copy, &pages, "/c", SIM_SEC, 1);
	assert_int_equal(copy->series[0].series.skipped, r->series[0].series.skipped);
	assert_int_equal(copy->series[0].series.nr, r->series[0].series.nr);
	free(bytes);
	free(copy_bytes);
	record_free(copy);
	record_free(r);
}

static void a_part_is_no_record(void **state)
{
	struct record *r = full_record();
	size_t size;
	char *bytes = bytes_of(r, &size);

	(void)state;
	for (size_t part = 1; part < size; part++)
		assert_null(read_bytes(bytes, part));
	free(bytes);
	record_free(r);
}

/* Whatever byte is damaged, reading ends: with a record or without, but inside its memory. */
static void damage_is_survived(void **state)
{
	struct record *r = full_record();
	size_t size, refused = 0;
	char *bytes = bytes_of(r, &size);

	(void)state;
	for (size_t i = 0; i < size; i++) {
		struct record *copy;

		bytes[i] ^= 0x5a;
		copy = read_bytes(bytes, size);
		refused += !copy;
		record_free(copy);
		bytes[i] ^= 0x5a;
	}
	assert_true(refused > size / 4);
	free(bytes);
	record_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(later_values_replace),
		cmocka_unit_test(each_series_has_the_budget),
		cmocka_unit_test(histograms_become_summaries),
		cmocka_unit_test(locks_round_to_nanoseconds),
		cmocka_unit_test(broken_invariants_keep_their_text),
		cmocka_unit_test(a_pipe_changes_nothing),
		cmocka_unit_test(a_part_is_no_record),
		cmocka_unit_test(damage_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
