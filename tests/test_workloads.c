/*
 * test_workloads.c - workloads by their results: which pages they read, what a pass records, whose turn it
 * is, and what a service and a memory hog say of themselves.
 */
#include <string.h>

#include "tests/draw.h"
#include "tests/text_run.h"

#define HEAD                                                                                     \
	"schema: 1\nscenario: test\nhost: { cpus: 2, nodes: 1, memory: 256MiB }\nkernel: v6.1\n" \
	"run: { until: done, sample: 0 }\n"

/* Three times through a file that fits, and then one that does not. */
static void passes_of_a_file(void **state)
{
	struct record *r;

	(void)state;
	r = run_text(
		HEAD
		"cgroups: [ { name: a, memory.max: 4MiB, memory.swap.max: 0, tasks: [\n"
		"  { workload: file_churn, name: fits, file: f, pages: 500, passes: 3, late: 2 } ] } ]\n");
	assert_true(value(r, "pass.misses", "fits/pass:1") == 500);
	assert_true(value(r, "pass.misses", "fits/pass:2") == 0);
	assert_true(value(r, "pass.misses", "fits/late") == 0);
	assert_true(value(r, "pass.accesses", "fits/all") == 1500);
	assert_true(value(r, "pass.file", "fits/last") == 500);
	assert_true(value(r, "task.file_reads", "/a") == 1500);
	assert_true(value(r, "task.file_misses", "/a") == 500);
	record_free(r);
	r = run_text(HEAD
		     "cgroups: [ { name: a, memory.max: 4MiB, memory.swap.max: 0, tasks: [\n"
		     "  { workload: file_churn, pages: 2000, passes: 2, back: on, watch_every: 10 } ] } ]\n");
	assert_true(value(r, "pass.misses", "file_churn/pass:2") == 2000);
	assert_true(value(r, "pass.ev_max", "file_churn/pass:2") > 0);
	assert_true(value(r, "pass.current_max", "file_churn/last") <= 1024);
	assert_true(value(r, "pass.current_min", "file_churn/last") > 900);
	/* Backwards, what was read last is still there. */
	assert_true(value(r, "pass.misses", "file_churn/back/last") < 1200);
	record_free(r);
}

/* 16 draws of seed 1000 among 10 pages by the rule of the measurements touch these many different ones. */
static void stream_of_the_measurements(void **state)
{
	struct xorshift x = xorshift_seed(1000);
	bool seen[10] = { false };
	double different = 0;
	struct record *r;

	(void)state;
	for (int i = 0; i < 16; i++) {
		uint64_t page = xorshift_next(&x) % 10;

		different += !seen[page];
		seen[page] = true;
	}
	r = run_text(
		HEAD
		"cgroups: [ { name: a, tasks: [ { workload: file_churn, pages: 10, reads: 16, passes: 1,\n"
		"  pattern: uniform, stream: xorshift, stream_seed: 1000 } ] } ]\n");
	assert_true(value(r, "pass.misses", "file_churn/last") == different);
	record_free(r);
}

static void turns(void **state)
{
	struct record *r;

	(void)state;
	r = run_text(
		HEAD
		"cgroups:\n"
		"  - { name: a, tasks: [ { workload: lockstep, name: a, pages: 100, rate: 10, rounds: 20,\n"
		"      passes: 2, watch: [ /b ] } ] }\n"
		"  - { name: b, tasks: [ { workload: lockstep, name: b, pages: 300, rate: 30, rounds: 20,\n"
		"      passes: 2 } ] }\n");
	assert_true(value(r, "pass.accesses", "a/pass:1") == 200);
	assert_true(value(r, "pass.accesses", "b/pass:2") == 600);
	assert_true(value(r, "pass.misses", "a/pass:1") == 100);
	assert_true(value(r, "pass.misses", "b/pass:1") == 300);
	assert_true(value(r, "pass.misses", "b/pass:2") == 0);
	assert_true(value(r, "pass.file", "/b/last") == 300);
	assert_true(value(r, "lockstep.alive", "a") == 1);
	record_free(r);
}

/* Whoever opens a file first has blocks of the disk as well; accessed twice, they are active. */
static void blocks_of_the_disk(void **state)
{
	struct record *r;

	(void)state;
	r = run_text(HEAD
		     "policies: { reclaim: classic }\n"
		     "cgroups: [ { name: a, tasks: [\n"
		     "  { workload: lockstep, name: opens, pages: 100, rate: 100, rounds: 1, passes: 1,\n"
		     "    file_blocks: 60 } ] } ]\n");
	assert_true(value(r, "pass.file", "opens/last") == 160);
	assert_true(value(r, "pass.misses", "opens/last") == 100);
	assert_true(value(r, "pass.active_file", "opens/last") > 30);
	assert_true(value(r, "pass.active_file", "opens/last") <= 60);
	record_free(r);
}

static void hogs_and_services(void **state)
{
	struct record *r;

	(void)state;
	r = run_text(
		HEAD
		"cgroups:\n"
		"  - { name: h, memory.max: 4MiB, memory.swap.max: 0, tasks: [\n"
		"      { workload: memhog, name: small, pages: 100, grow_at: 1ms, hold: 10ms },\n"
		"      { workload: memhog, name: big, pages: 100, grow: 2000, grow_at: 2ms } ] }\n"
		"  - { name: s, tasks: [ { workload: service, requests: 200, rate: 10K/s, anon_pages: 100,\n"
		"      file_pages: 50, work: 10us } ] }\n");
	assert_true(value(r, "memhog.dead", "big") == 1);
	assert_true(value(r, "memhog.dead", "small") == 0);
	assert_true(value(r, "memhog.position", "big") > 800);
	assert_true(value(r, "pass.ev_oom_kill", "small/all") == 1);
	assert_true(value(r, "service.latency.count", "service") == 200);
	assert_true(value(r, "service.latency.p50", "service") >= 10000);
	assert_true(value(r, "task.file_reads", "service") == 1600);
	record_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes_of_a_file),
		cmocka_unit_test(stream_of_the_measurements),
		cmocka_unit_test(turns),
		cmocka_unit_test(blocks_of_the_disk),
		cmocka_unit_test(hogs_and_services),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
