/*
 * test_reparent.c - lru_reparent, dying_stats, reparent_local: whose the pages of a removed cgroup are, what
 * parent and child count of them, and that both hold while others use, reclaim and age the same pages.
 */
#include "tests/life_rig.h"

#include "models/page/page_impl.h"
#include "models/reclaim/reclaim.h"
#include "models/stat/stat_impl.h"

#define KERNEL "schema: 1\nscenario: test\nkernel: v6.18\n"

static void policies(char *text, size_t size, const char *host, const char *more)
{
	snprintf(text, size,
		 KERNEL "host: { cpus: 4, %s }\ncgroups: [ { name: p } ]\n"
			"policies: { lru_reparent: at_offline, css_killed_work: rcu_work, %s }\n",
		 host, more);
}

#define ONE_NODE  "nodes: 1, memory: 256MiB"
#define TWO_NODES "nodes: 2, memory: 1GiB"

static const char *const lrus[] = { "classic", "mglru" };

struct trial {
	struct fixture f;
	struct memcg *p, *m;
	struct file_object *file;
	uint32_t left; /* tasks of the test that still churn */
	bool twice;    /* the cgroup's pages are on two nodes */
};

static void read_pages(struct task *t, struct trial *x, struct memcg *m, uint64_t from, uint64_t nr)
{
	struct memcg *failed;

	for (uint64_t i = from; i < from + nr; i++)
		assert_int_not_equal(file_read(t, m, x->file, i, &failed), FILE_NOMEM);
}

static uint64_t on_lists(const struct memcg *m)
{
	uint64_t nr = 0;

	for (uint32_t node = 0; m->lruvecs && node < m->host->nr_nodes; node++)
		for (enum lru_list lru = 0; m->lruvecs[node] && lru < NR_LRU_LISTS; lru++)
			nr += reclaim_ops(m->host)->size(m->lruvecs[node], lru);
	return nr;
}

static int64_t counted(const struct memcg *m)
{
	int64_t sum = 0;

	for (int i = NR_INACTIVE_ANON; i <= NR_UNEVICTABLE; i++)
		sum += stat_local_exact(m, (enum stat_item)i);
	return sum;
}

static void open_trial(struct trial *x, const char *text)
{
	memset(x, 0, sizeof *x);
	fixture_open(&x->f, text);
	x->p = memcg_find(x->f.host, "/p");
	x->file = file_create(x->f.host, 4096);
}

static void close_trial(struct trial *x)
{
	sim_run(x->f.host->sim, 60 * SIM_SEC);
	if (sim_error(x->f.host->sim))
		fail_msg("%s", sim_error(x->f.host->sim));
	assert_int_equal(x->f.ended, x->f.spawned);
	assert_true(fixture_holds(&x->f));
}

static void run_trial(struct trial *x, const char *text, void (*run)(struct task *t, void *arg))
{
	open_trial(x, text);
	fixture_spawn(&x->f, 0, run, x);
	close_trial(x);
}

/* ---- whose they are ---- */

/* 200 pages of the child come behind 50 of the parent's, nothing keeps the child, and all can be let go. */
static void to_parent(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct memcg *m = made(t, x->p, "m");
	uint64_t usage;

	read_pages(t, x, x->p, 1000, 50);
	read_pages(t, x, m, 0, 200);
	if (x->twice) {
		task_pin(t, 3);
		read_pages(t, x, m, 200, 100);
	}
	lru_add_drain_all(t);
	usage = x->p->memory.usage;
	assert_int_equal(on_lists(m), x->twice ? 300 : 200);
	cgroup_rmdir(t, m);
	settle(t);
	assert_int_equal(x->p->nr_dying_descendants, 0);
	assert_null(x->p->first_child);
	assert_int_equal(on_lists(x->p), x->twice ? 350 : 250);
	/* What the child had in stock is given back, its pages stay charged. */
	assert_true(x->p->memory.usage <= usage && x->p->nr_charged >= (x->twice ? 350 : 250));
	assert_int_equal(counted(x->p), x->twice ? 350 : 250);
	assert_int_equal(stat_truth(x->p, NR_FILE_PAGES), x->twice ? 350 : 250);
	file_drop(t, x->file, 0, 4096);
	settle(t);
	assert_int_equal(on_lists(x->p), 0);
	assert_int_equal(counted(x->p), 0);
	assert_int_equal(stat_local_exact(x->p, NR_FILE_PAGES), 0);
	assert_int_equal(x->p->nr_charged, x->p->nr_kmem);
}

static void test_to_parent(void **state)
{
	struct trial x;
	char text[512], more[128];

	(void)state;
	for (int l = 0; l < 2; l++)
		for (int twice = 0; twice < 2; twice++) {
			snprintf(more, sizeof more,
				 "reclaim: %s, dying_stats: redirect_all_fast, reparent_local: on", lrus[l]);
			policies(text, sizeof text, twice ? TWO_NODES : ONE_NODE, more);
			open_trial(&x, text);
			x.twice = twice;
			fixture_spawn(&x.f, 0, to_parent, &x);
			close_trial(&x);
			fixture_close(&x.f);
		}
}

/* Below the root: its counter has the pages until they are freed, though it counts none of its own. */
static void to_root(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct memcg *root = x->f.host->cgroups->root, *m = made(t, root, "m");

	read_pages(t, x, m, 0, 100);
	cgroup_rmdir(t, m);
	settle(t);
	assert_int_equal(root->nr_dying_descendants, 0);
	assert_int_equal(root->nr_inherited, 100);
	assert_true(root->memory.usage >= 100);
	file_drop(t, x->file, 0, 100);
	lru_add_drain_all(t);
	memcg_drain_all_stock(t, root);
	settle(t);
	assert_int_equal(root->nr_inherited, 0);
	assert_int_equal(root->memory.usage, root->nr_kmem);
}

static void test_to_root(void **state)
{
	struct trial x;
	char text[512];

	(void)state;
	policies(text, sizeof text, ONE_NODE, "reparent_local: \"off\"");
	run_trial(&x, text, to_root);
	fixture_close(&x.f);
}

/* Classic: the child's pages are the first to go. */
static void behind(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct memcg *m = made(t, x->p, "m");

	read_pages(t, x, x->p, 1000, 64);
	lru_add_drain_all(t);
	task_sleep(t, SIM_MS);
	read_pages(t, x, m, 0, 64);
	cgroup_rmdir(t, m);
	settle(t);
	memcg_proactive_reclaim(t, x->p, 32);
	task_sync(t);
	for (uint64_t i = 0; i < 64; i++)
		assert_int_equal(slot_is_frame(x->file->object.slots[1000 + i]), true);
	assert_int_equal(slot_is_frame(x->file->object.slots[0]), false);
}

static void test_behind(void **state)
{
	struct trial x;
	char text[512];

	(void)state;
	policies(text, sizeof text, ONE_NODE, "reclaim: classic");
	run_trial(&x, text, behind);
	fixture_close(&x.f);
}

/* Three levels, removed in a row: all are dying when the first goes offline. */
static void levels(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct memcg *a = made(t, x->p, "a"), *b = made(t, a, "b"), *c = made(t, b, "c");

	read_pages(t, x, a, 0, 40);
	read_pages(t, x, b, 100, 50);
	read_pages(t, x, c, 200, 60);
	cgroup_rmdir(t, c);
	cgroup_rmdir(t, b);
	cgroup_rmdir(t, a);
	/* Its pages come onto their lists when the cgroup is removed already: the parent counts them. */
	lru_add_drain_all(t);
	settle(t);
	assert_int_equal(x->p->nr_dying_descendants, 0);
	assert_int_equal(on_lists(x->p), 150);
	assert_int_equal(counted(x->p), 150);
	assert_int_equal(stat_local_exact(x->p, NR_FILE_PAGES), 150);
}

static void test_levels(void **state)
{
	static const char *const stats[] = { "redirect_all", "redirect_all_fast" };
	struct trial x;
	char text[512], more[128];

	(void)state;
	for (int l = 0; l < 2; l++)
		for (int s = 0; s < 2; s++) {
			snprintf(more, sizeof more, "reclaim: %s, dying_stats: %s, reparent_local: on",
				 lrus[l], stats[s]);
			policies(text, sizeof text, TWO_NODES, more);
			run_trial(&x, text, levels);
			assert_int_equal(record_invariants_known(x.f.run.record), 0);
			fixture_close(&x.f);
		}
}

/* ---- what is known to go wrong ---- */

/* The child has counted 200 pages in, the parent counts them out. */
static void low(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct memcg *m = made(t, x->p, "m");

	read_pages(t, x, m, 0, 200);
	lru_add_drain_all(t);
	cgroup_rmdir(t, m);
	settle(t);
	assert_int_equal(on_lists(x->p), 200);
	assert_int_equal(counted(x->p), 0);
	file_drop(t, x->file, 0, 200);
	settle(t);
	assert_int_equal(on_lists(x->p), 0);
	assert_int_equal(counted(x->p), -200);
	assert_int_equal(stat_truth(x->p, NR_FILE_PAGES), 0); /* with children all is right */
	cpu_stat_read(t, x->p);
	task_sync(t);
	assert_int_equal(stat_reported(x->p, NR_FILE_PAGES), 0);
}

static void test_low(void **state)
{
	static const char *const stats[] = { "keep", "redirect_v1", "redirect_all", "redirect_all_fast" };
	struct trial x;
	char text[512], more[128];

	(void)state;
	for (int s = 0; s < 4; s++) {
		snprintf(more, sizeof more, "dying_stats: %s", stats[s]);
		policies(text, sizeof text, ONE_NODE, more);
		run_trial(&x, text, low);
		/* The two lists of file pages may differ, the sum of cached pages does. */
		assert_true(record_invariants_known(x.f.run.record) >= 2);
		assert_non_null(strstr(record_known_text(x.f.run.record), "reparent_local: off"));
		fixture_close(&x.f);
	}
}

static const char refused[] = KERNEL "host: { cpus: 1, nodes: 1, memory: 256MiB }\n"
				     "policies: { dying_stats: redirect_all, reparent_local: on,\n"
				     "  css_killed_work: at_once }\n";

static void test_refused(void **state)
{
	char out[2048];

	(void)state;
	fixture_complaints(refused, out, sizeof out);
	assert_non_null(strstr(out, "dying_stats 'redirect_all' has the parent count"));
	assert_non_null(strstr(out, "reparent_local 'on' moves counters"));
	assert_non_null(strstr(out, "no kernel takes a cgroup offline without a grace period"));
}

/* ---- an update on its way ---- */

struct stalled {
	struct trial *x;
	struct memcg *m;
	bool started, ended;
};

/* A page of the child is mapped by somebody else just when the child is removed. */
static void mapper(struct task *t, void *arg)
{
	struct stalled *s = arg;

	while (!s->m) {
		task_sleep(t, SIM_MS);
		task_sync(t);
	}
	s->started = true;
	page_map(t, s->x->f.host, slot_frame(s->x->file->object.slots[0]));
	task_sync(t);
	s->ended = true;
}

static void remover(struct task *t, void *arg)
{
	struct stalled *s = arg;
	struct memcg *m = made(t, s->x->p, "m");

	read_pages(t, s->x, m, 0, 8);
	lru_add_drain_all(t);
	s->x->f.host->stat->stall_in = 1; /* the next update stalls */
	s->m = m;
	while (!s->started) {
		task_sleep(t, 10 * SIM_US);
		task_sync(t);
	}
	task_sleep(t, 50 * SIM_US);
	assert_false(s->ended);
	cgroup_rmdir(t, m);
	task_sleep(t, 3 * SIM_SEC);
	assert_true(s->ended);
}

/* By how much the parent's own count of mapped pages is off at the end. */
static int64_t lost(const char *stats, const char *killed, const char *preemption, const char *by)
{
	struct trial x;
	struct stalled s = { .x = &x };
	char text[1024];
	int64_t off;

	snprintf(text, sizeof text,
		 KERNEL "allow_unreal: true\nhost: { cpus: 4, nodes: 1, memory: 256MiB, preemption: %s }\n"
			"cgroups: [ { name: p } ]\nstatistics: { stall: 40ms, stall_by: %s }\n"
			"policies: { lru_reparent: at_offline, reparent_local: on, dying_stats: %s,\n"
			"  css_killed_work: %s }\n",
		 preemption, by, stats, killed);
	open_trial(&x, text);
	sim_sched(x.f.run.sim)->preempt = strcmp(preemption, "full") ? PREEMPT_NONE : PREEMPT_FULL;
	fixture_spawn(&x.f, 0, remover, &s);
	fixture_spawn(&x.f, 1, mapper, &s);
	close_trial(&x);
	off = stat_local_exact(x.p, NR_FILE_MAPPED) - 1;
	assert_int_equal(record_invariants_known(x.f.run.record), off ? 1 : 0);
	fixture_close(&x.f);
	return off;
}

static void test_lost(void **state)
{
	(void)state;
	/* Without a grace period the counters move while the update is on its way to the child. */
	assert_int_equal(lost("redirect_all", "at_once", "none", "interrupt"), -1);
	assert_int_equal(lost("redirect_all_fast", "at_once", "none", "interrupt"), -1);
	/* With one they wait for it. */
	assert_int_equal(lost("redirect_all", "work", "none", "interrupt"), 0);
	assert_int_equal(lost("redirect_all_fast", "work", "none", "interrupt"), 0);
	assert_int_equal(lost("redirect_all", "rcu_work", "full", "preemption"), 0);
	/* Unless it is preempted outside of a section. */
	assert_int_equal(lost("redirect_all_fast", "rcu_work", "full", "preemption"), -1);
}

/* ---- with others at work ---- */

static void churner(struct task *t, void *arg)
{
	struct trial *x = arg;
	uint32_t seed = t->cpu->id * 7919 + 1;

	for (int i = 0; i < 60; i++) {
		char name[32];

		snprintf(name, sizeof name, "c%u-%d", t->cpu->id, i);
		struct memcg *m = made(t, x->p, name);

		for (int k = 0; k < 40; k++) {
			seed = seed * 1664525 + 1013904223;
			read_pages(t, x, m, seed >> 20, 1); /* of 4,096, many of them others' */
		}
		if (i % 3 == 0)
			lru_add_drain(t);
		cgroup_rmdir(t, m);
		task_sleep(t, (seed >> 16) % 64 * 100 * SIM_US);
	}
	task_sync(t);
	x->left--;
}

/* Until the others are done, memory is taken from the parent and from the machine. */
static void reclaimer(struct task *t, void *arg)
{
	struct trial *x = arg;
	struct memcg *failed;

	while (x->left) {
		memcg_proactive_reclaim(t, x->p, 64);
		for (uint64_t i = 0; i < 64; i++)
			file_touch(t, x->p, x->file, i * 64, &failed);
		lru_add_drain_all(t);
		task_sleep(t, 500 * SIM_US);
		task_sync(t);
	}
	task_sleep(t, SIM_SEC);
	task_sync(t);
	assert_int_equal(x->p->nr_dying_descendants, 0);
	assert_int_equal(counted(x->p), on_lists(x->p));
}

static void test_busy(void **state)
{
	struct trial x;
	char text[512], more[128];

	(void)state;
	for (int l = 0; l < 2; l++)
		for (int two = 0; two < 2; two++) {
			snprintf(more, sizeof more,
				 "reclaim: %s, dying_stats: redirect_all, reparent_local: on", lrus[l]);
			policies(text, sizeof text, two ? TWO_NODES : ONE_NODE, more);
			open_trial(&x, text);
			x.left = 3;
			for (uint32_t cpu = 0; cpu < 3; cpu++)
				fixture_spawn(&x.f, cpu, churner, &x);
			fixture_spawn(&x.f, 3, reclaimer, &x);
			close_trial(&x);
			assert_int_equal(record_invariants_known(x.f.run.record), 0);
			fixture_close(&x.f);
		}
}

/* ---- a charge that began before ---- */

#define REMOVED 20u

static void remove_it(struct task *t, void *arg)
{
	struct trial *x = arg;

	task_sleep(t, 2 * SIM_MS);
	assert_int_equal(cgroup_rmdir(t, x->m), CGROUP_OK);
	x->left--;
}

/*
 * The parent is at its limit, so that most charges of the child reclaim; in some the child goes offline.
 * Their pages are the parent's.
 */
static void outlasting(struct task *t, void *arg)
{
	struct trial *x = arg;
	uint64_t index = 0;

	memcg_set_max(t, x->p, 300);
	for (uint32_t i = 0; i < REMOVED; i++) {
		assert_int_equal(cgroup_mkdir(t, x->p, "m", &x->m), CGROUP_OK);
		x->left = 1;
		task_spawn(t->sim, &(struct task_attr){ .run = remove_it, .arg = x, .cpu = 1 });
		while (memcg_online(x->m)) {
			read_pages(t, x, x->m, index++ % 4096, 1);
			task_sync(t);
		}
		assert_int_equal(x->m->nr_charged, x->m->nr_kmem);
		assert_int_equal(x->left, 0);
		memcg_put(t, x->m);
		/* The rest of its batch went to the stock after css_offline() had drained that. */
		memcg_drain_all_stock(t, x->p);
		settle(t);
		assert_int_equal(x->p->nr_dying_descendants, 0);
	}
	file_drop(t, x->file, 0, 4096);
	settle(t);
	assert_int_equal(on_lists(x->p), 0);
	assert_int_equal(x->p->nr_charged, x->p->nr_kmem);
	assert_int_equal(stat_truth(x->p, NR_FILE_PAGES), 0);
}

static void test_outlasting(void **state)
{
	struct trial x;
	char text[512], more[64];

	(void)state;
	for (int i = 0; i < 2; i++) {
		snprintf(more, sizeof more, "reclaim: %s", lrus[i]);
		policies(text, sizeof text, ONE_NODE, more);
		run_trial(&x, text, outlasting);
		fixture_close(&x.f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_to_parent),  cmocka_unit_test(test_to_root),
		cmocka_unit_test(test_behind),     cmocka_unit_test(test_levels),
		cmocka_unit_test(test_low),        cmocka_unit_test(test_refused),
		cmocka_unit_test(test_lost),       cmocka_unit_test(test_busy),
		cmocka_unit_test(test_outlasting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
