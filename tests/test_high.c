/*
 * test_high.c - memory.high: reclaim on the way to user mode, and the waits of who finds nothing to reclaim;
 * memory.reclaim. Counts and waits are those of a real 6.1.
 */
#include "tests/reclaim_rig.h"

/* 1.2 times `high` of fresh anonymous pages, without swap: nothing can be reclaimed. */
struct growth {
	uint64_t high, touched, sleeps;
	double slept; /* s */
	uint64_t events_high, events_max, parents_high;
};

static void grow(struct task *t, struct actor *a)
{
	struct growth *g = a->arg;
	uint64_t nr = g->high * 12 / 10;
	struct anon_object *memory = anon_create(a->rig->host, a->memcg, nr);

	for (uint64_t i = 0; i < nr; i++) {
		task_sync(t);
		sim_time_t before = t->clock;

		assert_true(anon_touch(t, memory, i, NULL));
		g->touched++;
		task_sync(t);
		if (t->clock - before >= 3 * SIM_MS) {
			g->sleeps++;
			g->slept += sim_seconds(t->clock - before);
		}
	}
}

static void run_growth(const char *text, const char *path, struct growth *g)
{
	struct rig r;
	struct actor a = { .arg = g };

	rig_open(&r, text, 0);
	rig_actor(&r, &a, path, grow);
	rig_run(&r, 60);
	assert_true(a.ended);
	g->events_high = a.memcg->events[EVENT_HIGH];
	g->events_max = a.memcg->events[EVENT_MAX];
	g->parents_high = a.memcg->parent->events[EVENT_HIGH];
	rig_close(&r);
}

static void test_throttled(void **state)
{
	struct growth g = { .high = 2048 };

	(void)state;
	run_growth(RIG_HOST(1, 256MiB,
			    "v6.1") "cgroups: [ { name: c, memory.high: 8MiB, memory.swap.max: 0 } ]\n",
		   "/c", &g);
	assert_int_equal(g.touched, 2457);
	/* Of the batches above high the first wait too short to count. */
	assert_in_range(g.sleeps, 5, 8);
	assert_near(g.slept, 7.76, 0.05);
	assert_near((double)g.events_high, 119.5, 0.02);
	assert_int_equal(g.events_max, 0);
}

/* The limit of the parent: same waits, events there alone. */
static void test_parent(void **state)
{
	struct growth g = { .high = 4096 };

	(void)state;
	run_growth(RIG_HOST(1, 256MiB,
			    "v6.1") "cgroups: [ { name: p, memory.high: 16MiB, children: [ { name: c, "
				    "memory.swap.max: 0 } ] } ]\n",
		   "/p/c", &g);
	assert_near(g.slept, 13.0, 0.08); /* there, the process had some thirty pages besides */
	assert_int_equal(g.events_high, 0);
	assert_near((double)g.parents_high, 222, 0.02);
}

/* As long as pages can be reclaimed nobody waits, and each event takes two batches' worth. */
static void churn(struct task *t, struct actor *a)
{
	struct file_object *f = file_create(a->rig->host, 4096);
	sim_time_t longest = 0;

	for (uint64_t i = 0; i < 3 * 4096; i++) {
		task_sync(t);
		sim_time_t before = t->clock;

		file_read(t, a->memcg, f, i % 4096, NULL);
		memcg_handle_over_high(t);
		task_sync(t);
		if (t->clock - before > longest)
			longest = t->clock - before;
		assert_true(memcg_current(a->memcg) <= 2048 + 64);
	}
	assert_true(longest < SIM_MS);
	a->rig->done = true;
}

static void test_churn(void **state)
{
	struct rig r;
	struct actor a = { 0 };

	(void)state;
	rig_open(&r, RIG_HOST(1, 256MiB, "v6.1") "cgroups: [ { name: c, memory.high: 8MiB } ]\n", 0);
	rig_actor(&r, &a, "/c", churn);
	rig_run(&r, 5);
	assert_true(r.done);
	assert_int_equal(a.memcg->events[EVENT_MAX], 0);
	assert_in_range(a.memcg->events[EVENT_HIGH], 80, 170);
	rig_close(&r);
}

/* memory.reclaim: what was asked for is gone; more than there is cannot be had. */
static void proactive(struct task *t, struct actor *a)
{
	struct file_object *f = file_create(a->rig->host, 1000);

	for (uint64_t i = 0; i < 1000; i++)
		file_read(t, a->memcg, f, i, NULL);
	assert_true(memcg_proactive_reclaim(t, a->memcg, 300));
	assert_in_range(file_present(f), 570, 600); /* the pass that got enough took 1/4 of the list */
	assert_false(memcg_proactive_reclaim(t, a->memcg, 5000));
	assert_int_equal(file_present(f), 0);
	a->rig->done = true;
}

static void test_proactive(void **state)
{
	struct rig r;
	struct actor a = { 0 };

	(void)state;
	rig_open(&r, RIG_HOST(1, 256MiB, "v6.1") "cgroups: [ { name: c } ]\n", 0);
	rig_actor(&r, &a, "/c", proactive);
	rig_run(&r, 5);
	assert_true(r.done);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_throttled),
		cmocka_unit_test(test_parent),
		cmocka_unit_test(test_churn),
		cmocka_unit_test(test_proactive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
