/*
 * test_kernel_frames.c - slabs, per-CPU pages and page tables as page frames: from the first instant on, of
 * which node, what is reclaimed for them, who is told that there are none, and that inodes go when a machine
 * is full of them.
 */
#include "tests/host_fixture.h"

#include "models/cgroup/life.h"
#include "models/fs/vfs.h"
#include "models/host/ledger.h"
#include "models/page/page_impl.h"
#include "models/stat/stat.h"

static uint64_t of_node(const struct host *host, uint32_t node)
{
	uint64_t nr = 0;

	for (const struct page_zone *z = node_zone(host, node); z; z = node_zone_next(host, z))
		nr += z->nr_kernel;
	return nr;
}

static void run_on(const char *scenario, uint32_t cpu, void (*run)(struct task *t, void *arg))
{
	struct fixture f;

	fixture_open(&f, scenario);
	fixture_spawn(&f, cpu, run, &f);
	sim_run(f.run.sim, 100 * SIM_SEC);
	assert_null(sim_error(f.run.sim));
	assert_int_equal(f.ended, 1);
	assert_true(fixture_holds(&f));
	fixture_close(&f);
}

/* ---- whose frames ---- */

#define TWO_NODES                                    \
	"schema: 1\nscenario: test\nkernel: v6.12\n" \
	"host: { cpus: 4, possible_cpus: 12, nodes: 2, memory: 1GiB }\ncgroups: [ { name: p } ]\n"

/* CPU 3 is on node 1: so are the nodes of a tree that it makes, and what it frees comes back there. */
static void trees(struct task *t, void *arg)
{
	struct host *host = ((struct fixture *)arg)->host;
	struct file_object *file = file_create(host, 64 * 1000);
	struct memcg *p = memcg_find(host, "/p"), *failed;
	uint64_t most;

	assert_int_equal(host->pages->nr_kernel, 0);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_not_equal(file_read(t, p, file, 64 * i, &failed), FILE_NOMEM);
	task_sync(t);
	/* 1,000 leaves and 16 nodes above them, 28 to a slab of four pages; lists of /p and of the root. */
	most = of_node(host, 1);
	assert_int_equal(of_node(host, 0), 0);
	assert_int_equal(most, 4 * ((1000 + 16 + 1 + 27) / 28) + 1);
	assert_int_equal(slab_pages(host), most);
	file_drop(t, file, 0, 64 * 1000);
	task_sleep(t, 100 * SIM_MS); /* a grace period */
	task_sync(t);
	/* Five empty slabs stay on the node, and up to four on the CPU. */
	assert_in_range(of_node(host, 1), 4 * 5 + 1, 4 * 9 + 1);
}

static void of_the_allocating_cpu(void **state)
{
	(void)state;
	run_on(TWO_NODES, 3, trees);
}

/* A table for 512 pages, on the node of the CPU that touches the first; back there whoever unmaps it. */
static void tables(struct task *t, void *arg)
{
	struct host *host = ((struct fixture *)arg)->host;
	struct memcg *owners[] = { memcg_find(host, "/p"), host->cgroups->root };

	for (int i = 0; i < 2; i++) {
		struct anon_object *a = anon_create(host, owners[i], 1024);

		task_pin(t, 3);
		for (uint64_t page = 0; page < 1024; page++)
			assert_true(anon_touch(t, a, page, NULL));
		task_sync(t);
		assert_int_equal(of_node(host, 1), 2);
		task_pin(t, 0);
		anon_unmap(t, a);
		task_sleep(t, 100 * SIM_MS); /* a grace period, for those that are charged */
		task_sync(t);
		assert_int_equal(of_node(host, 1), 0);
		assert_int_equal(of_node(host, 0), 0);
	}
}

static void page_tables(void **state)
{
	(void)state;
	run_on(TWO_NODES, 3, tables);
}

struct same_page {
	struct fixture f;
	struct file_object *file;
};

static void touch_it(struct task *t, void *arg)
{
	struct same_page *x = arg;

	assert_int_not_equal(file_touch(t, memcg_find(x->f.host, "/p"), x->file, 0, NULL), FILE_NOMEM);
}

/* Two tasks find no table for a page that both map: one table is there in the end, and paid for. */
static void one_table(void **state)
{
	struct same_page x = { 0 };

	(void)state;
	fixture_open(&x.f, TWO_NODES);
	struct memcg *p = memcg_find(x.f.host, "/p");

	x.file = file_create(x.f.host, 1);
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		fixture_spawn(&x.f, cpu, touch_it, &x);
	sim_run(x.f.run.sim, SIM_SEC);
	assert_null(sim_error(x.f.run.sim));
	assert_int_equal(x.f.ended, 2);
	assert_int_equal(stat_truth(p, NR_PAGETABLE), 1);
	assert_int_equal(x.f.host->pages->nr_kernel, slab_pages(x.f.host) + 1);
	assert_true(fixture_holds(&x.f));
	fixture_close(&x.f);
}

/* Per-CPU pages lie where their CPU is, the others where mkdir runs, but for what each node has. */
static void structures_lie(struct task *t, void *arg)
{
	struct host *host = ((struct fixture *)arg)->host;
	struct memcg *p = memcg_find(host, "/p"), *m;
	uint64_t percpu, of_own = 0;
	char name[16];

	for (uint32_t i = 0; i < 100; i++) {
		snprintf(name, sizeof name, "c%u", i);
		assert_int_equal(cgroup_mkdir(t, p, name, &m), CGROUP_OK);
		memcg_put(t, m);
	}
	task_sync(t);
	percpu = percpu_populated(host) / PAGE_SIZE;
	for (uint32_t i = 0; i < nr_structures; i++)
		if (structures[i].per_node && !structures[i].percpu && structure_bytes(host, &structures[i]))
			of_own += 100 * kmalloc_size(structure_bytes(host, &structures[i])) / PAGE_SIZE;
	assert_int_equal(percpu % 12, 0);
	assert_true(percpu / 12 > 10);
	assert_true(of_node(host, 0) - percpu / 2 >= of_own);
	assert_true(of_node(host, 0) - percpu / 2 <= of_own + 40); /* slabs that are not full */
	assert_int_equal(of_node(host, 0) + of_node(host, 1), percpu + slab_pages(host));
	assert_true(of_node(host, 1) - percpu / 2 > 3 * of_own);
}

static void of_each_cpu(void **state)
{
	(void)state;
	run_on(TWO_NODES, 3, structures_lie);
}

/* What was there at boot: per-CPU pages of all CPUs, slabs spread; and nothing is counted twice. */
static void boot(struct task *t, void *arg)
{
	struct host *host = ((struct fixture *)arg)->host;

	(void)t;
	assert_int_equal(percpu_populated(host), 12 * 100 * PAGE_SIZE);
	assert_int_equal(of_node(host, 0), 600 + 500);
	assert_int_equal(of_node(host, 1), 600 + 500);
	assert_int_equal(frames_used(host), 2200);
}

static void at_boot(void **state)
{
	(void)state;
	run_on(TWO_NODES "kernel_memory: { percpu: 4800KiB, slab: 4000KiB }\n", 0, boot);
}

/* ---- when there are none ---- */

/* All that is free is the kernel's by now, and all else clean page cache. */
static struct file_object *fill(struct task *t, struct host *host)
{
	struct file_object *file = file_create(host, 1000);
	struct memcg *p = memcg_find(host, "/p"), *failed;

	for (uint64_t i = 0; i < 1000; i++)
		assert_int_not_equal(file_read(t, p, file, i, &failed), FILE_NOMEM);
	lru_add_drain_all(t);
	frames_drain(t, host);
	task_sync(t);
	kernel_frames_boot(host, 0, node_free(host, 0));
	assert_int_equal(node_free(host, 0), 0);
	return file;
}

static void wanting(struct task *t, void *arg)
{
	struct host *host = ((struct fixture *)arg)->host;
	struct file_object *file = fill(t, host);
	uint64_t present = file_present(file);
	struct spinlock lock;
	struct memcg *failed = host->cgroups->root;

	spin_lock_init(&lock, lock_class(host->sim, "test"));
	spin_lock_irq(t, &lock);
	assert_false(slab_get(t, host, 0, 8192));
	spin_unlock_irq(t, &lock);
	task_sync(t);
	assert_int_equal(file_present(file), present); /* who may not wait does not reclaim */
	assert_true(slab_get(t, host, 0, 8192));
	assert_true(file_present(file) + 8 <= present);
	slab_put(host, 0, 8192);
	/* Nobody could be killed, and nothing is left: it is the machine, and not a limit. */
	file_drop(t, file, 0, 1000);
	frames_drain(t, host);
	task_sync(t);
	kernel_frames_boot(host, 0, node_free(host, 0));
	assert_false(slab_alloc(t, memcg_find(host, "/p"), 0, NR_SLAB_RECLAIMABLE_B, 4096, &failed));
	assert_null(failed);
	kernel_frames_put(host, 0, host->pages->nr_kernel - slab_pages(host));
}

static void for_who_may_wait(void **state)
{
	(void)state;
	run_on("schema: 1\nscenario: test\nkernel: v6.12\nhost: { cpus: 1, nodes: 1, memory: 32MiB }\n"
	       "cgroups: [ { name: p } ]\n",
	       0, wanting);
}

/* The first task of a cgroup needs a css_set, or stays where it is; the last one takes that along. */
static void moving(struct task *t, void *arg)
{
	struct host *host = ((struct fixture *)arg)->host;
	struct memcg *p = memcg_find(host, "/p"), *m;
	struct cgroup_task ct = { .task = t };
	struct file_object *file;
	uint32_t nr = 0;

	assert_int_equal(cgroup_mkdir(t, p, "m", &m), CGROUP_OK);
	task_sync(t);
	cgroup_task_attach(&ct, p);
	file = fill(t, host);
	file_drop(t, file, 0, 1000);
	frames_drain(t, host);
	task_sync(t);
	kernel_frames_boot(host, 0, node_free(host, 0));
	for (; slab_get(t, host, 0, kmalloc_size(592)); nr++)
		;
	assert_int_equal(cgroup_move(t, &ct, m), CGROUP_NO_PAGE);
	task_sync(t);
	assert_ptr_equal(ct.memcg, p);
	assert_null(m->tasks);
	slab_put(host, 0, kmalloc_size(592));
	assert_int_equal(cgroup_move(t, &ct, m), CGROUP_OK);
	task_sync(t);
	assert_ptr_equal(ct.memcg, m);
	assert_true(m->structures->css_set);
	/* Who is away comes back, though the machine is full. */
	m->nr_away++;
	assert_int_equal(cgroup_move(t, &ct, p), CGROUP_OK);
	task_sync(t);
	assert_true(m->structures->css_set);
	assert_int_equal(cgroup_move(t, &ct, m), CGROUP_OK);
	task_sync(t);
	assert_ptr_equal(ct.memcg, m);
	m->nr_away--;
	cgroup_exit(t, &ct);
	assert_false(m->structures->css_set);
	while (--nr)
		slab_put(host, 0, kmalloc_size(592));
	kernel_frames_put(host, 0,
			  host->pages->nr_kernel - slab_pages(host) - percpu_populated(host) / PAGE_SIZE);
	assert_int_equal(cgroup_rmdir(t, m), CGROUP_OK);
	task_sync(t);
	memcg_put(t, m);
}

static void for_who_moves(void **state)
{
	(void)state;
	run_on("schema: 1\nscenario: test\nkernel: v6.12\nhost: { cpus: 1, nodes: 1, memory: 32MiB }\n"
	       "cgroups: [ { name: p } ]\n",
	       0, moving);
}

/* ---- a machine full of inodes ---- */

/* 40,000 files of a page: 48 MB of inodes, 8 of dentries and 160 of pages, on 64 MB. */
static void many_files(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, "schema: 1\nscenario: test\nkernel: v6.12\n"
			 "host: { cpus: 1, nodes: 1, memory: 64MiB }\ncgroups: [ { name: p, tasks: [\n"
			 "  { workload: tree_read, files: 40000, file_pages: 1, inode: 1184 } ] } ]\n");
	sim_run(f.run.sim, 30 * SIM_SEC);
	assert_null(sim_error(f.run.sim));
	const struct vfs_count *c = vfs_counted(f.host->superblocks);

	assert_true(c->inodes_made >= 40000); /* none was refused */
	assert_true(c->inodes_freed > 0);
	assert_true(c->inodes * 1184 < f.host->memory);
	assert_true(f.host->pages->nr_kernel * PAGE_SIZE >= c->inodes * 1184 + c->dentries * 192);
	assert_int_equal(memcg_find(f.host, "/p")->events[EVENT_OOM_KILL], 0);
	assert_true(fixture_holds(&f));
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_the_allocating_cpu),
		cmocka_unit_test(of_each_cpu),
		cmocka_unit_test(at_boot),
		cmocka_unit_test(for_who_may_wait),
		cmocka_unit_test(for_who_moves),
		cmocka_unit_test(many_files),
		cmocka_unit_test(page_tables),
		cmocka_unit_test(one_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
