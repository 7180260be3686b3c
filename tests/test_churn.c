/*
 * test_churn.c - cgroups that come and go for hours: a saw where reclaim takes what keeps them, a line where
 * it cannot, and memory of the simulation itself that stays what it is.
 */
#include "sim/results/record_rows.h"
#include "tests/host_fixture.h"
#include "tests/text_run.h"

#include "models/cgroup/life.h"

static const char text[] = "schema: 1\nscenario: test\nkernel: v6.12\n"
			   "host: { cpus: 2, nodes: 1, memory: 256MiB }\n"
			   "cgroups:\n"
			   "  - name: p\n"
			   "    memory.high: 8MiB\n"
			   "    tasks: [ { workload: cgroup_churn, rate: 20, lifetime: 100ms, pages: 2,\n"
			   "               file_pages: 4096, pinned: %s } ]\n";

static void run(const char *pinned, uint32_t *most, uint32_t *least, uint32_t *last, size_t grown[2])
{
	char scenario[400];
	struct fixture f;

	snprintf(scenario, sizeof scenario, text, pinned);
	fixture_open(&f, scenario);
	*most = 0;
	*least = UINT32_MAX;
	for (uint32_t i = 1; i <= 40; i++) {
		sim_run(f.host->sim, i * 15 * SIM_SEC);
		assert_null(sim_error(f.host->sim));
		*last = f.host->cgroups->root->nr_dying_descendants;
		if (i <= 20)
			grown[0] = arena_committed(sim_arena(f.host->sim));
		if (i > 20 && *last > *most)
			*most = *last;
		if (i > 20 && *last < *least)
			*least = *last;
	}
	grown[1] = arena_committed(sim_arena(f.host->sim));
	assert_true(fixture_holds(&f));
	fixture_close(&f);
}

static void test_saw(void **state)
{
	uint32_t most, least, last;
	size_t committed[2];

	(void)state;
	run("0%", &most, &least, &last, committed);
	/* 8 MiB hold about 400 cgroups with two pages and 12 KiB of statistics each; 12,000 were made. */
	assert_true(most > 50 && most < 2000);
	assert_true(least < most);
	assert_true(committed[1] <= committed[0] + (256 << 10));
}

static void test_line(void **state)
{
	uint32_t most, least, last;
	size_t committed[2];

	(void)state;
	/* 1.5 % of 12,000, of which half came before the looks that most and least are of. */
	run("1.5%", &most, &least, &last, committed);
	assert_true(last > 150);
	assert_true(least > 60);
}

static struct record *run_whole(const char *rest)
{
	char whole[800];

	snprintf(whole, sizeof whole,
		 "schema: 1\nscenario: test\nkernel: v6.12\nhost: { cpus: 2, nodes: 1, memory: 256MiB }\n%s",
		 rest);
	return run_text(whole);
}

/* What is all pinned ends at a limit, on the day that rate and size give: nobody is there to be killed. */
static void test_end(void **state)
{
	struct record *r = run_whole("cgroups: [ { name: p, memory.max: 4MiB } ]\n"
				     "tasks: [ { workload: cgroup_churn, parent: /p, rate: 1, lifetime: 1s,\n"
				     "           pages: 0, pinned: 100%, until_refused: true } ]\n"
				     "run: { until: done }\n");
	double made = value(r, "cgroup.made", "all");

	(void)state;
	assert_true(made > 100 && made < 1000);
	assert_int_equal(value(r, "cgroup.refused", "ENOMEM: limit"), 1);
	assert_true(value_or_0(r, "cgroup.refused", "ENOSPC: no id") <= 0);
	assert_int_equal(value(r, "nr_dying_descendants", "/"), made);
	assert_int_equal(value(r, "cgroup.leftover.pinned", "all"), made);
	/* One a second, at random. */
	assert_true(value(r, "cgroup.refused_at", "ENOMEM: limit") > 0.8e9 * made);
	assert_true(value(r, "cgroup.refused_at", "ENOMEM: limit") < 1.2e9 * made);
	record_free(r);
}

/* What nobody removes is live and empty; caches that are dropped change nothing about it. */
static void test_forgotten(void **state)
{
	struct record *r = run_whole(
		"tasks: [ { workload: cgroup_churn, rate: 100, lifetime: 10ms, most: 1000,\n"
		"           removed: 25% } ]\n"
		"events: [ { at: 1s, every: 1s, cgroup: /, drop_caches: true } ]\n"
		"run: { until: 30s }\n");

	(void)state;
	assert_int_equal(value(r, "nr_dying_descendants", "/"), 0);
	assert_true(value(r, "cgroup.leftover.empty", "all") > 700);
	assert_true(value(r, "cgroup.leftover.empty", "all") < 800);
	assert_int_equal(value(r, "cgroup.made", "all"), 1000);
	assert_int_equal(value(r, "cgroup.made", "all"),
			 value(r, "cgroup.removed", "all") + value(r, "nr_descendants", "/"));
	record_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_saw),
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
