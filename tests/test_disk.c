/*
 * test_disk.c - what requests to a disk take, alone and in a queue; dirty pages, who writes them and who
 * waits.
 */
#include "tests/evict_rig.h"

#define DISK(options_)                                                                                      \
	RIG_HEAD RIG_POLICIES " }\ncgroups: [ { name: c } ]\ndevices: [ { name: d, device: disk, " options_ \
			      " } ]\n"

/* ---- requests ---- */

static sim_time_t ended[8];
static uint32_t nr_ended;

static void read_one(struct task *t, void *arg)
{
	struct rig *r = arg;

	disk_read(t, disk_find(r->host, "d"), 1);
	task_sync(t);
	ended[nr_ended++] = sim_now(t->sim);
}

static void run_readers(const char *text, uint32_t nr)
{
	struct rig r;

	rig_seen = (struct rig_seen){ 0 };
	nr_ended = 0;
	fixture_open(&r.f, text);
	r.host = r.f.host;
	for (uint32_t i = 0; i < nr; i++)
		fixture_spawn(&r.f, i % 2, read_one, &r);
	fixture_run(&r.f);
	assert_true(fixture_holds(&r.f));
	fixture_close(&r.f);
	assert_int_equal(nr_ended, nr);
}

static void assert_about(sim_time_t value, sim_time_t expected)
{
	/* Wake-ups and switches come on top: microseconds. */
	assert_true(value >= expected && value < expected + 100 * SIM_US);
}

static void queue_depth(void **state)
{
	(void)state;
	/* Six requests of 10 ms, two at a time: three rounds. */
	run_readers(DISK("read: 10ms, depth: 2, bandwidth: 100G"), 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_about(ended[i], (i / 2 + 1) * 10 * SIM_MS);
	/* All at once. */
	run_readers(DISK("read: 10ms, depth: 6, bandwidth: 100G"), 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_about(ended[i], 10 * SIM_MS);
	/* All at once, but the channel passes a page in 1 ms. */
	run_readers(DISK("read: 10ms, depth: 6, bandwidth: 4096000"), 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_about(ended[i], (11 + i) * SIM_MS);
}

static void write_many(struct task *t, void *arg)
{
	struct rig *r = arg;

	disk_write(t, disk_find(r->host, "d"), 50);
	task_sync(t);
	assert_about(sim_now(t->sim), 52 * SIM_MS);
	assert_null(disk_find(r->host, "e"));
	assert_null(disk_find(r->host, NULL));
}

static void many_pages(void **state)
{
	(void)state;
	rig_run_on(DISK("write: 2ms, bandwidth: 4096000"), 1, write_many);
}

/* A read that misses takes what the disk takes; one that hits does not. */
static void through_cache(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct file_object *f = file_create(r->host, 10);

	file_place(f, disk_find(r->host, "d"));
	assert_int_equal(file_read(t, r->c, f, 0, NULL), FILE_MISS);
	task_sync(t);
	assert_about(sim_now(t->sim), 10 * SIM_MS);
	assert_int_equal(file_read(t, r->c, f, 0, NULL), FILE_HIT);
	task_sync(t);
	assert_about(sim_now(t->sim), 10 * SIM_MS);
}

static void cached_reads(void **state)
{
	(void)state;
	rig_run_on(DISK("read: 10ms"), 1, through_cache);
}

/* ---- writeback ---- */

static void write_pages(struct task *t, struct rig *r, struct file_object *f, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		assert_int_equal(file_write(t, r->c, f, i, NULL), FILE_MISS);
	task_sync(t);
}

/* Nothing is written before it is old, and then all of it. */
static void grow_old(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct file_object *f = file_create(r->host, 100);

	file_place(f, disk_find(r->host, "d"));
	write_pages(t, r, f, 100);
	assert_int_equal(file_dirty(f), 100);
	assert_int_equal(stat_truth(r->c, NR_FILE_DIRTY), 100);
	task_sleep(t, 250 * SIM_MS);
	task_sync(t);
	assert_int_equal(file_dirty(f), 100);
	task_sleep(t, 100 * SIM_MS);
	task_sync(t);
	assert_int_equal(file_dirty(f), 0);
	assert_int_equal(stat_truth(r->c, NR_FILE_DIRTY), 0);
	task_sleep(t, 100 * SIM_MS);
	task_sync(t);
	assert_int_equal(stat_truth(r->c, NR_WRITEBACK), 0);
}

static void old_pages(void **state)
{
	(void)state;
	rig_run_on(DISK("write: 1ms") "writeback: { interval: 100ms, expire: 300ms }\n", 1, grow_old);
}

/*
 * 64 MiB, of which little is used: 16,384 pages could be dirty, 1 % of them before the flusher, 2 % at most.
 */
static void too_many(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct file_object *f = file_create(r->host, 800);
	int64_t most = 0;

	file_place(f, disk_find(r->host, "d"));
	for (uint64_t i = 0; i < 800; i++) {
		assert_int_equal(file_write(t, r->c, f, i, NULL), FILE_MISS);
		task_sync(t);
		int64_t now = stat_truth(r->c, NR_FILE_DIRTY) + stat_truth(r->c, NR_WRITEBACK);

		most = now > most ? now : most;
	}
	assert_true(most >= 327 - 32 && most <= 327 + 33); /* looked at every 32 pages */
	file_sync(t, f);
	task_sync(t);
	assert_int_equal(file_dirty(f), 0);
	assert_int_equal(stat_truth(r->c, NR_WRITEBACK), 0);
}

static void throttled(void **state)
{
	(void)state;
	rig_run_on(DISK("write: 1ms, bandwidth: 100M") "writeback: { interval: never, background: 1%, limit: "
						       "2% }\n",
		   1, too_many);
}

/* Reclaim asks for it. */
static void asked(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct file_object *f = file_create(r->host, 10);

	write_pages(t, r, f, 10);
	task_sleep(t, 100 * SIM_MS);
	task_sync(t);
	assert_int_equal(file_dirty(f), 10);
	writeback_wake(t);
	task_sleep(t, 100 * SIM_MS);
	task_sync(t);
	assert_int_equal(file_dirty(f), 0);
}

static void woken(void **state)
{
	(void)state;
	rig_run_on(RIG_HEAD RIG_POLICIES " }\ncgroups: [ { name: c } ]\nwriteback: { interval: never }\n", 1,
		   asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queue_depth), cmocka_unit_test(many_pages), cmocka_unit_test(cached_reads),
		cmocka_unit_test(old_pages),   cmocka_unit_test(throttled),  cmocka_unit_test(woken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
