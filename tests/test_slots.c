/*
 * test_slots.c - what an object has at an index: pages that go and leave shadows, leaves of the tree that
 * come to hold shadows alone, pages that come back to them, and the invariants broken on purpose.
 */
#include "models/workingset/workingset_impl.h"
#include "tests/evict_rig.h"

static const char plain[] = RIG_HEAD RIG_POLICIES " }\ncgroups: [ { name: c } ]\n";

/* Whatever test is given sees pages of a batch on the list. */
static void read_range(struct task *t, struct rig *r, struct file_object *f, uint64_t from, uint64_t nr,
		       enum file_result expected)
{
	for (uint64_t i = from; i < from + nr; i++)
		assert_int_equal(file_read(t, r->c, f, i, NULL), expected);
	lru_add_drain(t);
	task_sync(t);
}

static void evict_range(struct task *t, struct rig *r, struct file_object *f, uint64_t from, uint64_t nr)
{
	for (uint64_t i = from; i < from + nr; i++)
		assert_int_equal(rig_evict(t, r->host, rig_frame(&f->object, i), r->c), EVICT_GONE);
	task_sync(t);
}

/* ---- shadows in place ---- */

static void evict_and_read(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct file_object *f = file_create(r->host, 1000);
	const struct workingset_count *count = workingset_counted(r->host);
	const struct shadow_node *leaf = &f->tree.leaves[0];

	read_range(t, r, f, 0, 70, FILE_MISS);
	assert_int_equal(leaf->count, 64);
	assert_int_equal(leaf->nr_values, 0);
	evict_range(t, r, f, 0, 63);
	assert_int_equal(file_present(f), 7);
	assert_int_equal(leaf->count, 64);
	assert_int_equal(leaf->nr_values, 63);
	assert_int_equal(workingset_nodes(r->host, 0), 0); /* one page keeps its leaf off the list */
	evict_range(t, r, f, 63, 1);
	assert_int_equal(workingset_nodes(r->host, 0), 1);
	assert_int_equal(workingset_nodes_of(r->host, r->c), 1);
	assert_int_equal(count->shadows_made, 64);

	/* The page is charged, its shadow is looked at, and its leaf leaves the list. */
	read_range(t, r, f, 10, 1, FILE_MISS);
	assert_int_equal(rig_seen.refaults, 1);
	assert_int_equal(rig_seen.refaulted.stamp, 10);
	assert_int_equal(rig_seen.refaulted.css_id, r->c->css_id);
	assert_false(rig_seen.in_fault);
	assert_int_equal(count->refaults, 1);
	assert_int_equal(count->shadows_gone, 1);
	assert_int_equal(leaf->nr_values, 63);
	assert_int_equal(workingset_nodes(r->host, 0), 0);
	assert_int_equal(count->nodes_listed, 1);
	assert_int_equal(count->nodes_unlisted, 1);
	/* Its nodes are the charge of who read first: a leaf for 64 pages, one more, one above both. */
	assert_int_equal(r->c->object_bytes, 3 * CACHE_NODE_BYTES);

	/* A drop takes what it finds, shadows too. */
	file_drop(t, f, 0, 1000);
	task_sleep(t, 100 * SIM_MS);
	assert_int_equal(count->shadows_gone, 64);
	assert_int_equal(file_present(f), 0);
	assert_int_equal(r->c->object_bytes, 0);
}

static void shadows_in_place(void **state)
{
	(void)state;
	rig_run_on(plain, 1, evict_and_read);
}

/* ---- when a page is not to be had ---- */

static void refuse(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct file_object *f = file_create(r->host, 100);
	frame_t frame;

	read_range(t, r, f, 0, 3, FILE_MISS);
	assert_int_equal(file_write(t, r->c, f, 1, NULL), FILE_HIT);
	task_sync(t);
	assert_int_equal(rig_evict(t, r->host, rig_frame(&f->object, 1), r->c), EVICT_DIRTY);
	/* It is to go as soon as it is written. */
	assert_true(page_of(r->host, rig_frame(&f->object, 1))->flags & PG_RECLAIM);
	file_sync(t, f);
	lru_add_drain(t); /* the batch of pages that are to be rotated has it */
	assert_int_equal(file_dirty(f), 0);
	task_sync(t);
	assert_int_equal(rig_evict(t, r->host, rig_frame(&f->object, 1), r->c), EVICT_GONE);

	/* Somebody else's reference. */
	task_sync(t);
	frame = rig_frame(&f->object, 2);
	page_of(r->host, frame)->batched++;
	assert_int_equal(rig_evict(t, r->host, frame, r->c), EVICT_BUSY);
	task_sync(t);
	page_of(r->host, frame)->batched--;

	/* A write that brings its page in makes no test, and its shadow is gone all the same. */
	evict_range(t, r, f, 2, 1);
	assert_int_equal(file_write(t, r->c, f, 2, NULL), FILE_MISS);
	assert_int_equal(rig_seen.refaults, 0);
	file_sync(t, f);
	assert_int_equal(file_dirty(f), 0);
	/* Without swap, anonymous memory stays. */
	struct anon_object *a = anon_create(r->host, r->c, 1);

	assert_true(anon_touch(t, a, 0, NULL));
	lru_add_drain(t);
	frame = rig_frame((struct page_object *)(void *)a, 0);
	assert_int_equal(rig_evict(t, r->host, frame, r->c), EVICT_NO_SWAP);
	assert_true(anon_is_present(a, 0));
	anon_unmap(t, a);
}

static void refusals(void **state)
{
	(void)state;
	rig_run_on(plain, 1, refuse);
}

/* ---- mapped files, accesses ---- */

static void map_file(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct file_object *f = file_create(r->host, 1024);
	uint64_t position = NO_INDEX, tables;
	frame_t frame;

	task_sync(t);
	assert_int_equal(file_touch(t, r->c, f, 600, NULL), FILE_MISS);
	task_sync(t);
	assert_int_equal(stat_truth(r->c, NR_FILE_MAPPED), 1);
	assert_int_equal(stat_truth(r->c, NR_PAGETABLE), 1);
	assert_int_equal(stat_truth(r->c, PGMAJFAULT), 1);
	frame = rig_frame(&f->object, 600);
	assert_true(page_of(r->host, frame)->flags & PG_YOUNG);
	assert_int_equal(rig_seen.accesses, 0); /* only the accessed bit */
	lru_add_drain(t);
	assert_int_equal(rig_evict(t, r->host, frame, r->c), EVICT_GONE);
	assert_int_equal(stat_truth(r->c, NR_FILE_MAPPED), 0);
	assert_int_equal(file_touch(t, r->c, f, 600, NULL), FILE_MISS);
	assert_true(rig_seen.in_fault);
	assert_int_equal(file_touch(t, r->c, f, 600, NULL), FILE_HIT);
	task_sync(t);
	assert_int_equal(stat_truth(r->c, PGFAULT), 4); /* up to 6.3 a fault that reads counts twice */

	/* Twice in a row is once. */
	file_read_open(t, r->c, f, 1, &position, NULL);
	file_read_open(t, r->c, f, 1, &position, NULL);
	assert_int_equal(rig_seen.accesses, 1);
	file_read_open(t, r->c, f, 2, &position, NULL);
	file_read_open(t, r->c, f, 1, &position, NULL);
	assert_int_equal(rig_seen.accesses, 3);

	file_drop(t, f, 0, 1024);
	task_sync(t);
	assert_int_equal(file_present(f), 1); /* mapped: it stays */
	file_unmap(t, f);
	task_sync(t);
	tables = (uint64_t)stat_truth(r->c, NR_PAGETABLE);
	assert_int_equal(tables, 0);
	assert_int_equal(stat_truth(r->c, NR_FILE_MAPPED), 0);
	task_sleep(t, 100 * SIM_MS);
}

static void mapped(void **state)
{
	(void)state;
	rig_run_on(plain, 1, map_file);
}

/* ---- two readers of one page ---- */

static uint64_t misses, hits;
static struct file_object *shared;

static void both_read(struct task *t, void *arg)
{
	struct rig *r = arg;

	task_sync(t);
	if (!shared) {
		shared = file_create(r->host, 10);
		file_place(shared, disk_find(r->host, "slow"));
	}
	enum file_result result = file_read(t, r->c, shared, 3, NULL);

	task_sync(t);
	misses += result == FILE_MISS;
	hits += result == FILE_HIT;
	assert_true(sim_now(t->sim) >= 10 * SIM_MS); /* who came second waited for the first's read */
}

static void waits_for_read(void **state)
{
	(void)state;
	misses = hits = 0;
	shared = NULL;
	rig_run_on(RIG_HEAD RIG_POLICIES " }\ncgroups: [ { name: c } ]\n"
					 "devices: [ { name: slow, device: disk, read: 10ms } ]\n",
		   2, both_read);
	assert_int_equal(misses, 1);
	assert_int_equal(hits, 1);
}

/* ---- invariants ---- */

static void break_them(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct host *host = r->host;
	struct file_object *f = file_create(host, 640);
	struct workingset_state *ws = workingset_of(host);

	read_range(t, r, f, 0, 192, FILE_MISS);
	evict_range(t, r, f, 0, 128);
	/* A slot that holds a page where the leaf counts a shadow. */
	f->object.slots[5] = slot_of_frame(rig_frame(&f->object, 130));
	fixture_expect_broken(&r->f, workingset_check, "I12");
	f->object.slots[5] = slot_of_shadow(1);
	/* A refault without a shadow. */
	ws->count.refaults += 1000;
	fixture_expect_broken(&r->f, workingset_check, "I12");
	ws->count.refaults -= 1000;
	ws->count.shadows_gone++;
	fixture_expect_broken(&r->f, workingset_check, "I12");
	ws->count.shadows_gone--;
	ws->nodes[0]++;
	fixture_expect_broken(&r->f, workingset_check, "I13");
	ws->nodes[0]--;
	f->tree.leaves[0].listed = false;
	fixture_expect_broken(&r->f, workingset_check, "I12");
	f->tree.leaves[0].listed = true;
	ws->count.nodes_reclaimed++;
	fixture_expect_broken(&r->f, workingset_check, "I14");
	ws->count.nodes_reclaimed--;
	ws->stamp_bits++;
	fixture_expect_broken(&r->f, workingset_check, "I16");
	ws->stamp_bits--;
}

static void broken(void **state)
{
	(void)state;
	rig_run_on(plain, 1, break_them);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shadows_in_place), cmocka_unit_test(refusals), cmocka_unit_test(mapped),
		cmocka_unit_test(waits_for_read),   cmocka_unit_test(broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
