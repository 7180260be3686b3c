/*
 * test_charge.c - charges that meet a limit, kernel objects in bytes, and the end of who asks for too much.
 */
#include "models/cgroup/invariants.h"
#include "models/cgroup/stock.h"
#include "models/page/page.h"
#include "models/reclaim/reclaim.h"
#include "tests/host_fixture.h"

static const char limited[] = FIXTURE_BASE(
	4, 64, 1) "cgroups: [ { name: p, memory.max: 800KiB, children: [ { name: c }, { name: d } ] } ]\n";

static void check_holds(struct fixture *f)
{
	cgroups_check(f->host, f->run.record);
	if (record_invariants_broken(f->run.record))
		fprintf(stderr, "%s", record_invariants_text(f->run.record));
	assert_int_equal(record_invariants_broken(f->run.record), 0);
}

static void run_task(const char *text, void (*run)(struct task *t, void *arg))
{
	struct fixture f;

	fixture_open(&f, text);
	f.host->reclaim->unchecked_for_ever = true; /* charges without pages */
	fixture_spawn(&f, 0, run, &f);
	fixture_run(&f);
	check_holds(&f);
	fixture_close(&f);
}

/* 200 pages fit. Near the limit a batch does not, and pages are charged one by one. */
static void up_to_limit(struct task *t, void *arg)
{
	struct fixture *f = arg;
	struct memcg *p = memcg_find(f->host, "/p"), *c = memcg_find(f->host, "/p/c"), *level = NULL;

	for (int i = 0; i < 200; i++) {
		task_sync(t);
		assert_true(memcg_charge(t, c, 1, &level));
	}
	assert_int_equal(memcg_current(p), 200);
	assert_int_equal(memcg_stocked(f->host, c), 0);
	assert_int_equal(p->events[EVENT_MAX], 0); /* falling back from a batch to a page is no event */
	assert_int_equal(p->memory.failcnt, 8);

	/* One more: the kernel tries 18 times, once of them after the stocks were drained. */
	task_sync(t);
	assert_false(memcg_charge(t, c, 1, &level));
	assert_ptr_equal(level, p);
	assert_int_equal(p->events[EVENT_MAX], 18);
	assert_int_equal(p->events[EVENT_OOM], 1);
	assert_int_equal(c->events[EVENT_MAX], 0);
	assert_int_equal(c->nr_charged, 200);
	memcg_uncharge(t, c, 200);
}

static void test_limit(void **state)
{
	(void)state;
	run_task(limited, up_to_limit);
}

/* Stock that a sibling's CPU holds is what the drain is for. */
static void rescued_by_drain(struct task *t, void *arg)
{
	struct fixture *f = arg;
	struct memcg *p = memcg_find(f->host, "/p");

	task_sync(t);
	assert_true(memcg_charge(t, memcg_find(f->host, "/p/d"), 1, NULL)); /* 63 more in this CPU's stock */
	task_sync(t);
	/* The stock is d's, so c's charge finds it in the way, and its drain gives back 63 pages at once. */
	assert_true(memcg_charge(t, memcg_find(f->host, "/p/c"), 190, NULL));
	assert_int_equal(p->events[EVENT_MAX], 1);
	assert_int_equal(p->events[EVENT_OOM], 0);
	assert_int_equal(memcg_current(p), 191);
}

static void test_drain_rescues(void **state)
{
	(void)state;
	run_task(limited, rescued_by_drain);
}

/* With interrupts off nobody waits: one attempt with a batch, one with what is asked for. */
static void atomic_context(struct task *t, void *arg)
{
	struct fixture *f = arg;
	struct memcg *p = memcg_find(f->host, "/p"), *level = NULL;

	local_irq_disable(t);
	assert_false(memcg_charge(t, memcg_find(f->host, "/p/c"), 201, &level));
	assert_ptr_equal(level, p);
	assert_int_equal(p->events[EVENT_MAX], 0);
	assert_int_equal(p->memory.failcnt, 1);
	local_irq_enable(t);
}

static void test_atomic(void **state)
{
	(void)state;
	run_task(limited, atomic_context);
}

static void at_root(struct task *t, void *arg)
{
	struct fixture *f = arg;
	struct memcg *root = f->host->cgroups->root;

	task_sync(t);
	assert_true(memcg_charge(t, root, 1000, NULL));
	assert_int_equal(root->memory.usage, 0);
	assert_int_equal(root->nr_charged, 1000);
	memcg_uncharge(t, root, 1000);
	assert_int_equal(root->memory.usage, 0);
	assert_true(object_charge(t, root, 0, NR_SLAB_RECLAIMABLE_B, 592, NULL));
	assert_int_equal(root->object_bytes, 0);
}

static void test_root(void **state)
{
	(void)state;
	run_task(limited, at_root);
}

/* ---- bytes ---- */

static void objects(struct task *t, void *arg)
{
	struct fixture *f = arg;
	struct memcg *c = memcg_find(f->host, "/p/c"), *d = memcg_find(f->host, "/p/d");
	const struct object_stock *stock = &f->host->cgroups->stocks[0].objects;

	task_sync(t);
	for (int i = 0; i < 6; i++)
		assert_true(object_charge(t, c, 0, NR_SLAB_RECLAIMABLE_B, 592, NULL));
	/* One page has room for six; statistics are kept back until they pass a page. */
	assert_int_equal(c->nr_kmem, 1);
	assert_int_equal(stock->bytes, 4096 - 6 * 592);
	assert_int_equal(stat_truth(c, MEMCG_KMEM), 1);
	assert_int_equal(stat_truth(c, NR_SLAB_RECLAIMABLE_B), 0);
	assert_true(object_charge(t, c, 0, NR_SLAB_RECLAIMABLE_B, 592, NULL));
	assert_int_equal(c->nr_kmem, 2);
	assert_int_equal(stat_truth(c, NR_SLAB_RECLAIMABLE_B), 7 * 592);

	/* Another cgroup takes the stock over: bytes stay with their owner, and are found again. */
	assert_true(object_charge(t, d, 0, NR_SLAB_RECLAIMABLE_B, 592, NULL));
	assert_ptr_equal(stock->objcg, d->objcg);
	assert_int_equal(c->objcg->spare_bytes, 2 * 4096 - 7 * 592);
	assert_true(object_charge(t, c, 0, NR_SLAB_RECLAIMABLE_B, 592, NULL));
	assert_int_equal(c->objcg->spare_bytes, 0);
	assert_int_equal(d->objcg->spare_bytes, 4096 - 592);
	assert_int_equal(stat_truth(d, NR_SLAB_RECLAIMABLE_B), 592); /* passed on when it lost the stock */
	/*
	 * Before it took the stock back it had to ask for a page, with which there was more than one in it:
	 * that one is not kept. (Cgroups that take turns have 6 pages for 33 nodes and a pipe in a real 6.1.)
	 */
	assert_int_equal(c->nr_kmem, 2);
	assert_int_equal(stat_truth(c, MEMCG_KMEM), 2);
	assert_int_equal(stock->bytes, 2 * 4096 - 8 * 592);

	for (int i = 0; i < 8; i++)
		object_uncharge(t, c->objcg->id, 0, NR_SLAB_RECLAIMABLE_B, 592);
	object_uncharge(t, d->objcg->id, 0, NR_SLAB_RECLAIMABLE_B, 592);
	assert_int_equal(c->object_bytes, 0);
	assert_int_equal(d->object_bytes, 0);
	assert_true(c->nr_kmem <= 1); /* whole pages went to the stock of pages */
	assert_int_equal(stat_truth(c, NR_SLAB_RECLAIMABLE_B), 0);
}

static void test_objects(void **state)
{
	(void)state;
	run_task(limited, objects);
}

static void free_by_rcu(struct task *t, void *arg)
{
	struct fixture *f = arg;
	struct memcg *c = memcg_find(f->host, "/p/c");

	task_sync(t);
	assert_true(object_charge(t, c, 0, NR_SLAB_RECLAIMABLE_B, 592, NULL));
	assert_true(kmem_charge_pages(t, c, 1, NULL));
	assert_int_equal(c->nr_kmem, 2);
	object_uncharge_rcu(t, c->objcg->id, 0, NR_SLAB_RECLAIMABLE_B, 592);
	table_free_rcu(t, c->objcg->id, 0);
	cpu_work(t, SIM_US);
	task_sync(t);
	assert_int_equal(c->object_bytes, 592 + PAGE_SIZE);
	task_sleep(t, 100 * SIM_MS);
	assert_int_equal(c->object_bytes, 0);
	assert_int_equal(c->nr_kmem, 1); /* the page that the stock of bytes holds */
}

static void test_rcu(void **state)
{
	(void)state;
	run_task(limited, free_by_rcu);
}

/* What a grace period frees goes one by one: another CPU sees each number on the way. */
static void free_several(struct task *t, void *arg)
{
	struct fixture *f = arg;
	struct memcg *c = memcg_find(f->host, "/p/c");

	for (int i = 0; i < 6; i++) {
		task_sync(t);
		assert_true(object_charge(t, c, 0, NR_SLAB_RECLAIMABLE_B, 592, NULL));
	}
	for (int i = 0; i < 6; i++)
		object_uncharge_rcu(t, c->objcg->id, 0, NR_SLAB_RECLAIMABLE_B, 592);
}

static void see_each(struct task *t, void *arg)
{
	struct fixture *f = arg;
	struct memcg *c = memcg_find(f->host, "/p/c");
	uint64_t seen = 6 * 592;

	task_sleep(t, SIM_MS);
	assert_int_equal(c->object_bytes, seen);
	while (c->object_bytes) {
		assert_true(c->object_bytes == seen || c->object_bytes == seen - 592);
		seen = c->object_bytes;
		cpu_work(t, 5 * SIM_NS);
		task_sync(t);
	}
	assert_int_equal(seen, 592);
}

static void test_rcu_steps(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, limited);
	f.host->reclaim->unchecked_for_ever = true;
	fixture_spawn(&f, 0, free_several, &f);
	fixture_spawn(&f, 1, see_each, &f);
	fixture_run(&f);
	check_holds(&f);
	fixture_close(&f);
}

/* ---- the whole way: a workload that wants more than its limit ends, the other goes on ---- */

static const char two_tasks[] = FIXTURE_BASE(
	4, 64, 1) "cgroups:\n"
		  "  - { name: small, memory.max: 400KiB, tasks: [ { workload: anon_churn, pages: 500, name: "
		  "big } ] }\n"
		  "  - { name: large, tasks: [ { workload: anon_churn, pages: 500, pause: 20ms } ] }\n"
		  "run: { until: done, sample: 0s }\n";

static void test_out_of_memory(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, two_tasks);
	fixture_run(&f);
	struct memcg *small = memcg_find(f.host, "/small");

	assert_int_equal(small->events[EVENT_OOM], 1);
	assert_int_equal(small->events[EVENT_OOM_KILL], 1);
	assert_int_equal(small->events[EVENT_MAX], 18 + 17);
	assert_int_equal(small->nr_charged - small->nr_kmem, 0); /* it ended, and its memory with it */
	assert_in_range(small->memory.watermark, 100, 100);
	assert_int_equal(memcg_find(f.host, "/large")->memory.failcnt, 0);
	assert_true(fixture_holds(&f));
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),     cmocka_unit_test(test_drain_rescues),
		cmocka_unit_test(test_atomic),    cmocka_unit_test(test_root),
		cmocka_unit_test(test_objects),   cmocka_unit_test(test_rcu),
		cmocka_unit_test(test_rcu_steps), cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
