/*
 * test_swap.c - slots of swap and who is charged for them, anonymous memory and tmpfs out and back, where
 * shadows are in each era, zram with and without room, and what is left when all is gone.
 */
#include "models/workingset/workingset_impl.h"
#include "tests/evict_rig.h"

#define ZRAM   "devices: [ { name: z, device: zram, size: 1MiB, ratio: 4 } ]\nswap: { device: z }\n"
#define GROUPS "cgroups: [ { name: c, memory.swap.max: 64KiB } ]\n"

static const char root_era[] = RIG_HEAD RIG_POLICIES ", anon_shadow: swap_xarray_root }\n" GROUPS ZRAM;
static const char memcg_era[] = RIG_HEAD RIG_POLICIES ", anon_shadow: swap_xarray_memcg }\n" GROUPS ZRAM;
static const char table_era[] = RIG_HEAD RIG_POLICIES ", anon_shadow: swap_table }\n" GROUPS ZRAM;

static struct page_object *object(struct anon_object *a)
{
	return (struct page_object *)(void *)a;
}

static void touch_range(struct task *t, struct anon_object *a, uint64_t from, uint64_t nr)
{
	for (uint64_t i = from; i < from + nr; i++)
		assert_true(anon_touch(t, a, i, NULL));
	lru_add_drain(t);
	task_sync(t);
}

static enum evict_result evict(struct task *t, struct rig *r, struct anon_object *a, uint64_t index)
{
	return rig_evict(t, r->host, rig_frame(object(a), index), r->c);
}

/* ---- out and back ---- */

static void round_trip(struct task *t, struct rig *r, uint64_t anon_nodes, uint64_t root_nodes,
		       uint64_t table)
{
	struct anon_object *a = anon_create(r->host, r->c, 100);
	const struct workingset_count *count = workingset_counted(r->host);

	touch_range(t, a, 0, 20);
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(evict(t, r, a, i), EVICT_GONE);
	task_sync(t);
	assert_int_equal(anon_present(a), 10);
	assert_int_equal(swap_used_slots(r->host), 10);
	assert_int_equal(stat_truth(r->c, MEMCG_SWAP), 10);
	assert_int_equal(stat_truth(r->c, NR_ANON_MAPPED), 10);
	assert_int_equal(stat_truth(r->c, NR_SWAPCACHE), 0);
	assert_int_equal(r->c->swap.usage, 10);
	assert_ptr_equal(swap_owner(r->host, slot_swap(object(a)->slots[3])), r->c);
	assert_int_equal(workingset_nodes_of(r->host, r->c), anon_nodes);
	assert_int_equal(workingset_nodes_of(r->host, r->host->cgroups->root), root_nodes);
	assert_int_equal(swap_table_shadows(r->host), table);

	/* Charged, tested, read, its slot free. */
	touch_range(t, a, 3, 1);
	assert_int_equal(rig_seen.refaults, 1);
	assert_true(rig_seen.in_fault);
	assert_int_equal(rig_seen.refaulted.stamp, 3);
	assert_int_equal(swap_used_slots(r->host), 9);
	assert_int_equal(r->c->swap.usage, 9);
	assert_int_equal(stat_truth(r->c, PGMAJFAULT), 1);
	assert_int_equal(count->shadows_made - count->shadows_gone, 9);

	/* Unmapping frees what is in swap too. */
	anon_unmap(t, a);
	task_sleep(t, 100 * SIM_MS);
	assert_int_equal(swap_used_slots(r->host), 0);
	assert_int_equal(r->c->swap.usage, 0);
	assert_int_equal(count->shadows_made, count->shadows_gone);
	assert_int_equal(workingset_nodes(r->host, 0), 0);
	assert_int_equal(r->c->object_bytes, 0);
}

static void trip_root(struct task *t, void *arg)
{
	round_trip(t, arg, 0, 1, 0);
}

static void trip_memcg(struct task *t, void *arg)
{
	round_trip(t, arg, 1, 0, 0);
}

static void trip_table(struct task *t, void *arg)
{
	round_trip(t, arg, 0, 0, 10);
}

static void eras(void **state)
{
	(void)state;
	rig_run_on(root_era, 1, trip_root);
	rig_run_on(memcg_era, 1, trip_memcg);
	rig_run_on(table_era, 1, trip_table);
}

/* ---- limits ---- */

/* memory.swap.max: 16 pages. */
static void to_limit(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct anon_object *a = anon_create(r->host, r->c, 100);

	touch_range(t, a, 0, 20);
	assert_int_equal(swap_room(r->host, r->c), 16);
	for (uint64_t i = 0; i < 16; i++)
		assert_int_equal(evict(t, r, a, i), EVICT_GONE);
	task_sync(t);
	assert_int_equal(swap_room(r->host, r->c), 0);
	assert_int_equal(evict(t, r, a, 16), EVICT_NO_SWAP);
	assert_true(anon_is_present(a, 16));
	task_sync(t);
	assert_int_equal(swap_used_slots(r->host), 16);
	/* It is still mapped: a touch is no fault. */
	uint64_t faults = (uint64_t)stat_truth(r->c, PGFAULT);

	touch_range(t, a, 16, 1);
	assert_int_equal(stat_truth(r->c, PGFAULT), faults);
	anon_unmap(t, a);
}

/*
 * A node of the swap cache is charged beyond the limit when reclaim needs it (PF_MEMALLOC), and reclaims
 * nothing itself. 20 pages and their page table are all that c may have.
 */
static void charge_in_reclaim(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct anon_object *a = anon_create(r->host, r->c, 100);

	touch_range(t, a, 0, 20);
	assert_int_equal(memcg_current(r->c), 21);
	t->marks |= TASK_RECLAIMS;
	assert_int_equal(evict(t, r, a, 0), EVICT_GONE);
	t->marks &= ~TASK_RECLAIMS;
	task_sync(t);
	assert_int_equal(r->c->memory.watermark, 22);
	assert_int_equal(memcg_current(r->c), 21); /* a page less, a page of nodes more */
	assert_int_equal(r->c->events[EVENT_MAX], 0);
	anon_unmap(t, a);
	task_sleep(t, 100 * SIM_MS);
}

/* What is in use, but for slabs. */
static uint64_t users_frames(const struct host *host)
{
	return frames_used(host) - host->pages->nr_kernel;
}

/* zram that may take two frames: at a ratio of 4, eight pages. */
static void zram_full(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct anon_object *a = anon_create(r->host, r->c, 100);
	uint64_t used;

	touch_range(t, a, 0, 20);
	used = users_frames(r->host);
	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(evict(t, r, a, i), EVICT_GONE);
	task_sync(t);
	assert_int_equal(users_frames(r->host), used - 8 + 2);
	assert_int_equal(evict(t, r, a, 8), EVICT_NO_SWAP);
	task_sync(t);
	assert_int_equal(swap_used_slots(r->host), 8);
	assert_int_equal(stat_truth(r->c, NR_SWAPCACHE), 0);
	/* It was unmapped already; the next touch maps it again, and reads nothing. */
	touch_range(t, a, 8, 1);
	assert_int_equal(stat_truth(r->c, PGMAJFAULT), 0);
	assert_int_equal(stat_truth(r->c, NR_ANON_MAPPED), 12);
	/* Room again once four are back. */
	touch_range(t, a, 0, 4);
	assert_int_equal(evict(t, r, a, 8), EVICT_GONE);
	anon_unmap(t, a);
	task_sync(t);
	assert_int_equal(users_frames(r->host), used - 20);
}

static void limits(void **state)
{
	(void)state;
	rig_run_on(root_era, 1, to_limit);
	rig_run_on(RIG_HEAD RIG_POLICIES ", anon_shadow: swap_xarray_memcg }\n"
					 "cgroups: [ { name: c, memory.max: 84KiB } ]\n" ZRAM,
		   1, charge_in_reclaim);
	rig_run_on(RIG_HEAD RIG_POLICIES
		   " }\ncgroups: [ { name: c } ]\n"
		   "devices: [ { name: z, device: zram, size: 1MiB, ratio: 4, limit: 8KiB } ]\n"
		   "swap: { device: z }\n",
		   1, zram_full);
}

/* ---- tmpfs ---- */

static void files_in_memory(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct tmpfs_object *o = tmpfs_create(r->host, 100);
	struct page_object *pages = (struct page_object *)(void *)o;

	assert_int_equal(tmpfs_read(t, r->c, o, 50, NULL), FILE_HIT); /* a hole */
	assert_int_equal(tmpfs_present(o), 0);
	for (uint64_t i = 0; i < 20; i++)
		assert_int_equal(tmpfs_write(t, r->c, o, i, NULL), FILE_MISS);
	lru_add_drain(t);
	task_sync(t);
	assert_int_equal(stat_truth(r->c, NR_SHMEM), 20);
	assert_int_equal(stat_truth(r->c, NR_FILE_PAGES), 20);
	assert_int_equal(stat_truth(r->c, NR_INACTIVE_ANON), 20);
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(rig_evict(t, r->host, rig_frame(pages, i), r->c), EVICT_GONE);
	task_sync(t);
	assert_int_equal(stat_truth(r->c, NR_SHMEM), 10);
	assert_int_equal(swap_used_slots(r->host), 10);
	/* Whoever reads it, it is charged to whom the slot names. */
	assert_int_equal(tmpfs_read(t, r->host->cgroups->root, o, 4, NULL), FILE_MISS);
	task_sync(t);
	assert_int_equal(rig_seen.refaults, 1);
	assert_int_equal(stat_truth(r->c, NR_SHMEM), 11);
	assert_int_equal(swap_used_slots(r->host), 9);
	tmpfs_remove(t, o);
	task_sleep(t, 100 * SIM_MS);
	assert_int_equal(tmpfs_present(o), 0);
	assert_int_equal(swap_used_slots(r->host), 0);
	assert_int_equal(r->c->object_bytes, 0);
}

static void tmpfs(void **state)
{
	(void)state;
	rig_run_on(memcg_era, 1, files_in_memory);
}

/* ---- slots, and what is wrong in a scenario ---- */

static void take_all(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct memcg *root = r->host->cgroups->root;
	swap_slot_t slots[256];

	task_sync(t);
	for (uint32_t i = 0; i < 256; i++) {
		slots[i] = swap_alloc(t, root);
		assert_int_equal(slots[i], i + 1); /* one after the other */
	}
	assert_int_equal(swap_alloc(t, root), NO_SWAP);
	swap_free(t, slots[99]);
	assert_int_equal(swap_alloc(t, root), 100);
	for (uint32_t i = 0; i < 256; i++)
		swap_free(t, slots[i]);
	assert_int_equal(swap_free_slots(r->host), 256);
}

static int count(const char *text, const char *part)
{
	int nr = 0;

	while ((text = strstr(text, part)) != NULL) {
		text += strlen(part);
		nr++;
	}
	return nr;
}

static void slots(void **state)
{
	char text[1024];

	(void)state;
	rig_run_on(root_era, 1, take_all);
	fixture_complaints(RIG_HEAD RIG_POLICIES
			   " }\nswap: { device: nowhere }\n"
			   "devices: [ { name: z, device: zram }, { name: z, device: disk } ]\n",
			   text, sizeof text);
	assert_non_null(strstr(text, "there is no device 'nowhere'"));
	assert_non_null(strstr(text, "another device is called 'z' too"));
	fixture_complaints(RIG_HEAD RIG_POLICIES " }\ndevices: [ { name: z, device: zram } ]\ntasks:\n"
						 "  - { workload: tree_read, files: 1, disk: nowhere }\n"
						 "  - { workload: stream_scan, pages: 1, disk: z }\n"
						 "  - { workload: file_churn, pages: 1, disk: nowhere }\n"
						 "  - { workload: service, file_pages: 1, disk: nowhere }\n",
			   text, sizeof text);
	assert_int_equal(count(text, "disk: there is no device 'nowhere'"), 3);
	assert_int_equal(count(text, "disk: 'z' is no disk: files cannot lie on it"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(eras),
		cmocka_unit_test(limits),
		cmocka_unit_test(tmpfs),
		cmocka_unit_test(slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
