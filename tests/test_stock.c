/*
 * test_stock.c - the per-CPU stock of charged pages: one slot and seven, and draining it from elsewhere.
 */
#include "models/cgroup/invariants.h"
#include "models/cgroup/stock.h"
#include "tests/host_fixture.h"

static const char one_slot[] = FIXTURE_BASE(4, 64, 1) "cgroups: [ { name: 'm{0..9}' } ]\n";
static const char seven_slots[] = FIXTURE_BASE(4, 32, 7) "cgroups: [ { name: 'm{0..9}' } ]\n";

static struct memcg *group(const struct fixture *f, int i)
{
	char path[8];

	snprintf(path, sizeof path, "/m%d", i);
	return memcg_find(f->host, path);
}

static void charge(struct task *t, struct memcg *m, uint32_t nr)
{
	task_sync(t);
	assert_true(memcg_charge(t, m, nr, NULL));
}

static void give_back(struct task *t, struct memcg *m, uint32_t nr)
{
	task_sync(t);
	memcg_uncharge(t, m, nr);
}

static void one_batch(struct task *t, void *arg)
{
	struct fixture *f = arg;
	struct memcg *m = group(f, 0);

	charge(t, m, 1);
	assert_int_equal(memcg_current(m), 64);
	assert_int_equal(memcg_stocked(f->host, m), 63);
	sim_time_t before = t->clock;

	for (int i = 0; i < 63; i++)
		charge(t, m, 1);
	/* From the stock: nothing but the cost of looking there. */
	assert_int_equal(t->clock - before, 63 * f->host->costs->consume_stock);
	assert_int_equal(memcg_current(m), 64);
	assert_int_equal(memcg_stocked(f->host, m), 0);
	charge(t, m, 1);
	assert_int_equal(memcg_current(m), 128);
	charge(t, m, 100); /* more than a batch is charged alone, and leaves the stock as it is */
	assert_int_equal(memcg_current(m), 228);
	assert_int_equal(memcg_stocked(f->host, m), 63);
	assert_int_equal(m->nr_charged, 165);
	give_back(t, m, 165); /* straight to the counters */
	assert_int_equal(memcg_current(m), 63);
	assert_int_equal(memcg_stocked(f->host, m), 63);
}

/* Two cgroups that take turns on a CPU charge and uncharge a batch each time, where there is one slot. */
static void take_turns(struct task *t, void *arg)
{
	struct fixture *f = arg;
	struct memcg *a = group(f, 0), *b = group(f, 1);

	for (int i = 0; i < 10; i++) {
		charge(t, a, 1);
		charge(t, b, 1);
	}
	assert_int_equal(a->nr_charged, 10);
	assert_int_equal(memcg_stocked(f->host, b), f->host->nr_stock == 1 ? 63 : 22);
	assert_int_equal(memcg_stocked(f->host, a), f->host->nr_stock == 1 ? 0 : 22);
	assert_int_equal(memcg_current(a), f->host->nr_stock == 1 ? 10 : 32);
}

/* Nine cgroups on seven slots: seven hold stock, whichever. */
static void crowd(struct task *t, void *arg)
{
	struct fixture *f = arg;
	int holding = 0;

	for (int i = 0; i < 9; i++)
		charge(t, group(f, i), 1);
	for (int i = 0; i < 9; i++) {
		uint64_t stock = memcg_stocked(f->host, group(f, i));

		assert_true(stock == 0 || stock == 31);
		holding += stock != 0;
		assert_int_equal(memcg_current(group(f, i)), 1 + stock);
	}
	assert_int_equal(holding, 7);
	assert_int_equal(memcg_stocked(f->host, group(f, 8)), 31); /* the last to come is in */
}

/* Pages that the counters have and nobody uses go into the stock. */
static void refill(struct task *t, struct memcg *m, uint32_t nr)
{
	struct cgroup_state *cgroups = m->host->cgroups;

	task_sync(t);
	m->memory.in_flight += nr;
	m->memory.usage += nr;
	m->parent->memory.usage += nr;
	cgroups->walks++;
	stock_refill(t, m, nr);
	cgroups->walks--;
}

/* A slot that would exceed a batch is given back whole, even if another's pages had to leave for it. */
static void overfull(struct task *t, void *arg)
{
	struct fixture *f = arg;
	struct memcg *m = group(f, 0), *other = group(f, 1);

	charge(t, m, 1);
	refill(t, m, 2);
	assert_int_equal(memcg_stocked(f->host, m), 0);
	assert_int_equal(memcg_current(m), 1);
	charge(t, other, 1);
	refill(t, m, 1000);
	assert_int_equal(memcg_stocked(f->host, m), 0);
	assert_int_equal(memcg_current(m), 1);
	assert_int_equal(memcg_stocked(f->host, other), 0);
	assert_int_equal(memcg_current(other), 1);
	assert_int_equal(other->nr_stocks, 0);
}

static void run_task(const char *text, void (*run)(struct task *t, void *arg))
{
	struct fixture f;

	fixture_open(&f, text);
	fixture_spawn(&f, 0, run, &f);
	fixture_run(&f);
	cgroups_check(f.host, f.run.record); /* tasks here own their pages themselves */
	assert_int_equal(record_invariants_broken(f.run.record), 0);
	fixture_close(&f);
}

static void test_one_batch(void **state)
{
	(void)state;
	run_task(one_slot, one_batch);
}

static void test_turns(void **state)
{
	(void)state;
	run_task(one_slot, take_turns);
	run_task(seven_slots, take_turns);
}

static void test_crowd(void **state)
{
	(void)state;
	run_task(seven_slots, crowd);
}

static void test_overfull(void **state)
{
	(void)state;
	run_task(one_slot, overfull);
}

/* ---- draining ---- */

static void stock_up(struct task *t, void *arg)
{
	struct fixture *f = arg;

	charge(t, group(f, t->cpu->id % 2), 1);
}

static void drain(struct task *t, void *arg)
{
	struct fixture *f = arg;
	struct memcg *m = group(f, 0);

	task_sleep(t, SIM_MS);
	assert_int_equal(memcg_stocked(f->host, m), 2 * 63); /* of CPUs 0 and 2 */
	assert_int_equal(memcg_stocked(f->host, group(f, 1)), 63);
	memcg_drain_all_stock(t, m);
	/* Its own at once, the other CPU's when its worker has run; the other cgroup's not at all. */
	assert_int_equal(memcg_stocked(f->host, m), 63);
	task_sleep(t, SIM_MS);
	assert_int_equal(memcg_stocked(f->host, m), 0);
	assert_int_equal(memcg_current(m), 2);
	assert_int_equal(memcg_stocked(f->host, group(f, 1)), 63);
	memcg_drain_all_stock(t, f->host->cgroups->root);
	task_sleep(t, SIM_MS);
	assert_int_equal(memcg_stocked(f->host, group(f, 1)), 0);
	assert_int_equal(f->host->cgroups->root->memory.usage, 3);
}

static void test_drain(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, one_slot);
	for (uint32_t cpu = 0; cpu < 3; cpu++)
		fixture_spawn(&f, cpu, stock_up, &f);
	fixture_spawn(&f, 0, drain, &f);
	fixture_run(&f);
	cgroups_check(f.host, f.run.record);
	assert_int_equal(record_invariants_broken(f.run.record), 0);
	fixture_close(&f);
}

/* ---- what the invariants are for ---- */

static void test_broken(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, one_slot);
	fixture_spawn(&f, 0, stock_up, &f);
	fixture_run(&f);
	struct memcg *m = group(&f, 0);
	struct stock_slot *slot = &f.host->cgroups->stocks[0].slots[0];

	m->memory.usage++;
	fixture_expect_broken(&f, cgroups_check, "I10");
	m->memory.usage--;
	slot->nr--; /* a page lost on its way */
	fixture_expect_broken(&f, cgroups_check, "I10");
	slot->nr++;
	m->memory.in_flight++; /* a walk that stopped half-way */
	m->memory.usage++;
	f.host->cgroups->root->memory.in_flight--;
	fixture_expect_broken(&f, cgroups_check, "at rest");
	m->memory.in_flight--;
	m->memory.usage--;
	f.host->cgroups->root->memory.in_flight++;
	slot->nr = 65;
	fixture_expect_broken(&f, cgroups_check, "I9");
	slot->nr = 63;
	m->nr_kmem++;
	fixture_expect_broken(&f, cgroups_check, "kernel memory");
	m->nr_kmem--;
	m->memory.max = 1;
	fixture_expect_broken(&f, cgroups_check, "I11");
	m->memory.max = COUNTER_NO_MAX;
	cgroups_check(f.host, f.run.record);
	assert_int_equal(record_invariants_broken(f.run.record), 0);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_batch), cmocka_unit_test(test_turns), cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_overfull),  cmocka_unit_test(test_drain), cmocka_unit_test(test_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
