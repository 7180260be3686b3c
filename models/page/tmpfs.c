/*
 * tmpfs.c - files in memory, but for their way to swap (tmpfs_swap.c); after shmem_get_folio_gfp(),
 * shmem_swapin_folio() and shmem_undo_range() of mm/shmem.c, Linux 6.1.
 *
 * Pages are of the page cache by statistics, anonymous by their list, and go to swap. A page that comes back
 * is charged to the cgroup that its slot names, or if that is removed to whoever comes; a new one to whoever
 * writes. A write marks the page as referenced, further accesses as any other read or write of the page
 * cache.
 *
 * No new page is cleared: a write covers all of it (pages are written whole here), and fallocate(2) leaves it
 * not up to date, so that a read takes zeros from elsewhere (SGP_WRITE, which stands for SGP_FALLOC once the
 * page is there). Left out: that such a page is cleared when it goes to swap, mappings, huge pages, inodes.
 */
#include "models/page/swap_cache.h"

struct tmpfs_object {
	struct page_object object;
	struct cache_tree tree;
	struct line info; /* of info->lock, which keeps how many pages the file has, and how many in swap */
};

struct tmpfs_object *tmpfs_create(struct host *host, uint64_t nr_pages)
{
	struct tmpfs_object *o = sim_alloc(host->sim, sizeof *o);

	o->object.tree = &o->tree;
	line_init(&o->info);
	page_object_init(host, &o->object, OBJECT_TMPFS, nr_pages);
	return o;
}

void tmpfs_recalc(struct task *t, struct page_object *object)
{
	line_rmw(t, &((struct tmpfs_object *)(void *)object)->info);
}

uint64_t tmpfs_present(const struct tmpfs_object *o)
{
	return o->object.present;
}

/* ---- bringing in ---- */

/* The rest of a swap-in, by the task that has the page locked and in the tree. */
static void read_in(struct task *t, struct host *host, frame_t frame, swap_slot_t swap)
{
	shadow_t shadow = swap_shadow(host, swap);

	if (shadow)
		workingset_refault(t, host, frame, shadow, false);
	swap_read(t, swap, frame);
	page_add_lru(t, host, frame);
	task_sync(t);
	swap_free(t, swap);
	task_sync(t);
	page_done(t, host, frame, PG_LOCKED);
}

static enum cache_result bring_in(struct task *t, struct memcg *m, struct tmpfs_object *o, uint64_t index,
				  struct memcg **failed)
{
	struct host *host = o->object.host;
	slot_t before = o->object.slots[index];
	frame_t frame = frame_alloc(t, host);

	if (!frame)
		return CACHE_NOMEM;
	if (slot_is_swap(before) && swap_owner(host, slot_swap(before))->life == MEMCG_ONLINE)
		m = swap_owner(host, slot_swap(before)); /* mem_cgroup_swapin_charge_folio() */
	if (!memcg_charge(t, m, 1, failed)) {
		frame_free(t, host, frame);
		return CACHE_NOMEM;
	}
	page_charged(host, frame, m, o->object.id, (uint32_t)index,
		     PG_SWAPBACKED | (slot_is_swap(before) ? PG_LOCKED : PG_REFERENCED));
	cpu_defer(t, host->costs->charge_commit);
	count_memcg_events(t, m, PGPGIN, 1);
	enum cache_result result = cache_add(t, &o->object, index, frame, m, &before, failed);

	if (result == CACHE_ADDED)
		tmpfs_recalc(t, &o->object);
	if (result != CACHE_ADDED) {
		pages_release(t, host, &frame, 1);
	} else if (slot_is_swap(before)) {
		read_in(t, host, frame, slot_swap(before));
	} else {
		page_add_lru(t, host, frame);
	}
	return result;
}

/* ---- read and write ---- */

static bool is_cached(const struct host *host, slot_t slot)
{
	return slot_is_swap(slot) && swap_cached(host, slot_swap(slot));
}

enum tmpfs_access { TMPFS_READ, TMPFS_WRITE, TMPFS_FALLOCATE };

static enum file_result access(struct task *t, struct memcg *m, struct tmpfs_object *o, uint64_t index,
			       enum tmpfs_access how, struct memcg **failed)
{
	struct host *host = o->object.host;
	bool missed = false, fresh = false;
	frame_t frame;

	if (failed)
		*failed = NULL;
	task_sync(t);
	if (need_resched(t))
		cond_resched(t);
	while (!(frame = slot_frame(o->object.slots[index])) || page_of(host, frame)->flags & PG_LOCKED) {
		if (frame) {
			page_wait(t, host, frame, PG_LOCKED);
		} else if (how == TMPFS_READ && !o->object.slots[index]) {
			break; /* a hole */
		} else if (tmpfs_swap_wait(t, host, o->object.slots[index])) {
			;
		} else if (is_cached(host, o->object.slots[index])) {
			if (tmpfs_from_cache(t, host, slot_swap(o->object.slots[index]), failed) ==
			    CACHE_NOMEM)
				return FILE_NOMEM;
		} else {
			bool empty = !o->object.slots[index];
			enum cache_result result = bring_in(t, m, o, index, failed);

			if (result == CACHE_NOMEM)
				return FILE_NOMEM;
			missed |= result == CACHE_ADDED;
			fresh = empty && result == CACHE_ADDED;
		}
		task_sync(t);
	}
	cpu_defer(t, host->costs->cache_lookup);
	if (how == TMPFS_FALLOCATE)
		return missed ? FILE_MISS : FILE_HIT;
	page_copy(t, host);
	if (frame && !fresh)
		page_mark_accessed(t, host, frame);
	return missed ? FILE_MISS : FILE_HIT;
}

enum file_result tmpfs_write(struct task *t, struct memcg *m, struct tmpfs_object *o, uint64_t index,
			     struct memcg **failed)
{
	return access(t, m, o, index, TMPFS_WRITE, failed);
}

enum file_result tmpfs_read(struct task *t, struct memcg *m, struct tmpfs_object *o, uint64_t index,
			    struct memcg **failed)
{
	return access(t, m, o, index, TMPFS_READ, failed);
}

enum file_result tmpfs_fallocate(struct task *t, struct memcg *m, struct tmpfs_object *o, uint64_t index,
				 struct memcg **failed)
{
	return access(t, m, o, index, TMPFS_FALLOCATE, failed);
}

/* ---- removal ---- */

/* One index; true: its page is to be let go. */
static bool remove_one(struct task *t, struct tmpfs_object *o, uint64_t index, frame_t *frame)
{
	struct host *host = o->object.host;
	slot_t slot;

	for (;;) {
		spin_lock_irq(t, &o->tree.lock);
		slot = o->object.slots[index];
		*frame = slot_frame(slot);
		if (!(*frame && page_of(host, *frame)->flags & PG_LOCKED) &&
		    !(is_cached(host, slot) && swap_is_synchronous(host)))
			break;
		spin_unlock_irq(t, &o->tree.lock);
		task_sync(t);
		if (!tmpfs_swap_wait(t, host, slot))
			page_wait(t, host, *frame, PG_LOCKED);
	}
	if (*frame)
		cache_del(t, &o->object, index, SLOT_EMPTY);
	else if (slot)
		cache_tree_store(t, host, &o->tree, index, SLOT_EMPTY, NULL);
	spin_unlock_irq(t, &o->tree.lock);
	task_sync(t);
	if (slot_is_swap(slot))
		swap_cache_forget(t, host, slot_swap(slot));
	return *frame;
}

void tmpfs_remove(struct task *t, struct tmpfs_object *o)
{
	struct host *host = o->object.host;
	frame_t frames[PAGE_BATCH_MOST];
	uint32_t nr = 0;

	cpu_work(t, host->costs->syscall);
	for (uint64_t i = 0; i < o->object.nr_pages; i++) {
		if (!o->object.slots[i])
			continue;
		task_sync(t);
		nr += remove_one(t, o, i, &frames[nr]);
		if (nr < host->pages->batch)
			continue;
		lru_add_drain(t);
		pages_release(t, host, frames, nr);
		nr = 0;
		cond_resched(t);
	}
	lru_add_drain(t);
	if (nr)
		pages_release(t, host, frames, nr);
}
