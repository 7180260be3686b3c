/*
 * test_made_files.c - which files hold the cgroup that dirtied them after its removal, until the inode
 * goes: those whose times changed between making them and the write, and up to 6.5 those that the writeback
 * of their page overtakes, which takes the writer's CPU.
 */
#include "tests/host_fixture.h"

#include "models/cgroup/life.h"
#include "models/host/slab.h"
#include "models/page/page.h"
#include "models/stat/stat.h"
#include "models/workload/made_files.h"

struct trial {
	struct fixture f;
	sim_time_t later;
	uint32_t dying; /* with its inode in memory */
};

static const struct made_files_disk no_blocks;

static void one_file(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct memcg *p = memcg_find(x->f.host, "/p"), *m;
	struct made_files *files = made_files(x->f.host, 1, &no_blocks);

	task_sync(t);
	assert_int_equal(cgroup_mkdir(t, p, "c", &m), CGROUP_OK);
	assert_true(made_files_make(t, files, 0, m, x->later));
	made_files_dirty(t, files, 0, m);
	cgroup_rmdir(t, m);
	task_sync(t);
	memcg_put(t, m);
	task_sleep(t, SIM_SEC);
	task_sync(t);
	assert_int_equal(p->nr_dying_descendants, x->dying);
	assert_true(stat_truth(p, NR_SLAB_RECLAIMABLE_B) > 1000); /* the inode is the parent's now */
	made_files_forget(t, files);
	task_sleep(t, SIM_SEC);
	task_sync(t);
	assert_int_equal(p->nr_dying_descendants, 0);
}

static void run(const char *kernel, int cpus, const char *interval, sim_time_t later, uint32_t dying)
{
	struct trial x = { .later = later, .dying = dying };
	char text[200];

	snprintf(text, sizeof text,
		 "schema: 1\nscenario: test\nkernel: %s\nhost: { cpus: %d, nodes: 1, memory: 1GiB }\n"
		 "writeback: { interval: %s }\ncgroups: [ { name: p } ]\n",
		 kernel, cpus, interval);
	fixture_open(&x.f, text);
	fixture_spawn(&x.f, 0, one_file, &x);
	sim_run(x.f.host->sim, 100 * SIM_SEC);
	assert_null(sim_error(x.f.host->sim));
	assert_int_equal(x.f.ended, 1);
	assert_true(fixture_holds(&x.f));
	fixture_close(&x.f);
}

static void test_held(void **state)
{
	(void)state;
	run("v6.1", 1, "never", 0, 1);
	run("v6.1", 2, "never", 0, 0); /* there is room for the worker beside */
	run("v6.6", 1, "never", 0, 0);
	run("v6.12", 1, "never", 0, 0);
	run("v6.12", 1, "5s", 0, 1);            /* not old enough to be written */
	run("v6.1", 2, "never", 5 * SIM_MS, 1); /* a tick is 4 ms */
	run("v6.12", 1, "never", 5 * SIM_MS, 1);
}

/* Of the disk 35 blocks with the first file, one each with the 20th and the 36th, active at once. */
static void blocks(struct task *t, void *arg)
{
	static const struct made_files_disk disk = { .blocks = 35, .from = 20 };
	struct host *host = ((struct trial *)arg)->f.host;
	struct memcg *p = memcg_find(host, "/p");
	struct made_files *files = made_files(host, 40, &disk);

	for (uint32_t i = 0; i < 40; i++) {
		task_sync(t);
		assert_true(made_files_make(t, files, i, p, 0));
		assert_int_equal(stat_truth(p, NR_FILE_PAGES), i < 20 ? 35 : i < 36 ? 36 : 37);
	}
	lru_add_drain_all(t);
	task_sync(t);
	assert_int_equal(stat_truth(p, NR_ACTIVE_FILE), 37);
	made_files_drop_blocks(t, files);
	task_sync(t);
	assert_int_equal(stat_truth(p, NR_FILE_PAGES), 0);
	made_files_forget(t, files);
}

static void test_blocks(void **state)
{
	struct trial x = { .later = 0 };

	(void)state;
	fixture_open(&x.f, "schema: 1\nscenario: test\nkernel: v6.12\n"
			   "host: { cpus: 1, nodes: 1, memory: 1GiB }\ncgroups: [ { name: p } ]\n");
	fixture_spawn(&x.f, 0, blocks, &x);
	fixture_run(&x.f);
	assert_true(fixture_holds(&x.f));
	fixture_close(&x.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_held), cmocka_unit_test(test_blocks) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
