/*
 * test_describe.c - what is made of the option tables for readers: JSON Schema, reference, explanations.
 */
#include "tests/language.h"

#include <sqlite3.h>

static char *captured(void (*print)(FILE *out))
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	print(out);
	fclose(out);
	return text;
}

static void json_schema(void **state)
{
	char *text = captured(scenario_print_schema);
	sqlite3 *db;
	sqlite3_stmt *statement;

	(void)state;
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	assert_int_equal(
		sqlite3_prepare_v2(db,
				   "SELECT json_valid(?1), json_extract(?1, "
				   "'$.\"$defs\".t_groups.properties.children.items.else.\"$ref\"'), "
				   "json_extract(?1, '$.\"$defs\".host.properties.cpus.maximum'), "
				   "json_extract(?1, '$.\"$defs\".t_groups.properties.children.items"
				   ".then.properties.each.type')",
				   -1, &statement, NULL),
		SQLITE_OK);
	sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	assert_int_equal(sqlite3_column_int(statement, 0), 1);
	assert_string_equal((const char *)sqlite3_column_text(statement, 1), "#/$defs/t_groups");
	assert_int_equal(sqlite3_column_int(statement, 2), 65536);
	assert_string_equal((const char *)sqlite3_column_text(statement, 3), "object");
	sqlite3_finalize(statement);
	sqlite3_close(db);
	free(text);
}

static void reference(void **state)
{
	char *text = captured(scenario_print_reference);

	(void)state;
	assert_non_null(strstr(text, "\n### t_groups\n"));
	assert_non_null(strstr(text, "\n### reclaim\n"));
	assert_non_null(strstr(text, "\n### workload: t_churn\n"));
	assert_non_null(strstr(text, "\n### policies.t_flush: all\n"));
	assert_non_null(strstr(text, "| `size.max` | size, or max | max |  | its limit |\n"));
	assert_non_null(strstr(text, "| `interval` | duration | required | more than 0s | period |\n"));
	free(text);
}

static void explained(void **state)
{
	static const char *const known[] = { "t_churn",  "t_groups",          "host.cpus",
					     "size.max", "t_groups.size.max", "batch",
					     "t_flush",  "costs.t_costs.step" };
	char *text;
	size_t length;

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		FILE *out = open_memstream(&text, &length);

		assert_true(scenario_explain(known[i], out));
		fclose(out);
		assert_true(length > 20);
		free(text);
	}
	for (const char *const *word = (const char *const[]){ "nothing", "host.cpu", "", NULL }; *word;
	     word++) {
		FILE *out = open_memstream(&text, &length);

		assert_false(scenario_explain(*word, out));
		fclose(out);
		free(text);
	}
}

static int setup(void **state)
{
	(void)state;
	return modules_init() ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_schema),
		cmocka_unit_test(reference),
		cmocka_unit_test(explained),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
