/*
 * test_validate.c - the verdict on a row, and published numbers looked up in a table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "sim/experiment/validate.h"

static bool is_in(double published, double simulated, double band, double slack)
{
	const struct validate_row row = { .band = band, .slack = slack };

	return validate_judge(&row, published, &(struct mean){ simulated, 1 }, &(struct mean){ 0 }).in;
}

static void test_band_and_slack(void **state)
{
	(void)state;
	assert_true(is_in(100, 103, 0.03, 0));
	assert_true(is_in(100, 97, 0.03, 0));
	assert_false(is_in(100, 103.1, 0.03, 0));
	assert_true(is_in(-100, -103, 0.03, 0));
	assert_true(is_in(10, 11, 0.03, 1));
	assert_false(is_in(10, 11.5, 0.03, 1));
	assert_true(is_in(0, 0, 0.03, 0));
	assert_false(is_in(0, 0.001, 0.03, 0));
	assert_false(is_in(1, NAN, 1e9, 1e9));
}

static void test_courses(void **state)
{
	static char b[] = "b", mean[] = "b + c";
	void *others[] = { b, mean }, *fewer[] = { b };
	const struct validate_row row = { .variant = "a", .or_variant = { others, 2 } };
	const struct validate_row of_another = { .variant = "a", .or_variant = { fewer, 1 } };
	const struct validate_row plain = { 0 };

	(void)state;
	assert_int_equal(validate_nr_courses(&plain), 1);
	assert_null(validate_course(&plain, 0));
	assert_int_equal(validate_nr_courses(&row), 3);
	assert_string_equal(validate_course(&row, 0), "a");
	assert_string_equal(validate_course(&row, 2), "b + c");
	assert_int_equal(validate_course_parts("b"), 1);
	assert_int_equal(validate_course_parts("b + c + b"), 3);
	assert_int_equal(validate_course_has("b + c", "b"), 1);
	assert_int_equal(validate_course_has("b + c", "c"), 1);
	assert_int_equal(validate_course_has("b + c + b", "b"), 2);
	assert_int_equal(validate_course_has("b + c", "b +"), 0);
	assert_int_equal(validate_course_has("bc", "b"), 0);
	assert_true(validate_same_run(&row, &row));
	assert_false(validate_same_run(&row, &of_another));
	assert_false(validate_same_run(&row, &plain));
	/* The first as long as no other has more. */
	assert_int_equal(validate_choose((const uint32_t[]){ 3, 3, 2 }, 3), 0);
	assert_int_equal(validate_choose((const uint32_t[]){ 3, 5, 5 }, 3), 1);
	assert_int_equal(validate_choose((const uint32_t[]){ 0, 0, 0 }, 3), 0);
}

static void test_bounds(void **state)
{
	struct validate_row row = { .is = VALIDATE_AT_MOST, .band = 1, .slack = 10 };
	const struct mean none = { 0 }, value = { 10, 1 };

	(void)state;
	/* Neither band nor slack make a bound softer. */
	assert_true(validate_judge(&row, 10, &value, &none).in);
	assert_false(validate_judge(&row, 9.9, &value, &none).in);
	row.is = VALIDATE_AT_LEAST;
	assert_true(validate_judge(&row, 10, &value, &none).in);
	assert_false(validate_judge(&row, 10.1, &value, &none).in);
	assert_false(validate_judge(&row, -1, &none, &none).in);
}

static void test_means_and_ratios(void **state)
{
	const struct validate_row row = { .relative_to = "base", .band = 0.2 };

	(void)state;
	struct verdict v = validate_judge(&row, 0.5, &(struct mean){ 22, 2 }, &(struct mean){ 60, 3 });

	assert_true(v.in);
	assert_true(fabs(v.simulated - 0.55) < 1e-12);
	assert_true(fabs(v.error - 0.1) < 1e-12);
	/* Without a value there is no verdict but out. */
	v = validate_judge(&row, 0.5, &(struct mean){ 0 }, &(struct mean){ 60, 3 });
	assert_true(isnan(v.simulated));
	assert_false(v.in);
}

static bool published(struct published_from from, double *value, char why[256])
{
	const struct validate_row row = { .published = 7, .from = from };

	return validate_published(&row, value, why);
}

static void test_published(void **state)
{
	const char *file = "ground-truth/stat.csv";
	double value;
	char why[256];

	(void)state;
	assert_true(published((struct published_from){ 0 }, &value, why));
	assert_true(value == 7);
	assert_true(published((struct published_from){ file, "E5a", "6.1.0",
						       "cpus=1;self=0;step=16;target=leaf;spread=0",
						       "gap_mean", 0, 1 },
			      &value, why));
	assert_true(value == 32.6);
	assert_true(
		published((struct published_from){ file, "E5c", "6.1.0", "cpus=2;N=10;D=32;read=leaf_stat",
						   "css_flushes", 2, 1 },
			  &value, why));
	assert_true(value == 24);
	assert_true(
		published((struct published_from){ file, "E5b", "6.1.0", "cpus=1;target=leaf;phase_ms=1437",
						   "visible_after_s", 0, 1e9 },
			  &value, why));
	assert_true(fabs(value - 576e6) < 1);
}

static void test_published_wrong(void **state)
{
	const char *file = "ground-truth/stat.csv";
	const char *setup = "cpus=2;N=10;D=32;read=leaf_stat";
	double value;
	char why[256];

	(void)state;
	assert_false(published((struct published_from){ .file = "no-such.csv" }, &value, why));
	assert_non_null(strstr(why, "no-such.csv"));
	assert_false(published((struct published_from){ .file = file, .experiment = "E99" }, &value, why));
	assert_non_null(strstr(why, "0 rows"));
	assert_false(published((struct published_from){ .file = file, .experiment = "E5a" }, &value, why));
	assert_null(strstr(why, "0 rows"));
	assert_false(published(
		(struct published_from){
			.file = file, .kernel = "6.1.0", .setup = setup, .metric = "css_flushes" },
		&value, why));
	assert_non_null(strstr(why, "not a number"));
	assert_false(published(
		(struct published_from){
			.file = file, .kernel = "6.1.0", .setup = setup, .metric = "css_flushes", .part = 3 },
		&value, why));
}

static bool find(const struct record *r, const char *metric, const char *entity, const char *per,
		 double *value)
{
	const struct validate_row row = { .metric = metric, .entity = entity, .per = per };

	return validate_value(r, &row, value);
}

static void test_value(void **state)
{
	static const struct metric m = { "things", "1", METRIC_COUNTER, "things" };
	static const struct metric n = { "boxes", "1", METRIC_COUNTER, "boxes" };
	struct record *r = record_new(2);
	double value;

	(void)state;
	record_summary(r, &m, "/a", 3);
	record_summary(r, &n, "/a", 2);
	assert_true(find(r, "things", "/a", NULL, &value));
	assert_true(value == 3);
	assert_true(find(r, "things", "/a", "boxes", &value));
	assert_true(value == 1.5);
	assert_false(find(r, "things", "/b", NULL, &value));
	assert_false(find(r, "thing", "/a", NULL, &value));
	assert_false(find(r, "things", "/a", "bags", &value));
	record_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_band_and_slack),   cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_means_and_ratios), cmocka_unit_test(test_published),
		cmocka_unit_test(test_published_wrong),  cmocka_unit_test(test_value),
		cmocka_unit_test(test_courses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
