/*
 * test_page_cache.c - reading and dropping file pages: counts of statistics updates as a 6.1 kernel makes
 * them, nodes of the cache's tree, pages that another CPU's batch holds, limits.
 */
#include "models/page/cache_tree.h"
#include "models/page/page_impl.h"
#include "models/stat/stat.h"
#include "sim/engine/random.h"
#include "tests/host_fixture.h"

static const char two_levels[] = FIXTURE_BASE(
	4, 64, 1) "cgroups: [ { name: p, children: [ { name: c }, { name: d, memory.max: 400KiB } ] } ]\n";

struct cache_test {
	struct fixture f;
	struct file_object *file;
	struct memcg *c, *d;
	int hits, misses;
};

static void run_task(void (*run)(struct task *t, void *arg))
{
	struct cache_test x = { 0 };

	fixture_open(&x.f, two_levels);
	x.c = memcg_find(x.f.host, "/p/c");
	x.d = memcg_find(x.f.host, "/p/d");
	x.file = file_create(x.f.host, 8192);
	fixture_spawn(&x.f, 0, run, &x);
	fixture_run(&x.f);
	assert_true(fixture_holds(&x.f));
	fixture_close(&x.f);
}

static void read_pages(struct task *t, struct cache_test *x, struct memcg *m, uint64_t from, uint64_t nr,
		       enum file_result expected)
{
	for (uint64_t i = from; i < from + nr; i++)
		assert_int_equal(file_read(t, m, x->file, i, NULL), expected);
}

static void expect_calls(struct task *t, struct cache_test *x, struct stat_calls *before, uint64_t lruvec,
			 uint64_t lruvec_sum, uint64_t events, uint64_t event_sum)
{
	task_sync(t);
	const struct stat_calls *now = stat_calls(x->f.host);

	assert_int_equal(now->calls[STAT_LRUVEC] - before->calls[STAT_LRUVEC], lruvec);
	assert_int_equal(now->absval[STAT_LRUVEC] - before->absval[STAT_LRUVEC], lruvec_sum);
	assert_int_equal(now->calls[STAT_EVENT] - before->calls[STAT_EVENT], events);
	assert_int_equal(now->absval[STAT_EVENT] - before->absval[STAT_EVENT], event_sum);
	*before = *now;
}

/* Rows E5f of kernel 6.1: 1,024 pages of a file that a process of c reads. */
static void count_updates(struct task *t, void *arg)
{
	struct cache_test *x = arg;
	struct stat_calls before = { 0 };

	/* NR_FILE_PAGES and PGPGIN a page; 68 batches on the LRU; 17 nodes, of which 14 are in two lumps. */
	read_pages(t, x, x->c, 0, 1024, FILE_MISS);
	expect_calls(t, x, &before, 1024 + 1020 + 2, 1024 + 1020 + 2 * 4144, 1024, 1024);
	assert_int_equal(x->c->object_bytes, 17 * CACHE_NODE_BYTES);
	assert_int_equal(stat_truth(x->c, NR_INACTIVE_FILE), 1020);
	/* The second access activates: two sizes and an event, in batches of 15. */
	read_pages(t, x, x->c, 0, 1024, FILE_HIT);
	expect_calls(t, x, &before, 2 * 1020, 2 * 1020, 1020, 1020);
	assert_int_equal(stat_truth(x->c, NR_ACTIVE_FILE), 1020);
	read_pages(t, x, x->c, 0, 1024, FILE_HIT);
	expect_calls(t, x, &before, 0, 0, 0, 0);
	/* 4 still waited; uncharged by fifteens. */
	file_drop(t, x->file, 0, 1024);
	expect_calls(t, x, &before, 4 + 2 * 1024, 4 + 2 * 1024, 69, 1024);
	assert_int_equal(file_present(x->file), 0);
	assert_int_equal(x->c->object_bytes, 17 * CACHE_NODE_BYTES); /* a grace period is to come */
	task_sleep(t, 100 * SIM_MS);
	assert_int_equal(x->c->object_bytes, 0);
	expect_calls(t, x, &before, 2, 2 * 4144, 0, 0);
	assert_int_equal(stat_truth(x->c, NR_SLAB_RECLAIMABLE_B), 0);
}

static void test_counts(void **state)
{
	(void)state;
	run_task(count_updates);
}

/* A page may wait for its list when it is read again: it is flagged, and goes to the active list at once. */
static void flag_in_batch(struct task *t, void *arg)
{
	struct cache_test *x = arg;

	read_pages(t, x, x->c, 0, 1, FILE_MISS);
	read_pages(t, x, x->c, 0, 1, FILE_HIT);
	lru_add_drain(t);
	assert_int_equal(stat_truth(x->c, NR_ACTIVE_FILE), 1);
	assert_int_equal(stat_truth(x->c, PGACTIVATE), 0);
}

static void test_flag_in_batch(void **state)
{
	(void)state;
	run_task(flag_in_batch);
}

/* ---- nodes: a tree as high as its largest index needs ---- */

static uint64_t nodes_of(const struct memcg *m)
{
	assert_int_equal(m->object_bytes % CACHE_NODE_BYTES, 0);
	return m->object_bytes / CACHE_NODE_BYTES;
}

static void grow_tree(struct task *t, void *arg)
{
	struct cache_test *x = arg;

	read_pages(t, x, x->c, 5, 1, FILE_MISS);
	assert_int_equal(nodes_of(x->c), 1);
	read_pages(t, x, x->c, 64, 1, FILE_MISS); /* a second leaf, and one above both */
	assert_int_equal(nodes_of(x->c), 3);
	read_pages(t, x, x->c, 5000, 1, FILE_MISS); /* a third level: its top, a middle, a leaf */
	assert_int_equal(nodes_of(x->c), 6);
	read_pages(t, x, x->d, 5001, 1, FILE_MISS); /* somebody else's page in a node that is there */
	read_pages(t, x, x->d, 128, 1, FILE_MISS);  /* and in a new one, which is his */
	assert_int_equal(nodes_of(x->c), 6);
	assert_int_equal(nodes_of(x->d), 1);
	file_drop(t, x->file, 5000, 1);
	task_sleep(t, 100 * SIM_MS);
	assert_int_equal(nodes_of(x->c), 6); /* d's page keeps c's node */
	file_drop(t, x->file, 5001, 1);
	task_sleep(t, 100 * SIM_MS);
	assert_int_equal(nodes_of(x->c), 4);
	file_drop(t, x->file, 0, 8192);
	task_sleep(t, 100 * SIM_MS);
	assert_int_equal(nodes_of(x->c), 0);
	assert_int_equal(nodes_of(x->d), 0);
}

static void test_tree(void **state)
{
	(void)state;
	run_task(grow_tree);
}

/* The tree alone, filled and emptied in random order: as many nodes as are needed, at every moment. */
static void random_tree(struct task *t, void *arg)
{
	struct cache_test *x = arg;
	struct stream s;
	bool there[5000] = { false };

	stream_init(&s, 7, "tree", "order");
	for (int i = 0; i < 4000; i++) {
		uint64_t index = stream_below(&s, 5000);

		if (stream_below(&s, 3)) {
			enum file_result result = file_read(t, x->c, x->file, index, NULL);

			assert_int_equal(result, there[index] ? FILE_HIT : FILE_MISS);
			there[index] = true;
		} else {
			file_drop(t, x->file, index, 1);
			there[index] = false;
		}
	}
	lru_add_drain(t);
	uint64_t present = 0, leaves = 0, last = UINT64_MAX;

	for (uint64_t i = 0; i < 5000; i++) {
		present += there[i];
		if (there[i] && i / 64 != last)
			leaves++;
		if (there[i])
			last = i / 64;
	}
	assert_int_equal(file_present(x->file), present);
	task_sleep(t, 100 * SIM_MS);
	assert_int_equal(nodes_of(x->c), leaves + 2 + 1);
	file_drop(t, x->file, 0, 8192);
	task_sleep(t, 100 * SIM_MS);
	assert_int_equal(nodes_of(x->c), 0);
}

static void test_random(void **state)
{
	(void)state;
	run_task(random_tree);
}

/* ---- pages in the batch of another CPU ---- */

static void drop_remotely(struct task *t, void *arg)
{
	struct cache_test *x = arg;

	read_pages(t, x, x->c, 0, 20, FILE_MISS); /* 15 on the list, 5 in CPU 0's batch */
	task_pin(t, 1);
	sim_time_t began = sim_now(t->sim);

	file_drop(t, x->file, 0, 20);
	assert_int_equal(file_present(x->file), 0);
	/* CPU 0 had to be asked: its worker woke, and this task slept until it was done. */
	assert_true(sim_now(t->sim) - began > x->f.host->machine->work_dispatch);
	assert_int_equal(x->c->nr_charged - x->c->nr_kmem, 0);
	assert_int_equal(frames_used(x->f.host), x->f.host->pages->nr_kernel);
}

static void test_remote(void **state)
{
	(void)state;
	run_task(drop_remotely);
}

/* ---- a limit ---- */

static void read_past_limit(struct task *t, void *arg)
{
	struct cache_test *x = arg;

	read_pages(t, x, x->d, 0, 99, FILE_MISS);
	/* 100 pages, of which one holds the nodes of the first 64 and the next. */
	assert_int_equal(x->d->nr_kmem, 1);
	assert_int_equal(memcg_current(x->d), 100);
	assert_int_equal(file_present(x->file), 99);
	assert_int_equal(x->d->events[EVENT_MAX], 0);
	/* What is there is there for everybody. */
	read_pages(t, x, x->c, 0, 99, FILE_HIT);
	assert_int_equal(memcg_current(x->c), 0);
	/* One more, and others make room for it. */
	read_pages(t, x, x->d, 99, 1, FILE_MISS);
	assert_int_equal(x->d->events[EVENT_MAX], 1);
	assert_in_range(file_present(x->file), 40, 99 - 32 + 1);
	assert_true(memcg_current(x->d) <= 100);
}

static void test_limit(void **state)
{
	(void)state;
	run_task(read_past_limit);
}

/* ---- two readers who miss the same page: one brings it in, the other's page is given back ---- */

static void read_same(struct task *t, void *arg)
{
	struct cache_test *x = arg;

	for (uint64_t i = 0; i < 300; i++) {
		enum file_result result = file_read(t, x->c, x->file, i, NULL);

		x->hits += result == FILE_HIT;
		x->misses += result == FILE_MISS;
	}
}

static void test_race(void **state)
{
	struct cache_test x = { 0 };

	(void)state;
	fixture_open(&x.f, two_levels);
	x.c = memcg_find(x.f.host, "/p/c");
	x.file = file_create(x.f.host, 300);
	for (uint32_t cpu = 0; cpu < 4; cpu++)
		fixture_spawn(&x.f, cpu, read_same, &x);
	fixture_run(&x.f);
	assert_int_equal(x.misses, 300);
	assert_int_equal(x.hits, 900);
	assert_int_equal(file_present(x.file), 300);
	assert_true(stat_truth(x.c, PGPGIN) > 300); /* some were charged in vain */
	assert_int_equal(stat_truth(x.c, PGPGIN) - stat_truth(x.c, PGPGOUT), 300);
	assert_true(fixture_holds(&x.f));
	fixture_close(&x.f);
}

/* ---- what the invariants are for ---- */

static void test_broken(void **state)
{
	struct cache_test x = { 0 };

	(void)state;
	fixture_open(&x.f, two_levels);
	x.c = memcg_find(x.f.host, "/p/c");
	x.file = file_create(x.f.host, 300);
	fixture_spawn(&x.f, 0, read_same, &x);
	fixture_run(&x.f);
	struct page *page = page_of(x.f.host, x.f.host->pages->zones[0].first);

	page->flags ^= PG_CACHED;
	fixture_expect_broken(&x.f, pages_check, "file counts");
	page->flags ^= PG_CACHED;
	x.c->nr_charged++;
	fixture_expect_broken(&x.f, pages_check, "pages charged");
	x.c->nr_charged--;
	assert_true(fixture_holds(&x.f));
	fixture_close(&x.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts), cmocka_unit_test(test_flag_in_batch),
		cmocka_unit_test(test_tree),   cmocka_unit_test(test_random),
		cmocka_unit_test(test_remote), cmocka_unit_test(test_limit),
		cmocka_unit_test(test_race),   cmocka_unit_test(test_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
