/*
 * test_rstat.c - the updated tree and flushes: nothing is lost, nothing is counted twice, and a flush visits
 * what was updated and looks at every possible CPU, no more and no less.
 */
#include "sim/engine/xalloc.h"
#include "tests/draw.h"
#include "tests/stat_rig.h"

#define CPUS  4
#define NODES 2

/* A tree of 1 + 3 + 6 + 12 cgroups. */
static void plant(struct rig *r)
{
	for (int i = 0; i < 3; i++) {
		struct memcg *a = rig_memcg(r, NULL, "a");

		for (int j = 0; j < 2; j++) {
			struct memcg *b = rig_memcg(r, a, "b");

			rig_memcg(r, b, "c");
			rig_memcg(r, b, "d");
		}
	}
}

struct program {
	struct rig *rig;
	uint64_t seed;
	int steps;
	int64_t least; /* update; the span is 41 */
};

static struct memcg *any(struct program *p)
{
	return p->rig->host.cgroups->all[draw(&p->seed, p->rig->host.cgroups->nr)];
}

static void random_updates(struct task *t, void *arg)
{
	struct program *p = arg;

	for (int i = 0; i < p->steps; i++) {
		struct memcg *m = any(p);
		int64_t val = p->least + (int64_t)draw(&p->seed, 41);

		task_sync(t);
		switch (draw(&p->seed, 3)) {
		case 0:
			mod_lruvec_state(t, m, (uint32_t)draw(&p->seed, NODES),
					 (enum stat_item)draw(&p->seed, NR_LRUVEC_ITEMS), val);
			break;
		case 1:
			mod_memcg_state(t, m, (enum stat_item)(NR_LRUVEC_ITEMS + draw(&p->seed, 5)), val);
			break;
		default:
			count_memcg_events(t, m, (enum stat_item)(NR_STATE_ITEMS + draw(&p->seed, 13)),
					   draw(&p->seed, 9));
		}
		cpu_work(t, draw(&p->seed, 3000) * SIM_NS);
	}
}

static void random_flushes(struct task *t, void *arg)
{
	struct program *p = arg;

	for (int i = 0; i < p->steps / 8; i++) {
		struct flush f = { .memcg = any(p), .caller = FLUSH_READER };
		struct stat_read read;

		cpu_work(t, draw(&p->seed, 30000) * SIM_NS);
		if (draw(&p->seed, 2))
			rstat_flush(t, &f, f.memcg, true);
		else
			memory_stat_read(t, f.memcg, &read);
	}
}

static void flush_root(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct flush f = { .memcg = r->host.cgroups->root, .caller = FLUSH_RELEASE };

	rstat_flush(t, &f, f.memcg, true);
}

static void assert_no_invariant_broken(struct rig *r)
{
	struct record *record = record_new(16);

	stat_invariants(&r->host, record);
	if (record_invariants_broken(record))
		fail_msg("%s", record_invariants_text(record));
	assert_true(record_invariants_held(record) > 0);
	record_free(record);
}

/* Sum of local over the subtree of every cgroup, against what it reports and the truth. */
static void assert_exact(struct rig *r)
{
	struct cgroup_state *cgroups = r->host.cgroups;
	int64_t *sums = xcalloc(cgroups->nr, sizeof *sums);

	for (int item = 0; item < NR_STAT_ITEMS; item++) {
		for (uint32_t id = 0; id < cgroups->nr; id++)
			sums[id] = stat_local(cgroups->all[id], (enum stat_item)item);
		for (uint32_t id = cgroups->nr - 1; id > 0; id--)
			sums[cgroups->all[id]->parent->id] += sums[id];
		for (uint32_t id = 0; id < cgroups->nr; id++) {
			const struct memcg *m = cgroups->all[id];
			int64_t nodes = 0;

			assert_int_equal(stat_reported(m, (enum stat_item)item), sums[id]);
			assert_int_equal(stat_reported(m, (enum stat_item)item),
					 stat_truth(m, (enum stat_item)item));
			if (item >= NR_LRUVEC_ITEMS)
				continue;
			for (uint32_t node = 0; node < NODES; node++)
				nodes += stat_reported_node(m, node, (enum stat_item)item);
			assert_int_equal(nodes, sums[id]);
		}
	}
	free(sums);
}

static void random_schedule(const struct rig_config *config)
{
	struct rig *r = rig_new(config);
	struct program programs[CPUS + 2];

	plant(r);
	for (uint32_t i = 0; i < CPUS + 2; i++) {
		programs[i] = (struct program){
			.rig = r, .seed = config->seed * 97 + i + 1, .steps = 300, .least = -20
		};
		rig_task(r, i % CPUS, i < CPUS ? random_updates : random_flushes, &programs[i]);
	}
	rig_run(r, SIM_SEC);
	assert_int_equal(sim_sched(r->sim)->nr_tasks, 0);
	rig_task(r, 0, flush_root, r);
	rig_run(r, 2 * SIM_SEC);
	assert_exact(r);
	for (uint32_t id = 0; id < r->host.cgroups->nr; id++)
		assert_int_equal(r->host.cgroups->all[id]->stat->unflushed, 0);
	rig_free(r);
}

static const bool everyone = true; /* the option of waits_if_ongoing */
static const struct rig_config kinds[] = {
	{ .flush = "always_subtree", .update = "rstat_none", .version = 515 },
	{ .flush = "unified", .version = 601 },
	{ .flush = "everyone_waits", .lock = "spin_hold" },
	{ .flush = "everyone_waits", .lock = "mutex" },
	{ .flush = "unified_waits" },
	{ .flush = "waits_if_ongoing", .flush_options = &everyone },
	{ .flush = "memcg_threshold",
	  .update = "rstat_memcg_threshold",
	  .version = 608,
	  .lock = "mutex_preempt_off" },
	{ .flush = "memcg_ratelimited",
	  .update = "rstat_memcg_threshold_cached",
	  .version = 615,
	  .lock = "per_cpu_step" },
	{ .flush = "memcg_ratelimited",
	  .update = "rstat_memcg_threshold_cached_stop",
	  .version = 618,
	  .lock = "per_subsystem" },
	{ .flush = "memcg_threshold",
	  .update = "rstat_memcg_threshold_inline",
	  .version = 618,
	  .lock = "per_subsystem",
	  .updated = "lockless" },
};

static void nothing_is_lost(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		for (uint64_t seed = 1; seed <= 3; seed++) {
			struct rig_config config = kinds[i];

			config.cpus = CPUS;
			config.nodes = NODES;
			config.seed = seed;
			config.preempt = seed & 1 ? PREEMPT_VOLUNTARY : PREEMPT_FULL;
			random_schedule(&config);
		}
	}
}

/*
 * Half-way, with updates and flushes under way: what is missing is accounted for to the last page. Nothing is
 * subtracted here, so that no size may be negative in the end.
 */
static void nothing_is_lost_half_way(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		struct rig_config config = kinds[i];
		struct program programs[CPUS + 2];

		config.cpus = CPUS;
		config.nodes = NODES;
		struct rig *r = rig_new(&config);

		plant(r);
		for (uint32_t j = 0; j < CPUS + 2; j++) {
			programs[j] = (struct program){ .rig = r, .seed = j + 1, .steps = 300 };
			rig_task(r, j % CPUS, j < CPUS ? random_updates : random_flushes, &programs[j]);
		}
		rig_run(r, 200 * SIM_US);
		assert_true(sim_sched(r->sim)->nr_tasks > 0);
		assert_no_invariant_broken(r);
		rig_free(r);
	}
}

struct visit {
	struct rig *rig;
	struct memcg *leaf[6], *parent[2];
	uint32_t cpu;
	struct flush flush;
};

/* CPU 0 updates leaves 0 and 1, CPU 1 leaf 0 and the first parent, CPU 2 leaf 3. */
static void some_updates(struct task *t, void *arg)
{
	struct visit *v = arg;

	switch (t->cpu->id) {
	case 0:
		for (int i = 0; i < 10; i++)
			rig_update(t, v->leaf[0], 1);
		rig_update(t, v->leaf[1], 1);
		break;
	case 1:
		rig_update(t, v->leaf[0], 2);
		rig_update(t, v->parent[0], 3);
		break;
	default:
		rig_update(t, v->leaf[3], 4);
	}
}

static void flush_one(struct task *t, void *arg)
{
	struct visit *v = arg;

	v->flush.flushes = v->flush.pairs = 0;
	rstat_flush(t, &v->flush, v->flush.memcg, true);
}

static uint64_t pairs_of_flush(struct visit *v, struct memcg *root)
{
	uint64_t steps = v->rig->host.stat->count.cpu_steps;

	v->flush = (struct flush){ .memcg = root, .caller = FLUSH_RELEASE };
	rig_task(v->rig, 3, flush_one, v);
	rig_run(v->rig, sim_now(v->rig->sim) + SIM_SEC);
	/* The fixed part: every possible CPU, whether online and updated or not. */
	assert_int_equal(v->rig->host.stat->count.cpu_steps - steps, 16);
	return v->flush.pairs;
}

static void visits_what_was_updated(void **state)
{
	struct visit v = { .rig = rig_new(&(struct rig_config){ .cpus = CPUS, .possible = 16 }) };

	(void)state;
	for (int i = 0; i < 2; i++) {
		v.parent[i] = rig_memcg(v.rig, NULL, "p");
		for (int j = 0; j < 3; j++)
			v.leaf[3 * i + j] = rig_memcg(v.rig, v.parent[i], "l");
	}
	for (uint32_t cpu = 0; cpu < 3; cpu++)
		rig_task(v.rig, cpu, some_updates, &v);
	rig_run(v.rig, SIM_MS);

	assert_int_equal(pairs_of_flush(&v, v.leaf[2]), 0); /* never updated */
	assert_int_equal(pairs_of_flush(&v, v.leaf[0]), 2); /* CPUs 0 and 1 */
	assert_int_equal(pairs_of_flush(&v, v.leaf[0]), 0); /* and nothing is left */
	assert_int_equal(stat_reported(v.leaf[0], NR_ANON_MAPPED), 12);
	assert_int_equal(stat_reported(v.parent[0], NR_ANON_MAPPED),
			 0);                                  /* pending, until it is flushed itself */
	assert_int_equal(pairs_of_flush(&v, v.parent[0]), 3); /* CPU 0: leaf 1 and parent; CPU 1: parent */
	assert_int_equal(stat_reported(v.parent[0], NR_ANON_MAPPED), 16);
	assert_int_equal(pairs_of_flush(&v, v.rig->host.cgroups->root),
			 5); /* root on 3 CPUs; leaf 3, parent 1 */
	assert_int_equal(stat_reported(v.rig->host.cgroups->root, NR_ANON_MAPPED), 20);
	rig_free(v.rig);
}

/* How long a flush of the leaf takes. */
static sim_time_t time_of_flush(struct visit *v)
{
	sim_time_t start = sim_now(v->rig->sim);

	v->flush = (struct flush){ .memcg = v->leaf[0], .caller = FLUSH_RELEASE };
	rig_task(v->rig, 3, flush_one, v);
	while (sim_sched(v->rig->sim)->nr_tasks)
		rig_run(v->rig, sim_now(v->rig->sim) + 10 * SIM_NS);
	return sim_now(v->rig->sim) - start;
}

/*
 * An idle flush costs its walk over the possible CPUs; a pair costs what its slots and lines cost, and a
 * line by how far away the CPU is that wrote it.
 */
static void costs_are_the_sum_of_the_parts(void **state)
{
	const struct rig_config config = { .cpus = CPUS, .nodes = 2, .possible = 16, .version = 601 };
	sim_time_t cost[CPUS];

	(void)state;
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		struct visit v = { .rig = rig_new(&config) };

		v.leaf[0] = rig_memcg(v.rig, NULL, "l");
		v.leaf[1] = v.leaf[3] = v.parent[0] = v.leaf[0];
		time_of_flush(&v); /* brings the locks' lines to CPU 3 */
		sim_time_t idle = time_of_flush(&v);

		assert_true(idle >= 16 * v.rig->costs.flush_cpu);
		rig_task(v.rig, cpu, some_updates, &v);
		rig_run(v.rig, sim_now(v.rig->sim) + SIM_MS);
		cost[cpu] = time_of_flush(&v) - idle;
		rig_free(v.rig);
	}
	struct rig *r = rig_new(&config);
	const struct kernel_costs *c = &r->costs;
	const struct machine *m = &r->machine;
	/* 6.1, two nodes: 50 + 17 + 2 x 43 slots, running and last flushed value, 8 to a line. */
	sim_time_t slots = c->flush_pair + 153 * c->flush_slot + c->flush_others;
	sim_time_t lines = 39 * c->flush_line;
	/* From its own CPU; for others the lock's line, too, comes over. */
	sim_time_t own = slots + lines * m->line_hit / m->line_socket;
	sim_time_t remote = slots + lines * m->line_remote / m->line_socket;

	assert_in_range(cost[3], own - 20 * SIM_NS, own + 20 * SIM_NS);
	assert_in_range(cost[2], slots + lines, slots + lines + 4 * m->line_socket);
	assert_in_range(cost[0], remote, remote + 4 * m->line_remote);
	rig_free(r);
}

/* Of the pair of CPU 0, of which two lines have been written since the last flush. */
static void price_again(struct task *t, void *arg)
{
	struct visit *v = arg;
	const struct machine *m = &v->rig->machine;
	struct stat_state *st = stat_of(&v->rig->host);
	sim_time_t line = v->rig->costs.flush_line, all = st->pair_cost + st->pair_lines * line;
	struct stat_pair *pair = rstat_pair_find(&v->rig->host, 0, v->leaf[0]);

	task_sync(t);
	rstat_take_in(st, pair);
	pair->changed = 1 | 2 | 1 << SLOTS_PER_LINE;
	assert_int_equal(rstat_pair_cost(t, pair), all);
	sim_time_t again = all - (st->pair_lines - 2) * (line - m->line_hit);

	assert_int_equal(rstat_pair_cost(t, pair), again);
	/* What it did since has pushed the rest out to level 2. */
	cache_stream(t, m->cache_l1);
	assert_int_equal(rstat_pair_cost(t, pair), again + (st->pair_lines - 2) * (m->line_l2 - m->line_hit));
	pair->changed = 0;
	assert_int_equal(rstat_pair_cost(t, pair), st->pair_cost + st->pair_lines * m->line_hit);
}

/* Who flushes a pair again fetches the lines that were written since; another CPU fetches all. */
static void lines_that_nobody_wrote_stay_with_the_flusher(void **state)
{
	struct visit v = { .rig = rig_new(&(struct rig_config){ .cpus = CPUS, .caches = true }) };

	(void)state;
	v.leaf[0] = v.leaf[1] = rig_memcg(v.rig, NULL, "l");
	rig_task(v.rig, 0, some_updates, &v);
	rig_run(v.rig, SIM_MS);
	for (uint32_t cpu = 2; cpu < 4; cpu++) {
		rig_task(v.rig, cpu, price_again, &v);
		rig_run(v.rig, sim_now(v.rig->sim) + SIM_MS);
	}
	rig_free(v.rig);
}

static uint64_t broken_after(void (*damage)(struct visit *v))
{
	struct visit v = { .rig = rig_new(&(struct rig_config){ .cpus = CPUS }) };
	struct record *record = record_new(16);

	v.parent[0] = rig_memcg(v.rig, NULL, "p");
	for (int i = 0; i < 4; i++)
		v.leaf[i] = rig_memcg(v.rig, v.parent[0], "l");
	for (uint32_t cpu = 0; cpu < 3; cpu++)
		rig_task(v.rig, cpu, some_updates, &v);
	rig_run(v.rig, SIM_MS);
	if (damage)
		damage(&v);
	stat_invariants(&v.rig->host, record);
	uint64_t broken = record_invariants_broken(record);

	if (broken)
		assert_non_null(strchr(record_invariants_text(record), '/'));
	record_free(record);
	rig_free(v.rig);
	return broken;
}

static void lose_a_delta(struct visit *v)
{
	v->leaf[0]->stat->pairs->delta[NR_ANON_MAPPED]--;
}

static void lose_a_node_delta(struct visit *v)
{
	rstat_take_in(v->rig->host.stat, v->leaf[0]->stat->pairs);
	v->leaf[0]->stat->nodes[0]->value[NR_ANON_MAPPED]++;
}

static void count_twice(struct visit *v)
{
	v->parent[0]->stat->value[NR_ANON_MAPPED]++;
}

static void mix_up_local(struct visit *v)
{
	v->leaf[0]->stat->local[NR_ANON_MAPPED]--;
	v->leaf[1]->stat->local[NR_ANON_MAPPED]++;
}

static void drop_off_the_list(struct visit *v)
{
	v->leaf[3]->stat->pairs->updated_next = NULL;
}

static void go_below_zero(struct visit *v)
{
	v->leaf[2]->stat->local[NR_FILE_PAGES] -= 5;
	for (struct memcg *m = v->leaf[2]; m; m = m->parent) {
		m->stat->truth[NR_FILE_PAGES] -= 5;
		m->stat->value[NR_FILE_PAGES] -= 5;
		if (!m->stat->nodes[0])
			m->stat->nodes[0] = sim_alloc(v->rig->sim, sizeof *m->stat->nodes[0]);
		m->stat->nodes[0]->value[NR_FILE_PAGES] -= 5;
	}
}

static void damage_is_seen(void **state)
{
	(void)state;
	assert_int_equal(broken_after(NULL), 0);
	assert_true(broken_after(lose_a_delta) > 0);
	assert_true(broken_after(lose_a_node_delta) > 0);
	assert_true(broken_after(count_twice) > 0);
	assert_true(broken_after(mix_up_local) > 0);
	assert_int_equal(broken_after(drop_off_the_list), 1);
	assert_int_equal(broken_after(go_below_zero), 3); /* the leaf, its parent, the root */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost),
		cmocka_unit_test(nothing_is_lost_half_way),
		cmocka_unit_test(visits_what_was_updated),
		cmocka_unit_test(costs_are_the_sum_of_the_parts),
		cmocka_unit_test(damage_is_seen),
		cmocka_unit_test(lines_that_nobody_wrote_stay_with_the_flusher),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
