/*
 * test_trace_file.c - page-access traces: both formats, plain and compressed, whole and damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#include "models/workload/trace_file.h"
#include "tests/scratch.h"

#define RECORDS 20000u /* more than a block of either size */

static void write_file(const char *path, const void *bytes, size_t nr)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, nr, out), nr);
	fclose(out);
}

static void write_packed(const char *path, const void *bytes, size_t nr)
{
	size_t room = ZSTD_compressBound(nr), size;
	void *packed = malloc(room);

	assert_non_null(packed);
	size = ZSTD_compress(packed, room, bytes, nr, 3);
	assert_false(ZSTD_isError(size));
	write_file(path, packed, size);
	free(packed);
}

/* RECORDS records of 24 bytes: second i / 100, object 7 i, size i. */
static unsigned char *oracle_bytes(void)
{
	unsigned char *bytes = calloc(RECORDS, 24);

	assert_non_null(bytes);
	for (uint32_t i = 0; i < RECORDS; i++) {
		uint32_t second = i / 100;
		uint64_t object = 7 * (uint64_t)i;

		for (int k = 0; k < 4; k++) {
			bytes[24 * i + (uint32_t)k] = (unsigned char)(second >> 8 * k);
			bytes[24 * i + 12 + (uint32_t)k] = (unsigned char)(i >> 8 * k);
		}
		for (int k = 0; k < 8; k++)
			bytes[24 * i + 4 + (uint32_t)k] = (unsigned char)(object >> 8 * k);
	}
	return bytes;
}

static void check_oracle(const char *path)
{
	struct trace_record record;
	char why[256] = "";
	struct trace_file *f = trace_open(path, TRACE_ORACLE, why);
	uint32_t nr = 0;

	assert_non_null(f);
	for (; trace_next(f, &record, why); nr++) {
		assert_true(record.seconds == nr / 100);
		assert_true(record.object == 7 * (uint64_t)nr);
		assert_int_equal(record.bytes, nr);
		assert_string_equal(record.cgroup, "");
	}
	assert_string_equal(why, "");
	assert_int_equal(nr, RECORDS);
	trace_close(f);
}

static void oracle_plain_and_compressed(void **state)
{
	unsigned char *bytes = oracle_bytes();
	char *path = scratch_path(state, "trace");

	write_file(path, bytes, RECORDS * 24);
	check_oracle(path);
	write_packed(path, bytes, RECORDS * 24);
	check_oracle(path);
	free(bytes);
	free(path);
}

static void csv_with_heading_and_comments(void **state)
{
	static const char text[] = "time,cgroup,page\n# a remark\n0,/a/b,5\r\n\n1.5,,7";
	char *path = scratch_path(state, "trace"), why[256];
	struct trace_record record;
	struct trace_file *f;

	for (int packed = 0; packed < 2; packed++) {
		(packed ? write_packed : write_file)(path, text, sizeof text - 1);
		f = trace_open(path, TRACE_CSV, why);
		assert_non_null(f);
		assert_true(trace_next(f, &record, why));
		assert_string_equal(record.cgroup, "/a/b");
		assert_int_equal(record.object, 5);
		assert_true(trace_next(f, &record, why));
		assert_true(record.seconds == 1.5);
		assert_string_equal(record.cgroup, "");
		assert_int_equal(record.object, 7);
		assert_false(trace_next(f, &record, why));
		assert_string_equal(why, "");
		trace_close(f);
	}
	free(path);
}

/* All records until the reader says no; what it says. */
static void expect(const char *path, enum trace_format format, const char *expected)
{
	struct trace_record record;
	char why[256] = "";
	struct trace_file *f = trace_open(path, format, why);

	while (f && trace_next(f, &record, why))
		;
	trace_close(f);
	if (!strstr(why, expected))
		fail_msg("'%s' does not say '%s'", why, expected);
}

static void damaged_files(void **state)
{
	unsigned char *bytes = oracle_bytes();
	char *path = scratch_path(state, "trace"), *line;

	expect(path, TRACE_CSV, "cannot be read: No such file");
	expect(*state, TRACE_CSV, "is not a file");
	write_file(path, bytes, 24 * 3 + 5);
	expect(path, TRACE_ORACLE, "cut off within record 3");
	write_file(path, "1,/a,2\nx\n", 9);
	expect(path, TRACE_CSV, "line 2 is not time,cgroup,page");
	write_file(path, "1,/a,\n", 6);
	expect(path, TRACE_CSV, "line 1 is not time,cgroup,page");
	line = calloc(1, 5000);
	assert_non_null(line);
	memset(line, '1', 4999);
	write_file(path, line, 4999);
	expect(path, TRACE_CSV, "line 1 is too long");
	write_packed(path, bytes, RECORDS * 24);
	assert_int_equal(truncate(path, 1000), 0);
	expect(path, TRACE_ORACLE, "the compressed file is cut off");
	free(line);
	free(bytes);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(oracle_plain_and_compressed, scratch_setup, scratch_teardown),
		cmocka_unit_test_setup_teardown(csv_with_heading_and_comments, scratch_setup,
						scratch_teardown),
		cmocka_unit_test_setup_teardown(damaged_files, scratch_setup, scratch_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
