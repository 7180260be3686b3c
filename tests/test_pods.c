/*
 * test_pods.c - pods, timers and probes: how many cgroups each has and leaves, what becomes of a container
 * that is killed, and what two of them do to each other.
 */
#include "sim/results/record_rows.h"
#include "tests/host_fixture.h"

#include "models/cgroup/life.h"
#include "models/stat/stat.h"

#define HEAD                                                                                      \
	"schema: 1\nscenario: test\nkernel: v6.12\nhost: { cpus: 4, nodes: 1, memory: 256MiB }\n" \
	"cgroups:\n  - name: p\n    tasks:\n"

static double value(const struct fixture *f, const char *metric, const char *entity)
{
	const struct record *r = f->run.record;

	for (uint32_t i = 0; i < r->nr_values; i++)
		if (!strcmp(r->metrics[r->values[i].metric].name, metric) &&
		    !strcmp(r->entities[r->values[i].entity], entity))
			return r->values[i].value;
	fail_msg("no %s of %s", metric, entity);
	return 0;
}

static void open_at(struct fixture *f, const char *text, sim_time_t until)
{
	fixture_open(f, text);
	f->run.measuring = true;
	sim_run(f->host->sim, until);
	assert_null(sim_error(f->host->sim));
}

/* Three of each pod while it runs; a restart makes one anew, or all three, which pins keep dying. */
static void test_restarts(void **state)
{
	struct fixture f;
	struct memcg *root;

	(void)state;
	open_at(&f,
		HEAD "    - { workload: pod, count: 5, lifetime: 59s, backoff: 1s, backoff_most: 1s,\n"
		     "        pinned: 100%, new_pages: 0, work: 0 }\n",
		630 * SIM_SEC);
	root = f.host->cgroups->root;
	assert_int_equal(root->nr_descendants, 1 + 5 * 3);
	assert_int_equal(root->nr_dying_descendants, 5 * 10);
	assert_true(fixture_holds(&f));
	assert_int_equal(value(&f, "cgroup.made", "all"), 5 * (3 + 10));
	assert_int_equal(value(&f, "task.ops", "pod"), 5 * 11);
	assert_int_equal(value(&f, "cgroup.leftover.pinned", "all"), 50);
	fixture_close(&f);

	open_at(&f,
		HEAD "    - { workload: pod, count: 5, lifetime: 59s, backoff: 1s, backoff_most: 1s,\n"
		     "        restart: pod, init_pages: 1, new_pages: 0, work: 0, pinned: 100% }\n",
		630 * SIM_SEC);
	root = f.host->cgroups->root;
	assert_int_equal(root->nr_descendants, 1 + 5 * 3);
	/* The pod, its sandbox and its container; the init containers of those that run still. */
	assert_int_equal(root->nr_dying_descendants, 5 * 10 * 4 + 5);
	assert_true(fixture_holds(&f));
	fixture_close(&f);
}

/* Killed at its memory.max as soon as it starts: 10, 20, 40, ... seconds, then five minutes each. */
static void test_crash_loop(void **state)
{
	struct fixture f;

	(void)state;
	open_at(&f, HEAD "    - { workload: pod, memory.max: 1MiB, anon_pages: 1000, program_pages: 0 }\n",
		3600 * SIM_SEC);
	/* A CPU's stock names the last, and is not drained when it has no page. */
	assert_true(f.host->cgroups->root->nr_dying_descendants <= 1);
	assert_true(fixture_holds(&f));
	/* At 0, 10, 30, 70, 150 and 310 s, and then every five minutes: ten times more. */
	assert_int_equal(value(&f, "burst.oom_killed", "pod"), 16);
	assert_int_equal(value(&f, "burst.failed", "pod"), 16);
	assert_int_equal(value(&f, "task.ops", "pod"), 0);
	assert_int_equal(value(&f, "memory.events.oom_kill", "/p"), 16);
	fixture_close(&f);
}

/* A run of ten minutes, and the back-off is that of the first end again. */
static void test_backoff_reset(void **state)
{
	struct fixture f;

	(void)state;
	open_at(&f, HEAD "    - { workload: pod, lifetime: 700s, work: 0 }\n", 7110 * SIM_SEC);
	assert_true(fixture_holds(&f));
	assert_int_equal(value(&f, "task.ops", "pod"), 11);
	fixture_close(&f);
}

static void timers(const char *reuse, uint32_t made, uint32_t dying)
{
	char text[600];
	struct fixture f;

	snprintf(text, sizeof text,
		 HEAD "    - { workload: timer, count: 4, period: 1min, reuse_cgroup: %s }\n", reuse);
	open_at(&f, text, 3590 * SIM_SEC);
	assert_int_equal(f.host->cgroups->root->nr_dying_descendants, dying);
	assert_true(fixture_holds(&f));
	assert_int_equal(value(&f, "cgroup.made", "all"), made);
	assert_int_equal(value(&f, "task.ops", "timer"), 240);
	assert_true(value(&f, "burst.latency.p50", "timer") >= 1e9);
	fixture_close(&f);
}

/* Each run leaves its log's pages, and so a cgroup; one that is kept leaves none. */
static void test_timers(void **state)
{
	(void)state;
	timers("false", 240, 240);
	timers("true", 4, 0);
}

/* The probe is in the container while it runs: its pages are the container's. Nothing is made for it. */
static void test_probe_in_target(void **state)
{
	struct fixture f;
	struct memcg *target;

	(void)state;
	open_at(&f,
		HEAD "    - { workload: exec_probe, target: /a*, new_pages: 2, program_pages: 0 }\n"
		     "  - name: a{1..3}\n",
		95 * SIM_SEC);
	target = memcg_find(f.host, "/a2");
	assert_null(target->tasks);
	assert_int_equal(stat_truth(target, NR_FILE_PAGES), 20);
	assert_int_equal(stat_truth(target, NR_ANON_MAPPED), 0);
	assert_true(fixture_holds(&f));
	assert_int_equal(value(&f, "task.ops", "exec_probe"), 30);
	assert_int_equal(value(&f, "burst.failed", "exec_probe"), 0);
	fixture_close(&f);
}

/*
 * Probes in containers that come and go, with cgroups of their own and without: a container is removed once
 * no probe is in it, and a probe whose container is gone has failed.
 */
static void test_probes_of_pods(void **state)
{
	struct fixture f;

	(void)state;
	open_at(&f,
		HEAD
		"    - { workload: pod, count: 8, lifetime: { exponential: 300ms }, restart: pod,\n"
		"        backoff: 10ms, backoff_most: 10ms, work: 0 }\n"
		"    - { workload: exec_probe, name: in, target: 'p/pod*/c*', period: 50ms, work: 20ms }\n"
		"    - { workload: exec_probe, name: below, target: 'p/pod*', into: transient,\n"
		"        period: 50ms, work: 20ms }\n"
		"run: { until: 20s }\n",
		20 * SIM_SEC);
	assert_true(fixture_holds(&f));
	assert_true(value(&f, "task.ops", "in") > 300);
	assert_true(value(&f, "task.ops", "below") > 300);
	assert_true(value(&f, "burst.failed", "in") > 0);
	assert_true(value(&f, "burst.failed", "below") > 0);
	assert_true(value(&f, "cgroup.refused", "EBUSY") > 0);
	assert_true(value(&f, "cgroup.refused", "ENODEV") > 0);
	assert_true(value(&f, "cgroup.refused_at", "ENODEV") < 20e9);
	fixture_close(&f);
}

/*
 * Somebody else removes whatever is empty, all the time: between two runs of a service, before a probe comes
 * into its cgroup, while a task plays a process elsewhere. Who made a cgroup goes on without it.
 */
static void test_removed_by_others(void **state)
{
	struct fixture f;
	struct memcg *root;

	(void)state;
	open_at(&f,
		"schema: 1\nscenario: test\nkernel: v6.12\n"
		"host: { cpus: 2, nodes: 1, memory: 256MiB }\n"
		"cgroups:\n- name: x\n  children:\n  - name: y\n"
		"    tasks: [ { workload: timer, count: 4, period: 100ms, reuse_cgroup: true,\n"
		"      runtime: 1ms } ]\n"
		"  - name: w\n    children: [ { name: v } ]\n"
		"- name: prober\n"
		"  tasks: [ { workload: exec_probe, target: /x/y, into: transient, period: 5ms,\n"
		"    work: 4ms } ]\n"
		"tasks: [ { workload: cgroup_churn, rate: 100, lifetime: 300ms, pages: 0 } ]\n"
		"events:\n- { at: 1s, every: 7ms, cgroup: \"/*\", rmdir: true }\n"
		"- { at: 1s, every: 5ms, cgroup: \"/*/*/*\", rmdir: true }\n"
		"run: { until: 5s }\n",
		5 * SIM_SEC);
	root = f.host->cgroups->root;
	assert_true(fixture_holds(&f));
	assert_non_null(memcg_find(f.host, "/prober")); /* the process's parent is in it */
	assert_true(value(&f, "task.ops", "exec_probe") > 100);
	assert_true(value(&f, "burst.failed", "timer") > 0);
	assert_int_equal(value(&f, "cgroup.made", "all") + 5,
			 value(&f, "cgroup.removed", "all") + root->nr_descendants);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_restarts),          cmocka_unit_test(test_crash_loop),
		cmocka_unit_test(test_backoff_reset),     cmocka_unit_test(test_timers),
		cmocka_unit_test(test_probe_in_target),   cmocka_unit_test(test_probes_of_pods),
		cmocka_unit_test(test_removed_by_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
