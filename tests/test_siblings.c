/*
 * test_siblings.c - walks that pass cgroups without pages: which those are, at any time and from anywhere,
 * and that passing many at once comes to what passing one by one does.
 */
#include "tests/host_fixture.h"

#include "models/cgroup/life.h"
#include "models/cgroup/siblings.h"
#include "models/page/page_impl.h"
#include "models/reclaim/reclaim.h"
#include "tests/reclaim_rig.h"
#include "tests/text_run.h"

/* ---- the row, in random steps ---- */

#define MOST  400u
#define STEPS 3000u

/* By walking there. */
static struct memcg *walked(struct memcg *m, uint64_t most, uint64_t *nr)
{
	struct memcg *last = NULL;

	*nr = 0;
	for (m = m->next_sibling; m && *nr < most; m = m->next_sibling) {
		if (m->life >= MEMCG_RELEASED)
			continue;
		if (m->memory.usage || m->first_child)
			break;
		last = m;
		++*nr;
	}
	return last;
}

static struct memcg *made(struct task *t, struct memcg *parent)
{
	struct memcg *m;

	assert_int_equal(cgroup_mkdir(t, parent, "m", &m), CGROUP_OK);
	return m; /* held */
}

static void compare(struct memcg *p, struct xorshift *x, uint64_t *passed)
{
	for (struct memcg *m = p->first_child; m; m = m->next_sibling) {
		uint64_t most = 1 + xorshift_next(x) % 100, nr, expected;
		struct memcg *last = walked(m, most, &expected);

		struct memcg *found = siblings_empty_after(m, most, &nr);

		if (!p->row) /* too few to count them */
			return;
		assert_ptr_equal(found, last);
		assert_int_equal(nr, expected);
		*passed += nr;
	}
}

/* Of the cgroups that are held here: some get pages or a child, lose them, or are let go. */
static void random_steps(struct task *t, struct actor *a)
{
	struct memcg *p = memcg_find(a->rig->host, "/p"), *held[MOST], *child[MOST] = { 0 }, *failed;
	struct xorshift x = xorshift_seed(7);
	uint64_t charged[MOST] = { 0 }, passed = 0;
	uint32_t nr = 0;

	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t i = nr ? (uint32_t)(xorshift_next(&x) % nr) : 0, what = xorshift_next(&x) % 16;
		bool grow = step < STEPS / 2;

		if (nr < MOST && (!nr || what < (grow ? 8 : 2))) {
			held[nr] = made(t, p);
			child[nr] = NULL;
			charged[nr++] = 0;
		} else if (what < 11 && !charged[i]) {
			task_sync(t);
			assert_true(memcg_charge(t, held[i], 3, &failed));
			charged[i] = 3;
		} else if (what < 13 && charged[i]) {
			task_sync(t);
			memcg_uncharge(t, held[i], charged[i]);
			charged[i] = 0;
		} else if (what == 13 && !child[i]) {
			child[i] = made(t, held[i]);
		} else if (!charged[i]) {
			if (child[i]) {
				cgroup_rmdir(t, child[i]);
				task_sync(t);
				memcg_put(t, child[i]);
			}
			cgroup_rmdir(t, held[i]);
			task_sync(t);
			memcg_put(t, held[i]);
			held[i] = held[--nr];
			child[i] = child[nr];
			charged[i] = charged[nr];
		}
		task_sync(t);
		if (step % 8 == 0)
			compare(p, &x, &passed);
		if (step % 100 == 99)
			task_sleep(t, 20 * SIM_MS);
	}
	assert_true(passed > 10000);
	while (nr--) {
		task_sync(t);
		if (charged[nr])
			memcg_uncharge(t, held[nr], charged[nr]);
		task_sync(t);
		if (child[nr])
			memcg_put(t, child[nr]);
		memcg_put(t, held[nr]);
	}
}

static void test_row(void **state)
{
	struct rig r;
	struct actor a = { .arg = NULL };

	(void)state;
	rig_open(&r, RIG_HOST(2, 1GiB, "v6.12") "cgroups: [ { name: p }, { name: other } ]\n", 0);
	rig_actor(&r, &a, "/other", random_steps);
	rig_run(&r, 60);
	assert_true(a.ended);
	rig_close(&r);
}

/* ---- a full machine: many at once, or one by one ---- */

#define FULL_MACHINE                                                                               \
	"schema: 1\nscenario: test\nhost: { cpus: 4, nodes: 1, memory: 32MiB }\n"                  \
	"kernel_memory: { percpu: 1MiB, slab: 4MiB }\n"                                            \
	"cgroups: [ { name: probes, tasks: [ { workload: cgroup_churn, rate: 100, lifetime: 50ms," \
	" pages: 1, file_pages: 64K, pinned: 70% } ] }, { name: limited, memory.high: 3MiB,"       \
	" tasks: [ { workload: cgroup_churn, rate: 40, lifetime: 50ms, pages: 1, file_pages: 64K," \
	" pinned: 50% } ] } ]\nrun: { until: 14s }\n"

/* The limited cgroup is a leaf, and the empty ones are its siblings: no part of its walk. */
#define LIMITED_LEAF                                                                                    \
	"schema: 1\nscenario: test\nhost: { cpus: 1, memory: 512MiB }\n"                                \
	"cgroups: [ { name: p, children: [ { name: a, memory.max: 4MiB, tasks: [ { workload: page_ops," \
	" file_pages: 20000, rounds: 1, steps: [ { op: file_read, pages: 20000 } ] } ] },"              \
	" { name: \"f{1..200}\" }, { name: z, tasks: [ { workload: page_ops, file_pages: 500,"          \
	" rounds: 1, steps: [ { op: file_read, pages: 500 } ] } ] } ] } ]\nrun: { until: done }\n"

/* In one go and naively comes to the same; so many times fewer events, or nothing was passed at once. */
static void same(const char *scene, const char *kernel, const char *lru, const char *const metrics[][2],
		 uint64_t fewer)
{
	char text[1200];

	snprintf(text, sizeof text, "%skernel: %s\npolicies: { reclaim: %s }\n", scene, kernel, lru);
	struct record *merged = run_text_by(text, false), *naive = run_text_by(text, true);

	for (; (*metrics)[0]; metrics++) {
		double once = value(merged, (*metrics)[0], (*metrics)[1]);
		double one_by_one = value(naive, (*metrics)[0], (*metrics)[1]);

		if (once != one_by_one)
			fail_msg("%s of %s: %.17g, one by one %.17g", (*metrics)[0], kernel, once,
				 one_by_one);
	}
	assert_true(record_ended(merged)->events <= record_ended(naive)->events / fewer);
	record_free(merged);
	record_free(naive);
}

static const char *const of_machine[][2] = {
	{ "cgroup.made", "all" },
	{ "nr_dying_descendants", "/" },
	{ "memory.stat.pgscan_kswapd", "/" },
	{ "memory.stat.pgscan_direct", "/" },
	{ "memory.pressure.some.total", "/" },
	{ "time.sys", "all" },
	{ NULL, NULL },
};

static void test_whole_walks(void **state)
{
	(void)state;
	same(FULL_MACHINE, "v6.1", "classic", of_machine, 2);
	same(FULL_MACHINE, "v6.1", "mglru", of_machine, 2);
}

static void test_partial_walks(void **state)
{
	(void)state;
	same(FULL_MACHINE, "v6.12", "classic", of_machine, 2);
	same(FULL_MACHINE, "v6.12", "mglru", of_machine, 2);
}

static const char *const of_leaf[][2] = {
	{ "memory.stat.pgscan_direct", "/p/a" },
	{ "memory.current", "/p/z" }, /* nothing of it is reclaimed */
	{ "time.sys", "all" },
	{ NULL, NULL },
};

static void test_leaf_among_siblings(void **state)
{
	(void)state;
	same(LIMITED_LEAF, "v6.1", "classic", of_leaf, 1);  /* there is nothing to pass */
	same(LIMITED_LEAF, "v6.12", "classic", of_leaf, 1); /* there is nothing to pass */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_row),
		cmocka_unit_test(test_whole_walks),
		cmocka_unit_test(test_partial_walks),
		cmocka_unit_test(test_leaf_among_siblings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
