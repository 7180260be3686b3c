/*
 * test_units.c - numbers with units, and names with ranges.
 */
#include "tests/language.h"

#include <math.h>

#include "sim/scenario/hint.h"
#include "sim/scenario/name.h"
#include "sim/scenario/units.h"

static void integers(void **state)
{
	static const struct {
		enum opt_type type;
		const char *text;
		uint64_t value;
	} good[] = {
		{ OPT_U32, "0", 0 },
		{ OPT_U32, "10K", 10000 },
		{ OPT_U64, "1.5K", 1500 },
		{ OPT_U64, "18446744073709551615", UINT64_MAX },
		{ OPT_U64, "3 M", 3000000 },
		{ OPT_BYTES, "4096", 4096 },
		{ OPT_BYTES, "4096B", 4096 },
		{ OPT_BYTES, "1.5KiB", 1536 },
		{ OPT_BYTES, "2K", 2000 },
		{ OPT_BYTES, "1TiB", UINT64_C(1) << 40 },
		{ OPT_BYTES, "0.000000000001T", 1 },
		{ OPT_DURATION, "0", 0 },
		{ OPT_DURATION, "0.2ns", 200 },
		{ OPT_DURATION, "0.20000000000000000000000000ns", 200 },
		{ OPT_DURATION, "1.1ms", 1100 * SIM_US },
		{ OPT_DURATION, "0.3s", 300 * SIM_MS },
		{ OPT_DURATION, "1.000000000001s", SIM_SEC + 1 },
		{ OPT_DURATION, "2min", 120 * SIM_SEC },
		{ OPT_DURATION, "1h", 3600 * SIM_SEC },
		{ OPT_DURATION, "213d", 213 * 86400 * SIM_SEC },
	};
	struct unit_error error;
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(unit_integer(good[i].type, good[i].text, &value, &error));
		assert_int_equal(value, good[i].value);
	}
}

static void wrong_integers(void **state)
{
	static const struct {
		enum opt_type type;
		const char *text, *why;
	} bad[] = {
		{ OPT_U32, "-4", "is negative" },
		{ OPT_U32, "2.5", "is not a whole number" },
		{ OPT_U64, "18446744073709551616", "is too large" },
		{ OPT_U64, "99999999999999999999999999999999999999999999999999", "is too large" },
		{ OPT_U64, "18446744073709551615K", "is too large" },
		{ OPT_U64, "1.00000000000000000000000000000000001", "has too many digits" },
		{ OPT_U32, "", "is not a count" },
		{ OPT_U32, "four", "is not a count" },
		{ OPT_U32, ".5", "is not a count" },
		{ OPT_U32, "0x10", "has no unit of a count: 'x10' is not K, M or G" },
		{ OPT_U32, "1e3", "has no unit of a count: 'e3' is not K, M or G" },
		{ OPT_U32, "4k", "has no unit of a count: 'k' is not K, M or G" },
		{ OPT_BYTES, "10ms",
		  "has no unit of a size in bytes: 'ms' is not B, K, M, G, T, KiB, MiB, GiB or TiB" },
		{ OPT_BYTES, "0.3B", "is not a whole number of bytes" },
		{ OPT_DURATION, "10", "needs a unit: ps, ns, us, ms, s, min, h or d" },
		{ OPT_DURATION, "0.0001ns", "is not a whole number of picoseconds" },
		{ OPT_DURATION, "214d", "is too large" },
		{ OPT_DURATION, "-0.5s", "is negative" },
	};
	struct unit_error error;
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(unit_integer(bad[i].type, bad[i].text, &value, &error));
		assert_string_equal(error.text, bad[i].why);
	}
}

static void reals(void **state)
{
	struct unit_error error;
	double value;

	(void)state;
	assert_true(unit_real(OPT_RATIO, "25%", &value, &error));
	assert_true(fabs(value - 0.25) < 1e-15);
	assert_true(unit_real(OPT_RATIO, "0.25", &value, &error));
	assert_true(fabs(value - 0.25) < 1e-15);
	assert_true(unit_real(OPT_RATE, "3M/s", &value, &error));
	assert_true(fabs(value - 3e6) < 1e-6);
	assert_true(unit_real(OPT_RATE, "5/min", &value, &error));
	assert_true(fabs(value - 5.0 / 60) < 1e-15);
	assert_true(unit_real(OPT_RATE, "0", &value, &error));
	assert_true(unit_real(OPT_NUMBER, "-1.5e-3", &value, &error));
	assert_true(fabs(value + 1.5e-3) < 1e-15);

	assert_false(unit_real(OPT_NUMBER, "nan", &value, &error));
	assert_string_equal(error.text, "is not a number");
	assert_false(unit_real(OPT_NUMBER, "inf", &value, &error));
	assert_false(unit_real(OPT_NUMBER, "0x1p3", &value, &error));
	assert_false(unit_real(OPT_NUMBER, "1e999", &value, &error));
	assert_string_equal(error.text, "is too large");
	assert_false(unit_real(OPT_NUMBER, "1 2", &value, &error));
	assert_string_equal(error.text, "is not a number: '2' is too much");
	assert_false(unit_real(OPT_RATIO, "-1%", &value, &error));
	assert_string_equal(error.text, "is negative");
	assert_false(unit_real(OPT_RATE, "100", &value, &error));
	assert_string_equal(error.text, "needs a unit: /s, /min or /h, with K, M or G before it");
}

static void check_names(struct pool *pool, const char *pattern, const char *const *expected, size_t nr)
{
	const char *const *names = name_expand(pool, pattern);

	assert_non_null(names);
	assert_int_equal(name_count(pattern), nr);
	for (size_t i = 0; i < nr; i++)
		assert_string_equal(names[i], expected[i]);
}

static void names(void **state)
{
	struct pool *pool = pool_new();
	const char *const *many;

	(void)state;
	check_names(pool, "one", (const char *const[]){ "one" }, 1);
	check_names(pool, "c{1..3}", (const char *const[]){ "c1", "c2", "c3" }, 3);
	check_names(pool, "{08..10}x", (const char *const[]){ "08x", "09x", "10x" }, 3);
	check_names(pool, "a{1..2}b{0..1}", (const char *const[]){ "a1b0", "a1b1", "a2b0", "a2b1" }, 4);
	check_names(pool, "n{9..9}.{10..11}", (const char *const[]){ "n9.10", "n9.11" }, 2);
	assert_int_equal(name_count("x{1..1000}{1..1000}"), 1000000);
	many = name_expand(pool, "x{1..1000}-{1..1000}");
	assert_string_equal(many[999999], "x1000-1000");
	pool_free(pool);
}

static void wrong_names(void **state)
{
	static const char *const bad[][2] = {
		{ "", "is empty: a name is needed" },
		{ ".", "cannot be a name" },
		{ "..", "cannot be a name" },
		{ "a/b", "has a '/': a name is one level of a path" },
		{ "a\nb", "has a control character" },
		{ "c{1..", "has a range that is not closed: write {1..50}" },
		{ "c{1..2", "has a range that is not closed: write {1..50}" },
		{ "c1}", "has a '}' without its '{'" },
		{ "c{}", "has a range that is none: write {1..50}" },
		{ "c{a..b}", "has a range that is none: write {1..50}" },
		{ "c{1...3}", "has a range that is none: write {1..50}" },
		{ "c{1..{2..3}}", "has a range that is none: write {1..50}" },
		{ "c{-1..3}", "has a range that is none: write {1..50}" },
		{ "c{5..1}", "has a range that runs backwards" },
		{ "c{1..1000000000}", "has a range that is too large: at most 1000000 names" },
		{ "c{1..999999999}", "stands for too many names: at most 1000000" },
		{ "c{1..9999}{1..9999}{1..9999}{1..9999}{1..9999}{1..9999}",
		  "stands for too many names: at most 1000000" },
		{ "{1..1}{1..1}{1..1}{1..1}{1..1}{1..1}{1..1}{1..1}{1..1}", "has more than 8 ranges" },
	};
	char long_name[300];
	struct name_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(name_check(bad[i][0], &error));
		assert_string_equal(error.text, bad[i][1]);
	}
	memset(long_name, 'x', sizeof(long_name));
	long_name[255] = '\0';
	assert_true(name_check(long_name, &error));
	long_name[255] = 'x';
	long_name[256] = '\0';
	assert_false(name_check(long_name, &error));
	/* 250 letters and a range of five digits: the pattern is longer than any name it stands for. */
	strcpy(long_name + 250, "{10000..10001}");
	assert_true(name_check(long_name, &error));
}

static void distances(void **state)
{
	static const char *const known[] = { "memory", "machine", "cpus", "nodes" };
	struct hint hint = hint_for("memroy");
	char buf[HINT_TEXT];

	(void)state;
	assert_int_equal(edit_distance("memory", "memory"), 0);
	assert_int_equal(edit_distance("memroy", "memory"), 1);
	assert_int_equal(edit_distance("unifed", "unified"), 1);
	assert_int_equal(edit_distance("", "abc"), 3);
	assert_int_equal(edit_distance("kitten", "sitting"), 3);
	assert_int_equal(edit_distance("CPUS", "cpus"), 0);
	for (size_t i = 0; i < 4; i++)
		hint_offer(&hint, known[i]);
	assert_string_equal(hint_text(&hint, buf), "; did you mean 'memory'?");
	hint = hint_for("swap");
	for (size_t i = 0; i < 4; i++)
		hint_offer(&hint, known[i]);
	assert_string_equal(hint_text(&hint, buf), "; known: memory, machine, cpus, nodes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers), cmocka_unit_test(wrong_integers), cmocka_unit_test(reals),
		cmocka_unit_test(names),    cmocka_unit_test(wrong_names),    cmocka_unit_test(distances),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
