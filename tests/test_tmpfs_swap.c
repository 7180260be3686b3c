/*
 * test_tmpfs_swap.c - files in memory under pressure: one mutex for all of a machine's swapping of them, who
 * comes to a page that is being written, a full device, pages that are one word; and the stress of seed 5 in
 * small, with its shell-like starts and its readers.
 */
#include "models/cgroup/life.h"
#include "tests/evict_rig.h"
#include "tests/text_run.h"

/* ---- by hand ---- */

#define FULL_ZRAM \
	"devices: [ { name: z, device: zram, size: 1MiB, ratio: 1, limit: 8KiB } ]\nswap: { device: z }\n"
#define SAME_ZRAM                                                                           \
	"devices: [ { name: z, device: zram, size: 1MiB, limit: 4KiB, same_filled: 1 } ]\n" \
	"swap: { device: z }\n"
#define SLOW_DISK "devices: [ { name: d, device: disk, write: 10ms, size: 1MiB } ]\nswap: { device: d }\n"
#define GROUPS    "cgroups: [ { name: c } ]\n"
#define OTHERS    "cgroups: [ { name: c }, { name: d } ]\n"

static struct tmpfs_object *file_of(struct task *t, struct rig *r, uint64_t nr)
{
	struct tmpfs_object *o = tmpfs_create(r->host, 100);

	for (uint64_t i = 0; i < nr; i++)
		assert_int_equal(tmpfs_write(t, r->c, o, i, NULL), FILE_MISS);
	lru_add_drain(t);
	task_sync(t);
	return o;
}

static enum evict_result evict(struct task *t, struct rig *r, struct tmpfs_object *o, uint64_t index)
{
	return rig_evict(t, r->host, rig_frame((struct page_object *)(void *)o, index), r->c);
}

static void no_room(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct tmpfs_object *o = file_of(t, r, 4);

	assert_int_equal(evict(t, r, o, 0), EVICT_GONE);
	assert_int_equal(evict(t, r, o, 1), EVICT_GONE);
	assert_int_equal(evict(t, r, o, 2), EVICT_NO_SWAP);
	task_sync(t);
	/* The third is the file's as before: a read finds it. */
	assert_int_equal(tmpfs_present(o), 2);
	assert_int_equal(stat_truth(r->c, NR_SHMEM), 2);
	assert_int_equal(stat_truth(r->c, NR_SWAPCACHE), 0);
	assert_int_equal(swap_used_slots(r->host), 2);
	assert_int_equal(tmpfs_read(t, r->c, o, 2, NULL), FILE_HIT);
	assert_int_equal(tmpfs_read(t, r->c, o, 0, NULL), FILE_MISS);
	tmpfs_remove(t, o);
}

static void one_word(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct tmpfs_object *o = file_of(t, r, 20);

	for (uint64_t i = 0; i < 20; i++)
		assert_int_equal(evict(t, r, o, i), EVICT_GONE); /* into 4 KiB */
	assert_int_equal(tmpfs_read(t, r->c, o, 7, NULL), FILE_MISS);
	tmpfs_remove(t, o);
	task_sync(t);
	assert_int_equal(swap_used_slots(r->host), 0);
}

static struct meeting {
	struct tmpfs_object *file;
	bool remove;
	sim_time_t came, went;
} meeting;

static void come(struct task *t, void *arg)
{
	struct rig *r = arg;

	meeting.came = t->clock;
	if (meeting.remove)
		tmpfs_remove(t, meeting.file);
	else
		assert_int_equal(tmpfs_read(t, r->c, meeting.file, 0, NULL), FILE_HIT);
	task_sync(t);
	meeting.went = t->clock;
}

/* Half-way through the write somebody comes. */
static frame_t while_written(struct task *t, struct rig *r, bool remove)
{
	struct tmpfs_object *o = file_of(t, r, 1);
	frame_t frame = rig_frame((struct page_object *)(void *)o, 0);

	meeting = (struct meeting){ .file = o, .remove = remove };
	task_spawn(t->sim, &(struct task_attr){ .run = come, .arg = r, .start = t->clock + 5 * SIM_MS });
	assert_int_equal(evict(t, r, o, 0), EVICT_WRITEBACK);
	task_sleep(t, 100 * SIM_MS);
	lru_add_drain(t); /* the batch of pages that are to be rotated has it */
	task_sync(t);
	return frame;
}

/* Who reads waits until the page is written, and has it back: nothing is read. */
static void read_while_written(struct task *t, void *arg)
{
	struct rig *r = arg;

	while_written(t, r, false);
	assert_in_range(meeting.went - meeting.came, 4 * SIM_MS, 7 * SIM_MS);
	assert_int_equal(tmpfs_present(meeting.file), 1);
	assert_int_equal(stat_truth(r->c, NR_SHMEM), 1);
	assert_int_equal(swap_used_slots(r->host), 0);
	tmpfs_remove(t, meeting.file);
}

/* Who removes the file does not wait; the page, nobody's, is there until reclaim comes by. */
static void remove_while_written(struct task *t, void *arg)
{
	struct rig *r = arg;
	frame_t frame = while_written(t, r, true);

	assert_in_range(meeting.went - meeting.came, 0, SIM_MS);
	assert_int_equal(tmpfs_present(meeting.file), 0);
	assert_int_equal(swap_used_slots(r->host), 1);
	assert_int_equal(stat_truth(r->c, NR_SWAPCACHE), 1);
	assert_int_equal(rig_evict(t, r->host, frame, r->c), EVICT_GONE);
	task_sync(t);
	assert_int_equal(swap_used_slots(r->host), 0);
	assert_int_equal(stat_truth(r->c, NR_SWAPCACHE), 0);
}

/* A page that comes back is its old owner's, unless that is removed: then it is the reader's. */
static void owner_is_removed(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct memcg *d = memcg_find(r->host, "/d");
	struct tmpfs_object *o = file_of(t, r, 2);
	struct page_object *object = (struct page_object *)(void *)o;

	assert_int_equal(evict(t, r, o, 0), EVICT_GONE);
	assert_int_equal(evict(t, r, o, 1), EVICT_GONE);
	assert_int_equal(tmpfs_read(t, d, o, 0, NULL), FILE_MISS);
	assert_ptr_equal(page_memcg(r->host, page_of(r->host, rig_frame(object, 0))), r->c);
	assert_int_equal(cgroup_rmdir(t, r->c), CGROUP_OK);
	assert_int_equal(tmpfs_read(t, d, o, 1, NULL), FILE_MISS);
	assert_ptr_equal(page_memcg(r->host, page_of(r->host, rig_frame(object, 1))), d);
	tmpfs_remove(t, o);
}

static void by_hand(void **state)
{
	(void)state;
	rig_run_on(RIG_HEAD RIG_POLICIES " }\n" GROUPS FULL_ZRAM, 1, no_room);
	rig_run_on(RIG_HEAD RIG_POLICIES " }\n" GROUPS SAME_ZRAM, 1, one_word);
	rig_run_on(RIG_HEAD RIG_POLICIES " }\n" OTHERS SAME_ZRAM, 1, owner_is_removed);
	rig_run_on(RIG_HEAD RIG_POLICIES " }\n" GROUPS SLOW_DISK, 1, read_while_written);
	rig_run_on(RIG_HEAD RIG_POLICIES " }\n" GROUPS SLOW_DISK, 1, remove_while_written);
}

/* ---- the stress in small ---- */

#define STRESS                                                                                             \
	"host: { cpus: 8, nodes: 2, memory: 1GiB }\n"                                                      \
	"devices: [ { name: z, device: zram, size: 256MiB, same_filled: 1 } ]\nswap: { device: z }\n"      \
	"cgroups:\n"                                                                                       \
	"  - name: parent{1..2}\n"                                                                         \
	"    memory.max: 4MiB\n"                                                                           \
	"    children:\n"                                                                                  \
	"      - name: child{1..3}\n"                                                                      \
	"        tasks:\n"                                                                                 \
	"          - { workload: tmpfs_worker, count: 4, size: 1MiB, block: 128KiB, start_every: 50us }\n" \
	"          - { workload: stat_reader, target: \".\", interval: 5ms, fork: 100us }\n"               \
	"run: { until: done, sample: 0, seed: 1 }\n"

static struct record *stress(const char *kernel)
{
	char text[2048];

	snprintf(text, sizeof text, "schema: 1\nscenario: test\nkernel: %s\n" STRESS, kernel);
	return run_text(text);
}

static void in_small(void **state)
{
	struct record *before = stress("v6.6"), *after = stress("v6.18");

	(void)state;
	/* Every page is written and read once. */
	assert_true(value(before, "task.ops", "tmpfs_worker") == 24 * 256 * 2);
	assert_true(value(after, "task.ops", "tmpfs_worker") == 24 * 256 * 2);
	assert_true(value(before, "swap.out", "all") > 500);
	assert_true(value(before, "zram.compr_data_size", "z") == 0);
	/* Where there is the mutex it is taken for each page that goes out, but for dd's buffers. */
	assert_true(value(before, "lock.acquire", "shmem_swaplist_mutex") >
		    value(before, "swap.out", "all") / 2);
	assert_true(value(after, "lock.acquire", "shmem_swaplist_mutex") == 0);
	/* The readers read their own cgroups, all at depth 2. */
	assert_true(value(before, "stat.read_latency.mean", "level:2") > 0);
	assert_true(value(before, "stat.read_latency.mean", "level:2") ==
		    value(before, "stat.read_latency.mean", "all"));
	record_free(before);
	record_free(after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(in_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
