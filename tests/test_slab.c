/*
 * test_slab.c - slab caches: how many objects a slab has by kernel and CPUs, as /proc/slabinfo of guests
 * shows it; which sizes kmalloc() has; empty slabs that stay; what a machine had at boot.
 */
#include "tests/host_fixture.h"

#include "models/host/slab.h"
#include "models/page/page_impl.h"

static void open_host(struct fixture *f, const char *kernel, uint32_t cpus, uint32_t possible,
		      const char *more)
{
	char text[500];

	snprintf(text, sizeof text,
		 "schema: 1\nscenario: test\nkernel: %s\nhost: { cpus: %u, possible_cpus: %u, nodes: 1, "
		 "memory: 1GiB }\n%s",
		 kernel, cpus, possible, more);
	fixture_open(f, text);
}

struct trial {
	struct fixture f;
	uint32_t objects[4], pages[4]; /* of a slab: of 2 KiB, 1 KiB, radix_tree_node, dentry */
};

static const uint32_t sizes[4] = { 2048, 1024, 584, 192 };

static void run_in(struct trial *x, const char *kernel, uint32_t cpus, uint32_t possible, const char *more,
		   void (*act)(struct task *t, void *arg))
{
	open_host(&x->f, kernel, cpus, possible, more);
	fixture_spawn(&x->f, 0, act, x);
	sim_run(x->f.host->sim, 100 * SIM_SEC);
	assert_null(sim_error(x->f.host->sim));
	assert_int_equal(x->f.ended, 1);
	fixture_close(&x->f);
}

static void get(struct task *t, struct host *host, uint32_t bytes, uint32_t nr)
{
	for (; nr; nr--) {
		assert_true(slab_get(t, host, 0, bytes));
		task_sync(t);
	}
}

/* Objects until the second slab, and the pages of one. */
static void orders(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct host *host = x->f.host;

	task_sync(t);
	for (int i = 0; i < 4; i++) {
		uint64_t before = slab_pages(host);

		get(t, host, sizes[i], 1);
		assert_int_equal(slab_pages(host) - before, x->pages[i]);
		get(t, host, sizes[i], x->objects[i] - 1);
		assert_int_equal(slab_pages(host) - before, x->pages[i]);
		get(t, host, sizes[i], 1);
		assert_int_equal(slab_pages(host) - before, 2 * x->pages[i]);
	}
	assert_int_equal(frames_used(host), slab_pages(host));
}

/* As /proc/slabinfo of guests has them. */
static void test_orders(void **state)
{
	static const struct {
		const char *kernel;
		uint32_t cpus, possible;
		struct trial slabs;
	} machines[] = {
		{ "v6.1", 1, 1, { .objects = { 8, 8, 14, 21 }, .pages = { 4, 2, 2, 1 } } },
		{ "v6.1", 1, 8, { .objects = { 16, 32, 28, 21 }, .pages = { 8, 8, 4, 1 } } },
		{ "v6.1", 1, 32, { .objects = { 16, 32, 28, 42 }, .pages = { 8, 8, 4, 2 } } },
		{ "v6.12", 1, 1, { .objects = { 8, 8, 14, 21 }, .pages = { 4, 2, 2, 1 } } },
		{ "v6.12", 8, 8, { .objects = { 16, 32, 28, 21 }, .pages = { 8, 8, 4, 1 } } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
		struct trial x = machines[i].slabs;

		run_in(&x, machines[i].kernel, machines[i].cpus, machines[i].possible, "", orders);
	}
}

static void test_kmalloc(void **state)
{
	(void)state;
	assert_int_equal(kmalloc_size(8), 8);
	assert_int_equal(kmalloc_size(65), 96);
	assert_int_equal(kmalloc_size(130), 192);
	assert_int_equal(kmalloc_size(592), 1024);
	assert_int_equal(kmalloc_size(2248), 4096);
	assert_int_equal(kmalloc_size(104), 104); /* a cache of its own */
}

/* Of 25 slabs the node keeps six, and the CPU up to two more; accounted objects are in others. */
static void empty(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct host *host = x->f.host;
	uint64_t kept;

	task_sync(t);
	get(t, host, 4096, 200);
	assert_int_equal(slab_pages(host), 25 * 8);
	for (int i = 0; i < 200; i++)
		slab_put(host, 0, 4096);
	kept = slab_pages(host);
	assert_true(kept >= 6 * 8 && kept <= 8 * 8);
	/* They are taken before others are made. */
	get(t, host, 4096, (uint32_t)kept);
	assert_int_equal(slab_pages(host), kept);
	get(t, host, 4096, 1);
	assert_int_equal(slab_pages(host), kept + 8);
	get(t, host, 4096 | SLAB_CG, 1);
	assert_int_equal(slab_pages(host), kept + 16);
	assert_int_equal(frames_used(host), slab_pages(host));
}

static void test_empty(void **state)
{
	struct trial x = { 0 };

	(void)state;
	run_in(&x, "v6.1", 1, 8, "", empty);
}

static void boot(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct host *host = x->f.host;

	task_sync(t);
	assert_int_equal(slab_pages(host), 10 + 9 * 8); /* 6 objects are free */
	assert_int_equal(frames_used(host), slab_pages(host));
	get(t, host, 2048, 6);
	assert_int_equal(slab_pages(host), 10 + 9 * 8);
	get(t, host, 2048, 1);
	assert_int_equal(slab_pages(host), 10 + 10 * 8);
}

static void test_boot(void **state)
{
	struct trial x = { 0 };

	(void)state;
	run_in(&x, "v6.1", 1, 8,
	       "kernel_memory: { slab: 40KiB, caches: [ { bytes: 2048, objects: 138 } ] }\n", boot);
}

/* 6.1 works off kvfree_rcu() after 20 ms, 6.12 when there are 507 and one more, or after 5 s. */
static void late(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct host *host = x->f.host;

	task_sync(t);
	get(t, host, 4096, x->objects[0]);
	for (uint32_t i = 0; i < x->objects[0]; i++) {
		slab_kvfree_rcu(t, host, 0, 4096);
		task_sync(t);
	}
	task_sleep(t, 100 * SIM_MS);
	task_sync(t);
	get(t, host, 64, 1);
	slab_kvfree_rcu(t, host, 0, 64);
	task_sleep(t, 100 * SIM_MS);
	task_sync(t);
	assert_true(slab_pages(host) >= 1 + x->pages[0] && slab_pages(host) <= 1 + x->pages[1]);
}

static void test_late(void **state)
{
	struct trial few = { .objects = { 506 }, .pages = { 64 * 8, 64 * 8 } };
	struct trial many = { .objects = { 507 }, .pages = { 6 * 8, 8 * 8 } };

	(void)state;
	run_in(&few, "v6.12", 1, 8, "", late);
	run_in(&many, "v6.12", 1, 8, "", late);
	many.objects[0] = 160;
	run_in(&many, "v6.1", 1, 8, "", late);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_orders), cmocka_unit_test(test_kmalloc), cmocka_unit_test(test_empty),
		cmocka_unit_test(test_boot),   cmocka_unit_test(test_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
