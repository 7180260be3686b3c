/*
 * test_enospc.c - files that grow on a disk which is full: the write that finds no room fails, and nothing
 * else; a file that is cut off gives its room back; a task that cannot write ends, with that in the results.
 */
#include "tests/evict_rig.h"
#include "tests/text_run.h"

#define DISK "devices: [ { name: d, device: disk, room: 400KiB } ]\n"

/* A hundred pages of room. */
static void fill(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct file_object *f = file_create(r->host, 200), *old = file_create(r->host, 10);

	file_place(f, disk_find(r->host, "d"));
	file_place(old, disk_find(r->host, "d"));
	file_begin_empty(f);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(file_write(t, r->c, f, i, NULL), FILE_MISS);
	assert_int_equal(file_write(t, r->c, f, 100, NULL), FILE_NOSPC);
	/* Room is taken when a page is written to, not when it is written out. */
	assert_int_equal(file_dirty(f), 100);
	assert_int_equal(file_present(f), 100);
	/* What has room is written again, and so is a file that was there before. */
	assert_int_equal(file_write(t, r->c, f, 7, NULL), FILE_HIT);
	assert_int_equal(file_write(t, r->c, old, 3, NULL), FILE_MISS);
	file_sync(t, f);
	assert_int_equal(file_dirty(f), 0);
	assert_int_equal(file_write(t, r->c, f, 100, NULL), FILE_NOSPC);
	/* Forty pages less, of which ten were dirty: those are never written. */
	for (uint64_t i = 90; i < 100; i++)
		assert_int_equal(file_write(t, r->c, f, i, NULL), FILE_HIT);
	file_truncate(t, f, 60);
	task_sync(t);
	assert_int_equal(file_dirty(f), 0);
	assert_int_equal(file_present(f), 60);
	for (uint64_t i = 100; i < 140; i++)
		assert_int_equal(file_write(t, r->c, f, i, NULL), FILE_MISS);
	assert_int_equal(file_write(t, r->c, f, 140, NULL), FILE_NOSPC);
	file_sync(t, f);
	task_sync(t);
	assert_int_equal(stat_truth(r->c, NR_WRITEBACK), 0);
}

/* Cut off while it is written: waits for that, and for nothing else. */
static void cut_off(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct file_object *f = file_create(r->host, 20);

	file_place(f, disk_find(r->host, "slow"));
	for (uint64_t i = 0; i < 20; i++)
		assert_int_equal(file_write(t, r->c, f, i, NULL), FILE_MISS);
	writeback_wake(t);
	task_sleep(t, SIM_MS);
	task_sync(t);
	assert_int_equal(stat_truth(r->c, NR_WRITEBACK), 20);
	sim_time_t from = sim_now(t->sim);

	file_truncate(t, f, 0);
	task_sync(t);
	assert_in_range(sim_now(t->sim) - from, 8 * SIM_MS, 10 * SIM_MS);
	assert_int_equal(stat_truth(r->c, NR_WRITEBACK), 0);
	assert_int_equal(stat_truth(r->c, NR_FILE_PAGES), 0);
}

static void by_hand(void **state)
{
	(void)state;
	rig_run_on(RIG_HEAD RIG_POLICIES " }\ncgroups: [ { name: c } ]\n" DISK, 1, fill);
	rig_run_on(RIG_HEAD RIG_POLICIES " }\ncgroups: [ { name: c } ]\n"
					 "devices: [ { name: slow, device: disk, write: 10ms } ]\n",
		   1, cut_off);
}

/* ---- a scenario ---- */

/* Two logs in 8 MiB: one is rotated, the other grows until the disk is full. Then neither can go on. */
static void logs(void **state)
{
	static const char text[] =
		"schema: 1\nscenario: test\nhost: { cpus: 2, memory: 256MiB }\nkernel: v6.12\n"
		"devices: [ { name: d, device: disk, room: 8MiB } ]\n"
		"cgroups:\n"
		"  - name: a\n"
		"    memory.max: 4MiB\n"
		"    tasks: [ { workload: file_writer, name: grows, disk: d, file: x, pages: 4096, passes: 1 "
		"} ]\n"
		"  - name: b\n"
		"    memory.max: 4MiB\n"
		"    tasks: [ { workload: file_writer, name: rotated, disk: d, file: y, pages: 512, passes: "
		"20,\n"
		"               truncate: true, sync_every: 100 } ]\n"
		"run: { until: done, sample: 0, seed: 1 }\n";
	struct record *record = run_text(text);

	(void)state;

	assert_true(value(record, "task.enospc", "grows") == 1);
	assert_true(value(record, "disk.enospc", "d") >= 1);
	assert_true(value(record, "task.ops", "grows") >= 1536 && value(record, "task.ops", "grows") <= 2048);
	assert_true(value(record, "disk.room_taken", "d") <= 8 << 20);
	assert_true(value_or_0(record, "task.oom", "grows") <= 0);
	record_free(record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(logs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
