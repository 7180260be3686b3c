/*
 * test_updated_rank.c - who takes a cgroup off the middle of its CPU's updated tree pays for each sibling
 * before it, however the simulator counts them; in thousands of random steps, with the lists of a model.
 */
#include "tests/draw.h"
#include "tests/stat_rig.h"

#define CHILDREN 500u
#define STEPS    4000u

struct trial {
	struct rig *rig;
	struct memcg *child[CHILDREN];
	uint32_t listed[CHILDREN]; /* in the order in which they joined */
	uint32_t nr;
	bool ranked; /* whether there were ranks at some time */
};

static void join(struct task *t, struct trial *x, uint32_t i)
{
	for (uint32_t k = 0; k < x->nr; k++)
		if (x->listed[k] == i)
			return;
	x->listed[x->nr++] = i;
	rig_update(t, x->child[i], 1);
}

/* Takes it off, and returns how many have joined since. */
static uint32_t leave(struct trial *x, uint32_t at)
{
	uint32_t after = x->nr - 1 - at;

	for (uint32_t k = at; k + 1 < x->nr; k++)
		x->listed[k] = x->listed[k + 1];
	x->nr--;
	return after;
}

static sim_time_t flush(struct task *t, struct memcg *m)
{
	struct flush f = { .memcg = m, .caller = FLUSH_RELEASE };
	sim_time_t began;

	task_sync(t);
	began = t->clock;
	rstat_flush(t, &f, m, true);
	task_sync(t);
	assert_int_equal(f.pairs, 1);
	return t->clock - began;
}

static void random_steps(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct host *host = &x->rig->host;
	uint64_t seed = 1;
	sim_time_t alone = 0;

	for (uint32_t i = 0; i < CHILDREN; i++)
		join(t, x, i);
	/* Lines are where they will be after one; the second passes nobody. */
	for (uint32_t i = 0; i < 2; i++) {
		alone = flush(t, x->child[x->listed[x->nr - 1]]);
		leave(x, x->nr - 1);
	}
	for (uint32_t step = 0; step < STEPS; step++) {
		/* Now many come, now many go, and now all. */
		bool fewer = step / 700 % 2;

		if (x->nr && draw(&seed, 10) < (fewer ? 8 : 4)) {
			uint32_t at = (uint32_t)draw(&seed, x->nr), i = x->listed[at];
			uint32_t passed = leave(x, at);

			assert_int_equal(flush(t, x->child[i]), alone + passed * host->costs->rstat_link);
		} else {
			join(t, x, (uint32_t)draw(&seed, CHILDREN));
		}
		x->ranked |= rstat_pair_find(host, t->cpu->id, host->cgroups->root)->ranks != NULL;
	}
}

static void each_sibling_is_passed(void **state)
{
	struct trial x = { .rig = rig_new(&(struct rig_config){ .cpus = 1, .possible = 1 }) };

	(void)state;
	for (uint32_t i = 0; i < CHILDREN; i++)
		x.child[i] = rig_memcg(x.rig, NULL, "c");
	rig_task(x.rig, 0, random_steps, &x);
	rig_run(x.rig, 100 * SIM_SEC);
	assert_int_equal(sim_sched(x.rig->sim)->nr_tasks, 0);
	assert_true(x.ranked);
	rig_free(x.rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_sibling_is_passed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
