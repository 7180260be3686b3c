/*
 * test_oom.c - charges that nothing helps: how often they try, whom the OOM killer chooses, and what is left.
 * Counts are those of a real 6.1.
 */
#include "tests/reclaim_rig.h"

struct life {
	uint64_t first, then; /* pages touched at once, and after the pause */
	sim_time_t pause;
	uint64_t touched;
	bool killed;
};

static void live(struct task *t, struct actor *a)
{
	struct life *l = a->arg;
	struct anon_object *memory = anon_create(a->rig->host, a->memcg, l->first + l->then + 1);
	bool alive = true;

	while (alive && l->touched < l->first + l->then) {
		if (l->touched == l->first)
			task_sleep(t, l->pause);
		alive = anon_touch(t, memory, l->touched, NULL);
		l->touched += alive;
	}
	task_sync(t);
	for (sim_time_t end = t->clock + 2 * SIM_SEC; !task_killed(t) && t->clock < end;)
		task_block_until(t, end);
	l->killed = task_killed(t);
	anon_unmap(t, memory);
}

static void run_lives(struct rig *r, const char *text, const char *path, struct life *lives,
		      struct actor *actors, int nr)
{
	rig_open(r, text, 0);
	for (int i = 0; i < nr; i++) {
		actors[i].arg = &lives[i];
		rig_actor(r, &actors[i], path, live);
	}
	rig_run(r, 10);
	for (int i = 0; i < nr; i++)
		assert_true(actors[i].ended);
}

#define LIMITED \
	RIG_HOST(1, 256MiB, "v6.1") "cgroups: [ { name: c, memory.max: 16MiB, memory.swap.max: 0 } ]\n"

/* Alone: 18 attempts, the kill, 17 more by the victim. */
static void test_alone(void **state)
{
	struct life l = { .then = 8192 };
	struct actor a;
	struct rig r;

	(void)state;
	run_lives(&r, LIMITED, "/c", &l, &a, 1);
	assert_true(l.killed);
	assert_in_range(l.touched, 4070, 4090); /* page tables are charged too */
	assert_int_equal(a.memcg->events[EVENT_MAX], 35);
	assert_int_equal(a.memcg->events[EVENT_OOM], 1);
	assert_int_equal(a.memcg->events[EVENT_OOM_KILL], 1);
	assert_int_equal(stat_truth(a.memcg, NR_ANON_MAPPED), 0);
	assert_int_equal(memcg_current(a.memcg) - memcg_stocked(r.host, a.memcg), 0);
	rig_close(&r);
}

/* The limit of the parent: its events, but the kill is the child's too. */
static void test_nested(void **state)
{
	struct life l = { .then = 8192 };
	struct actor a;
	struct rig r;

	(void)state;
	run_lives(&r,
		  RIG_HOST(1, 256MiB,
			   "v6.1") "cgroups: [ { name: p, memory.max: 16MiB, memory.swap.max: 0, children: "
				   "[ { name: c } ] } ]\n",
		  "/p/c", &l, &a, 1);
	assert_int_equal(a.memcg->events[EVENT_MAX], 0);
	assert_int_equal(a.memcg->events[EVENT_OOM], 0);
	assert_int_equal(a.memcg->events[EVENT_OOM_KILL], 1);
	assert_int_equal(a.memcg->parent->events[EVENT_MAX], 35);
	assert_int_equal(a.memcg->parent->events[EVENT_OOM_KILL], 1);
	rig_close(&r);
}

/* The largest goes, not the one that asks: a small one that grows beside a big one that sleeps. */
static void test_largest(void **state)
{
	struct life l[] = { { .first = 2457 }, { .first = 512, .then = 3000, .pause = 10 * SIM_MS } };
	struct actor a[2];
	struct rig r;

	(void)state;
	run_lives(&r, LIMITED, "/c", l, a, 2);
	assert_true(l[0].killed);
	assert_false(l[1].killed);
	assert_int_equal(l[1].touched, 3512);
	assert_int_equal(a[0].memcg->events[EVENT_OOM], 1);
	assert_int_equal(a[0].memcg->events[EVENT_OOM_KILL], 1);
	assert_in_range(a[0].memcg->events[EVENT_MAX], 18, 19);
	rig_close(&r);
}

/* A small one that is to go first does, and then who asked for more. */
static void test_adjusted(void **state)
{
	struct life l[] = { { .first = 2048, .then = 4096, .pause = 10 * SIM_MS }, { .first = 512 } };
	struct actor a[2];
	struct rig r;

	(void)state;
	rig_open(&r, LIMITED, 0);
	for (int i = 0; i < 2; i++) {
		a[i].arg = &l[i];
		rig_actor(&r, &a[i], "/c", live);
	}
	a[1].task.oom_score_adj = 800; /* of 4 x 1,000 pages, as 4,096 are taken for */
	rig_run(&r, 10);
	assert_true(l[1].killed);
	assert_true(l[0].killed);
	assert_in_range(l[0].touched, 4076, 4090); /* a real 6.1: 4,084 */
	assert_int_equal(a[0].memcg->events[EVENT_OOM], 2);
	assert_int_equal(a[0].memcg->events[EVENT_OOM_KILL], 2);
	assert_int_equal(a[0].memcg->events[EVENT_MAX], 54);
	rig_close(&r);
}

/* The big one is not to be killed: the small one goes, and then it faults for ever. */
static void test_never_killed(void **state)
{
	struct life l[] = { { .first = 2048, .then = 4096, .pause = 10 * SIM_MS }, { .first = 512 } };
	struct actor a[2];
	struct rig r;

	(void)state;
	rig_open(&r, LIMITED, 0);
	for (int i = 0; i < 2; i++) {
		a[i].arg = &l[i];
		rig_actor(&r, &a[i], "/c", live);
	}
	a[0].task.oom_score_adj = OOM_SCORE_ADJ_MIN;
	sim_run(r.host->sim, 200 * SIM_MS);
	assert_null(sim_error(r.host->sim));
	assert_true(l[1].killed);
	assert_false(a[0].ended);
	assert_in_range(l[0].touched, 4076, 4090);
	assert_int_equal(a[0].memcg->events[EVENT_OOM_KILL], 1);
	assert_true(a[0].memcg->events[EVENT_OOM] > 2);
	uint64_t attempts = a[0].memcg->events[EVENT_MAX], calls = a[0].memcg->events[EVENT_OOM];

	/* Each call after 18 attempts, as in 21,867 for 1,214 of a real 6.1; and one is under way. */
	assert_in_range(attempts, 18 * calls, 18 * calls + 17);
	rig_close(&r);
}

/* All or none. */
static void test_group(void **state)
{
	struct life l[] = { { .first = 2457 },
			    { .first = 512, .then = 3000, .pause = 10 * SIM_MS },
			    { .first = 10 } };
	struct actor a[3];
	struct rig r;

	(void)state;
	run_lives(&r,
		  RIG_HOST(1, 256MiB, "v6.1") "cgroups: [ { name: c, memory.max: 16MiB, memory.swap.max: 0, "
					      "memory.oom.group: true } ]\n",
		  "/c", l, a, 3);
	for (int i = 0; i < 3; i++)
		assert_true(l[i].killed);
	/*
	 * Two tasks make three events on real kernels (E13): the victim is killed once alone, once in its
	 * group.
	 */
	assert_int_equal(a[0].memcg->events[EVENT_OOM_KILL], 4);
	assert_int_equal(a[0].memcg->events[EVENT_OOM_GROUP_KILL], 1);
	/* It ends before the others are killed: who asked has room then, and makes no attempt 19. */
	assert_int_equal(a[0].memcg->events[EVENT_MAX], 18);
	assert_int_equal(stat_truth(a[0].memcg, NR_ANON_MAPPED), 0);
	rig_close(&r);
}

/* The one that would be killed next is the victim, and ends before its turn comes. */
static void test_group_loses_its_next(void **state)
{
	struct life l[] = { { .first = 10 },
			    { .first = 2457 },
			    { .first = 512, .then = 3000, .pause = 10 * SIM_MS },
			    { .first = 10 } };
	struct actor a[4];
	struct rig r;

	(void)state;
	run_lives(&r,
		  RIG_HOST(1, 256MiB, "v6.1") "cgroups: [ { name: c, memory.max: 16MiB, memory.swap.max: 0, "
					      "memory.oom.group: true } ]\n",
		  "/c", l, a, 4);
	for (int i = 0; i < 4; i++)
		assert_true(l[i].killed);
	assert_int_equal(a[0].memcg->events[EVENT_OOM_KILL], 4);
	assert_int_equal(stat_truth(a[0].memcg, NR_ANON_MAPPED), 0);
	assert_null(r.host->cgroups->oom_next);
	rig_close(&r);
}

/* File pages go first, all of them: 2,048 read once, then anonymous memory grows to the limit. */
static void files_first(struct task *t, struct actor *a)
{
	struct file_object *f = file_create(a->rig->host, 2048);

	for (uint64_t i = 0; i < 2048; i++)
		assert_int_equal(file_read(t, a->memcg, f, i, NULL), FILE_MISS);
	a->arg = &(struct life){ .then = 8192 };
	live(t, a);
	assert_int_equal(file_present(f), 0);
}

static void test_files_first(void **state)
{
	struct actor a = { 0 };
	struct rig r;

	(void)state;
	rig_open(&r, LIMITED, 0);
	rig_actor(&r, &a, "/c", files_first);
	rig_run(&r, 10);
	assert_true(a.ended);
	assert_int_equal(stat_truth(a.memcg, PGSTEAL_DIRECT), 2048);
	assert_int_equal(a.memcg->events[EVENT_OOM_KILL], 1);
	assert_in_range(a.memcg->events[EVENT_MAX], 75, 87); /* 81 */
	rig_close(&r);
}

/* Blocks of the disk whose buffers are in use: activated by every scan, and there at the end. */
static void blocks_first(struct task *t, struct actor *a)
{
	struct file_object *free = file_create(a->rig->host, 18), *used = file_create(a->rig->host, 16);

	file_hold_buffers(used);
	for (uint64_t i = 0; i < 18; i++)
		assert_int_equal(file_read(t, a->memcg, free, i, NULL), FILE_MISS);
	for (uint64_t i = 0; i < 16; i++)
		assert_int_equal(file_read(t, a->memcg, used, i, NULL), FILE_MISS);
	a->arg = &(struct life){ .then = 8192 };
	live(t, a);
	assert_int_equal(file_present(free), 0);
	assert_int_equal(file_present(used), 16);
	file_drop(t, used, 0, 16);
	assert_int_equal(file_present(used), 16);
}

static void test_blocks_in_use(void **state)
{
	struct actor a = { 0 };
	struct rig r;

	(void)state;
	rig_open(&r, LIMITED, 0);
	rig_actor(&r, &a, "/c", blocks_first);
	rig_run(&r, 10);
	assert_true(a.ended);
	assert_int_equal(stat_truth(a.memcg, PGSTEAL_DIRECT), 18);
	assert_true(stat_truth(a.memcg, PGSCAN_DIRECT) > 18 + 16);
	assert_true(stat_truth(a.memcg, PGACTIVATE) >= 16);
	assert_int_equal(a.memcg->events[EVENT_OOM_KILL], 1);
	rig_close(&r);
}

/* The machine itself is full: the largest of all goes, and the rest live on. */
static void test_machine(void **state)
{
	struct life l[] = { { .first = 8000 }, { .then = 9000, .pause = 10 * SIM_MS } };
	struct actor a[2];
	struct rig r;

	(void)state;
	run_lives(&r, RIG_HOST(1, 64MiB, "v6.1") "cgroups: [ { name: c } ]\n", "/c", l, a, 2);
	assert_int_equal(l[0].killed + l[1].killed, 1);
	assert_int_equal(a[0].memcg->events[EVENT_OOM_KILL], 1);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_largest),
		cmocka_unit_test(test_adjusted),
		cmocka_unit_test(test_never_killed),
		cmocka_unit_test(test_group),
		cmocka_unit_test(test_group_loses_its_next),
		cmocka_unit_test(test_files_first),
		cmocka_unit_test(test_blocks_in_use),
		cmocka_unit_test(test_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
