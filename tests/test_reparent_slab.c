/*
 * test_reparent_slab.c - what a removed cgroup counted of its slab objects, which are its parent's as soon
 * as it is offline: with reparent_local the parent counts them, without it the child has them for ever, and
 * the parent counts out what it never counted in.
 */
#include "tests/life_rig.h"

#include "models/cgroup/stock.h"
#include "models/host/slab.h"
#include "models/stat/stat_impl.h"

#define OBJECTS 40u

static int64_t slab_of(const struct memcg *m)
{
	return stat_local_exact(m, NR_SLAB_UNRECLAIMABLE_B);
}

/* Objects are the parent's as soon as the cgroup is offline; what is counted of them is only if it moves. */
static void slab(struct task *t, void *arg)
{
	struct host *host = ((struct fixture *)arg)->host;
	struct memcg *p = memcg_find(host, "/p"), *m, *failed;
	const uint32_t node = t->cpu->node, bytes = 2048, all = OBJECTS * (bytes + OWNER_BYTES);
	int64_t own;

	assert_int_equal(cgroup_mkdir(t, p, "m", &m), CGROUP_OK); /* holds it */
	own = slab_of(p);
	for (uint32_t i = 0; i < OBJECTS; i++) {
		task_sync(t);
		assert_true(slab_alloc(t, m, node, NR_SLAB_UNRECLAIMABLE_B, bytes, &failed));
	}
	uint32_t owner = m->objcg->id;

	cgroup_rmdir(t, m);
	settle(t);
	assert_int_equal(m->life, MEMCG_OFFLINE);
	int64_t left = slab_of(m);

	if (host->reparent_local)
		assert_int_equal(left, 0);
	else
		assert_true(left > (int64_t)all - 2 * (int64_t)PAGE_SIZE);
	for (uint32_t i = 0; i < OBJECTS; i++) {
		task_sync(t);
		slab_free(t, owner, node, NR_SLAB_UNRECLAIMABLE_B, bytes);
	}
	memcg_drain_all_stock(t, p);
	settle(t);
	/* The structures of the cgroup are the parent's still. */
	assert_true(slab_of(p) + left - own < (int64_t)PAGE_SIZE);
	assert_true(slab_of(p) + left - own > -(int64_t)PAGE_SIZE);
	memcg_put(t, m);
}

static void run(const char *nodes, const char *policies)
{
	struct fixture f;
	char text[512];

	snprintf(text, sizeof text,
		 "schema: 1\nscenario: test\nkernel: v6.18\nhost: { cpus: 4, memory: 1GiB, %s }\n"
		 "cgroups: [ { name: p } ]\n"
		 "policies: { lru_reparent: at_offline, css_killed_work: rcu_work, %s }\n",
		 nodes, policies);
	fixture_open(&f, text);
	fixture_spawn(&f, 3, slab, &f);
	sim_run(f.run.sim, 10 * SIM_SEC);
	assert_null(sim_error(f.run.sim));
	assert_int_equal(f.ended, 1);
	assert_true(fixture_holds(&f));
	fixture_close(&f);
}

static void moves_with_the_pages(void **state)
{
	(void)state;
	run("nodes: 1", "reparent_local: on, dying_stats: redirect_all");
	run("nodes: 2", "reparent_local: on, dying_stats: redirect_all_fast");
}

static void stays_behind(void **state)
{
	(void)state;
	run("nodes: 1", "reparent_local: off, dying_stats: redirect_all");
	run("nodes: 2", "reparent_local: off, dying_stats: keep");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves_with_the_pages),
		cmocka_unit_test(stays_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
