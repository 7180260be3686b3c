/*
 * test_progress.c - the progress line says what is true, in at most 79 columns. Real time is an argument, so
 * nothing here depends on it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "sim/experiment/progress.h"

static void test_line(void **state)
{
	struct progress *p = progress_new(stderr, false, 4, 100);
	char line[160];

	(void)state;
	progress_update(p, 0,
			&(struct progress_state){
				.sim_time = SIM_SEC, .events = 50000000, .memory = 64 << 20, .share = 0.5 },
			110);
	progress_format(p, 110, line, sizeof(line));
	/* Half of one in four runs in 10 s: 70 s are left. */
	assert_string_equal(line, "0/4 runs, 1.000 s, 12%, 5 Mevents/s, 0.1 x real, 64 MiB, ETA 1:10");
	progress_free(p);
}

static void test_unknown(void **state)
{
	struct progress *p = progress_new(stderr, false, 1, 0);
	char line[160];

	(void)state;
	progress_format(p, 0, line, sizeof(line));
	assert_string_equal(line, "0/1 runs, 0.000 s, 0%, 0 events/s, 0 x real, 0 MiB, ETA ?");
	progress_free(p);
}

static void test_rate_is_recent(void **state)
{
	struct progress *p = progress_new(stderr, false, 1, 0);
	char line[160];

	(void)state;
	progress_update(p, 0, &(struct progress_state){ .events = 1000000, .share = 0.1 }, 1);
	progress_update(p, 0, &(struct progress_state){ .events = 1003000, .share = 0.2 }, 2);
	progress_format(p, 2, line, sizeof(line));
	assert_non_null(strstr(line, " 3 kevents/s"));
	progress_free(p);
}

/* A run that is over counts whole, whatever it said last, and its memory is gone. */
static void test_done(void **state)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct progress *p = progress_new(out, false, 2, 0);

	(void)state;
	progress_update(p, 0, &(struct progress_state){ .memory = 64 << 20, .share = 0.4 }, 5);
	progress_done(p, 0, 3600);
	progress_free(p);
	fclose(out);
	assert_string_equal(text, "1/2 runs, 0.000 s, 50%, 0 events/s, 0 x real, 0 MiB, ETA 1:00:00\n");
	free(text);
}

static void test_plain_is_rare_and_live_fits(void **state)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct progress *p = progress_new(out, false, 1, 0);

	(void)state;
	progress_show(p, PROGRESS_PLAIN_S - 0.5);
	fflush(out);
	assert_int_equal(size, 0);
	progress_show(p, PROGRESS_PLAIN_S);
	fflush(out);
	assert_int_equal(text[size - 1], '\n');
	progress_free(p);
	fclose(out);
	free(text);

	out = open_memstream(&text, &size);
	p = progress_new(out, true, 1000000, 0);
	progress_update(p, 0, &(struct progress_state){ UINT64_MAX - 1, UINT64_MAX, UINT64_MAX, 0.001 }, 10);
	progress_show(p, 10);
	fflush(out);
	assert_int_equal(text[0], '\r');
	assert_true(size <= strlen("\r") + 79 + strlen("\033[K"));
	progress_free(p);
	fclose(out);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_rate_is_recent),
		cmocka_unit_test(test_done),
		cmocka_unit_test(test_plain_is_rare_and_live_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
