/*
 * test_edges.c - hosts on which memory ends: no swap, no room, nothing to reclaim, everything protected,
 * limits below what is used or below what CPUs keep in stock, devices that are full. Each run comes to an end
 * of its own, with the event that the kernel would have, and with all invariants; under both LRUs.
 */
#include "models/host/costs.h"
#include "sim/engine/pending.h"
#include "sim/engine/xalloc.h"
#include "tests/reclaim_rig.h"
#include "tests/text_run.h"

#define HOST(cpus_, memory_)                                                               \
	"schema: 1\nscenario: edge\nhost: { cpus: " #cpus_ ", nodes: 1, memory: " #memory_ \
	" }\nkernel: v6.12\n"
#define UNTIL_DONE  "run: { until: done, sample: 0 }\n"
#define FOR_A_WHILE "run: { until: 3s, sample: 0 }\n"

typedef void (*expect_fn)(const struct record *r);

static void with_both(const char *text, expect_fn expect)
{
	static const char *const lrus[] = { "classic", "mglru" };

	for (size_t i = 0; i < sizeof lrus / sizeof *lrus; i++) {
		char *whole = xasprintf("%spolicies: { reclaim: %s }\n", text, lrus[i]);
		struct record *r = run_text(whole);

		expect(r);
		record_free(r);
		free(whole);
	}
}

/* One is killed, and the limit was never passed. */
static void killed_at_limit(const struct record *r)
{
	assert_int_equal(value_or_0(r, "memory.events.oom_kill", "/c"), 1);
	assert_true(value_or_0(r, "memory.events.oom", "/c") >= 1);
	assert_true(value_or_0(r, "memory.events.max", "/c") >= 18);
	assert_int_equal(value_or_0(r, "memhog.dead", "hog"), 1);
	assert_true(value_or_0(r, "memory.peak", "/c") <= value_or_0(r, "memory.max", "/c"));
}

static void no_swap(void **state)
{
	(void)state;
	with_both(HOST(2, 256MiB) UNTIL_DONE
		  "cgroups: [ { name: c, memory.max: 8MiB,\n"
		  "  tasks: [ { workload: memhog, name: hog, pages: 4000 } ] } ]\n",
		  killed_at_limit);
}

/* Swap that the cgroup may not use is none. */
static void swap_forbidden(const struct record *r)
{
	killed_at_limit(r);
	assert_int_equal(value_or_0(r, "swap.out", "all"), 0);
}

static void no_swap_allowed(void **state)
{
	(void)state;
	with_both(HOST(2, 256MiB) UNTIL_DONE
		  "devices: [ { name: d, device: disk, size: 64MiB } ]\nswap: { device: d }\n"
		  "cgroups: [ { name: c, memory.max: 8MiB, memory.swap.max: 0,\n"
		  "  tasks: [ { workload: memhog, name: hog, pages: 4000 } ] } ]\n",
		  swap_forbidden);
}

/*
 * The disk takes what it holds, 256 pages, then there is no slot. From then on the lists of anonymous
 * pages are left alone (can_reclaim_anon_pages(), get_swappiness() of MGLRU), those whose writes have
 * ended included, so the kill comes as early as that finds all slots taken by writes under way: the
 * task may not even have passed its limit.
 */
static void swap_was_full(const struct record *r)
{
	killed_at_limit(r);
	assert_true(value_or_0(r, "swap.out", "all") >= 250);
	assert_true(value_or_0(r, "disk.written_bytes", "d") >= 250 * 4096.);
	assert_true(value_or_0(r, "memhog.position", "hog") >= 2048 - 64);
	assert_true(value_or_0(r, "memhog.position", "hog") <= 2048 + 256);
}

static void disk_full(void **state)
{
	(void)state;
	with_both(HOST(2, 256MiB) UNTIL_DONE
		  "devices: [ { name: d, device: disk, size: 1MiB } ]\nswap: { device: d }\n"
		  "cgroups: [ { name: c, memory.max: 8MiB,\n"
		  "  tasks: [ { workload: memhog, name: hog, pages: 4000 } ] } ]\n",
		  swap_was_full);
}

/* Slots are left, but the store may not grow: writes fail, which the results say. */
static void zram_was_full(const struct record *r)
{
	killed_at_limit(r);
	assert_true(value_or_0(r, "zram.failed_writes", "z") > 0);
	assert_true(value_or_0(r, "swap.full", "all") > 0);
	assert_true(value_or_0(r, "zram.mem_used_total", "z") <= 1 << 20);
}

static void zram_full(void **state)
{
	(void)state;
	with_both(HOST(2, 256MiB) UNTIL_DONE
		  "devices: [ { name: z, device: zram, size: 64MiB, limit: 512KiB, ratio: 2 } ]\n"
		  "swap: { device: z }\n"
		  "cgroups: [ { name: c, memory.max: 8MiB,\n"
		  "  tasks: [ { workload: memhog, name: hog, pages: 4000 } ] } ]\n",
		  zram_was_full);
}

/* zram without a limit on a machine that is full: its store needs frames just when there are none. */
static void somebody_killed(const struct record *r)
{
	assert_true(value_or_0(r, "memory.events.oom_kill", "/c") >= 1);
	assert_true(value_or_0(r, "memory.current", "/c") <= 48 << 20);
}

static void zram_on_a_full_machine(void **state)
{
	(void)state;
	with_both(HOST(2, 48MiB) UNTIL_DONE
		  "devices: [ { name: z, device: zram, size: 256MiB, ratio: 1.6 } ]\nswap: { device: z }\n"
		  "cgroups: [ { name: c, tasks: [ { workload: memhog, name: hog, pages: 40000 } ] } ]\n",
		  somebody_killed);
}

/* Nothing but anonymous memory and no swap. Who holds it for ever is killed; the other ends. */
static void machine_full(void **state)
{
	(void)state;
	with_both(HOST(2, 48MiB) UNTIL_DONE
		  "cgroups: [ { name: c, tasks: [ { workload: memhog, name: holder, pages: 9000, hold: ever "
		  "},\n"
		  "  { workload: memhog, name: hog, pages: 8000, work: 10us } ] } ]\n",
		  somebody_killed);
}

/* The machine is short of memory, and all of it is below somebody's memory.min. */
static void protected_to_death(const struct record *r)
{
	assert_true(value_or_0(r, "memory.events.oom_kill", "/a") +
			    value_or_0(r, "memory.events.oom_kill", "/b") >=
		    1);
	assert_int_equal(value_or_0(r, "memory.events.low", "/a"), 0);
}

static void all_below_min(void **state)
{
	(void)state;
	with_both(
		HOST(2, 48MiB) UNTIL_DONE
		"cgroups:\n"
		"  - { name: a, memory.min: 1GiB, tasks: [ { workload: file_churn, name: fa, pages: 6000,\n"
		"      passes: 2 }, { workload: memhog, name: ha, pages: 3000, grow: 1, grow_at: 1s } ] }\n"
		"  - { name: b, memory.min: 1GiB, tasks: [ { workload: file_churn, name: fb, pages: 6000,\n"
		"      passes: 2 }, { workload: memhog, name: hb, pages: 3000, grow: 1, grow_at: 1s } ] }\n",
		protected_to_death);
}

/* memory.low gives way instead, and says so. */
static void low_gave_way(const struct record *r)
{
	assert_true(value_or_0(r, "memory.events.low", "/a") + value_or_0(r, "memory.events.low", "/b") > 0);
	assert_int_equal(value_or_0(r, "memory.events.oom_kill", "/a"), 0);
	assert_int_equal(value_or_0(r, "memory.events.oom_kill", "/b"), 0);
}

static void all_below_low(void **state)
{
	(void)state;
	with_both(HOST(2, 48MiB) UNTIL_DONE
		  "cgroups:\n"
		  "  - { name: a, memory.low: 1GiB, tasks: [ { workload: file_churn, name: fa, pages: 8000,\n"
		  "      passes: 3 } ] }\n"
		  "  - { name: b, memory.low: 1GiB, tasks: [ { workload: file_churn, name: fb, pages: 8000,\n"
		  "      passes: 3 } ] }\n",
		  low_gave_way);
}

/*
 * 8 CPUs that want 64 pages of stock each, and a limit of 128 pages: they drain each other, and all get on.
 */
static void drained(const struct record *r)
{
	assert_true(value_or_0(r, "memory.events.max", "/c") > 0);
	assert_int_equal(value_or_0(r, "memory.events.oom_kill", "/c"), 0);
	assert_int_equal(value_or_0(r, "memory.max", "/c"), 512 << 10);
	assert_true(value_or_0(r, "memory.peak", "/c") <= 512 << 10);
}

static void less_than_stocks(void **state)
{
	(void)state;
	with_both(HOST(8, 256MiB) UNTIL_DONE "cgroups: [ { name: c, memory.max: 512KiB, tasks: [ { workload: "
					     "file_churn, name: f, count: 8,\n"
					     "  pages: 400, passes: 2 } ] } ]\n",
		  drained);
}

/* Not a page, and one: the first charge fails, or the second. */
static void killed_at_once(const struct record *r)
{
	assert_int_equal(value_or_0(r, "memory.events.oom_kill", "/c"), 1);
	assert_true(value_or_0(r, "memhog.position", "hog") <= 1);
}

static void next_to_nothing(void **state)
{
	(void)state;
	with_both(HOST(2, 256MiB) UNTIL_DONE "cgroups: [ { name: c, memory.max: 0,\n"
					     "  tasks: [ { workload: memhog, name: hog, pages: 100 } ] } ]\n",
		  killed_at_once);
	with_both(HOST(2, 256MiB) UNTIL_DONE "cgroups: [ { name: c, memory.max: 4KiB,\n"
					     "  tasks: [ { workload: memhog, name: hog, pages: 100 } ] } ]\n",
		  killed_at_once);
}

/* Above memory.high with nothing to reclaim: it waits, up to two seconds a batch, and is not killed. */
static void throttled(const struct record *r)
{
	assert_true(value_or_0(r, "memory.events.high", "/c") > 0);
	assert_int_equal(value_or_0(r, "memory.events.oom_kill", "/c"), 0);
	assert_true(value_or_0(r, "memhog.position", "hog") < 4000);
}

static void stalled_at_high(void **state)
{
	(void)state;
	with_both(HOST(2, 256MiB) FOR_A_WHILE
		  "cgroups: [ { name: c, memory.high: 4MiB,\n"
		  "  tasks: [ { workload: memhog, name: hog, pages: 4000 } ] } ]\n",
		  throttled);
}

/* ---- limits that come down ---- */

struct lowering {
	uint64_t files, anon, max; /* pages that the cgroup has, and the new limit */
	bool ended;
};

static void hold(struct task *t, struct actor *a)
{
	const struct lowering *l = a->arg;
	struct anon_object *memory = anon_create(a->rig->host, a->memcg, l->anon);

	for (uint64_t i = 0; i < l->anon; i++)
		assert_true(anon_touch(t, memory, i, NULL));
	while (!task_killed(t))
		task_block(t);
	anon_unmap(t, memory);
}

/* From outside, as a shell would; what it reads before is charged to the cgroup. */
static void lower(struct task *t, struct actor *a)
{
	struct lowering *l = a->arg;
	struct memcg *m = memcg_find(a->rig->host, "/c");
	struct file_object *f = file_create(a->rig->host, 4096);

	for (uint64_t i = 0; i < l->files; i++)
		assert_int_equal(file_read(t, m, f, i, NULL), FILE_MISS);
	task_sleep(t, 100 * SIM_MS);
	memcg_set_max(t, m, l->max);
	l->ended = true;
}

/* What is then left of the cgroup's pages. */
static uint64_t lowered(const char *lru, struct lowering l, uint64_t kills)
{
	struct actor holder = { .arg = &l }, shell = { .arg = &l };
	struct rig r;
	char text[512];

	snprintf(text, sizeof text,
		 HOST(2, 256MiB) "cgroups: [ { name: c }, { name: shell } ]\npolicies: { reclaim: %s }\n",
		 lru);
	rig_open(&r, text, 0);
	if (l.anon)
		rig_actor(&r, &holder, "/c", hold);
	rig_actor(&r, &shell, "/shell", lower);
	rig_run(&r, 10);
	assert_true(l.ended);
	uint64_t left = memcg_current(memcg_find(r.host, "/c"));

	assert_int_equal(memcg_find(r.host, "/c")->events[EVENT_OOM_KILL], kills);
	rig_close(&r);
	return left;
}

static void limit_below_use(void **state)
{
	static const char *const lrus[] = { "classic", "mglru" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		/* Cache goes, more of it than need be: each pass over a list may take all that is wanted. */
		assert_in_range(lowered(lrus[i], (struct lowering){ .files = 3000, .max = 500 }, 0), 0, 500);
		/* Memory that cannot go: its owner does. */
		assert_in_range(lowered(lrus[i], (struct lowering){ .anon = 3000, .max = 500 }, 1), 0, 500);
		/* Both. */
		assert_in_range(
			lowered(lrus[i], (struct lowering){ .files = 2000, .anon = 1000, .max = 100 }, 1), 0,
			100);
	}
}

/* What nobody can give back stays, above the limit, and the writer returns. */
static void keep_kmem(struct task *t, struct actor *a)
{
	assert_true(memcg_charge(t, a->memcg, 100, NULL));
	a->memcg->nr_kmem += 100;
	a->memcg->object_bytes += 100 * PAGE_SIZE;
	memcg_set_max(t, memcg_find(a->rig->host, "/c"), 10);
	a->rig->done = true;
}

static void nobody_to_kill(void **state)
{
	struct actor a = { 0 };
	struct rig r;

	(void)state;
	rig_open(&r, HOST(1, 256MiB) "cgroups: [ { name: c } ]\n", 0);
	rig_actor(&r, &a, "/c", keep_kmem);
	cgroup_task_exit(&a.task);
	cgroup_task_attach(&a.task, r.host->cgroups->root);
	rig_run(&r, 10);
	assert_true(r.done);
	assert_in_range(memcg_current(a.memcg), 100, 163);
	assert_int_equal(a.memcg->events[EVENT_OOM], 1);
	assert_int_equal(a.memcg->events[EVENT_OOM_KILL], 0);
	rig_close(&r);
}

/* ---- time that stands still ---- */

static void read_for_ever(struct task *t, struct actor *a)
{
	struct file_object *f = file_create(a->rig->host, 10);

	for (uint64_t i = 0;; i++)
		file_read(t, a->memcg, f, i % 10, NULL);
}

/* Work that costs nothing never ends; the run does, and says why. */
static void no_progress(void **state)
{
	static const struct kernel_costs nothing;
	struct actor a = { 0 };
	struct rig r;

	(void)state;
	rig_open(&r, HOST(1, 256MiB) "cgroups: [ { name: c } ]\n", 0);
	rig_actor(&r, &a, "/c", read_for_ever);
	r.host->costs = &nothing;
	r.host->sim->check_at = 1 << 16; /* sooner than by default, for the test's sake */
	assert_int_equal(sim_run(r.host->sim, SIM_SEC), SIM_END_STALLED);
	assert_non_null(strstr(sim_error(r.host->sim), "stands still"));
	fixture_close(&r.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_swap),
		cmocka_unit_test(no_swap_allowed),
		cmocka_unit_test(disk_full),
		cmocka_unit_test(zram_full),
		cmocka_unit_test(zram_on_a_full_machine),
		cmocka_unit_test(machine_full),
		cmocka_unit_test(all_below_min),
		cmocka_unit_test(all_below_low),
		cmocka_unit_test(less_than_stocks),
		cmocka_unit_test(next_to_nothing),
		cmocka_unit_test(stalled_at_high),
		cmocka_unit_test(limit_below_use),
		cmocka_unit_test(nobody_to_kill),
		cmocka_unit_test(no_progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
