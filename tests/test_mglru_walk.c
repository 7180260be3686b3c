/*
 * Walks over page tables, look-arounds and what reclaim makes of mapped pages: which tables are passed over
 * and why, what becomes of young pages, and what differs between kernels.
 */
#include "tests/mglru_fixture.h"

#define ONE_GROUP MGLRU_HOST("") "cgroups: [ { name: g } ]\n"
#define SWAP      60 /* swappiness, as if there were any */

static struct page *page_at(const struct mglru_fixture *x, const struct mapping *map, uint64_t index)
{
	return page_of(x->host, object_frame(map->object, index));
}

static uint64_t count_young(const struct mglru_fixture *x, const struct mapping *map, uint64_t from,
			    uint64_t to)
{
	uint64_t young = 0;

	for (uint64_t i = from; i < to; i++)
		young += (page_at(x, map, i)->flags & PG_YOUNG) != 0;
	return young;
}

/* A range of which all is touched and on its lists. */
static struct mapping *populate(struct task *t, struct mglru_fixture *x, uint64_t pages, uint32_t offset,
				struct anon_object **a)
{
	*a = anon_create(x->host, x->m, pages);
	anon_place(*a, offset);
	for (uint64_t i = 0; i < pages; i++)
		assert_true(anon_touch(t, *a, i, NULL));
	lru_add_drain(t);
	task_sync(t);
	return x->m->last_mapping;
}

static void touch(struct task *t, struct anon_object *a, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++)
		assert_true(anon_touch(t, a, i, NULL));
	task_sync(t);
}

static void walk_task(struct task *t, void *arg)
{
	struct mglru_fixture *x = arg;
	struct mglru *g = x->g;
	struct anon_object *a;
	struct mapping *map = populate(t, x, 1024, 0, &a);

	/* The first walk covers everything, and keeps both tables for the next. */
	assert_true(mglru_age(t, x->lruvec, SWAP));
	assert_int_equal(count_young(x, map, 0, 1024), 0);
	assert_true(mglru_bloom_has(&g->blooms[0], map->object->id, 0));
	assert_true(mglru_bloom_has(&g->blooms[0], map->object->id, 1));
	assert_null(g->blooms[1].bits);
	/* Not run since: passed over, and the set of the next stays absent; aged all the same. */
	assert_true(mglru_age(t, x->lruvec, SWAP));
	assert_null(g->blooms[1].bits);
	assert_int_equal(g->max_seq, 5);
	assert_pages(x, 3, LRU_ANON, 1024);
	/* One table is used, a little: its pages belong to the youngest, and stand where they stood. */
	touch(t, a, 0, 63);
	assert_true(mglru_age(t, x->lruvec, SWAP));
	assert_pages(x, 5, LRU_ANON, 63);
	assert_pages(x, 3, LRU_ANON, 1024 - 63);
	assert_int_equal(page_on_list(page_at(x, map, 0)), 3);
	assert_int_equal(mglru_size(x->lruvec, LRU_ACTIVE_ANON), 63);
	/* 63 of 512 are too few to be walked again, 64 are not. */
	assert_false(mglru_bloom_has(&g->blooms[0], map->object->id, 0));
	touch(t, a, 512, 576);
	g->blooms[0].bits = NULL;
	assert_true(mglru_age(t, x->lruvec, SWAP));
	assert_true(mglru_bloom_has(&g->blooms[1], map->object->id, 1));
	assert_false(mglru_bloom_has(&g->blooms[1], map->object->id, 0));
	/* A table that is not in the set is passed over, young or not. */
	touch(t, a, 0, 1);
	touch(t, a, 600, 601);
	assert_true(mglru_age(t, x->lruvec, SWAP));
	assert_int_equal(count_young(x, map, 0, 512), 1);
	assert_int_equal(count_young(x, map, 512, 1024), 0);
	/* And so is one that the hardware did not come through, though it is. */
	touch(t, a, 600, 601);
	map->tables[1] &= (uint8_t)~TABLE_YOUNG;
	mglru_bloom_add(&g->blooms[g->max_seq % 2], map->object->id, 1);
	assert_true(mglru_age(t, x->lruvec, SWAP));
	assert_int_equal(count_young(x, map, 512, 1024), 1);
	/* Without swap nobody asks. */
	touch(t, a, 512, 576);
	g->blooms[0].bits = g->blooms[1].bits = NULL;
	assert_true(mglru_age(t, x->lruvec, 0));
	assert_int_equal(count_young(x, map, 512, 1024), 65);
	anon_unmap(t, a);
}

static void test_walk(void **state)
{
	struct mglru_fixture x;

	(void)state;
	mglru_open(&x, ONE_GROUP, 601);
	mglru_run(&x, walk_task);
	mglru_close(&x);
}

/* A first walk: 6.12 does not ask the hardware and leaves its mark, 6.1 does both. Small processes: never. */
static void first_walk_task(struct task *t, void *arg)
{
	struct mglru_fixture *x = arg;
	struct anon_object *a, *small;
	struct mapping *map = populate(t, x, 512, 0, &a), *small_map = populate(t, x, 63, 0, &small);
	bool is_6_1 = mglru_era(x->host) == ERA_6_1;

	map->tables[0] &= (uint8_t)~TABLE_YOUNG;
	assert_true(mglru_age(t, x->lruvec, SWAP));
	assert_int_equal(count_young(x, map, 0, 512), is_6_1 ? 512 : 0);
	assert_int_equal(count_young(x, small_map, 0, 63), 63);
	anon_unmap(t, a);
	anon_unmap(t, small);
}

static void test_first_walk(void **state)
{
	(void)state;
	for (uint32_t version = 601; version <= 612; version += 11) {
		struct mglru_fixture x;

		mglru_open(&x, ONE_GROUP, version);
		mglru_run(&x, first_walk_task);
		mglru_close(&x);
	}
}

/* 6.18: the first time a page is found young says little. */
static void twice_task(struct task *t, void *arg)
{
	struct mglru_fixture *x = arg;
	struct anon_object *a;
	struct mapping *map = populate(t, x, 512, 0, &a);

	assert_true(mglru_age(t, x->lruvec, SWAP));
	assert_pages(x, 2, LRU_ANON, 512);
	assert_int_equal(page_at(x, map, 9)->flags & (PG_REFERENCED | PG_WORKINGSET), PG_REFERENCED);
	touch(t, a, 0, 512);
	assert_true(mglru_age(t, x->lruvec, SWAP));
	assert_pages(x, 4, LRU_ANON, 512);
	assert_int_equal(page_at(x, map, 9)->flags & (PG_REFERENCED | PG_WORKINGSET), PG_WORKINGSET);
	anon_unmap(t, a);
}

static void test_twice(void **state)
{
	struct mglru_fixture x;

	(void)state;
	mglru_open(&x, ONE_GROUP, 618);
	mglru_run(&x, twice_task);
	mglru_close(&x);
}

/* ---- looking around ---- */

/* As the isolation of a batch leaves it. */
static frame_t isolate(struct task *t, struct mglru_fixture *x, const struct mapping *map, uint64_t index)
{
	frame_t frame = object_frame(map->object, index);

	spin_lock_irq(t, x->lruvec->lock);
	mglru_del(t, x->lruvec, frame);
	page_of(x->host, frame)->batched++;
	spin_unlock_irq(t, x->lruvec->lock);
	return frame;
}

static void put_back(struct task *t, struct mglru_fixture *x, frame_t frame)
{
	spin_lock_irq(t, x->lruvec->lock);
	page_of(x->host, frame)->batched--;
	page_of(x->host, frame)->flags |= PG_ACTIVE;
	mglru_add(t, x->lruvec, frame);
	spin_unlock_irq(t, x->lruvec->lock);
}

static void clear_young(const struct mglru_fixture *x, const struct mapping *map, uint64_t pages)
{
	for (uint64_t i = 0; i < pages; i++)
		page_at(x, map, i)->flags &= (uint16_t)~PG_YOUNG;
}

/* Which pages a look around comes by, by where the page is in its table and the table in the mapping. */
static void window_task(struct task *t, void *arg)
{
	static const struct {
		uint64_t at, from, to;
	} rows[] = {
		/* The mapping begins 12 pages before the end of a table. */
		{ 5, 0, 12 },      { 12, 12, 76 },    { 43, 12, 76 },    { 44, 12, 76 },
		{ 45, 13, 77 },    { 300, 268, 332 }, { 492, 460, 524 }, { 493, 460, 524 },
		{ 523, 460, 524 }, { 524, 524, 588 }, { 590, 536, 600 }, { 599, 536, 600 },
	};
	struct mglru_fixture *x = arg;
	struct anon_object *a;
	struct mapping *map = populate(t, x, 600, 500, &a);
	struct scan_control sc = { .walked = true };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		frame_t frame;

		touch(t, a, 0, 600);
		frame = isolate(t, x, map, rows[i].at);
		assert_int_equal(mglru_judge(t, x->lruvec, frame, &sc), FATE_ACTIVATE);
		assert_int_equal(count_young(x, map, rows[i].from, rows[i].to), 0);
		assert_int_equal(count_young(x, map, 0, 600), 600 - (rows[i].to - rows[i].from));
		put_back(t, x, frame);
	}
	anon_unmap(t, a);
}

static void test_window(void **state)
{
	struct mglru_fixture x;

	(void)state;
	mglru_open(&x, ONE_GROUP, 601);
	mglru_run(&x, window_task);
	mglru_close(&x);
}

struct neighbours_row {
	uint32_t version, young; /* neighbours, all on their lists */
	bool walked;
	bool batch; /* they wait in the activation batch, or are moved at once */
};

/* Few young neighbours become active through the batch, and hold a reference there. */
static void neighbours(struct task *t, struct mglru_fixture *x, const struct neighbours_row *row)
{
	struct scan_control sc = { .walked = row->walked };
	struct anon_object *a;
	struct mapping *map = populate(t, x, 512, 0, &a);
	struct page *page = page_at(x, map, 100);
	int64_t activated = mglru_stat(x, PGACTIVATE);
	bool is_6_1 = mglru_era(x->host) == ERA_6_1;

	/* They are no longer the youngest. */
	for (int i = 0; i < 3; i++)
		assert_true(mglru_age(t, x->lruvec, SWAP));
	clear_young(x, map, 512);
	mglru_bloom_reset(x->host, &x->g->blooms[x->g->max_seq % 2]);
	touch(t, a, 100, 101 + row->young);
	frame_t frame = isolate(t, x, map, 100);

	assert_int_equal(mglru_judge(t, x->lruvec, frame, &sc), is_6_1 ? FATE_ACTIVATE : FATE_KEEP);
	assert_int_equal(page->flags & (PG_REFERENCED | PG_YOUNG), PG_REFERENCED);
	/* Itself among the 64. */
	assert_int_equal(mglru_bloom_has(&x->g->blooms[x->g->max_seq % 2], map->object->id, 0),
			 row->young >= 7);
	/* It was seen to be young: no second look. */
	assert_int_equal(mglru_judge(t, x->lruvec, frame, &sc), FATE_KEEP);
	assert_pages(x, x->g->max_seq, LRU_ANON, row->batch ? 0 : row->young);
	if (row->batch)
		assert_int_equal(page_at(x, map, 101)->batched, 1);
	lru_add_drain(t);
	task_sync(t);
	assert_pages(x, x->g->max_seq, LRU_ANON, row->young);
	assert_int_equal(mglru_stat(x, PGACTIVATE) - activated, row->batch ? row->young : 0);
	/* One whose bit is clear can go. */
	put_back(t, x, frame);
	frame = isolate(t, x, map, 400);
	assert_int_equal(mglru_judge(t, x->lruvec, frame, &sc), FATE_FREED);
	put_back(t, x, frame);
	anon_unmap(t, a);
}

static void neighbours_task(struct task *t, void *arg)
{
	static const struct neighbours_row rows[] = {
		{ 601, 6, false, true }, { 601, 14, false, true }, { 601, 15, false, false },
		{ 601, 6, true, false }, { 612, 6, false, true },  { 612, 15, false, true },
	};
	struct mglru_fixture *x = arg;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		x->host->kernel_version = rows[i].version;
		x->host->pages->batch = rows[i].version == 601 ? 15 : PAGE_BATCH_MOST;
		neighbours(t, x, &rows[i]);
	}
}

static void test_neighbours(void **state)
{
	struct mglru_fixture x;

	(void)state;
	mglru_open(&x, ONE_GROUP, 601);
	mglru_run(&x, neighbours_task);
	mglru_close(&x);
}

/* ---- neighbours that go while the lock is waited for ---- */

struct going {
	struct mglru_fixture x;
	struct anon_object *a;
	struct mapping *map;
	bool ready;
};

/* Holds the lruvec's lock from the first microsecond to the fiftieth. */
static void lock_task(struct task *t, void *arg)
{
	struct going *g = arg;

	while (!g->ready)
		task_sleep(t, SIM_US);
	spin_lock_irq(t, g->x.lruvec->lock);
	cpu_work(t, 50 * SIM_US);
	task_sync(t);
	spin_unlock_irq(t, g->x.lruvec->lock);
}

static void zap_task(struct task *t, void *arg)
{
	struct going *g = arg;

	while (!g->ready)
		task_sleep(t, SIM_US);
	cpu_work(t, 20 * SIM_US);
	anon_zap(t, g->a, 101, 2);
}

static void look_task(struct task *t, void *arg)
{
	struct going *g = arg;
	struct mglru_fixture *x = &g->x;
	struct scan_control sc = { .walked = true };
	frame_t frame;

	g->map = populate(t, x, 512, 0, &g->a);
	for (int i = 0; i < 3; i++)
		assert_true(mglru_age(t, x->lruvec, SWAP));
	clear_young(x, g->map, 512);
	touch(t, g->a, 100, 110);
	frame = isolate(t, x, g->map, 100);
	g->ready = true;
	cpu_work(t, 10 * SIM_US);
	/* Ten are young: the page itself, two that go, seven that are made younger. */
	assert_int_equal(mglru_judge(t, x->lruvec, frame, &sc), FATE_ACTIVATE);
	assert_pages(x, x->g->max_seq, LRU_ANON, 7);
	put_back(t, x, frame);
	anon_unmap(t, g->a);
}

static void test_going(void **state)
{
	struct going g = { .ready = false };

	(void)state;
	mglru_open(&g.x, MGLRU_CPUS(3, "") "cgroups: [ { name: g } ]\n", 601);
	fixture_spawn(&g.x.f, 0, look_task, &g);
	fixture_spawn(&g.x.f, 1, lock_task, &g);
	fixture_spawn(&g.x.f, 2, zap_task, &g);
	fixture_run(&g.x.f);
	mglru_close(&g.x);
}

/* ---- what counts as having run ---- */

static void ran_task(struct task *t, void *arg)
{
	struct mglru_fixture *x = arg;
	const struct mglru_options *o = mglru_options(x->host);
	struct anon_object *a;
	struct mapping *map = populate(t, x, 512, 0, &a);

	assert_true(mglru_age(t, x->lruvec, SWAP));
	touch(t, a, 0, 1);
	x->g->blooms[0].bits = x->g->blooms[1].bits = NULL;
	assert_true(mglru_age(t, x->lruvec, SWAP));
	assert_int_equal(count_young(x, map, 0, 512),
			 o->process_ran == MGLRU_RAN_TOUCHED || o->switch_at == 2 ? 0 : 1);
	task_sleep(t, SIM_US);
	touch(t, a, 0, 1);
	x->g->blooms[0].bits = x->g->blooms[1].bits = NULL;
	assert_true(mglru_age(t, x->lruvec, SWAP));
	assert_int_equal(count_young(x, map, 0, 512), 0);
	anon_unmap(t, a);
}

static void test_ran(void **state)
{
	static const char *const texts[] = {
		ONE_GROUP,
		MGLRU_HOST(", process_ran: switched") "cgroups: [ { name: g } ]\n",
		MGLRU_HOST(", process_ran: switched, switch_at: 2") "cgroups: [ { name: g } ]\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct mglru_fixture x;

		mglru_open(&x, texts[i], 601);
		mglru_run(&x, ran_task);
		mglru_close(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),       cmocka_unit_test(test_first_walk),
		cmocka_unit_test(test_twice),      cmocka_unit_test(test_window),
		cmocka_unit_test(test_neighbours), cmocka_unit_test(test_going),
		cmocka_unit_test(test_ran),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
