/*
 * test_cgroup_tree.c - cgroups from a scenario: names, paths, patterns, walks, settings, mistakes.
 */
#include "models/cgroup/options.h"
#include "tests/host_fixture.h"

static const char text[] = FIXTURE_BASE(8, 64, 1) "cgroups:\n"
						  "  - name: parent{1..3}\n"
						  "    memory.max: 1MiB\n"
						  "    cpu.weight: 200\n"
						  "    children: [ { name: 'child{1..2}' }, { name: other, "
						  "cpu.max: { quota: 20ms, period: 50ms } } ]\n"
						  "  - { name: lone }\n";

static void test_tree(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, text);
	const struct cgroup_state *cgroups = f.host->cgroups;

	assert_int_equal(cgroups->nr, 1 + 3 * 4 + 1);
	for (uint32_t i = 0; i < cgroups->nr; i++) {
		const struct memcg *m = cgroups->all[i];

		assert_int_equal(m->id, i);
		assert_true(!m->parent || m->parent->id < i);
		assert_ptr_equal(m->memory.parent, m->parent ? &m->parent->memory : NULL);
		assert_ptr_equal(memcg_find(f.host, m->path), m);
	}
	struct memcg *m = memcg_find(f.host, "/parent2/child1");

	assert_string_equal(m->name, "child1");
	assert_string_equal(m->path, "/parent2/child1");
	assert_int_equal(m->depth, 2);
	assert_int_equal(m->parent->memory.max, 256);
	assert_true(m->memory.max == COUNTER_NO_MAX);
	assert_int_equal(m->parent->weight, 2048);
	assert_int_equal(m->weight, 1024);
	assert_non_null(memcg_find(f.host, "/parent1/other")->bandwidth);
	assert_null(m->bandwidth);
	fixture_close(&f);
}

static void test_match(void **state)
{
	struct fixture f;
	struct memcg *out[32];

	(void)state;
	fixture_open(&f, text);
	assert_int_equal(memcg_match(f.host, "/", out), 1);
	assert_true(memcg_is_root(out[0]));
	assert_int_equal(memcg_match(f.host, "parent*", out), 3);
	assert_int_equal(memcg_match(f.host, "/parent*/child*", out), 6);
	for (int i = 1; i < 6; i++)
		assert_true(out[i - 1]->id < out[i]->id);
	assert_int_equal(memcg_match(f.host, "*/*", out), 9);
	assert_int_equal(memcg_match(f.host, "*", out), 4);
	assert_int_equal(memcg_match(f.host, "parent[12]/other", out), 2);
	assert_int_equal(memcg_match(f.host, "*/*/*", out), 0);
	assert_int_equal(memcg_match(f.host, "child1", out), 0);
	assert_null(memcg_find(f.host, "/parent4"));

	/* The same answer without a host. */
	assert_true(cgroup_options_match(f.run.scenario, "/parent*/child2"));
	assert_true(cgroup_options_match(f.run.scenario, "/"));
	assert_false(cgroup_options_match(f.run.scenario, "/parent*/child3"));
	assert_false(cgroup_options_match(f.run.scenario, "lone/*"));
	fixture_close(&f);
}

static void test_walk(void **state)
{
	struct fixture f;
	struct memcg *position = NULL;
	uint32_t nr = 0;

	(void)state;
	fixture_open(&f, text);
	struct memcg *root = memcg_find(f.host, "/parent2");

	while ((position = memcg_next(root, position))) {
		assert_true(memcg_is_descendant(position, root));
		nr++;
	}
	assert_int_equal(nr, 4);
	for (nr = 0; (position = memcg_next(f.host->cgroups->root, position)); nr++)
		assert_int_equal(position->id, nr); /* made in pre-order */
	assert_int_equal(nr, f.host->cgroups->nr);
	assert_false(memcg_is_descendant(memcg_find(f.host, "/parent1/child1"), root));
	assert_false(memcg_is_descendant(f.host->cgroups->root, root));
	fixture_close(&f);
}

static void expect(const char *rest, const char *complaint)
{
	char whole[2048], said[2048];

	snprintf(whole, sizeof whole, FIXTURE_BASE(8, 64, 1) "%s", rest);
	fixture_complaints(whole, said, sizeof said);
	if (!strstr(said, complaint))
		fail_msg("'%s' expected, said: '%s'", complaint, said);
}

static void test_mistakes(void **state)
{
	(void)state;
	assert_true(modules_init());
	expect("cgroups: [ { name: a }, { name: b }, { name: 'a' } ]\n", "a sibling is called 'a' too");
	expect("cgroups: [ { name: 'x{1..5}' }, { name: 'x{5..9}' } ]\n",
	       ":6:41: name: a sibling is called 'x5' too");
	expect("tasks: [ { workload: anon_churn, cgroup: /no } ]\n",
	       ":6:42: cgroup: there is no cgroup '/no'");
	expect("tasks: [ { workload: anon_churn, cpu: 8 } ]\n", "cpu: the host has CPUs 0 to 7");
	expect("tasks: [ { workload: anon_churn, cpu: 1.5 } ]\n", "cpu: the host has CPUs 0 to 7");
	expect("cgroups: [ { name: a, tasks: [ { workload: anon_churn, cgroup: /a } ] } ]\n",
	       "a task in a cgroup's list belongs there");
	expect("cgroups: [ { name: a, memory.maximum: 3MiB } ]\n", "memory.max");
	expect("cgroups: [ { name: a, cpu.max: { quota: 5 } } ]\n", "quota");
	expect("cgroups: [ { name: 'x{1..5}', children: [ { name: 'y{1..13106}' } ] } ]\n",
	       ":6:20: cgroups: beside the root the kernel has ids for 65534, not for 65535");
	expect("kernel_memory: { percpu: 1GiB }\n", ":6:26: percpu: the host has less memory");
	expect("kernel_memory: { percpu: 512MiB, slab: 512MiB }\n",
	       ":6:40: slab: the host has less memory, beside percpu");
	expect("kernel_memory: { caches: [ { bytes: 8192, objects: 1M } ] }\n",
	       ":6:26: caches: the host has less memory, beside percpu and slab");
	/* The same names in different places are no mistake. */
	char said[256];

	fixture_complaints(FIXTURE_BASE(8, 64, 1) "cgroups: [ { name: a, children: [ { name: a } ] } ]\n",
			   said, sizeof said);
	assert_string_equal(said, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_mistakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
