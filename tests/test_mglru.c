/*
 * The multi-generational LRU's lists: where pages join, how generations come and go, what a walk over page
 * tables and a look around do, the order of lruvecs, and the invariants, each broken on purpose.
 */
#include "tests/mglru_fixture.h"

#define ONE_GROUP MGLRU_HOST("") "cgroups: [ { name: g } ]\n"

/* Reads pages [from, to) of the file and has them on their lists. */
static void read_pages(struct task *t, struct mglru_fixture *x, struct file_object *f, uint64_t from,
		       uint64_t to)
{
	for (uint64_t i = from; i < to; i++)
		assert_int_not_equal(file_read(t, x->m, f, i, NULL), FILE_NOMEM);
	lru_add_drain(t);
	task_sync(t);
}

static void touch_pages(struct task *t, struct mglru_fixture *x, struct anon_object *a, uint64_t from,
			uint64_t to)
{
	(void)x;
	for (uint64_t i = from; i < to; i++)
		assert_true(anon_touch(t, a, i, NULL));
	lru_add_drain(t);
	task_sync(t);
}

static void expect_active(struct mglru_fixture *x, enum lru_list inactive, uint64_t nr_inactive,
			  uint64_t nr_active)
{
	assert_int_equal(mglru_size(x->lruvec, inactive), nr_inactive);
	assert_int_equal(mglru_size(x->lruvec, inactive + 1), nr_active);
	assert_int_equal(mglru_stat(x, NR_INACTIVE_ANON + (enum stat_item)inactive), nr_inactive);
	assert_int_equal(mglru_stat(x, NR_ACTIVE_ANON + (enum stat_item)inactive), nr_active);
}

/* ---- joining ---- */

static void join_task(struct task *t, void *arg)
{
	struct mglru_fixture *x = arg;
	struct file_object *f = file_create(x->host, 64);
	struct anon_object *a = anon_create(x->host, x->m, 64);

	/* What is read joins the second oldest of four, which is empty below: the first advance is by one. */
	read_pages(t, x, f, 0, 10);
	assert_pages(x, 1, LRU_FILE, 10);
	expect_active(x, LRU_INACTIVE_FILE, 10, 0);
	spin_lock_irq(t, x->lruvec->lock);
	assert_true(mglru_advance(x->lruvec, 0));
	assert_false(mglru_advance(x->lruvec, 0));
	spin_unlock_irq(t, x->lruvec->lock);
	assert_int_equal(x->g->min_seq[LRU_FILE], 1);
	assert_int_equal(x->g->min_seq[LRU_ANON], 0);
	/* From then on it joins the oldest of three. */
	read_pages(t, x, f, 10, 20);
	assert_pages(x, 1, LRU_FILE, 20);
	/* What a fault made joins the youngest. */
	touch_pages(t, x, a, 0, 30);
	assert_pages(x, 3, LRU_ANON, 30);
	expect_active(x, LRU_INACTIVE_ANON, 0, 30);
	/* The size of the zone is nobody's business here. */
	for (enum lru_list lru = 0; lru < NR_LRU_LISTS; lru++)
		assert_int_equal(x->lruvec->lru_zone_size[lru], 0);
	/* Pages in a batch are on no list, and leave with their file. */
	assert_int_not_equal(file_read(t, x->m, f, 20, NULL), FILE_NOMEM);
	assert_pages(x, 1, LRU_FILE, 20);
	file_drop(t, f, 0, 64);
	assert_pages(x, 1, LRU_FILE, 0);
	anon_unmap(t, a);
	assert_pages(x, 3, LRU_ANON, 0);
	expect_active(x, LRU_INACTIVE_ANON, 0, 0);
}

static void test_join(void **state)
{
	struct mglru_fixture x;

	(void)state;
	mglru_open(&x, ONE_GROUP, 601);
	mglru_run(&x, join_task);
	mglru_close(&x);
}

/* The marks that an active page keeps when it joins, and where those of other kinds go. */
static void marks_task(struct task *t, void *arg)
{
	static const struct {
		uint32_t version, flags, refs, seq;
		uint32_t flags_after, refs_after;
	} rows[] = {
		{ 601, PG_ACTIVE | PG_REFERENCED | PG_WORKINGSET, 3, 3, PG_REFERENCED | PG_WORKINGSET, 3 },
		{ 612, PG_ACTIVE | PG_REFERENCED | PG_WORKINGSET, 3, 3, PG_WORKINGSET, 0 },
		{ 618, PG_ACTIVE | PG_REFERENCED, 3, 2, PG_REFERENCED, 3 },
		{ 618, PG_ACTIVE | PG_WORKINGSET, 0, 3, PG_WORKINGSET, 0 },
		{ 612, PG_REFERENCED | PG_WORKINGSET, 2, 1, PG_REFERENCED | PG_WORKINGSET, 2 },
		{ 601, PG_SWAPBACKED, 0, 2, PG_SWAPBACKED, 0 },
		{ 601, PG_SWAPBACKED | PG_SWAPCACHE, 0, 1, PG_SWAPBACKED | PG_SWAPCACHE, 0 },
		{ 601, PG_RECLAIM, 0, 1, PG_RECLAIM, 0 },
		{ 601, PG_RECLAIM | PG_DIRTY, 0, 2, PG_RECLAIM | PG_DIRTY, 0 },
		{ 618, 0, 0, 0, 0, 0 },
		{ 618, PG_WORKINGSET, 0, 1, PG_WORKINGSET, 0 },
		{ 618, PG_SWAPBACKED, 0, 2, PG_SWAPBACKED, 0 },
	};
	struct mglru_fixture *x = arg;
	frame_t frame = 1000;
	struct page *page = page_of(x->host, frame);

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		x->host->kernel_version = rows[i].version;
		spin_lock_irq(t, x->lruvec->lock);
		*page = (struct page){ .memcg = x->m->id,
				       .flags = (uint16_t)rows[i].flags,
				       .refs = (uint8_t)rows[i].refs };
		mglru_add(t, x->lruvec, frame);
		assert_int_equal(page_gen(page), rows[i].seq);
		assert_int_equal(page_on_list(page), rows[i].seq);
		assert_int_equal(page->flags & ~PG_LRU, rows[i].flags_after);
		assert_int_equal(page->refs, rows[i].refs_after);
		mglru_del(t, x->lruvec, frame);
		assert_int_equal(page_gen(page), NO_GEN);
		*page = (struct page){ 0 };
		spin_unlock_irq(t, x->lruvec->lock);
	}
	x->host->kernel_version = 601;
}

static void test_marks(void **state)
{
	struct mglru_fixture x;

	(void)state;
	mglru_open(&x, ONE_GROUP, 601);
	mglru_run(&x, marks_task);
	mglru_close(&x);
}

/* ---- generations ---- */

static void generations_task(struct task *t, void *arg)
{
	struct mglru_fixture *x = arg;
	struct file_object *f = file_create(x->host, 64);
	struct mglru *g = x->g;

	read_pages(t, x, f, 0, 40);
	frame_t oldest = g->lists[1][LRU_FILE][0].tail, next = page_of(x->host, oldest)->prev;

	assert_int_equal(mglru_need_aging(g, ERA_6_1, 0), MGLRU_ENOUGH);
	/* Four generations: the empty oldest goes, and the second youngest stops being active. */
	assert_true(mglru_age(t, x->lruvec, 0));
	assert_int_equal(g->max_seq, 4);
	assert_int_equal(g->min_seq[LRU_FILE], 1);
	assert_int_equal(g->min_seq[LRU_ANON], 1);
	/* Again: what is in the oldest is pushed on, its marks gone, one behind the other at the old end. */
	mglru_mark_accessed(t, x->host, oldest);
	assert_true(mglru_age(t, x->lruvec, 0));
	assert_int_equal(g->min_seq[LRU_FILE], 2);
	assert_pages(x, 2, LRU_FILE, 40);
	assert_null(g->lists[1][LRU_FILE][0].head);
	assert_int_equal(g->lists[2][LRU_FILE][0].head, oldest);
	assert_int_equal(page_of(x->host, oldest)->next, next);
	assert_int_equal(page_of(x->host, oldest)->flags & (PG_REFERENCED | PG_WORKINGSET), 0);
	expect_active(x, LRU_INACTIVE_FILE, 40, 0);
	/* Three generations, no old pages: should; two: must, and nothing is evicted. */
	g->min_seq[LRU_FILE] = 3;
	g->nr_pages[2][LRU_FILE] -= 40;
	g->nr_pages[3][LRU_FILE] += 40;
	assert_int_equal(mglru_need_aging(g, ERA_6_1, 0), MGLRU_ENOUGH);
	g->nr_pages[3][LRU_FILE] -= 31;
	g->nr_pages[0][LRU_FILE] += 31;
	assert_int_equal(mglru_need_aging(g, ERA_6_1, 0), MGLRU_SHOULD_AGE);
	g->nr_pages[3][LRU_FILE] += 1;
	g->nr_pages[0][LRU_FILE] -= 1;
	assert_int_equal(mglru_need_aging(g, ERA_6_1, 0), MGLRU_ENOUGH);
	assert_int_equal(mglru_need_aging(g, ERA_6_18, 0), MGLRU_SHOULD_AGE);
	g->min_seq[LRU_FILE] = 4;
	assert_int_equal(mglru_need_aging(g, ERA_6_1, 0), MGLRU_MUST_AGE);
	/* As it was. */
	g->min_seq[LRU_FILE] = 2;
	g->nr_pages[2][LRU_FILE] = 40;
	g->nr_pages[3][LRU_FILE] = g->nr_pages[0][LRU_FILE] = 0;
	/* While somebody walks for this max_seq, nobody else does. */
	g->walk_seq = g->max_seq;
	assert_false(mglru_age(t, x->lruvec, 0));
	assert_int_equal(g->max_seq, 5);
	file_drop(t, f, 0, 64);
}

static void test_generations(void **state)
{
	struct mglru_fixture x;

	(void)state;
	mglru_open(&x, ONE_GROUP, 601);
	mglru_run(&x, generations_task);
	mglru_close(&x);
}

/* Anonymous pages without swap are not pushed on: the generation that they are in becomes the youngest. */
static void unswappable_task(struct task *t, void *arg)
{
	struct mglru_fixture *x = arg;
	struct anon_object *a = anon_create(x->host, x->m, 64);

	touch_pages(t, x, a, 0, 50);
	for (int i = 0; i < 3; i++)
		assert_true(mglru_age(t, x->lruvec, 0));
	expect_active(x, LRU_INACTIVE_ANON, 50, 0);
	assert_true(mglru_age(t, x->lruvec, 0));
	assert_pages(x, 7, LRU_ANON, 50);
	expect_active(x, LRU_INACTIVE_ANON, 0, 50);
	anon_unmap(t, a);
}

static void test_unswappable(void **state)
{
	struct mglru_fixture x;

	(void)state;
	mglru_open(&x, ONE_GROUP, 601);
	mglru_run(&x, unswappable_task);
	mglru_close(&x);
}

/* With swap, an empty file side waits for anon. */
static void advance_task(struct task *t, void *arg)
{
	struct mglru_fixture *x = arg;
	struct anon_object *a = anon_create(x->host, x->m, 64);

	touch_pages(t, x, a, 0, 10);
	spin_lock_irq(t, x->lruvec->lock);
	x->g->max_seq = 6;
	x->g->min_seq[LRU_ANON] = 3;
	x->g->min_seq[LRU_FILE] = 3;
	x->g->control.refaulted[LRU_FILE][0] = 8;
	assert_false(mglru_advance(x->lruvec, 60));
	assert_int_equal(x->g->min_seq[LRU_FILE], 3);
	/* Without, it goes as far as it can: one carry-over, however many generations. */
	assert_true(mglru_advance(x->lruvec, 0));
	assert_int_equal(x->g->min_seq[LRU_FILE], 5);
	assert_int_equal(x->g->control.avg_refaulted[LRU_FILE][0], 4);
	assert_int_equal(x->g->min_seq[LRU_ANON], 3);
	spin_unlock_irq(t, x->lruvec->lock);
	anon_unmap(t, a);
}

static void test_advance(void **state)
{
	struct mglru_fixture x;

	(void)state;
	mglru_open(&x, ONE_GROUP, 601);
	mglru_run(&x, advance_task);
	mglru_close(&x);
}

/* ---- the order of lruvecs ---- */

static void memcg_lru_task(struct task *t, void *arg)
{
	struct mglru_fixture *x = arg;
	const struct memcg_lru_place *p = &x->g->place;
	struct mglru_node *n = mglru_node(x->host, 0);

	assert_int_equal(p->gen, 0);
	memcg_lru_rotate(t, x->lruvec, MOVE_TAIL);
	assert_int_equal(p->gen, 0);
	assert_int_equal(p->segment, SEGMENT_TAIL);
	assert_int_equal(n->seq, 0);
	/* The last of the oldest generation leaves it. */
	memcg_lru_rotate(t, x->lruvec, MOVE_YOUNG);
	assert_int_equal(p->gen, 1);
	assert_int_equal(p->segment, SEGMENT_DEFAULT);
	assert_int_equal(n->seq, 1);
	memcg_lru_rotate(t, x->lruvec, MOVE_YOUNG);
	assert_int_equal(p->gen, 2);
	memcg_lru_rotate(t, x->lruvec, MOVE_OLD);
	assert_int_equal(p->gen, 2);
	assert_ptr_equal(n->bins[2][p->bin].head, x->lruvec);
	memcg_lru_rotate(t, x->lruvec, MOVE_HEAD);
	assert_int_equal(p->segment, SEGMENT_HEAD);
}

static void test_memcg_lru(void **state)
{
	struct mglru_fixture x;

	(void)state;
	mglru_open(&x, ONE_GROUP, 612);
	mglru_run(&x, memcg_lru_task);
	mglru_close(&x);
}

/* A pass leaves who has nothing for the next generation, at once: no less is protected than there is. */
static void empty_task(struct task *t, void *arg)
{
	struct mglru_fixture *x = arg;
	struct scan_control sc = { .target = x->host->cgroups->root,
				   .global = true,
				   .kswapd = true,
				   .priority = DEF_PRIORITY,
				   .nr_to_reclaim = 32 };

	task_sync(t);
	assert_int_equal(x->m->memory.usage, 0);
	assert_int_equal(x->g->place.gen, 0);
	assert_true(mglru_shrink_node(t, 0, &sc));
	assert_int_equal(x->g->place.gen, 1);
	assert_int_equal(x->g->place.segment, SEGMENT_DEFAULT);
}

static void test_empty(void **state)
{
	struct mglru_fixture x;

	(void)state;
	mglru_open(&x, ONE_GROUP, 612);
	mglru_run(&x, empty_task);
	mglru_close(&x);
}

/* ---- invariants, broken ---- */

static void expect(struct mglru_fixture *x, const char *what)
{
	struct record *record = record_new(64);

	mglru_check(x->lruvec, record);
	memcg_lru_check(x->host, record);
	assert_true(record_invariants_broken(record) > 0);
	assert_non_null(strstr(record_invariants_text(record), what));
	record_free(record);
}

static void broken_task(struct task *t, void *arg)
{
	struct mglru_fixture *x = arg;
	struct file_object *f = file_create(x->host, 64);
	struct mglru *g = x->g;

	read_pages(t, x, f, 0, 10);
	frame_t frame = g->lists[1][LRU_FILE][0].head;
	struct page *page = page_of(x->host, frame), saved = *page;
	struct mglru whole = *g;
	struct mglru_node *n = mglru_node(x->host, 0);

	g->min_seq[LRU_FILE] = 3;
	expect(x, "I17 generations");
	g->max_seq = 5;
	*g = whole;
	g->max_seq = 4;
	expect(x, "I17 generations");
	*g = whole;
	g->nr_pages[1][LRU_FILE]++;
	expect(x, "I17 size");
	*g = whole;
	page_set_gen(page, 2);
	expect(x, "I17 size");
	*page = saved;
	page_set_place(page, 2);
	expect(x, "I17 place");
	*page = saved;
	page->flags |= PG_ACTIVE;
	expect(x, "I17 place");
	*page = saved;
	page->prev = frame;
	expect(x, "I17 list");
	*page = saved;
	n->nr[1]++;
	expect(x, "memcg LRU");
	n->nr[1]--;
	file_drop(t, f, 0, 64);
}

static void test_broken(void **state)
{
	struct mglru_fixture x;

	(void)state;
	mglru_open(&x, ONE_GROUP, 601);
	mglru_run(&x, broken_task);
	mglru_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join),        cmocka_unit_test(test_marks),
		cmocka_unit_test(test_generations), cmocka_unit_test(test_unswappable),
		cmocka_unit_test(test_advance),     cmocka_unit_test(test_memcg_lru),
		cmocka_unit_test(test_empty),       cmocka_unit_test(test_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
