/*
 * test_ledger.c - the kernel's own memory for cgroups: to the byte what is charged to a parent, and what
 * /proc/meminfo makes of it; early release of per-CPU memory; a limit and a machine that have no room, and
 * whom the OOM killer ends before mkdir fails.
 */
#include "tests/life_rig.h"

#include "models/host/ledger.h"
#include "models/page/page_impl.h"
#include "models/reclaim/reclaim.h"
#include "models/stat/stat.h"

#define MOST    64
#define OFFLINE (2 * 8 + 32) /* of each CPU: perf_event's state, its reference and bpf's */

struct trial {
	struct fixture f;
	struct memcg *p, *made[MOST];
	double percpu[3]; /* per cgroup: with all, after offline, and after the end */
	uint32_t nr;
};

static void lives(struct task *t, void *arg)
{
	struct trial *x = arg;
	double before = (double)percpu_live(x->f.host);
	char name[16];

	for (uint32_t i = 0; i < x->nr; i++) {
		snprintf(name, sizeof name, "c%u", i);
		assert_int_equal(cgroup_mkdir(t, x->p, name, &x->made[i]), CGROUP_OK); /* holds it */
	}
	task_sync(t);
	x->percpu[0] = ((double)percpu_live(x->f.host) - before) / x->nr;
	for (uint32_t i = 0; i < x->nr; i++) {
		task_sync(t);
		mod_memcg_state(t, x->made[i], MEMCG_SOCK, 3);
		cgroup_rmdir(t, x->made[i]);
	}
	settle(t);
	assert_int_equal(x->p->nr_dying_descendants, x->nr);
	x->percpu[1] = ((double)percpu_live(x->f.host) - before) / x->nr;
	/* What was counted is spilled, not lost; and counting goes on. */
	mod_memcg_state(t, x->made[0], MEMCG_SOCK, 1);
	cpu_stat_read(t, x->p);
	task_sync(t);
	assert_int_equal(stat_reported(x->p, MEMCG_SOCK), 3 * x->nr + 1);
	assert_int_equal(stat_truth(x->f.host->cgroups->root, MEMCG_SOCK), 3 * x->nr + 1);
	mod_memcg_state(t, x->made[0], MEMCG_SOCK, -1);
	for (uint32_t i = 0; i < x->nr; i++) {
		mod_memcg_state(t, x->made[i], MEMCG_SOCK, -3);
		memcg_put(t, x->made[i]);
		task_sync(t);
	}
	settle(t);
	assert_int_equal(x->p->nr_dying_descendants, 0);
	assert_int_equal(stat_truth(x->p, MEMCG_PERCPU_B), 0);
	x->percpu[2] = ((double)percpu_live(x->f.host) - before) / x->nr;
}

static void run(struct trial *x, const char *kernel, uint32_t cpus, uint32_t nodes, const char *dying)
{
	char text[400];

	memset(x, 0, sizeof *x);
	snprintf(text, sizeof text,
		 "schema: 1\nscenario: test\nkernel: %s\npolicies: { dying_percpu: %s }\n"
		 "host: { cpus: %u, nodes: %u, memory: 1GiB }\ncgroups: [ { name: p } ]\n",
		 kernel, dying, cpus, nodes);
	fixture_open(&x->f, text);
	x->p = memcg_find(x->f.host, "/p");
	x->nr = 40;
	fixture_spawn(&x->f, 0, lives, x);
	sim_run(x->f.host->sim, 20 * SIM_SEC);
	assert_null(sim_error(x->f.host->sim));
	assert_int_equal(x->f.ended, x->f.spawned);
	assert_true(fixture_holds(&x->f));
	assert_true(x->percpu[2] == 0);
	fixture_close(&x->f);
}

/* The statistics of a memcg are 1,096 + 688 bytes a node on each CPU in 6.1, 1,088 + 496 in 6.12. */
static void test_sizes(void **state)
{
	struct trial x;

	(void)state;
	run(&x, "v6.1", 4, 1, "until_freed");
	assert_true(x.percpu[0] == 4 * (1096 + 688 + 128 + 64 + 5 * 8 + 32 + 4));
	run(&x, "v6.12", 4, 2, "until_freed");
	assert_true(x.percpu[0] == 4 * (1088 + 2 * 496 + 128 + 144 + 5 * 8 + 32 + 4));
	assert_true(x.percpu[1] == x.percpu[0] - 4 * OFFLINE);
}

static void one_more(struct task *t, void *arg)
{
	struct trial *x = arg;
	double before = (double)percpu_live(x->f.host);

	assert_int_equal(cgroup_mkdir(t, x->p, "c", &x->made[0]), CGROUP_OK);
	task_sync(t);
	x->percpu[0] = (double)percpu_live(x->f.host) - before;
	cgroup_rmdir(t, x->made[0]);
	settle(t);
	memcg_put(t, x->made[0]);
	settle(t);
	assert_true((double)percpu_live(x->f.host) == before);
}

/* In 7.1 each node has an owner of pages, with a reference count. */
static void test_owners(void **state)
{
	static const char *const kernels[] = { "v6.18", "v7.1" };
	char text[400];

	(void)state;
	for (uint32_t nodes = 1; nodes <= 3; nodes++) {
		double bytes[2];

		for (int i = 0; i < 2; i++) {
			struct trial x = { 0 };

			snprintf(text, sizeof text,
				 "schema: 1\nscenario: test\nkernel: %s\n"
				 "host: { cpus: 4, nodes: %u, memory: 1GiB }\ncgroups: [ { name: p } ]\n",
				 kernels[i], nodes);
			fixture_open(&x.f, text);
			x.p = memcg_find(x.f.host, "/p");
			fixture_spawn(&x.f, 0, one_more, &x);
			sim_run(x.f.host->sim, 20 * SIM_SEC);
			assert_int_equal(x.f.ended, x.f.spawned);
			assert_true(fixture_holds(&x.f));
			fixture_close(&x.f);
			bytes[i] = x.percpu[0];
		}
		assert_true(bytes[1] - bytes[0] == 4 * 8 * (nodes - 1));
	}
}

/* Linear in CPUs, rising with nodes. */
static void test_released(void **state)
{
	static const struct {
		uint32_t cpus, nodes;
	} hosts[] = { { 2, 1 }, { 8, 1 }, { 8, 2 } };
	struct trial x;

	(void)state;
	for (int i = 0; i < 3; i++) {
		run(&x, "v6.1", hosts[i].cpus, hosts[i].nodes, "released_at_offline");
		assert_true(x.percpu[0] - x.percpu[1] ==
			    hosts[i].cpus * (OFFLINE + 1096 + 688 * hosts[i].nodes));
	}
}

static void limited(struct task *t, void *arg)
{
	struct trial *x = arg;
	enum cgroup_error error = CGROUP_OK;
	char name[16];
	uint32_t nr;

	x->p->memory.max = 64;
	for (nr = 0; nr < MOST && error == CGROUP_OK; nr++) {
		snprintf(name, sizeof name, "c%u", nr);
		error = cgroup_mkdir(t, x->p, name, &x->made[nr]);
	}
	/* 1,784 x (4 + 2) bytes each, in whole pages, of 64. */
	assert_int_equal(error, CGROUP_LIMITED);
	assert_int_equal(nr - 1, 64 * 4096 / (1784 * 6));
	settle(t);
	assert_int_equal(x->p->nr_dying_descendants, 0);
	assert_int_equal(x->p->nr_descendants, nr - 1);
}

static void test_limited(void **state)
{
	struct trial x = { 0 };

	(void)state;
	fixture_open(&x.f, "schema: 1\nscenario: test\nkernel: v6.1\n"
			   "host: { cpus: 4, nodes: 1, memory: 1GiB }\ncgroups: [ { name: p } ]\n");
	x.p = memcg_find(x.f.host, "/p");
	fixture_spawn(&x.f, 0, limited, &x);
	sim_run(x.f.host->sim, 20 * SIM_SEC);
	assert_int_equal(x.f.ended, 1);
	assert_true(fixture_holds(&x.f));
	fixture_close(&x.f);
}

/* Populated pages fall late and in steps, and the frames with them. */
static void populated(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct host *host = x->f.host;
	struct percpu_block blocks[400];
	uint64_t most;

	assert_int_equal(percpu_populated(host), 0);
	for (int i = 0; i < 400; i++)
		assert_true(percpu_alloc(t, host, 2000, &blocks[i]));
	most = percpu_populated(host);
	assert_true(most >= percpu_live(host) && most <= percpu_live(host) + 10 * 8 * 4096);
	assert_int_equal(frames_used(host), most / PAGE_SIZE);
	for (int i = 0; i < 10; i++)
		percpu_free(host, &blocks[i]);
	assert_int_equal(percpu_populated(host), most);
	for (int i = 10; i < 400; i++)
		percpu_free(host, &blocks[i]);
	assert_true(percpu_populated(host) < most);
	assert_int_equal(percpu_live(host), 0);
	assert_int_equal(frames_used(host), percpu_populated(host) / PAGE_SIZE);
}

static void run_alone(const char *scenario, void (*act)(struct task *t, void *arg))
{
	struct trial x = { 0 };

	fixture_open(&x.f, scenario);
	x.p = memcg_find(x.f.host, "/p");
	fixture_spawn(&x.f, 0, act, &x);
	sim_run(x.f.host->sim, 3600 * SIM_SEC);
	assert_null(sim_error(x.f.host->sim));
	assert_int_equal(x.f.ended, 1);
	assert_true(fixture_holds(&x.f));
	fixture_close(&x.f);
}

static void test_populated(void **state)
{
	(void)state;
	run_alone("schema: 1\nscenario: test\nkernel: v6.1\n"
		  "host: { cpus: 8, nodes: 1, memory: 1GiB }\n",
		  populated);
}

/* ---- a machine that is full of cgroups ---- */

static uint64_t kernel_bytes(const struct host *host)
{
	return percpu_populated(host) + slab_pages(host) * PAGE_SIZE;
}

/* Its memory is what the kernel has for them, and comes back with the last; then there is room again. */
static void filled(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct host *host = x->f.host;
	struct memcg *m;
	enum cgroup_error error = CGROUP_OK;
	uint64_t used = frames_used(host);
	uint32_t nr = 0;
	char name[16];

	for (; error == CGROUP_OK; nr++) {
		snprintf(name, sizeof name, "c%u", nr);
		error = cgroup_mkdir(t, x->p, name, &m);
		task_sync(t);
		if (m)
			memcg_put(t, m); /* nobody else removes it */
	}
	assert_int_equal(error, CGROUP_NO_PAGE);
	assert_true(nr > 100);
	assert_int_equal(frames_used(host) - used, kernel_bytes(host) / PAGE_SIZE);
	assert_true(kernel_bytes(host) > host->memory / 100 * 95);
	while (x->p->first_child) {
		m = x->p->first_child;
		if (m->life == MEMCG_ONLINE)
			cgroup_rmdir(t, m);
		else
			settle(t);
		while (x->p->first_child && x->p->first_child->life != MEMCG_ONLINE)
			settle(t);
	}
	assert_true(kernel_bytes(host) < host->memory / 100 * 60);
	assert_int_equal(frames_used(host) - used, kernel_bytes(host) / PAGE_SIZE);
	assert_int_equal(cgroup_mkdir(t, x->p, "again", &m), CGROUP_OK);
}

static void test_filled(void **state)
{
	(void)state;
	run_alone("schema: 1\nscenario: test\nkernel: v6.12\n"
		  "host: { cpus: 64, nodes: 1, memory: 64MiB }\ncgroups: [ { name: p } ]\n",
		  filled);
}

/* Before mkdir fails the OOM killer ends who has memory, and cgroups take that. */
static void killing(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct host *host = x->f.host;
	struct memcg *m, *hog = memcg_find(host, "/hog");
	uint32_t nr, before_kill = 0;
	char name[16];

	settle(t); /* the hog has what it wants */
	assert_true(hog->nr_charged > 8000);
	for (nr = 0;; nr++) {
		snprintf(name, sizeof name, "c%u", nr);
		if (cgroup_mkdir(t, x->p, name, &m) != CGROUP_OK)
			break;
		memcg_put(t, m);
		task_sync(t);
		before_kill += !host->reclaim->calls.oom_kills;
	}
	assert_int_equal(host->reclaim->calls.oom_kills, 1);
	assert_int_equal(hog->events[EVENT_OOM_KILL], 1);
	assert_int_equal(x->p->events[EVENT_OOM_KILL], 0);
	assert_true(before_kill > 50);
	assert_true(nr > 15 * before_kill / 10);
	assert_true(host->pages->nr_kernel * PAGE_SIZE > host->memory / 100 * 95);
}

static void test_killing(void **state)
{
	(void)state;
	run_alone(
		"schema: 1\nscenario: test\nkernel: v6.12\n"
		"host: { cpus: 64, nodes: 1, memory: 64MiB }\n"
		"cgroups: [ { name: p }, { name: hog, tasks: [ { workload: memhog, pages: 8000, hold: ever } "
		"] } ]\n",
		killing);
}

/* Page cache has to make way for cgroups, and gives those back that it alone has kept. */
static void squeezed(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct host *host = x->f.host;
	struct file_object *file = file_create(host, 100000);
	uint32_t nr = 0;
	struct memcg *m, *failed;
	char name[16];

	for (; nr < 600; nr++) {
		snprintf(name, sizeof name, "c%u", nr);
		assert_int_equal(cgroup_mkdir(t, x->p, name, &m), CGROUP_OK);
		for (uint32_t i = 0; i < 20; i++)
			assert_int_not_equal(file_read(t, m, file, nr * 20 + i, &failed), FILE_NOMEM);
		cgroup_rmdir(t, m);
		task_sync(t);
		memcg_put(t, m);
		task_sleep(t, 10 * SIM_MS);
	}
	settle(t);
	assert_true(x->p->nr_dying_descendants < 500);
	assert_true(x->p->nr_dying_descendants > 20);
}

static void test_squeezed(void **state)
{
	(void)state;
	run_alone("schema: 1\nscenario: test\nkernel: v6.12\n"
		  "host: { cpus: 64, nodes: 1, memory: 96MiB }\ncgroups: [ { name: p } ]\n",
		  squeezed);
}

/* ---- objects ---- */

/* 192 pages: three leaves and a node above them; then the shadows of one leaf in a cgroup's list. */
static void objects(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct host *host = x->f.host;
	struct file_object *file = file_create(host, 192);
	struct memcg *failed;

	assert_string_equal(ledger_objects[0].name, "list_lru");
	assert_string_equal(ledger_objects[1].name, "xa_node");
	assert_string_equal(ledger_objects[2].name, "shadow");
	assert_int_equal(ledger_objects[1].bytes(host), 0);
	for (uint64_t i = 0; i < 192; i++)
		assert_int_not_equal(file_read(t, x->p, file, i, &failed), FILE_NOMEM);
	assert_int_equal(ledger_objects[1].bytes(host), 4 * 584);
	assert_int_equal(ledger_objects[2].bytes(host), 0);
	lru_add_drain_all(t);
	memcg_proactive_reclaim(t, x->p, 64); /* the pages of one leaf */
	task_sync(t);
	assert_int_equal(ledger_objects[1].bytes(host), 3 * 584);
	assert_int_equal(ledger_objects[2].bytes(host), 584);
	/* An rcu_head and two lists of 24 bytes, for one cgroup in one list_lru. */
	assert_int_equal(ledger_objects[0].bytes(host), 64);
	file_drop(t, file, 0, 192);
	file_invalidate(t, file);
	task_sync(t);
	assert_int_equal(ledger_objects[1].bytes(host) + ledger_objects[2].bytes(host), 0);
}

static void test_objects(void **state)
{
	(void)state;
	run_alone("schema: 1\nscenario: test\nkernel: v6.12\n"
		  "host: { cpus: 4, nodes: 2, memory: 1GiB }\ncgroups: [ { name: p } ]\n",
		  objects);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),     cmocka_unit_test(test_owners),
		cmocka_unit_test(test_released),  cmocka_unit_test(test_limited),
		cmocka_unit_test(test_populated), cmocka_unit_test(test_filled),
		cmocka_unit_test(test_squeezed),  cmocka_unit_test(test_objects),
		cmocka_unit_test(test_killing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
