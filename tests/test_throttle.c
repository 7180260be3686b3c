/*
 * test_throttle.c - who reclaims waits for writes to end: by which reason, for how long, under which LRU, and
 * that this is over when the writes are.
 *
 * Each is a small scenario with a disk that is slower than who makes pages dirty, and whose queue takes all
 * that memory holds: behind a short queue the flusher itself waits, most dirty pages are nobody's to write,
 * and no kernel calls that congested.
 */
#include "tests/host_fixture.h"
#include "tests/text_run.h"

#define MS 1e6 /* in the nanoseconds of the metrics */

static const char *const kernels[] = { "v6.1", "v6.12", "v6.18" };
#define NR_KERNELS (sizeof kernels / sizeof *kernels)

#define HEAD                                                                                           \
	"schema: 1\nscenario: test\nhost: { cpus: 2, memory: 16MiB }\nkernel: %s\n"                    \
	"policies: { reclaim: %s }\nwriteback: { interval: never, background: 100%%, limit: 100%% }\n" \
	"run: { until: %s, sample: 0, seed: 1 }\n"
#define DISK "devices: [ { name: d, device: disk, write: 5ms, bandwidth: 8M, depth: 4096, size: 256MiB } ]\n"

/* More than the machine has of dirty pages; as much in a cgroup; of anonymous memory for a disk, and zram. */
#define FILES                                                                                       \
	HEAD DISK "cgroups: [ { name: c, tasks: [ { workload: file_writer, disk: d, pages: 6000,\n" \
		  "  passes: 1 } ] } ]\n"
#define LIMIT                                                                                            \
	HEAD DISK "cgroups: [ { name: c, memory.max: 4MiB, tasks: [ { workload: file_writer, disk: d,\n" \
		  "  pages: 3000, passes: 1 } ] } ]\n"
#define MEMORY "cgroups: [ { name: c, tasks: [ { workload: memhog, pages: 10000 } ] } ]\n"
#define SWAP   HEAD DISK "swap: { device: d }\n" MEMORY
#define ZRAM   HEAD "devices: [ { name: d, device: zram, size: 256MiB } ]\nswap: { device: d }\n" MEMORY

static struct record *run(const char *format, const char *kernel, const char *lru, const char *until)
{
	char text[1024];

	snprintf(text, sizeof text, format, kernel, lru, until);
	return run_text(text);
}

static double times(const struct record *r, const char *reason)
{
	return value_or_0(r, "reclaim.throttled", reason);
}

static double mean(const struct record *r, const char *reason)
{
	return value_or_0(r, "reclaim.throttled_time", reason) / times(r, reason);
}

/*
 * The whole machine: kswapd waits for pages that it meets again, and is woken when 33 are written, which the
 * disk does in 16 ms; who reclaims directly waits ticks. When all is written the task ends, and so the run.
 */
static void files(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_KERNELS; i++) {
		struct record *r = run(FILES, kernels[i], "classic", "done");

		assert_true(record_ended(r)->done);
		assert_true(times(r, "writeback") > 5);
		assert_true(mean(r, "writeback") > 10 * MS && mean(r, "writeback") < 50 * MS);
		assert_true(times(r, "congested") > 30);
		assert_true(mean(r, "congested") > MS && mean(r, "congested") < 4.1 * MS);
		assert_true(value_or_0(r, "task.oom", "file_writer") <= 0);
		/* No longer than the disk had something to write: 6,000 pages, 2,000 a second. */
		assert_true(value_or_0(r, "reclaim.throttled_time", "writeback") < 3000 * MS);
		record_free(r);
	}
}

/*
 * Below a limit: nobody but who writes, no kswapd. It is the ticks of waiting that save the cgroup from the
 * OOM killer: MGLRU has none, and kills.
 */
static void limit(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_KERNELS; i++) {
		struct record *r = run(LIMIT, kernels[i], "classic", "done");

		assert_true(record_ended(r)->done);
		assert_true(times(r, "congested") > 30);
		assert_true(mean(r, "congested") < 4.1 * MS);
		assert_true(times(r, "writeback") <= 0 && times(r, "noprogress") <= 0);
		assert_true(value_or_0(r, "memory.events.oom_kill", "/c") <= 0);
		record_free(r);

		r = run(LIMIT, kernels[i], "mglru", "1500ms");
		assert_true(times(r, "congested") <= 0);
		assert_true(value_or_0(r, "memory.events.oom_kill", "/c") == 1);
		record_free(r);
	}
}

/* MGLRU does not tell what it met, so only calls that got nothing wait. */
static void mglru(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_KERNELS; i++) {
		struct record *r = run(FILES, kernels[i], "mglru", "1500ms");

		assert_true(times(r, "writeback") <= 0 && times(r, "congested") <= 0);
		record_free(r);
	}
	struct record *r = run(FILES, "v6.12", "mglru", "1500ms");

	assert_true(times(r, "noprogress") > 0);
	record_free(r);
}

/*
 * Before 5.16 nothing ends a wait of 100 ms, and what is called congestion never is: where later kernels wait
 * for ticks in a cgroup, this one goes on and kills.
 */
static void congestion(void **state)
{
	(void)state;
	struct record *r = run(FILES, "v5.15", "classic", "done");

	assert_true(record_ended(r)->done);
	/* One of them may not be over. */
	assert_true(times(r, "writeback") > 5 && mean(r, "writeback") < 100.1 * MS);
	assert_true(value_or_0(r, "reclaim.throttled_time", "writeback") >
		    (times(r, "writeback") - 1) * 99.9 * MS);
	assert_true(times(r, "congested") <= 0);
	assert_true(times(r, "noprogress") > 0);
	assert_true(mean(r, "noprogress") > 99.9 * MS && mean(r, "noprogress") < 100.1 * MS);
	record_free(r);

	r = run(LIMIT, "v5.15", "classic", "1500ms");
	assert_true(times(r, "writeback") <= 0 && times(r, "congested") <= 0 && times(r, "noprogress") <= 0);
	assert_true(value_or_0(r, "memory.events.oom_kill", "/c") == 1);
	record_free(r);
}

/* Anonymous pages on their way to a disk make kswapd wait, but they congest nothing: only files do. */
static void swap(void **state)
{
	struct record *r;

	(void)state;
	for (size_t i = 0; i < NR_KERNELS; i++) {
		r = run(SWAP, kernels[i], "classic", "800ms");
		assert_true(times(r, "writeback") > 0);
		assert_true(mean(r, "writeback") < 50 * MS);
		assert_true(times(r, "noprogress") > 0);
		assert_true(times(r, "congested") <= 0);
		record_free(r);
	}
	r = run(SWAP, "v6.12", "mglru", "800ms");
	assert_true(times(r, "writeback") <= 0 && times(r, "congested") <= 0);
	record_free(r);
}

/* Who compresses does it at once: nothing is under writeback, so nobody waits for it. */
static void zram(void **state)
{
	static const char *const lrus[] = { "classic", "mglru" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct record *r = run(ZRAM, "v6.1", lrus[i], "100ms");

		assert_true(value_or_0(r, "swap.out", "all") > 0);
		assert_true(times(r, "writeback") <= 0 && times(r, "congested") <= 0);
		record_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files), cmocka_unit_test(limit), cmocka_unit_test(mglru),
		cmocka_unit_test(swap),  cmocka_unit_test(zram),  cmocka_unit_test(congestion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
