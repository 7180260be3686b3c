/*
 * test_daemons.c - daemons that act on what they read: whom they end, on numbers of which age, and what is
 * recorded of it; memory that is given back by two at once; remarks.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/text_run.h"

#define HEAD HEAD_UNTIL("4s")
#define HEAD_UNTIL(until_)                                                                        \
	"schema: 1\nscenario: test\nhost: { cpus: 4, nodes: 1, memory: 256MiB }\nkernel: v6.12\n" \
	"run: { until: " until_ ", sample: 0 }\n"

/* A grows first and stops; b overtakes it. Who looks late takes b, who remembers takes a. */
#define TWO                                                                                                 \
	HEAD "cgroups:\n"                                                                                   \
	     " - { name: a, tasks: [ { workload: memhog, pages: 8192, hold: ever } ] }\n"                   \
	     " - { name: b, tasks: [ { workload: memhog, pages: 1024, grow: 16384, grow_at: 1500ms, hold: " \
	     "ever } ] }\n"                                                                                 \
	     "tasks:\n - { workload: oom_daemon, name: d, candidates: [ a, b ], when: current, limit: "     \
	     "48MiB, "                                                                                      \
	     "by: current, kills: 1, interval: 100ms, "

static void read_on_demand(void **state)
{
	struct record *r;

	(void)state;
	r = run_text(TWO "reading: on_demand }\n");
	assert_true(value(r, "daemon.kills", "d") == 1);
	assert_true(value(r, "decision.wrong", "victim:d") == 0);
	/* All of b is free again. */
	assert_true(value(r, "memory.current", "/b") < 64 * 4096 * 4);
	assert_true(value(r, "memory.current", "/a") >= 8192 * 4096.0);
	record_free(r);
}

/* Ten cgroups leave pages that something keeps for ever: who allows for nine waits for ever, too. */
static void held_back_by_dying_cgroups(void **state)
{
	static const char *const most[] = { "10", "9" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		char text[2048];
		struct record *r;

		snprintf(text, sizeof text,
			 TWO "reading: on_demand, dying: %s }\n"
			     " - { workload: cgroup_churn, rate: 100, lifetime: 10ms, pinned: 100%%,\n"
			     "     most: 10 }\n",
			 most[i]);
		r = run_text(text);
		assert_true(value(r, "nr_dying_descendants", "/") == 10);
		assert_true(value(r, "daemon.kills", "d") == !i);
		assert_true(value(r, "daemon.held_back", "d") > 10 || !i);
		assert_true(value(r, "daemon.held_back", "d") == 0 || i);
		record_free(r);
	}
}

static void remembered(void **state)
{
	struct record *r;

	(void)state;
	/* At 1 s both are read, and not again; the daemon is told by an old sum and takes nobody... */
	r = run_text(TWO "reading: cached, refresh: 1h, start: 1s }\n");
	assert_true(value(r, "daemon.kills", "d") == 0);
	assert_true(value(r, "decision.missed", "trigger:d") > 10);
	assert_true(value(r, "decision.needless", "trigger:d") == 0);
	record_free(r);
	/* ... and read at each second second, at 1 and 3 s, it is late but right. */
	r = run_text(TWO "reading: cached, refresh: 2s, start: 1s }\n");
	assert_true(value(r, "daemon.kills", "d") == 1);
	assert_true(value(r, "decision.wrong", "victim:d") == 0);
	assert_true(value(r, "decision.missed", "trigger:d") > 0);
	record_free(r);
}

/* The scan rate needs two readings: the first in the list goes. */
static void first_scan_rate_is_none(void **state)
{
	struct record *r;

	(void)state;
	r = run_text(HEAD
		     "cgroups:\n"
		     " - { name: a, tasks: [ { workload: memhog, name: first, pages: 16, hold: ever } ] }\n"
		     " - { name: b, tasks: [ { workload: memhog, pages: 16384, hold: ever } ] }\n"
		     "tasks: [ { workload: oom_daemon, name: d, candidates: [ a, b ], when: anon, "
		     "limit: 16MiB, by: pgscan, "
		     "kills: 1 } ]\n");
	assert_true(value(r, "memory.current", "/a") <= 4096 * 64 * 4); /* stocks */
	assert_true(value(r, "memhog.dead", "first") == 1);
	assert_true(value(r, "memory.current", "/b") > 4096.0 * 16000);
	record_free(r);
}

/* An event wakes it within 10 ms, though it polls nothing. */
static void told_by_an_event(void **state)
{
	struct record *r;

	(void)state;
	r = run_text(HEAD "cgroups: [ { name: a, memory.high: 16MiB, memory.swap.max: 0, tasks: [ { "
			  "workload: memhog, pages: 8192, "
			  "hold: ever } ] } ]\n"
			  "tasks: [ { workload: eviction_manager, name: d, watch: a, candidates: a, when: "
			  "current, limit: 16MiB, "
			  "by: current, reading: event, kills: 1 } ]\n");
	assert_true(value(r, "daemon.kills", "d") == 1);
	assert_true(value(r, "daemon.overshoot.max", "d") < 1024);
	assert_true(value(r, "memory.peak", "/a") < 24 * 1048576.0);
	record_free(r);
}

/* Tasks that are ended while they give their memory back themselves: each page and table goes once. */
static void ended_in_the_middle(void **state)
{
	struct record *r;

	(void)state;
	r = run_text(HEAD_UNTIL("700ms") "cgroups: [ { name: \"j{1..12}\", tasks: [ { workload: anon_churn, "
					 "count: 2, "
					 "pages: 2048, work: 2us, pause: { exponential: "
					 "1ms } } ] } ]\n"
					 "tasks: [ { workload: oom_daemon, name: d, candidates: \"j*\", "
					 "when: current, "
					 "limit: 4KiB, by: current, "
					 "interval: 37ms, settle: 0s } ]\n");
	assert_true(value(r, "daemon.kills", "d") == 12);
	for (int i = 1; i <= 12; i++) {
		char path[16];

		snprintf(path, sizeof path, "/j%d", i);
		assert_true(value(r, "memory.current", path) <= 64 * 4 * 4096.0); /* stocks */
	}
	record_free(r);
}

/* The old limit, the event, one delay: then all fits. */
static void autoscaler_by_event(void **state)
{
	struct record *r;

	(void)state;
	r = run_text(HEAD "cgroups: [ { name: a, memory.high: 16MiB, memory.swap.max: 0, tasks: [ { "
			  "workload: memhog, name: hog, pages: "
			  "8192, hold: ever } ] } ]\n"
			  "tasks: [ { workload: autoscaler, name: s, watch: a, reading: event, delay: 500ms, "
			  "step: 32MiB } ]\n");
	assert_true(value(r, "autoscaler.raises", "s") == 1);
	assert_true(value(r, "task.ops", "hog") == 8192);
	record_free(r);
}

static char *remarks(const char *text)
{
	struct complaints *c = complaints_new();
	struct scenario_set *set = scenario_load(
		&(struct scenario_source){ .path = "test.yaml", .text = text }, c);
	char *buffer = NULL;
	size_t size;
	FILE *out = open_memstream(&buffer, &size);

	if (!set)
		complaints_print(c, stderr);
	assert_non_null(set); /* a remark refuses nothing */
	complaints_print(c, out);
	fclose(out);
	scenario_free(set);
	complaints_free(c);
	return buffer;
}

static void assert_remark(const char *text, const char *expected)
{
	char *got = remarks(text);

	assert_string_equal(got, expected);
	free(got);
}

#define SERVICE HEAD "tasks: [ { workload: service, name: s, file_pages: 10, exponent: 0.9"

static void remarks_on_what_has_no_effect(void **state)
{
	(void)state;
	assert_remark(SERVICE " } ]\n",
		      "test.yaml:6:66: remark: exponent has no effect without 'pattern: zipf'\n");
	assert_remark(SERVICE ", pattern: zipf } ]\n", "");
	/* In one variant it has. */
	assert_remark(SERVICE
		      " } ]\nvariants: [ { name: a }, { name: b, set: { \"tasks[s].pattern\": zipf } } ]\n",
		      "");
	assert_remark(HEAD "cgroups: [ { name: a, memory.max: 100 } ]\n",
		      "test.yaml:6:35: remark: memory.max: 100 bytes are less than a page: 0\n");
	assert_remark(HEAD "cgroups: [ { name: a, memory.max: 0, memory.high: 4KiB } ]\n", "");
}

#define SCAN "stream_scan, name: s, pages: 10"

static void remarks_on_devices_of_no_use(void **state)
{
	(void)state;
	assert_remark(HEAD "devices: [ { name: d, device: disk } ]\ntasks: [ { workload: " SCAN " } ]\n",
		      "test.yaml:6:20: remark: name: 'd' is neither swap nor the disk of a task\n");
	assert_remark(HEAD "devices: [ { name: d, device: disk } ]\ntasks: [ { workload: " SCAN
			   ", disk: d } ]\n",
		      "");
	assert_remark(HEAD "devices: [ { name: d, device: zram, size: 1MiB } ]\nswap: { device: d }\n", "");
	/* In one variant it is swap. */
	assert_remark(HEAD "devices: [ { name: d, device: zram, size: 1MiB } ]\n"
			   "variants: [ { name: a }, { name: b, set: { swap.device: d } } ]\n",
		      "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_on_demand),
		cmocka_unit_test(held_back_by_dying_cgroups),
		cmocka_unit_test(remembered),
		cmocka_unit_test(first_scan_rate_is_none),
		cmocka_unit_test(told_by_an_event),
		cmocka_unit_test(ended_in_the_middle),
		cmocka_unit_test(autoscaler_by_event),
		cmocka_unit_test(remarks_on_what_has_no_effect),
		cmocka_unit_test(remarks_on_devices_of_no_use),
	};

	if (!modules_init())
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
