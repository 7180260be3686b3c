/*
 * The rules of the multi-generational LRU that a table can state: references and tiers, the controller,
 * tokens and refaults, by kernel.
 */
#include "tests/mglru_fixture.h"

#define ONE_GROUP MGLRU_HOST("") "cgroups: [ { name: g }, { name: other } ]\n"

/* Reads through a file descriptor, after which refs and tier are as given. */
static void test_references(void **state)
{
	static const uint32_t refs[][7] = {
		[ERA_6_1] = { 0, 0, 1, 2, 3, 4, 4 },
		[ERA_6_12] = { 0, 0, 1, 2, 3, 4, 4 },
		[ERA_6_18] = { 0, 1, 2, 3, 4, 4, 4 },
	};
	static const uint32_t tiers[][7] = {
		[ERA_6_1] = { 0, 0, 1, 2, 2, 3, 3 },
		[ERA_6_12] = { 0, 0, 1, 2, 2, 3, 3 },
		[ERA_6_18] = { 0, 0, 1, 2, 2, 3, 3 },
	};
	static const uint32_t versions[] = { 601, 612, 618 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct mglru_fixture x;
		frame_t frame = 1;

		mglru_open(&x, ONE_GROUP, versions[i]);
		enum mglru_era era = mglru_era(x.host);
		const struct page *page = page_of(x.host, frame);

		assert_int_equal(era, i);
		for (int reads = 0; reads < 7; reads++) {
			uint32_t r = mglru_refs(era, page);

			assert_int_equal(r, refs[era][reads]);
			assert_int_equal(mglru_tier(era, r, page->flags & PG_WORKINGSET), tiers[era][reads]);
			mglru_mark_accessed(NULL, x.host, frame);
		}
		fixture_close(&x.f);
	}
}

static void test_eras(void **state)
{
	static const struct {
		uint32_t version;
		enum mglru_era era;
	} eras[] = { { 601, ERA_6_1 },  { 602, ERA_6_1 },  { 603, ERA_6_12 }, { 612, ERA_6_12 },
		     { 617, ERA_6_12 }, { 618, ERA_6_18 }, { 701, ERA_6_18 } };

	(void)state;
	for (size_t i = 0; i < sizeof eras / sizeof *eras; i++)
		assert_int_equal(mglru_era(&(struct host){ .kernel_version = eras[i].version }), eras[i].era);
}

/* ---- controller ---- */

static struct mglru *balanced(void)
{
	struct mglru *g = calloc(1, sizeof *g);

	for (int type = 0; type < 2; type++)
		for (int tier = 0; tier < 4; tier++) {
			g->control.avg_refaulted[type][tier] = 100;
			g->control.evicted[type][tier] = 1000;
		}
	return g;
}

static void test_tier_limit(void **state)
{
	struct mglru *g = balanced();
	struct mglru_control *c = &g->control;

	(void)state;
	/* Refaults as often as tier 0, at half the gain: no tier is spared. */
	assert_int_equal(mglru_tier_limit(g, ERA_6_1, LRU_FILE), 3);
	/* 100 / 1064 of tier 0: tier 2 may refault up to twice that, 189 of 1,000. */
	c->avg_refaulted[LRU_FILE][2] = 189;
	assert_int_equal(mglru_tier_limit(g, ERA_6_1, LRU_FILE), 3);
	c->avg_refaulted[LRU_FILE][2] = 190;
	assert_int_equal(mglru_tier_limit(g, ERA_6_1, LRU_FILE), 1);
	assert_int_equal(mglru_tier_limit(g, ERA_6_12, LRU_FILE), 1);
	/* 6.18 spares earlier: one and a half times, 142. */
	c->avg_refaulted[LRU_FILE][2] = 142;
	assert_int_equal(mglru_tier_limit(g, ERA_6_18, LRU_FILE), 3);
	c->avg_refaulted[LRU_FILE][2] = 143;
	assert_int_equal(mglru_tier_limit(g, ERA_6_18, LRU_FILE), 1);
	/* Less than 64 refaults say nothing, of however few pages. */
	c->avg_refaulted[LRU_FILE][1] = 63;
	c->evicted[LRU_FILE][1] = 63;
	c->avg_refaulted[LRU_FILE][2] = 100;
	assert_int_equal(mglru_tier_limit(g, ERA_6_1, LRU_FILE), 3);
	c->refaulted[LRU_FILE][1] = 1;
	assert_int_equal(mglru_tier_limit(g, ERA_6_1, LRU_FILE), 0);
	/* Pages that were protected count as if they had been evicted. */
	c->protected[LRU_FILE][1] = 1000;
	assert_int_equal(mglru_tier_limit(g, ERA_6_1, LRU_FILE), 3);
	/* The other type knows nothing of it. */
	assert_int_equal(mglru_tier_limit(g, ERA_6_1, LRU_ANON), 3);
	free(g);
}

static void test_type_to_scan(void **state)
{
	struct mglru *g = balanced();
	uint32_t limit;

	(void)state;
	/* Alike: at swappiness 60 file pages weigh 140, so they may refault that much more. */
	assert_int_equal(mglru_type_to_scan(g, ERA_6_1, 60, &limit), LRU_FILE);
	assert_int_equal(limit, 3);
	assert_int_equal(mglru_type_to_scan(g, ERA_6_1, 140, &limit), LRU_ANON);
	/* 100 x 140 / (1064 x 60) of anon: file up to 221 of 1,000. */
	g->control.avg_refaulted[LRU_FILE][0] = 221;
	assert_int_equal(mglru_type_to_scan(g, ERA_6_1, 60, &limit), LRU_FILE);
	g->control.avg_refaulted[LRU_FILE][0] = 222;
	assert_int_equal(mglru_type_to_scan(g, ERA_6_1, 60, &limit), LRU_ANON);
	/* The tier limit is against tier 0 of the other type: 222 x 60 / (1064 x 140) of 1,000 is 89. */
	assert_int_equal(limit, 0);
	g->control.avg_refaulted[LRU_ANON][1] = 89;
	assert_int_equal(mglru_type_to_scan(g, ERA_6_1, 60, &limit), LRU_ANON);
	assert_int_equal(limit, 1);
	free(g);
}

static void test_carry_over(void **state)
{
	struct mglru_control c = { 0 };

	(void)state;
	c.avg_refaulted[LRU_FILE][1] = 10;
	c.refaulted[LRU_FILE][1] = 5;
	c.avg_total[LRU_FILE][1] = 100;
	c.evicted[LRU_FILE][1] = 30;
	c.protected[LRU_FILE][1] = 11;
	c.refaulted[LRU_ANON][1] = 7;
	mglru_carry_over(&c, LRU_FILE);
	assert_int_equal(c.avg_refaulted[LRU_FILE][1], 7);
	assert_int_equal(c.avg_total[LRU_FILE][1], 70);
	assert_int_equal(c.refaulted[LRU_FILE][1], 0);
	assert_int_equal(c.evicted[LRU_FILE][1], 0);
	assert_int_equal(c.protected[LRU_FILE][1], 0);
	assert_int_equal(c.refaulted[LRU_ANON][1], 7);
}

/* ---- tokens ---- */

struct refault_row {
	uint32_t version, reads;
	uint64_t min_seq, max_seq; /* at the refault; 4 and 7 at eviction */
	bool in_fault, recent;
	int refault, activate, restore;
	uint32_t refs_after;
};

static void refault_task(struct task *t, void *arg)
{
	static const struct refault_row rows[] = {
		/* Recent while the oldest generation is the same, in 6.1 and 6.12. */
		{ 601, 1, 4, 7, false, true, 1, 0, 0, 0 },
		{ 601, 1, 5, 7, false, false, 0, 0, 0, 0 },
		{ 601, 3, 4, 9, false, true, 1, 0, 0, 0 },
		{ 601, 4, 4, 7, false, true, 1, 0, 1, 4 },
		{ 601, 1, 4, 7, true, true, 1, 0, 1, 4 },
		{ 601, 1, 5, 7, true, false, 0, 0, 0, 0 },
		{ 612, 1, 4, 7, false, true, 1, 1, 0, 0 },
		{ 612, 1, 5, 7, false, false, 1, 0, 0, 0 },
		{ 612, 4, 4, 7, false, true, 1, 1, 1, 4 },
		{ 612, 1, 4, 7, true, true, 1, 1, 1, 4 },
		/* In 6.18 while it is less than four from the youngest. */
		{ 618, 1, 5, 7, false, true, 1, 0, 0, 0 },
		{ 618, 1, 5, 8, false, false, 1, 0, 0, 0 },
		{ 618, 1, 5, 7, true, true, 1, 1, 0, 0 },
		{ 618, 5, 5, 7, false, true, 1, 0, 1, 0 },
		{ 618, 5, 5, 7, true, true, 1, 1, 1, 0 },
	};
	struct mglru_fixture *x = arg;
	struct file_object *f = file_create(x->host, 1);
	enum stat_item items[] = { WORKINGSET_REFAULT_FILE, WORKINGSET_ACTIVATE_FILE,
				   WORKINGSET_RESTORE_FILE };
	struct memcg *other = memcg_find(x->host, "/other");

	assert_int_equal(file_read(t, x->m, f, 0, NULL), FILE_MISS);
	lru_add_drain(t);
	frame_t frame = x->g->lists[1][LRU_FILE][0].head;
	struct page *page = page_of(x->host, frame);

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct refault_row *row = &rows[i];
		int64_t before[3], counted[] = { row->refault, row->activate, row->restore };
		struct mglru saved = *x->g;
		uint16_t flags = page->flags;
		shadow_t shadow;

		task_sync(t);
		x->host->kernel_version = row->version;
		x->g->min_seq[LRU_FILE] = 4;
		x->g->max_seq = 7;
		page_clear_refs(page);
		for (uint32_t reads = 0; reads < row->reads; reads++)
			mglru_mark_accessed(t, x->host, frame);
		shadow = mglru_eviction(t, frame, x->m);
		uint32_t tier = mglru_tier(mglru_era(x->host), mglru_refs(mglru_era(x->host), page),
					   page->flags & PG_WORKINGSET);

		assert_int_equal(x->g->control.evicted[LRU_FILE][tier], 1);
		x->g->min_seq[LRU_FILE] = row->min_seq;
		x->g->max_seq = row->max_seq;
		page_clear_refs(page);
		for (int k = 0; k < 3; k++)
			before[k] = mglru_stat(x, items[k]);
		/* A page of another cgroup counts for nothing. */
		page->memcg = other->id;
		mglru_refault(t, frame, shadow, row->in_fault);
		page->memcg = x->m->id;
		for (int k = 0; k < 3; k++)
			assert_int_equal(mglru_stat(x, items[k]), before[k]);
		mglru_refault(t, frame, shadow, row->in_fault);
		for (int k = 0; k < 3; k++)
			assert_int_equal(mglru_stat(x, items[k]) - before[k], counted[k]);
		if (row->version < 618)
			assert_int_equal(mglru_refs(ERA_6_1, page), row->refs_after);
		else
			assert_int_equal(page->flags & PG_WORKINGSET, row->restore ? PG_WORKINGSET : 0);
		assert_int_equal(x->g->control.refaulted[LRU_FILE][tier], row->recent);
		*x->g = saved;
		page->flags = flags;
		page->refs = 0;
	}
	x->host->kernel_version = 601;
	file_drop(t, f, 0, 1);
}

static void test_refaults(void **state)
{
	struct mglru_fixture x;

	(void)state;
	mglru_open(&x, ONE_GROUP, 601);
	mglru_run(&x, refault_task);
	mglru_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_references), cmocka_unit_test(test_eras),
		cmocka_unit_test(test_tier_limit), cmocka_unit_test(test_type_to_scan),
		cmocka_unit_test(test_carry_over), cmocka_unit_test(test_refaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
