/*
 * test_histogram.c - buckets, exact parts, merging, and the error of quantiles against a sort.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "sim/engine/arena.h"
#include "sim/engine/random.h"
#include "sim/stats/histogram.h"

#define NR_VALUES 20000
#define MAX_ERROR (1.0 / (1 << HISTOGRAM_BITS))

static void buckets_tile_the_range(void **state)
{
	uint32_t last = histogram_bucket(UINT64_MAX);

	(void)state;
	assert_int_equal(histogram_low(0), 0);
	for (uint32_t b = 0; b < last; b++) {
		assert_int_equal(histogram_high(b), histogram_low(b + 1));
		assert_int_equal(histogram_bucket(histogram_low(b)), b);
		assert_int_equal(histogram_bucket(histogram_high(b) - 1), b);
	}
	assert_int_equal(histogram_bucket(histogram_low(last)), last);
	assert_true(histogram_high(last) == UINT64_MAX);
	assert_int_equal(histogram_high(127) - histogram_low(127), 1);
	assert_int_equal(histogram_high(128) - histogram_low(128), 2);
}

static void empty_one_says_zero(void **state)
{
	struct histogram h;

	(void)state;
	histogram_init(&h, NULL);
	assert_true(histogram_mean(&h) == 0);
	assert_true(histogram_deviation(&h) == 0);
	assert_true(histogram_quantile(&h, 0.5) == 0);
	histogram_add(&h, 7, 0);
	assert_int_equal(h.count, 0);
	histogram_release(&h);
}

static void extremes_are_counted(void **state)
{
	struct histogram h;

	(void)state;
	histogram_init(&h, NULL);
	histogram_add(&h, 0, 3);
	histogram_add(&h, UINT64_MAX, 1);
	assert_int_equal(h.count, 4);
	assert_true(h.min == 0 && h.max == UINT64_MAX);
	assert_true(histogram_quantile(&h, 0) == 0);
	assert_true(histogram_quantile(&h, 0.75) == 0);
	assert_true(histogram_quantile(&h, 0.76) >= 0x1p64 * (1 - MAX_ERROR));
	assert_true(histogram_quantile(&h, 1) == 0x1p64);
	assert_true(histogram_mean(&h) == 0x1p62);
	histogram_release(&h);
}

static void small_values_are_exact(void **state)
{
	struct histogram h;

	(void)state;
	histogram_init(&h, NULL);
	for (uint64_t v = 1; v <= 100; v++)
		histogram_add(&h, v, 1);
	assert_true(histogram_quantile(&h, 0.5) == 50);
	assert_true(histogram_quantile(&h, 0.25) == 25);
	assert_true(histogram_mean(&h) == 50.5);
	assert_true(fabs(histogram_deviation(&h) - sqrt(9999 / 12.0)) < 1e-9);
	histogram_release(&h);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void compare_with_sort(uint64_t *values, size_t nr)
{
	struct histogram h;

	histogram_init(&h, NULL);
	for (size_t i = 0; i < nr; i++)
		histogram_add(&h, values[i], 1);
	qsort(values, nr, sizeof(*values), by_value);
	for (int permille = 1; permille <= 1000; permille++) {
		double q = permille / 1000.0;
		double exact = (double)values[(size_t)ceil(q * (double)nr) - 1];

		if (fabs(histogram_quantile(&h, q) - exact) > MAX_ERROR * exact)
			fail_msg("quantile %g: %.17g, should be %.17g", q, histogram_quantile(&h, q), exact);
	}
	assert_true(h.min == values[0] && h.max == values[nr - 1]);
	histogram_release(&h);
}

static void quantiles_keep_their_bound(void **state)
{
	uint64_t *values = calloc(NR_VALUES, sizeof(*values));
	struct stream s;

	(void)state;
	stream_init(&s, 1, "test_histogram", "values");
	/* Every magnitude equally often; then a narrow heap; then each bucket's own worst case, its ends. */
	for (size_t i = 0; i < NR_VALUES; i++)
		values[i] = stream_below(&s, UINT64_MAX) >> stream_below(&s, 64);
	compare_with_sort(values, NR_VALUES);
	for (size_t i = 0; i < NR_VALUES; i++)
		values[i] = 1000000 + stream_below(&s, 50000);
	compare_with_sort(values, NR_VALUES);
	for (size_t i = 0; i < NR_VALUES; i++)
		values[i] = histogram_low((uint32_t)stream_below(&s, 2000));
	compare_with_sort(values, NR_VALUES);
	for (size_t i = 0; i < NR_VALUES; i++)
		values[i] = histogram_high((uint32_t)stream_below(&s, 2000)) - 1;
	compare_with_sort(values, NR_VALUES);
	free(values);
}

static void merging_equals_adding_all(void **state)
{
	struct arena *arena = arena_create();
	struct histogram *parts[2] = { histogram_create(arena), histogram_create(arena) };
	struct histogram *all = histogram_create(arena);
	struct stream s;

	(void)state;
	stream_init(&s, 1, "test_histogram", "merge");
	for (int i = 0; i < 1000; i++) {
		uint64_t value = stream_below(&s, i < 500 ? 100 : 1000000);

		histogram_add(parts[i >= 500], value, 2);
		histogram_add(all, value, 2);
	}
	histogram_merge(parts[0], parts[1]);
	assert_int_equal(parts[0]->count, all->count);
	assert_int_equal(parts[0]->min, all->min);
	assert_int_equal(parts[0]->max, all->max);
	assert_true(parts[0]->sum == all->sum);
	for (uint32_t b = 0; b <= histogram_bucket(all->max); b++)
		assert_int_equal(parts[0]->buckets[b], all->buckets[b]);

	histogram_reset(all);
	histogram_merge(all, histogram_create(arena));
	assert_int_equal(all->count, 0);
	histogram_add(all, 5, 1);
	assert_true(all->min == 5 && all->max == 5 && histogram_quantile(all, 0.5) == 5);
	arena_destroy(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_tile_the_range),     cmocka_unit_test(empty_one_says_zero),
		cmocka_unit_test(extremes_are_counted),       cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(quantiles_keep_their_bound), cmocka_unit_test(merging_equals_adding_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
