/*
 * test_each.c - expressions, and items of a list that stand for many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/scenario/each.h"
#include "sim/scenario/emit.h"
#include "sim/scenario/expression.h"

struct work {
	struct pool *pool;
	struct complaints *complaints;
	char text[4096]; /* result, or the complaints */
};

static void begin(struct work *w)
{
	w->pool = pool_new();
	w->complaints = complaints_new();
}

static void end(struct work *w)
{
	complaints_free(w->complaints);
	pool_free(w->pool);
}

static void take_complaints(struct work *w)
{
	FILE *out = fmemopen(w->text, sizeof w->text, "w");

	assert_non_null(out);
	complaints_print(w->complaints, out);
	fclose(out);
}

static void check_value(const char *text, const char *expected)
{
	struct work w;
	const char *value;

	begin(&w);
	struct environment env = { .pool = w.pool, .complaints = w.complaints };

	environment_bind(&env, "r", "0.5");
	environment_bind(&env, "r", "1.1");
	environment_bind(&env, "L", "4096");
	environment_bind(&env, "p", "seq");
	environment_bind(&env, "k.a", "v6.1");
	value = expression_replace(&env, (struct where){ "f", 1, 1 }, text);
	if (!value)
		take_complaints(&w);
	assert_string_equal(value ? value : w.text, expected);
	end(&w);
}

static void test_expressions(void **state)
{
	(void)state;
	check_value("plain $ { } text", "plain $ { } text");
	check_value("${L}", "4096");
	check_value("a${p}b${k.a}", "aseqbv6.1");
	check_value("${round(r * L)}", "4506");
	check_value("${floor(-1.5)}${ceil(1.2)}", "-22");
	check_value("${1 + 2 * 3 - 4 / 2}", "5");
	check_value("${(1 + 2) * 3 % 4}", "1");
	check_value("${10 - 2 - 3}", "5");
	check_value("${min(3, 1, 2)}${max(3, 1, 2)}", "13");
	check_value("${p == 'seq' ? L : max(L, 5)}", "4096");
	check_value("${p != 'seq' ? 1 : r > 1 ? 2 : 3}", "2");
	check_value("${'07' == 7}", "1");
	check_value("${1e9 * 1000}", "1000000000000");
	check_value("${0.1 + 0.2}", "0.3");
}

static void test_mistakes_in_expressions(void **state)
{
	(void)state;
	check_value("${F}", "f:1:1: in an expression: 'F' is not a name that 'each' gives\n");
	check_value("${p * 2}", "f:1:1: in an expression: 'seq' is not a number\n");
	check_value("${1 +}", "f:1:1: in an expression: '}' is not a value\n");
	check_value("${L", "f:1:1: in an expression: '}' is expected before ''\n");
	check_value("${'x}", "f:1:1: in an expression: a text without its closing quote\n");
	check_value("${1 / 0}", "f:1:1: in an expression: a division by 0\n");
	check_value("${sqrt(4)}", "f:1:1: in an expression: there is no function 'sqrt'\n");
	check_value("${1 ? 2}", "f:1:1: in an expression: ':' is expected before '}'\n");
	check_value("${((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))}",
		    "f:1:1: in an expression: more than 32 levels\n");
}

static void check_each(const char *yaml, const char *expected)
{
	struct work w;
	const struct node *tree;

	begin(&w);
	struct reader reader = { .pool = w.pool, .complaints = w.complaints };

	tree = document_parse(&reader, (struct where){ "f", 1, 1 }, yaml, strlen(yaml));
	assert_non_null(tree);
	tree = each_expand(w.pool, w.complaints, tree);
	if (tree) {
		FILE *out = fmemopen(w.text, sizeof w.text, "w");

		emit_flow(out, tree);
		fclose(out);
	} else {
		take_complaints(&w);
	}
	assert_string_equal(w.text, expected);
	end(&w);
}

static void test_products(void **state)
{
	(void)state;
	check_each("{v: [{each: {a: [1, 2], b: [x, y]}, n: '${a}${b}'}]}",
		   "{v: [{n: 1x}, {n: 1y}, {n: 2x}, {n: 2y}]}");
	/* Later values may use earlier names, members of a map change together, keys are written too. */
	check_each(
		"{v: [{each: {k: [{a: 1, b: 5}, {a: 2, b: 7}], s: '${k.a + k.b}'}, n: {'x${s}': '${k.b}'}}]}",
		"{v: [{n: {x6: 5}}, {n: {x9: 7}}]}");
	/* What stands around stays, texts outside of an `each` are left alone, equal items stand once. */
	check_each("{v: [{n: '${a}'}, {each: {a: [1, 2]}, n: z}, {m: 3}]}",
		   "{v: [{n: \"${a}\"}, {n: z}, {m: 3}]}");
	/* One within another. */
	check_each("{v: [{each: {a: [1, 2]}, w: [{each: {b: [3, 4]}, n: '${a * b}'}]}]}",
		   "{v: [{w: [{n: 3}, {n: 4}]}, {w: [{n: 6}, {n: 8}]}]}");
}

static void test_table(void **state)
{
	(void)state;
	check_each("{v: [{each: {row: {counts: ground-truth/stat.csv, experiment: E5a, "
		   "kernel: 6.1.0, metrics: {gap_mean: g},"
		   "  setup: 'cpus=1;self=0;step=${step};target=leaf;spread=0'}},"
		   "  n: '${release} ${kernel} ${step} ${metric} ${is} ${value}'}]}",
		   "{v: [{n: 6.1 6.1.0 1 gap_mean g 30.4}, {n: 6.1 6.1.0 16 gap_mean g 32.6}, "
		   "{n: 6.1 6.1.0 4 gap_mean g 32.0}]}");
	check_each("{v: [{each: {row: {counts: ground-truth/stat.csv, experiment: E5f, metrics: {event: e},"
		   "  kernel: 6.1.0, setup: 'cpus=8;op=file_drop'}}, n: '${value1} ${value2}'}]}",
		   "{v: [{n: 69 1024}]}");
	check_each("{v: [{each: {row: {counts: no-such.csv}}, n: 1}]}",
		   "f:1:19: 'scenarios/no-such.csv' cannot be read\n");
	check_each("{v: [{each: {row: {experiment: E5a}}, n: 1}]}",
		   "f:1:19: 'counts', the file of the table, is missing\n");
}

static void test_mistakes(void **state)
{
	(void)state;
	check_each("{v: [{each: [1, 2], n: 1}]}",
		   "f:1:13: each: a map from names to values is expected, not a list\n");
	check_each("{v: [{each: {a: [[1]]}, n: 1}]}", "f:1:18: a list within a list\n");
	check_each("{v: [{each: {a: [1]}, n: '${b}'}]}",
		   "f:1:26: in an expression: 'b' is not a name that 'each' gives\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expressions), cmocka_unit_test(test_mistakes_in_expressions),
		cmocka_unit_test(test_products),    cmocka_unit_test(test_table),
		cmocka_unit_test(test_mistakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
