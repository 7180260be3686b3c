/*
 * test_series.c - time-weighted means, and which rows a series keeps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/stats/series.h"

static void values_weigh_by_how_long_they_hold(void **state)
{
	struct time_weighted w;

	(void)state;
	time_weighted_start(&w, 10 * SIM_SEC, 4);
	assert_true(time_weighted_mean(&w, 10 * SIM_SEC) == 4);
	time_weighted_set(&w, 11 * SIM_SEC, 10);
	time_weighted_set(&w, 13 * SIM_SEC, 0);
	assert_true(time_weighted_mean(&w, 14 * SIM_SEC) == (4 + 2 * 10) / 4.0);
	assert_true(w.max == 10);
	time_weighted_set(&w, 13 * SIM_SEC, 6); /* a value that held for no time counts for nothing */
	assert_true(time_weighted_mean(&w, 14 * SIM_SEC) == (4 + 2 * 10 + 6) / 4.0);
}

/* Adds rows 0 .. nr - 1 and checks that the kept ones are every stride-th from the first on. */
static void check_series(uint32_t budget, uint32_t nr, uint32_t stride, uint32_t kept)
{
	struct series s;

	series_init(&s, budget);
	for (uint32_t i = 0; i < nr; i++)
		series_add(&s, i * SIM_MS, i);
	assert_int_equal(s.stride, stride);
	assert_int_equal(s.nr, kept);
	for (uint32_t i = 0; i < s.nr; i++) {
		assert_int_equal(s.rows[i].t, i * stride * SIM_MS);
		assert_true(s.rows[i].value == i * stride);
	}
	series_release(&s);
	assert_int_equal(s.nr, 0);
}

static void rows_stay_evenly_spread(void **state)
{
	(void)state;
	check_series(100, 0, 1, 0);
	check_series(100, 100, 1, 100);
	check_series(100, 101, 2, 51);
	check_series(100, 200, 2, 100);
	check_series(100, 201, 4, 51);
	check_series(100, 100000, 1024, 98);
	check_series(2, 1000, 512, 2);
	check_series(7, 7, 2, 4); /* odd budgets are rounded down */
}

static void released_series_starts_again(void **state)
{
	struct series s;

	(void)state;
	series_init(&s, 4);
	for (uint32_t i = 0; i < 9; i++)
		series_add(&s, i, i);
	series_release(&s);
	series_add(&s, 1, 5);
	series_add(&s, 2, 6);
	assert_int_equal(s.nr, 2);
	assert_true(s.rows[1].value == 6);
	series_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_weigh_by_how_long_they_hold),
		cmocka_unit_test(rows_stay_evenly_spread),
		cmocka_unit_test(released_series_starts_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
