/*
 * test_classic.c - the classic LRU against counts of a real 6.1 kernel, and rules that can be seen one by
 * one.
 */
#include "tests/reclaim_rig.h"

#define LIMIT 8192u

static const char limited[] = RIG_HOST(1, 256MiB, "v6.1") "cgroups: [ { name: c, memory.max: 32MiB, "
							  "memory.swap.max: 0 } ]\n";

/* ---- file churn: 32 MiB, uniform reads of a file of `ratio` times that; one exact flush a pass ---- */

struct churn {
	double ratio;
	bool cyclic;
	uint32_t passes, counted; /* of these, the last */
	double reads, misses, max_events;
	double items[NR_STAT_ITEMS];
};

static void read_pass(struct task *t, struct actor *a, struct file_object *f, struct xorshift *x, bool count)
{
	struct churn *c = a->arg;
	uint64_t pages = file_size(f), reads = c->cyclic || pages > LIMIT ? pages : LIMIT;
	uint64_t max = a->memcg->events[EVENT_MAX], misses = 0;
	int64_t before[NR_STAT_ITEMS];

	for (int i = 0; i < NR_STAT_ITEMS; i++)
		before[i] = stat_truth(a->memcg, (enum stat_item)i);
	for (uint64_t i = 0; i < reads; i++) {
		uint64_t index = c->cyclic ? i : xorshift_next(x) % pages;
		enum file_result result = file_read(t, a->memcg, f, index, NULL);

		assert_int_not_equal(result, FILE_NOMEM);
		misses += result == FILE_MISS;
	}
	cpu_stat_read(t, a->memcg);
	task_sync(t);
	if (!count)
		return;
	c->reads += (double)reads;
	c->misses += (double)misses;
	c->max_events += (double)(a->memcg->events[EVENT_MAX] - max);
	for (int i = 0; i < NR_STAT_ITEMS; i++)
		c->items[i] += (double)(stat_truth(a->memcg, (enum stat_item)i) - before[i]);
}

static void churn(struct task *t, struct actor *a)
{
	struct churn *c = a->arg;
	struct file_object *f = file_create(a->rig->host, (uint64_t)(c->ratio * LIMIT + 0.5));
	struct xorshift x = xorshift_seed(1000);

	for (uint32_t pass = 0; pass < c->passes; pass++)
		read_pass(t, a, f, &x, pass + c->counted >= c->passes);
}

static void run_churn(struct churn *c)
{
	struct rig r;
	struct actor a = { .arg = c };

	rig_open(&r, limited, 0);
	rig_actor(&r, &a, "/c", churn);
	rig_run(&r, 20);
	assert_true(a.ended);
	rig_close(&r);
}

/* E1, uniform, twice the limit: passes 5 to 8 of the kernel, a fraction of the reads. */
static void test_uniform(void **state)
{
	struct churn c = { .ratio = 2, .passes = 8, .counted = 4 };

	(void)state;
	run_churn(&c);
	assert_near(c.misses / c.reads, 0.4996, 0.005);
	assert_near(c.items[WORKINGSET_ACTIVATE_FILE] / c.reads, 0.1118, 0.02);
	assert_near(c.items[WORKINGSET_RESTORE_FILE] / c.reads, 0.0567, 0.03);
	assert_near(c.items[PGACTIVATE] / c.reads, 0.2373, 0.01);
	assert_near(c.items[PGDEACTIVATE] / c.reads, 0.3485, 0.01);
	assert_near(c.max_events, 991, 0.01);
}

/* Cyclic reads of a little more than the limit: every read misses, every page goes unread again. */
static void test_cyclic(void **state)
{
	struct churn c = { .ratio = 1.1, .cyclic = true, .passes = 4, .counted = 2 };

	(void)state;
	run_churn(&c);
	assert_int_equal((int)c.misses, (int)c.reads);
	assert_int_equal((int)c.items[WORKINGSET_ACTIVATE_FILE], 0);
	assert_int_equal((int)c.items[PGACTIVATE], 0);
	assert_near(c.items[PGSTEAL_DIRECT] / c.reads, 1, 0.01);
	assert_near(c.max_events / 2, 158, 0.01);
}

/* ---- marks ---- */

static uint16_t flags_of(const struct rig *r, const struct file_object *f, uint64_t index)
{
	return page_of(r->host, slot_frame(f->object.slots[index]))->flags;
}

/*
 * One read marks, the second activates: at the drain; the same page on its list then stays marked by a third.
 */
static void marks(struct task *t, struct actor *a)
{
	struct file_object *f = file_create(a->rig->host, 64);
	struct lruvec *lruvec = memcg_lruvec(a->memcg, 0);

	for (uint64_t i = 0; i < 20; i++)
		file_read(t, a->memcg, f, i, NULL);
	assert_true(flags_of(a->rig, f, 0) & PG_LRU); /* a batch of 15 is full */
	assert_false(flags_of(a->rig, f, 19) & PG_LRU);
	assert_true(flags_of(a->rig, f, 0) & PG_REFERENCED);
	file_read(t, a->memcg, f, 0, NULL);
	assert_false(flags_of(a->rig, f, 0) & (PG_REFERENCED | PG_ACTIVE));
	lru_add_drain(t);
	task_sync(t);
	assert_true(flags_of(a->rig, f, 0) & PG_ACTIVE);
	assert_int_equal(lruvec->lru_zone_size[LRU_ACTIVE_FILE], 1);
	assert_int_equal(lruvec->lru_zone_size[LRU_INACTIVE_FILE], 19);
	assert_int_equal(stat_truth(a->memcg, PGACTIVATE), 1);
	a->rig->done = true;
}

static void test_marks(void **state)
{
	struct rig r;
	struct actor a = { 0 };

	(void)state;
	rig_open(&r, limited, 0);
	rig_actor(&r, &a, "/c", marks);
	rig_run(&r, 1);
	assert_true(r.done);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uniform),
		cmocka_unit_test(test_cyclic),
		cmocka_unit_test(test_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
