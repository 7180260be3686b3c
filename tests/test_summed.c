/*
 * test_summed.c - statistics before rstat and on its way there: how far a reader can be off, to the page.
 *
 * The worst case of batches up the tree is cgroups x CPUs x 32 pages, for as long as nothing more happens;
 * that of a flush queued with each 32nd update on a CPU is CPUs x 32, however many cgroups there are (commit
 * message of 1f828223b799). And whatever the rule, what counts events never falls.
 */
#include "tests/draw.h"
#include "tests/stat_rig.h"

#define CPUS   4
#define LEAVES 5
#define BATCH  32

struct plan {
	struct rig *rig;
	uint32_t each; /* pages that each CPU puts into each leaf */
	bool one_leaf; /* or all CPUs into a leaf of their own */
	int64_t seen, truth, local;
	uint64_t seed;
	int64_t faults; /* as last read */
};

static void write_leaves(struct task *t, void *arg)
{
	struct plan *p = arg;

	for (uint32_t leaf = 0; leaf < LEAVES; leaf++)
		for (uint32_t i = 0; i < p->each; i++)
			if (!p->one_leaf || leaf == t->cpu->id)
				rig_update(t, p->rig->host.cgroups->all[2 + leaf], 1);
}

static void read_root(struct task *t, void *arg)
{
	struct plan *p = arg;
	struct memcg *root = p->rig->host.cgroups->root;
	struct stat_read read;

	memory_stat_read(t, root, &read);
	p->seen = read.anon;
	p->truth = read.anon_truth;
	p->local = stat_local(p->rig->host.cgroups->all[2], NR_ANON_MAPPED);
}

static void open_plan(struct plan *p, const char *update, const char *flush, const char *updated)
{
	p->rig = rig_new(&(struct rig_config){ .cpus = CPUS,
					       .version = 515,
					       .update = update,
					       .flush = flush,
					       .updated = updated,
					       .nodes = 2 });
	struct memcg *parent = rig_memcg(p->rig, NULL, "parent");

	for (int i = 0; i < LEAVES; i++)
		rig_memcg(p->rig, parent, "leaf");
}

static void write_and_read(struct plan *p)
{
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		rig_task(p->rig, cpu, write_leaves, p);
	rig_run(p->rig, SIM_SEC);
	rig_task(p->rig, 0, read_root, p);
	rig_run(p->rig, 2 * SIM_SEC);
}

static void close_plan(struct plan *p)
{
	struct record *record = record_new(16);

	stat_invariants(&p->rig->host, record);
	if (record_invariants_broken(record))
		fail_msg("%s", record_invariants_text(record));
	record_free(record);
	rig_free(p->rig);
}

static void bound_of_batches_up_the_tree(void **state)
{
	struct plan p = { .each = BATCH };

	(void)state;
	open_plan(&p, "batch_hier", "sum_on_read", "untracked");
	write_and_read(&p);
	assert_int_equal(p.truth, LEAVES * CPUS * BATCH);
	assert_int_equal(p.truth - p.seen, LEAVES * CPUS * BATCH); /* the bound, and nobody flushes it ever */
	p.each = 1;
	write_and_read(&p);
	assert_int_equal(p.seen, p.truth); /* the 33rd spills all */
	assert_int_equal(p.local, CPUS * (BATCH + 1));
	close_plan(&p);
}

static void batches_of_the_cgroup_alone(void **state)
{
	struct plan p = { .each = BATCH + 1 };

	(void)state;
	open_plan(&p, "batch_local", "sum_on_read", "untracked");
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		rig_task(p.rig, cpu, write_leaves, &p);
	rig_run(p.rig, SIM_SEC);
	/* It is in the leaves' counters, and in nobody else's before a reader adds up. */
	assert_int_equal(stat_reported(p.rig->host.cgroups->all[2], NR_ANON_MAPPED), CPUS * (BATCH + 1));
	assert_int_equal(stat_reported(p.rig->host.cgroups->root, NR_ANON_MAPPED), 0);
	rig_task(p.rig, 0, read_root, &p);
	rig_run(p.rig, 2 * SIM_SEC);
	assert_int_equal(p.seen, LEAVES * CPUS * (BATCH + 1));
	close_plan(&p);
}

static void a_walk_is_exact(void **state)
{
	struct plan p = { .each = 7 };

	(void)state;
	open_plan(&p, "walk", "sum_on_read", "untracked");
	write_and_read(&p);
	assert_int_equal(p.seen, LEAVES * CPUS * 7);
	assert_int_equal(p.truth, p.seen);
	close_plan(&p);
}

/* 5.15-rc1: 31 updates on each CPU queue nothing; in which cgroups they are does not matter. */
static void bound_of_a_queued_flush(void **state)
{
	static const uint32_t every = BATCH;
	struct plan p = { .each = (BATCH - 1), .one_leaf = true };

	(void)state;
	open_plan(&p, "rstat_queued", "always_subtree", "cpu_lock");
	stat_of(&p.rig->host)->policy[AXIS_UPDATE].options = &every;
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		rig_task(p.rig, cpu, write_leaves, &p);
	rig_run(p.rig, SIM_SEC);
	assert_int_equal(stat_truth(p.rig->host.cgroups->root, NR_ANON_MAPPED), CPUS * (BATCH - 1));
	assert_int_equal(stat_reported(p.rig->host.cgroups->root, NR_ANON_MAPPED), 0);
	p.each = 1;
	rig_task(p.rig, 0, write_leaves, &p);
	rig_run(p.rig, 2 * SIM_SEC);
	/* The 32nd on one CPU: everything is flushed. */
	assert_int_equal(stat_reported(p.rig->host.cgroups->root, NR_ANON_MAPPED), CPUS * (BATCH - 1) + 1);
	close_plan(&p);
}

static void fault_and_read(struct task *t, void *arg)
{
	struct plan *p = arg;

	for (int i = 0; i < 400; i++) {
		struct memcg *m = p->rig->host.cgroups->all[draw(&p->seed, 2 + LEAVES)];
		struct stat_read read;

		task_sync(t);
		count_memcg_events(t, m, PGFAULT, 1 + draw(&p->seed, 40));
		cpu_work(t, draw(&p->seed, 900) * SIM_NS);
		if (draw(&p->seed, 5))
			continue;
		memory_stat_read(t, p->rig->host.cgroups->root, &read);
		task_sync(t);
		int64_t now = stat_reported(p->rig->host.cgroups->root, PGFAULT);

		assert_true(now >= p->faults);
		p->faults = now;
	}
}

static void events_never_fall(void **state)
{
	static const char *const rules[][3] = {
		{ "walk", "sum_on_read", "untracked" },
		{ "batch_local", "sum_on_read", "untracked" },
		{ "batch_hier", "sum_on_read", "untracked" },
		{ "rstat_none", "always_subtree", "cpu_lock" },
		{ "rstat_lruvec_batch", "always_subtree", "cpu_lock" },
	};

	(void)state;
	for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++) {
		struct plan p = { .seed = k + 1 };

		open_plan(&p, rules[k][0], rules[k][1], rules[k][2]);
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			rig_task(p.rig, cpu, fault_and_read, &p);
		rig_run(p.rig, SIM_SEC);
		assert_true(p.faults > 0);
		close_plan(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bound_of_batches_up_the_tree),
		cmocka_unit_test(batches_of_the_cgroup_alone),
		cmocka_unit_test(a_walk_is_exact),
		cmocka_unit_test(bound_of_a_queued_flush),
		cmocka_unit_test(events_never_fall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
