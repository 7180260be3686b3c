/*
 * test_writeback.c - pages that are written while nobody waits: where they stand on their list when that is
 * done, who comes back to them or leaves them meanwhile, and cgroups that go away.
 *
 * A disk of 10 ms a write is swap, so there is time to look.
 */
#include "models/backing/backing_impl.h"
#include "models/cgroup/life.h"
#include "models/page/swap_cache.h"
#include "models/reclaim/classic.h"
#include "models/reclaim/mglru.h"
#include "tests/reclaim_rig.h"

#define SLOW_SWAP                                                                       \
	"devices: [ { name: d, device: disk, write: 10ms, read: 1ms, size: 64MiB } ]\n" \
	"swap: { device: d }\n"
#define GROUPS "cgroups: [ { name: p, children: [ { name: c } ] } ]\n"

static struct anon_object *touched(struct task *t, struct actor *a, uint64_t nr)
{
	struct anon_object *o = anon_create(a->rig->host, a->memcg, nr);

	for (uint64_t i = 0; i < nr; i++)
		assert_true(anon_touch(t, o, i, NULL));
	lru_add_drain(t);
	task_sync(t);
	return o;
}

/* Slots that hold something: but for those that wait on a CPU to get free. */
static uint64_t slots_out(const struct host *host)
{
	uint64_t nr = swap_used_slots(host);

	for (uint32_t i = 0; i < host->nr_cpus; i++)
		nr -= swap_of(host)->waiting[i].nr;
	return nr;
}

static void run(const char *lru, const char *kernel, void (*act)(struct task *t, struct actor *a))
{
	struct rig r;
	struct actor a = { 0 };
	char text[1024];

	snprintf(text, sizeof text,
		 "schema: 1\nscenario: test\nhost: { cpus: 2, nodes: 1, memory: 64MiB }\n"
		 "kernel: %s\npolicies: { reclaim: %s }\n" GROUPS SLOW_SWAP,
		 kernel, lru);
	rig_open(&r, text, 0);
	rig_actor(&r, &a, "/p/c", act);
	rig_run(&r, 2);
	assert_true(a.ended);
	rig_close(&r);
}

/* Until every page of the cgroup that could go is being written; how many are. */
static uint64_t reclaim_all(struct task *t, struct actor *a)
{
	for (int i = 0; i < 4; i++)
		reclaim_memcg(t, a->memcg, 1000, true, true);
	task_sync(t);
	return (uint64_t)stat_truth(a->memcg, NR_WRITEBACK);
}

/* ---- order ---- */

/* From the old end, the pages of the inactive list, or of the oldest generation that has any. */
static frame_t oldest(const struct actor *a)
{
	const struct host *host = a->rig->host;
	const struct lruvec *lruvec = a->memcg->lruvecs[0];

	if (reclaim_ops(host)->activate == classic_activate)
		return classic_of(lruvec)->lists[LRU_INACTIVE_ANON].tail;
	const struct mglru *g = mglru_of(lruvec);

	for (uint64_t seq = g->min_seq[LRU_ANON]; seq <= g->max_seq; seq++)
		if (g->lists[mglru_gen(seq)][LRU_ANON][0].tail)
			return g->lists[mglru_gen(seq)][LRU_ANON][0].tail;
	return NO_FRAME;
}

static void order(struct task *t, struct actor *a)
{
	struct host *host = a->rig->host;
	struct anon_object *o = touched(t, a, 40);
	int64_t scanned;

	assert_int_equal(reclaim_all(t, a), 40);
	assert_int_equal(anon_present(o), 0);
	assert_int_equal(a->memcg->nr_charged - a->memcg->nr_kmem, 40); /* nothing is freed yet */
	assert_int_equal(slots_out(host), 40);
	struct anon_object *young = touched(t, a, 10);

	task_sleep(t, 50 * SIM_MS);
	lru_add_drain(t);
	task_sync(t);
	assert_int_equal(stat_truth(a->memcg, NR_WRITEBACK), 0);
	assert_int_equal(host->reclaim->calls.rotated, 40);
	/* At the old end, all forty, before those that came later. */
	frame_t frame = oldest(a);

	for (uint64_t i = 0; i < 40; i++) {
		assert_true(page_of(host, frame)->flags & PG_SWAPCACHE);
		assert_false(page_of(host, frame)->flags & (PG_RECLAIM | PG_ACTIVE));
		frame = page_of(host, frame)->prev;
	}
	assert_true(!frame || !(page_of(host, frame)->flags & PG_SWAPCACHE));
	/* So they go first, and nothing is written for it. */
	scanned = stat_truth(a->memcg, PGSCAN_DIRECT);
	assert_true(reclaim_memcg(t, a->memcg, 32, true, true) >= 32);
	task_sync(t);
	assert_in_range(stat_truth(a->memcg, PGSCAN_DIRECT) - scanned, 32, 64);
	assert_int_equal(anon_present(young), 10);
	assert_int_equal(stat_truth(a->memcg, NR_WRITEBACK), 0);
	/* What is gone is read again: the last that was written was the first to go. */
	assert_true(anon_touch(t, o, 39, NULL));
	assert_int_equal(stat_truth(a->memcg, PGMAJFAULT), 1);
	anon_unmap(t, o);
	anon_unmap(t, young);
	assert_int_equal(slots_out(host), 0);
}

static void at_the_tail(void **state)
{
	(void)state;
	run("classic", "v6.1", order);
	run("classic", "v6.12", order);
	run("mglru", "v6.1", order);
	run("mglru", "v6.12", order);
	run("mglru", "v6.18", order);
}

/* ---- who comes meanwhile ---- */

/*
 * The owner comes back to a page that is being written: it is mapped, nothing is read, the slot is given up.
 */
static void come_back(struct task *t, struct actor *a)
{
	struct host *host = a->rig->host;
	struct anon_object *o = touched(t, a, 40);

	assert_int_equal(reclaim_all(t, a), 40);
	for (uint64_t i = 0; i < 10; i++)
		assert_true(anon_touch(t, o, i, NULL));
	task_sync(t);
	assert_int_equal(anon_present(o), 10);
	assert_int_equal(stat_truth(a->memcg, PGMAJFAULT), 0);
	assert_int_equal(stat_truth(a->memcg, NR_ANON_MAPPED), 10);
	assert_int_equal(stat_truth(a->memcg, NR_WRITEBACK), 40);
	assert_int_equal(slots_out(host), 40);
	/* What is mapped is not reclaimed while it is written. */
	reclaim_all(t, a);
	assert_int_equal(anon_present(o), 10);
	task_sleep(t, 50 * SIM_MS);
	task_sync(t);
	assert_int_equal(slots_out(host), 30);
	assert_int_equal(stat_truth(a->memcg, NR_SWAPCACHE), 30);
	/* One that is written and still there comes back too. */
	assert_true(anon_touch(t, o, 20, NULL));
	task_sync(t);
	assert_int_equal(stat_truth(a->memcg, PGMAJFAULT), 0);
	assert_int_equal(slots_out(host), 29);
	anon_unmap(t, o);
}

/* The owner unmaps pages that are being written: they are nobody's, and charged until reclaim comes by. */
static void leave(struct task *t, struct actor *a)
{
	struct host *host = a->rig->host;
	struct anon_object *o = touched(t, a, 40);

	assert_int_equal(reclaim_all(t, a), 40);
	for (uint64_t i = 0; i < 10; i++)
		assert_true(anon_touch(t, o, i, NULL)); /* ten are mapped again */
	anon_unmap(t, o);
	task_sync(t);
	assert_int_equal(anon_present(o), 0);
	assert_int_equal(a->memcg->nr_charged - a->memcg->nr_kmem, 40);
	task_sleep(t, 50 * SIM_MS);
	lru_add_drain(t);
	task_sync(t);
	assert_int_equal(stat_truth(a->memcg, NR_WRITEBACK), 0);
	assert_int_equal(slots_out(host), 40);
	assert_int_equal(reclaim_memcg(t, a->memcg, 64, true, true), 40);
	task_sync(t);
	assert_int_equal(a->memcg->nr_charged - a->memcg->nr_kmem, 0);
	assert_int_equal(slots_out(host), 0);
	assert_int_equal(stat_truth(a->memcg, NR_SWAPCACHE), 0);
}

/* Pages that are written already go with their owner. */
static void leave_late(struct task *t, struct actor *a)
{
	struct anon_object *o = touched(t, a, 40);

	assert_int_equal(reclaim_all(t, a), 40);
	task_sleep(t, 50 * SIM_MS);
	anon_zap(t, o, 0, 40);
	task_sync(t);
	assert_int_equal(slots_out(a->rig->host), 0);
	lru_add_drain_all(t);
	task_sync(t);
	assert_int_equal(a->memcg->nr_charged - a->memcg->nr_kmem, 0);
	anon_unmap(t, o);
}

static void meanwhile(void **state)
{
	static void (*const acts[])(struct task * t, struct actor * a) = { come_back, leave, leave_late };

	(void)state;
	for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
		run("classic", "v6.1", acts[i]);
		run("classic", "v6.18", acts[i]);
		run("mglru", "v6.1", acts[i]);
		run("mglru", "v6.12", acts[i]);
	}
}

/* ---- cgroups that go ---- */

/*
 * A task is killed with everything under writeback, and its cgroup removed: it stays until the pages are
 * gone.
 */
static void die(struct task *t, struct actor *a)
{
	struct anon_object *o = touched(t, a, 40);

	page_object_own(t, (struct page_object *)(void *)o);
	assert_int_equal(reclaim_all(t, a), 40);
}

static void bury(struct task *t, struct actor *a)
{
	struct host *host = a->rig->host;
	struct memcg *c = memcg_find(host, "/p/c");
	struct anon_object *o = (struct anon_object *)(void *)
					host->pages->objects[host->pages->nr_objects - 1];

	task_sleep(t, 5 * SIM_MS);
	task_sync(t);
	assert_int_equal(stat_truth(c, NR_WRITEBACK), 40);
	anon_exit(t, (struct page_object *)(void *)o);
	assert_int_equal(cgroup_rmdir(t, c), CGROUP_OK);
	task_sleep(t, 100 * SIM_MS);
	task_sync(t);
	assert_int_equal(stat_truth(a->memcg, NR_WRITEBACK), 0);
	assert_int_equal(slots_out(host), 40);
	assert_int_equal(a->memcg->nr_dying_descendants, 1);
	assert_int_equal(reclaim_memcg(t, a->memcg, 64, true, true), 40);
	task_sleep(t, SIM_SEC);
	task_sync(t);
	assert_int_equal(slots_out(host), 0);
	assert_int_equal(a->memcg->nr_dying_descendants, 0);
}

static void removed(void **state)
{
	static const char *const lrus[] = { "classic", "mglru" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct actor one = { 0 }, two = { 0 };
		struct rig r;
		char text[1024];

		snprintf(text, sizeof text,
			 "schema: 1\nscenario: test\nhost: { cpus: 2, nodes: 1, memory: 64MiB }\n"
			 "kernel: v6.18\npolicies: { reclaim: %s }\n" GROUPS SLOW_SWAP,
			 lrus[i]);
		rig_open(&r, text, 0);
		rig_actor(&r, &one, "/p/c", die);
		rig_actor(&r, &two, "/p", bury);
		rig_run(&r, 4);
		assert_true(one.ended && two.ended);
		rig_close(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_the_tail),
		cmocka_unit_test(meanwhile),
		cmocka_unit_test(removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
