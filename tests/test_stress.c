/*
 * test_stress.c - pages of every kind under whatever comes: many tasks read, write, map, sync, drop and
 * truncate files that they share, touch and unmap memory of their own, fill and remove tmpfs files, while
 * limits move, cgroups are reclaimed from, tasks are killed and cgroups removed. Under both LRUs, on zram,
 * on a disk and without swap.
 *
 * Invariants are looked at after every call of reclaim (models/reclaim/check.c) and at the end; and when
 * everything has been given back, nothing is left.
 */
#include "models/backing/backing.h"
#include "models/cgroup/life.h"
#include "tests/reclaim_rig.h"

#define TASKS  10u
#define FILES  3u
#define PAGES  600u /* of a file, of a task's memory */
#define ROUNDS 40u

struct shared {
	struct file_object *files[FILES];
	struct tmpfs_object *tmpfs[2];
	struct actor actors[TASKS];
	uint64_t seed;
	uint32_t running;
};

static uint64_t roll(struct xorshift *x, uint64_t below)
{
	return (xorshift_next(x) >> 20) % below;
}

/* ---- what a task does ---- */

static void use_file(struct task *t, struct actor *a, struct shared *s, struct xorshift *x)
{
	struct file_object *f = s->files[roll(x, FILES)];
	uint64_t from = roll(x, PAGES), nr = roll(x, 40), what = roll(x, 100);

	if (what < 3) {
		file_truncate(t, f, from);
	} else if (what < 8) {
		file_sync(t, f);
	} else if (what < 13) {
		file_drop(t, f, from, from + nr < PAGES ? nr : PAGES - from);
	} else {
		for (uint64_t i = from; i < from + nr && i < PAGES; i++)
			if (what < 45)
				file_read(t, a->memcg, f, i, NULL);
			else if (what < 65)
				file_touch(t, a->memcg, f, i, NULL);
			else
				file_write(t, a->memcg, f, i, NULL);
	}
}

static void use_memory(struct task *t, struct anon_object *o, struct xorshift *x)
{
	uint64_t from = roll(x, PAGES), nr = roll(x, 80);

	if (from + nr > PAGES)
		nr = PAGES - from;
	if (!roll(x, 8))
		anon_zap(t, o, from, nr);
	else
		for (uint64_t i = from; i < from + nr && anon_touch(t, o, i, NULL); i++)
			;
}

static void use_tmpfs(struct task *t, struct actor *a, struct shared *s, struct xorshift *x)
{
	struct tmpfs_object *o = s->tmpfs[roll(x, 2)];
	uint64_t from = roll(x, PAGES), nr = roll(x, 30);
	bool write = roll(x, 2);

	if (!roll(x, 20))
		tmpfs_remove(t, o);
	else
		for (uint64_t i = from; i < from + nr && i < PAGES; i++)
			(write ? tmpfs_write : tmpfs_read)(t, a->memcg, o, i, NULL);
}

static void work(struct task *t, struct actor *a)
{
	struct shared *s = a->arg;
	struct xorshift x = xorshift_seed(s->seed + (uint64_t)(a - s->actors));
	struct anon_object *o = anon_create(a->rig->host, a->memcg, PAGES);

	for (uint32_t round = 0; round < ROUNDS && !task_killed(t); round++) {
		uint64_t what = roll(&x, 10);

		if (what < 4)
			use_memory(t, o, &x);
		else if (what < 8)
			use_file(t, a, s, &x);
		else
			use_tmpfs(t, a, s, &x);
		if (!roll(&x, 4))
			task_sleep(t, roll(&x, 300) * SIM_US);
	}
	anon_unmap(t, o);
	task_sync(t);
	s->running--;
}

/* ---- what an administrator does ---- */

static void kill_one(struct task *t, struct actor *a)
{
	if (a->ended)
		return;
	a->task.killed = true;
	task_wake(t->sim, t, a->task.task);
}

static void administer(struct task *t, struct actor *a)
{
	struct shared *s = a->arg;
	struct host *host = a->rig->host;
	struct xorshift x = xorshift_seed(s->seed + 1000);
	struct memcg *groups[3] = { memcg_find(host, "/p/c1"), memcg_find(host, "/p/c2"),
				    memcg_find(host, "/p") };

	while (s->running) {
		struct memcg *m = groups[roll(&x, 3)];

		task_sleep(t, roll(&x, 2000) * SIM_US);
		switch (roll(&x, 6)) {
		case 0:
			memcg_set_max(t, m, 300 + roll(&x, 1500));
			break;
		case 1:
			memcg_set_high(t, m, 300 + roll(&x, 1500));
			break;
		case 2:
			memcg_set_swap_max(t, m, roll(&x, 2000));
			break;
		case 3:
			memcg_proactive_reclaim(t, m, roll(&x, 200));
			break;
		case 4:
			task_sync(t);
			if (!roll(&x, 8))
				kill_one(t, &s->actors[roll(&x, TASKS)]);
			break;
		default:
			memcg_set_low(t, m, roll(&x, 500));
		}
	}
	/* All tasks are gone, and with their cgroups' removal what they left is the parent's. */
	memcg_set_max(t, groups[2], COUNTER_NO_MAX);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(cgroup_rmdir(t, groups[i]), CGROUP_OK);
	task_sleep(t, 100 * SIM_MS);
	for (uint32_t i = 0; i < FILES; i++)
		file_truncate(t, s->files[i], 0);
	for (uint32_t i = 0; i < 2; i++)
		tmpfs_remove(t, s->tmpfs[i]);
	lru_add_drain_all(t);
	/* What nobody wants any more goes with a scan. */
	for (uint32_t i = 0; i < 8; i++) {
		reclaim_memcg(t, host->cgroups->root, 10000, true, true);
		task_sleep(t, 100 * SIM_MS);
	}
	task_sync(t);
	assert_int_equal(stat_truth(host->cgroups->root, NR_FILE_PAGES), 0);
	assert_int_equal(stat_truth(host->cgroups->root, NR_ANON_MAPPED), 0);
	assert_int_equal(stat_truth(host->cgroups->root, NR_FILE_DIRTY), 0);
	assert_int_equal(stat_truth(host->cgroups->root, NR_WRITEBACK), 0);
	assert_int_equal(stat_truth(host->cgroups->root, NR_SWAPCACHE), 0);
	assert_int_equal(groups[2]->nr_charged - groups[2]->nr_kmem, 0);
	a->rig->done = true;
}

/* ---- runs ---- */

static void stress(const char *lru, const char *kernel, const char *devices, uint64_t seed)
{
	struct shared s = { .seed = seed, .running = TASKS };
	struct actor admin = { .arg = &s };
	struct rig r;
	char text[1024];

	snprintf(text, sizeof text,
		 "schema: 1\nscenario: test\nhost: { cpus: 6, nodes: 2, memory: 64MiB }\n"
		 "kernel: %s\npolicies: { reclaim: %s }\n"
		 "cgroups: [ { name: p, memory.max: 8MiB, children: [ { name: c1 }, { name: c2 } ] } ]\n%s",
		 kernel, lru, devices);
	rig_open(&r, text, 0);
	for (uint32_t i = 0; i < FILES; i++) {
		s.files[i] = file_create(r.host, PAGES);
		file_place(s.files[i], i ? disk_find(r.host, "d") : NULL);
	}
	for (uint32_t i = 0; i < 2; i++)
		s.tmpfs[i] = tmpfs_create(r.host, PAGES);
	for (uint32_t i = 0; i < TASKS; i++) {
		s.actors[i].arg = &s;
		rig_actor_on(&r, &s.actors[i], i % 2 ? "/p/c1" : "/p/c2", -1, work);
	}
	rig_actor(&r, &admin, "/", administer);
	sim_run(r.host->sim, sim_now(r.host->sim) + 100 * SIM_SEC);
	if (sim_error(r.host->sim))
		fail_msg("%s %s, seed %llu: %s", lru, kernel, (unsigned long long)seed,
			 sim_error(r.host->sim));
	assert_true(r.done);
	rig_close(&r);
}

#define DISK "  - { name: d, device: disk, write: 300us, read: 100us, size: 32MiB, depth: 4 }\n"
#define ZRAM "  - { name: z, device: zram, size: 32MiB, compress: 3us, decompress: 1us }\n"

static void to_a_disk(void **state)
{
	(void)state;
	stress("classic", "v6.1", "devices:\n" DISK "swap: { device: d }\n", 1);
	stress("mglru", "v6.12", "devices:\n" DISK "swap: { device: d }\n", 4);
	stress("mglru", "v6.18", "devices:\n" DISK "swap: { device: d }\n", 5);
}

static void to_zram(void **state)
{
	(void)state;
	stress("classic", "v6.1", "devices:\n" DISK ZRAM "swap: { device: z }\n", 6);
	stress("mglru", "v6.12", "devices:\n" DISK ZRAM "swap: { device: z }\n", 7);
}

static void without_swap(void **state)
{
	(void)state;
	stress("mglru", "v6.6", "devices:\n" DISK, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(to_a_disk),
		cmocka_unit_test(to_zram),
		cmocka_unit_test(without_swap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
