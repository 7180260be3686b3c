/*
 * test_fallocate.c - the workload of seed 3: what it counts, what it leaves, where its tasks are put; and
 * that a dearer update slows those down who queue for the LRU lock, more than one task alone.
 */
#include "models/page/page_impl.h"
#include "models/workload/workload.h"
#include "tests/host_fixture.h"

#define HOST(update_, flush_)                                                                \
	"schema: 1\nscenario: test\n"                                                        \
	"host: { cpus: 16, nodes: 2, threads_per_core: 2, memory: 1GiB }\n"                  \
	"policies: { stat_update: " update_ ", flush: " flush_ ", rstat_lock: spin_yield,\n" \
	"  rstat_updated: cpu_lock, charge_batch: 64, charge_stock: 1 }\n"                   \
	"cgroups: [ { name: a, children: [ { name: b, tasks: [ { workload: fallocate, spread: true, "
#define BASE    HOST("rstat_global_threshold", "unified")
#define PATCHED HOST("rstat_memcg_threshold", "memcg_threshold")
#define END     " } ] } ] } ]\n"

/* Never more than a file, and what a batch still holds of pages that are truncated. */
static void fills_and_truncates(void **state)
{
	struct fixture f;
	uint32_t nr;

	(void)state;
	fixture_open(&f, BASE "count: 1, pages: 9, piece: 2" END);
	sim_run(f.run.sim, SIM_MS);
	assert_null(sim_error(f.run.sim));
	const struct workload_task *task = workload_tasks(f.host, &nr);
	const struct memcg *m = memcg_find(f.host, "/a/b");

	assert_int_equal(nr, 1);
	assert_in_range(task->ops, 100, 10000); /* 0.1 to 10 us a call */
	assert_true(m->nr_charged - m->nr_kmem <= 9 + PAGE_BATCH_MOST);
	fixture_close(&f);
}

/* Sockets in turn, then their cores, then further threads of these: 8 cores of 2 on 2 sockets. */
static void tasks_are_spread_over_cores_first(void **state)
{
	static const uint32_t expected[] = { 0, 8, 2, 10, 4, 12, 6, 14, 1, 9, 3, 11, 5, 13, 7, 15 };
	struct fixture f;
	uint32_t nr;

	(void)state;
	fixture_open(&f, BASE "count: 16" END);
	sim_run(f.run.sim, SIM_MS);
	assert_null(sim_error(f.run.sim));
	const struct workload_task *tasks = workload_tasks(f.host, &nr);

	assert_int_equal(nr, 16);
	for (uint32_t i = 0; i < nr; i++)
		assert_int_equal(tasks[i].task.task->cpu->id, expected[i]);
	fixture_close(&f);
}

static uint64_t work_in_time(const char *text)
{
	struct fixture f;
	uint64_t ops = 0;
	uint32_t nr;

	fixture_open(&f, text);
	sim_run(f.run.sim, 10 * SIM_MS);
	assert_null(sim_error(f.run.sim));
	const struct workload_task *tasks = workload_tasks(f.host, &nr);

	for (uint32_t i = 0; i < nr; i++)
		ops += tasks[i].ops;
	fixture_close(&f);
	return ops;
}

/* fallocate(2) leaves its pages as they are: what clearing one takes is no part of it. */
static void pages_are_not_cleared(void **state)
{
	(void)state;
	assert_int_equal(work_in_time("costs: { kernel: { page_clear: 1ms } }\n" BASE "count: 1" END),
			 work_in_time(BASE "count: 1" END));
}

static void a_dearer_update_slows_those_who_queue(void **state)
{
	uint64_t base = work_in_time(BASE "count: 16" END), patched = work_in_time(PATCHED "count: 16" END);
	uint64_t base_alone = work_in_time(BASE "count: 1" END);
	uint64_t patched_alone = work_in_time(PATCHED "count: 1" END);
	double loss = 1 - (double)patched / (double)base;
	double loss_alone = 1 - (double)patched_alone / (double)base_alone;

	(void)state;
	assert_true(base < 16 * base_alone); /* the locks are full */
	assert_true(loss_alone > 0);
	assert_true(loss > 1.2 * loss_alone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fills_and_truncates),
		cmocka_unit_test(tasks_are_spread_over_cores_first),
		cmocka_unit_test(pages_are_not_cleared),
		cmocka_unit_test(a_dearer_update_slows_those_who_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
