/*
 * test_shrinker.c - the shrinker core: batches and deferral against a table made by hand from the rules, and
 * shadow nodes held at their budget.
 */
#include "models/host/policies.h"
#include "models/workingset/workingset_impl.h"
#include "tests/evict_rig.h"

static const char plain[] = RIG_HEAD RIG_POLICIES " }\ncgroups: [ { name: c } ]\n";

/* ---- the core ---- */

static uint64_t freeable, scanned, calls;

static uint64_t count(struct task *t, const struct shrinker *s, struct memcg *m, uint32_t node)
{
	(void)t;
	(void)s;
	(void)m;
	(void)node;
	return freeable;
}

static void scan(struct task *t, const struct shrinker *s, struct memcg *m, uint32_t node, uint64_t nr)
{
	(void)t;
	(void)s;
	(void)m;
	(void)node;
	scanned += nr;
	calls++;
}

struct row {
	uint32_t seeks, batch;
	uint64_t freeable;
	int priority;
	uint64_t deferred; /* before */
	uint64_t scanned, calls, after;
};

static const struct row table[] = {
	/* Nothing there: what is deferred stays. */
	{ 0, 0, 0, 12, 77, 0, 0, 77 },
	/* seeks 0: half, whatever the priority; a batch at a time; the rest is deferred. */
	{ 0, 0, 300, 12, 0, 128, 1, 22 },
	{ 0, 0, 172, 12, 22, 0, 0, 108 },
	{ 0, 0, 600, 0, 0, 256, 2, 44 },
	{ 0, 0, 256, 12, 0, 128, 1, 0 },
	{ 0, 0, 254, 12, 0, 0, 0, 127 },
	/* Deferred work counts by priority ... */
	{ 0, 0, 250, 12, 400, 0, 0, 500 },  /* 125 + (400 >> 12); kept: min(525, 2 x 250) */
	{ 0, 0, 250, 4, 400, 128, 1, 397 }, /* 125 + 25 = 150 */
	{ 0, 0, 250, 0, 400, 384, 3, 141 }, /* 500, the most, is three batches and 116 */
	/* ... and never to more than twice of what there is. */
	{ 0, 0, 100, 0, 1000, 128, 1, 200 },
	/* Less than a batch, but all of it. */
	{ 0, 0, 1, 0, 1, 1, 1, 0 },
	{ 0, 0, 1, 12, 0, 0, 0, 0 },
	/* Ordinary shrinkers: (freeable >> priority) x 4 / seeks. */
	{ 2, 0, 4096, 12, 0, 0, 0, 2 },
	{ 2, 0, 4096, 4, 0, 512, 4, 0 },
	{ 2, 0, 1000, 0, 0, 1920, 15, 80 },
	{ 1, 64, 1024, 5, 0, 128, 2, 0 },
	{ 3, 0, 1 << 20, 12, 0, 256, 2, 85 },
};

static void one_row(struct task *t, struct memcg *m, const struct row *row)
{
	const struct shrinker s = {
		.name = "test",
		.seeks = row->seeks,
		.batch = row->batch,
		.count = count,
		.scan = scan,
	};
	uint64_t deferred = row->deferred;

	freeable = row->freeable;
	scanned = calls = 0;
	do_shrink_slab(t, &s, m, 0, row->priority, &deferred);
	if (scanned != row->scanned || calls != row->calls || deferred != row->after)
		fail_msg("freeable %d at priority %d with %d deferred: scanned %d in %d, deferred %d",
			 (int)row->freeable, row->priority, (int)row->deferred, (int)scanned, (int)calls,
			 (int)deferred);
}

static void all_rows(struct task *t, void *arg)
{
	struct rig *r = arg;

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		one_row(t, r->c, &table[i]);
}

static void deferral(void **state)
{
	(void)state;
	rig_run_on(plain, 1, all_rows);
}

/* ---- shadow nodes ---- */

/* One page in each of nr leaves, evicted at once. */
static void make_nodes(struct task *t, struct rig *r, struct file_object *f, uint64_t from, uint64_t nr)
{
	for (uint64_t i = from; i < from + nr; i++) {
		assert_int_equal(file_read(t, r->c, f, i * 64, NULL), FILE_MISS);
		lru_add_drain(t);
		task_sync(t);
		assert_int_equal(rig_evict(t, r->host, rig_frame(&f->object, i * 64), r->c), EVICT_GONE);
	}
	task_sync(t);
}

static uint64_t budget(struct task *t, const struct rig *r)
{
	return workingset_of(r->host)->budget->pages(t, r->c, 0) / 8;
}

static void hold_to_budget(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct file_object *f = file_create(r->host, 64 * 600);
	const struct workingset_count *count_of = workingset_counted(r->host);
	uint64_t most, before;

	make_nodes(t, r, f, 0, 300);
	most = budget(t, r); /* slab alone: 300 leaves and what is above them */
	assert_int_equal(most, 305 * CACHE_NODE_BYTES / PAGE_SIZE / 8);
	assert_int_equal(workingset_nodes_of(r->host, r->c), 300);
	/* 300 - 5 freeable: half is 147, a batch of 128, and the oldest go. */
	shrink_slab(t, r->c, 0, 12);
	assert_int_equal(count_of->nodes_reclaimed, 128);
	assert_int_equal(workingset_nodes(r->host, 0), 172);
	assert_int_equal(count_of->shadows_gone, 128);
	assert_int_equal(stat_truth(r->c, WORKINGSET_NODERECLAIM), 128);
	assert_int_equal(f->object.slots[127 * 64], SLOT_EMPTY);
	assert_true(slot_is_shadow(f->object.slots[128 * 64]));
	/* Now a half is less than a batch, and only deferred. */
	shrink_slab(t, r->c, 0, 12);
	assert_int_equal(count_of->nodes_reclaimed, 128);
	/* At priority 0 all that was deferred is due. */
	before = workingset_nodes(r->host, 0);
	shrink_slab(t, r->c, 0, 0);
	assert_true(workingset_nodes(r->host, 0) < before);
	/* A page whose shadow is gone comes back like a new one. */
	rig_seen.refaults = 0;
	assert_int_equal(file_read(t, r->c, f, 0, NULL), FILE_MISS);
	assert_int_equal(rig_seen.refaults, 0);
	task_sleep(t, 100 * SIM_MS);
}

static void budget_holds(void **state)
{
	(void)state;
	rig_run_on(plain, 1, hold_to_budget);
}

/* Which lock serves the lists. */
static void count_locks(struct task *t, void *arg)
{
	struct rig *r = arg;
	const struct charge_constant *own_lock = host_policy_ops(r->host, "list_lru_lock");
	bool own = own_lock->value;
	struct file_object *f = file_create(r->host, 64 * 10);

	make_nodes(t, r, f, 0, 10);
	assert_int_equal(lock_class(t->sim, "list_lru_one->lock")->acquisitions, own ? 10 : 0);
	assert_int_equal(lock_class(t->sim, "list_lru_node->lock")->acquisitions, own ? 0 : 10);
}

static void locks(void **state)
{
	(void)state;
	rig_run_on(plain, 1, count_locks);
	rig_run_on(RIG_HEAD RIG_POLICIES ", list_lru_lock: per_memcg }\ncgroups: [ { name: c } ]\n", 1,
		   count_locks);
}

/* What each budget counts of one cgroup: 80 pages on its list, of which this LRU keeps the size array. */
static void count_budgets(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct file_object *f = file_create(r->host, 160);
	struct lruvec *lruvec;
	uint64_t pages;

	for (uint64_t i = 0; i < 80; i++)
		file_read(t, r->c, f, i, NULL);
	lru_add_drain(t);
	task_sync(t);
	/* Slab: 3 nodes, whose statistics the stock still keeps but for the first. */
	for (int how = 0; how < 3; how++) {
		static const char *const names[] = { "state_local", "lru_zone_size", "file_pages" };
		const struct shadow_budget_ops *ops =
			module_find(MODULE_POLICY, "shadow_budget", names[how])->ops;

		task_sync(t);
		pages = ops->pages(t, r->c, 0);
		assert_int_equal(pages, 80);
		if (ops->truth)
			assert_int_equal(ops->truth(r->c, 0), 80);
	}
	/* An LRU that leaves the array at 0. */
	task_sync(t);
	lruvec = memcg_lruvec(r->c, 0);
	lruvec->lru_zone_size[LRU_INACTIVE_FILE] -= 80;
	pages = ((const struct shadow_budget_ops *)module_find(MODULE_POLICY, "shadow_budget",
							       "lru_zone_size")
			 ->ops)
			->pages(t, r->c, 0);
	assert_int_equal(pages, 0);
	lruvec->lru_zone_size[LRU_INACTIVE_FILE] += 80;
}

/* Nobody flushes: the budget is what was flushed, and the truth is counted beside it. */
static void count_stale(struct task *t, void *arg)
{
	struct rig *r = arg;
	const struct shadow_budget_ops *ops = module_find(MODULE_POLICY, "shadow_budget", "state_local")->ops;
	struct file_object *f = file_create(r->host, 80);

	for (uint64_t i = 0; i < 80; i++)
		file_read(t, r->c, f, i, NULL);
	lru_add_drain(t);
	task_sync(t);
	assert_int_equal(ops->pages(t, r->c, 0), 0);
	assert_int_equal(ops->truth(r->c, 0), 80);
}

static void budgets(void **state)
{
	(void)state;
	rig_run_on(plain, 1, count_budgets);
	rig_run_on("schema: 1\nscenario: test\nkernel: v6.6\nhost: { cpus: 2, nodes: 1, memory: 64MiB }\n"
		   "policies: { flush: periodic_only, reclaim: test_fifo }\ncgroups: [ { name: c } ]\n",
		   1, count_stale);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deferral),
		cmocka_unit_test(budget_holds),
		cmocka_unit_test(budgets),
		cmocka_unit_test(locks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
