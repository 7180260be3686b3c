/*
 * test_life.c - cgroups that come and go: the counts of cgroup.stat, what keeps a removed one, what becomes
 * of its kernel objects, and that nothing of it is left.
 */
#include "tests/life_rig.h"

#include "models/cgroup/stock.h"
#include "models/page/page_impl.h"
#include "models/reclaim/reclaim.h"
#include "models/stat/stat.h"

static const char base[] = "schema: 1\nscenario: test\nkernel: v6.1\n"
			   "host: { cpus: 4, nodes: 2, memory: 1GiB }\n"
			   "cgroups: [ { name: p } ]\n";

struct trial {
	struct fixture f;
	struct memcg *p, *m;
	struct file_object *file;
	bool done;
};

static void run_trial(struct trial *x, const char *text, void (*run)(struct task *t, void *arg))
{
	memset(x, 0, sizeof *x);
	fixture_open(&x->f, text);
	x->p = memcg_find(x->f.host, "/p");
	x->file = file_create(x->f.host, 4096);
	fixture_spawn(&x->f, 0, run, x);
	sim_run(x->f.host->sim, 20 * SIM_SEC);
	assert_null(sim_error(x->f.host->sim));
	assert_int_equal(x->f.ended, x->f.spawned);
	assert_true(fixture_holds(&x->f));
	fixture_close(&x->f);
}

/* ---- counts ---- */

static void counts(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct memcg *root = x->f.host->cgroups->root, *a = made(t, x->p, "a"), *b = made(t, a, "b");

	task_sync(t);
	assert_string_equal(b->path, "/p/a/b");
	assert_string_equal(b->name, "b");
	assert_int_equal(root->nr_descendants, 3);
	assert_int_equal(cgroup_rmdir(t, a), CGROUP_BUSY);
	assert_int_equal(cgroup_rmdir(t, b), CGROUP_OK);
	assert_int_equal(root->nr_descendants, 2);
	assert_int_equal(root->nr_dying_descendants, 1); /* at once */
	assert_int_equal(a->nr_dying_descendants, 1);
	assert_null(memcg_find(x->f.host, "/p/a/b"));
	assert_int_equal(cgroup_rmdir(t, a), CGROUP_OK); /* several levels at once */
	assert_int_equal(root->nr_dying_descendants, 2);
	settle(t);
	assert_int_equal(root->nr_dying_descendants, 0);
	assert_int_equal(root->nr_descendants, 1);
	assert_int_equal(x->p->nr_children, 0);
	assert_null(x->p->first_child);
}

static void test_counts(void **state)
{
	struct trial x;

	(void)state;
	run_trial(&x, base, counts);
}

/* ---- page cache ---- */

static void pages(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct memcg *m = made(t, x->p, "m"), *failed;
	uint64_t before;

	for (uint64_t i = 0; i < 200; i++)
		assert_int_equal(file_read(t, m, x->file, i, &failed), FILE_MISS);
	cgroup_rmdir(t, m);
	settle(t);
	assert_int_equal(x->p->nr_dying_descendants, 1);
	assert_int_equal(m->life, MEMCG_OFFLINE);
	assert_int_equal(m->css_id, 0);
	before = x->p->memory.usage;
	assert_true(before >= 200);
	file_drop(t, x->file, 0, 200);
	settle(t);
	assert_int_equal(x->p->nr_dying_descendants, 0);
	assert_int_equal(stat_truth(x->p, NR_FILE_PAGES), 0);
	memcg_drain_all_stock(t, x->p);
	settle(t);
	assert_int_equal(x->p->memory.usage, x->p->nr_kmem);
}

static void test_pages(void **state)
{
	struct trial x;

	(void)state;
	run_trial(&x, base, pages);
}

static void reclaimed(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct memcg *failed;
	char name[16];

	for (uint32_t i = 0; i < 100; i++) {
		snprintf(name, sizeof name, "c%u", i);
		struct memcg *m = made(t, x->p, name);

		assert_int_equal(file_read(t, m, x->file, i, &failed), FILE_MISS);
		assert_int_equal(cgroup_rmdir(t, m), CGROUP_OK);
	}
	lru_add_drain_all(t);
	settle(t);
	assert_int_equal(x->p->nr_dying_descendants, 100);
	assert_int_equal(cgroup_leftovers(x->f.host).reclaimable, 100);
	memcg_proactive_reclaim(t, x->p, 50);
	settle(t);
	/* 6.1 goes round all of them; later kernels stop when they have enough, in steps of at least 32. */
	if (x->f.host->kernel_version < 611)
		assert_int_equal(x->p->nr_dying_descendants, 0);
	else
		assert_int_equal(x->p->nr_dying_descendants, 36);
	memcg_proactive_reclaim(t, x->p, 400);
	settle(t);
	assert_int_equal(x->p->nr_dying_descendants, 0);
}

static void test_reclaimed(void **state)
{
	static const char *const kernels[] = { "v6.1", "v6.12", "v6.18" };
	static const char *const lrus[] = { "classic", "mglru" };
	struct trial x;
	char text[256];

	(void)state;
	for (int k = 0; k < 3; k++)
		for (int l = 0; l < 2; l++) {
			snprintf(text, sizeof text,
				 "schema: 1\nscenario: test\nkernel: %s\npolicies: { reclaim: %s }\n"
				 "host: { cpus: 4, nodes: 1, memory: 1GiB }\ncgroups: [ { name: p } ]\n",
				 kernels[k], lrus[l]);
			run_trial(&x, text, reclaimed);
		}
}

/* In 7.1 pages of the cache go to the parent, and no cgroup waits for them. */
static void handed_over(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct memcg *m = made(t, x->p, "m"), *failed;

	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(file_read(t, m, x->file, i, &failed), FILE_MISS);
	lru_add_drain_all(t);
	assert_int_equal(cgroup_rmdir(t, m), CGROUP_OK);
	settle(t);
	assert_int_equal(x->p->nr_dying_descendants, 0);
	assert_int_equal(stat_truth(x->p, NR_FILE_PAGES), 100);
	assert_int_equal(reclaim_ops(x->f.host)->size(memcg_lruvec(x->p, 0), LRU_INACTIVE_FILE), 100);
}

static void test_handed_over(void **state)
{
	struct trial x;

	(void)state;
	run_trial(&x,
		  "schema: 1\nscenario: test\nkernel: v7.1\n"
		  "host: { cpus: 4, nodes: 1, memory: 1GiB }\ncgroups: [ { name: p } ]\n",
		  handed_over);
}

/* ---- kernel objects ---- */

static void objects(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct memcg *m = made(t, x->p, "m");
	uint32_t owner, other, node = t->cpu->node;

	task_sync(t);
	assert_true(object_charge(t, m, node, NR_SLAB_RECLAIMABLE_B, 5000, NULL));
	assert_true(kmem_charge_pages(t, m, 3, NULL));
	owner = m->objcg->id;
	assert_int_equal(m->nr_kmem, 5);
	cgroup_rmdir(t, m);
	settle(t);
	/* They do not keep it: they are the parent's. */
	assert_int_equal(x->p->nr_dying_descendants, 0);
	assert_int_equal(x->p->nr_kmem, 5);
	assert_ptr_equal(objcg_by_id(x->f.host, owner)->memcg, x->p);
	/* Its number is not given away as long as they have it. */
	m = made(t, x->p, "n");
	other = m->id;
	assert_int_not_equal(other, owner);
	cgroup_rmdir(t, m);
	task_sync(t);
	kmem_uncharge_pages(t, owner, 3);
	task_sync(t);
	object_uncharge(t, owner, node, NR_SLAB_RECLAIMABLE_B, 5000);
	settle(t);
	memcg_drain_all_stock(t, x->f.host->cgroups->root);
	settle(t);
	/* Nothing is in use; parts of pages that several CPUs gave back may still add up to whole ones. */
	assert_int_equal(x->p->object_bytes, 0);
	assert_true(x->p->nr_kmem <= 4 + 1);
	assert_int_equal(stat_truth(x->p, NR_SLAB_RECLAIMABLE_B), 0);
	assert_int_equal(stat_truth(x->p, MEMCG_KMEM), x->p->nr_kmem);
	m = made(t, x->p, "o");
	assert_true(m->id == owner || m->id == other);
}

static void test_objects(void **state)
{
	struct trial x;

	(void)state;
	run_trial(&x, base, objects);
}

/* Of a cgroup right below the root: its objects become the root's, which counts no others. */
static void to_root(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct memcg *root = x->f.host->cgroups->root, *m = made(t, root, "m");
	uint32_t owner = m->objcg->id;

	task_sync(t);
	assert_true(object_charge(t, m, 0, NR_SLAB_RECLAIMABLE_B, 600, NULL));
	cgroup_rmdir(t, m);
	settle(t);
	assert_int_equal(root->nr_dying_descendants, 0);
	assert_int_equal(root->nr_kmem, 1);
	object_uncharge(t, owner, 0, NR_SLAB_RECLAIMABLE_B, 600);
	memcg_drain_all_stock(t, root);
	settle(t);
	assert_int_equal(root->nr_kmem, 0);
	assert_int_equal(root->memory.usage, 0);
}

static void test_to_root(void **state)
{
	struct trial x;

	(void)state;
	run_trial(&x, base, to_root);
}

/* ---- swap: so little of it that no slots wait on a CPU to get free, which keeps their owner too ---- */

static const char swapping[] = "schema: 1\nscenario: test\nkernel: v6.1\n"
			       "host: { cpus: 1, nodes: 1, memory: 256MiB }\n"
			       "devices: [ { name: z, device: zram, size: 1MiB } ]\nswap: { device: z }\n"
			       "cgroups: [ { name: p } ]\n";

static void swapped(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct memcg *m = made(t, x->p, "m"), *n = made(t, x->p, "n"), *failed;
	struct anon_object *before = anon_create(x->f.host, m, 10), *after = anon_create(x->f.host, n, 10);

	for (uint64_t i = 0; i < 10; i++)
		assert_true(anon_touch(t, before, i, &failed) && anon_touch(t, after, i, &failed));
	lru_add_drain(t);
	memcg_proactive_reclaim(t, m, 10);
	task_sync(t);
	assert_true(m->nr_swap == 10);
	/* The process moves out. */
	page_object_move((struct page_object *)before, x->p);
	page_object_move((struct page_object *)after, x->p);
	cgroup_rmdir(t, m);
	cgroup_rmdir(t, n);
	settle(t);
	assert_int_equal(x->p->nr_dying_descendants, 2);
	assert_int_not_equal(m->css_id, 0); /* a slot names its owner by id: it is kept */
	assert_int_equal(n->css_id, 0);
	assert_int_equal(cgroup_leftovers(x->f.host).pinned, 1);
	assert_int_equal(cgroup_leftovers(x->f.host).reclaimable, 1);
	/* What goes out after the removal is charged to the parent, and keeps nobody. */
	memcg_proactive_reclaim(t, x->p, 100);
	settle(t);
	assert_int_equal(x->p->nr_dying_descendants, 1);
	assert_int_equal(x->p->swap.usage, 20);
	assert_int_equal(x->p->nr_swap, 10);
	anon_unmap(t, before);
	settle(t);
	assert_int_equal(x->p->nr_dying_descendants, 0);
	anon_unmap(t, after);
}

static void test_swapped(void **state)
{
	struct trial x;

	(void)state;
	run_trial(&x, swapping, swapped);
}

/* ---- stocks, walkers, children ---- */

static void held(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct memcg *m = made(t, x->p, "m"), *child = made(t, m, "child");

	task_sync(t);
	assert_true(memcg_tryget(child));
	cgroup_rmdir(t, child);
	cgroup_rmdir(t, m);
	settle(t);
	/* A walker holds the child, the child its parent. */
	assert_int_equal(x->p->nr_dying_descendants, 2);
	assert_int_equal(cgroup_leftovers(x->f.host).pinned, 2);
	memcg_put(t, child);
	settle(t);
	assert_int_equal(x->p->nr_dying_descendants, 0);
}

static void test_held(void **state)
{
	struct trial x;

	(void)state;
	run_trial(&x, base, held);
}

/* ---- a long time ---- */

static void lives(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct memcg *failed;
	size_t committed = 0;
	char name[16];

	for (uint32_t i = 0; i < 3000; i++) {
		snprintf(name, sizeof name, "c%u", i);
		struct memcg *m = made(t, x->p, name);

		assert_int_not_equal(file_read(t, m, x->file, i % 64, &failed), FILE_NOMEM);
		assert_int_equal(cgroup_rmdir(t, m), CGROUP_OK);
		if (i % 64 == 63) {
			lru_add_drain_all(t);
			file_drop(t, x->file, 0, 64);
			settle(t);
		}
		if (i == 1500)
			committed = arena_committed(sim_arena(x->f.host->sim));
	}
	settle(t);
	/* Numbers and memory are used again and again. */
	assert_true(x->f.host->cgroups->nr < 150);
	assert_int_equal(arena_committed(sim_arena(x->f.host->sim)), committed);
}

static void test_lives(void **state)
{
	struct trial x;

	(void)state;
	run_trial(&x, base, lives);
}

/* ---- ids ---- */

static void ids(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct cgroup_state *cgroups = x->f.host->cgroups;
	struct memcg *m = made(t, x->p, "m"), *none;

	task_sync(t);
	cgroups->nr_css_ids = MOST_CSS_IDS; /* as if all were taken */
	assert_int_equal(cgroup_mkdir(t, x->p, "n", &none), CGROUP_NO_ID);
	assert_null(none);
	cgroups->nr_css_ids = 3;
	assert_int_equal(m->css_id, 3);
	cgroup_rmdir(t, m);
	settle(t);
	assert_int_equal(cgroups->nr_css_ids, 2);
	assert_int_equal(made(t, x->p, "o")->css_id, 3); /* the lowest that is free */
}

static void test_ids(void **state)
{
	struct trial x;

	(void)state;
	run_trial(&x, base, ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),    cmocka_unit_test(test_pages),
		cmocka_unit_test(test_reclaimed), cmocka_unit_test(test_handed_over),
		cmocka_unit_test(test_objects),   cmocka_unit_test(test_to_root),
		cmocka_unit_test(test_swapped),   cmocka_unit_test(test_held),
		cmocka_unit_test(test_lives),     cmocka_unit_test(test_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
