/*
 * file.c - the page cache of one file: read and drop, after mm/filemap.c and mm/truncate.c of Linux 6.1
 * (filemap_read, filemap_add_folio, invalidate_mapping_pagevec, generic_fadvise).
 *
 * A page is charged to whoever brings it in, and so are the tree nodes above it. The order of a miss is that
 * of the kernel: charge, insertion, refault test with the shadow that was in the slot, batch of the LRU, read
 * from the device, mark of the access. Reads are page by page, without readahead. A drop takes pages that
 * nobody else refers to, fifteen at a time, and shadows as it meets them; if some pages sat in the folio
 * batch of another CPU, all CPUs' batches are drained and the drop goes over the range once more.
 */
#include "models/backing/backing.h"
#include "models/page/page_impl.h"
#include "models/pressure/pressure.h"

#define PAGEVEC_MOST PAGE_BATCH_MOST

struct file_object *file_create(struct host *host, uint64_t nr_pages)
{
	struct file_object *f = sim_alloc(host->sim, sizeof *f);

	f->object.tree = &f->tree;
	page_object_init(host, &f->object, OBJECT_FILE, nr_pages);
	return f;
}

void file_place(struct file_object *f, struct disk *disk)
{
	f->disk = disk;
}

uint64_t file_present(const struct file_object *f)
{
	return f->object.present;
}

uint64_t file_size(const struct file_object *f)
{
	return f->object.nr_pages;
}

/* ---- bringing in ---- */

/* The read itself, by the task that has the page locked; the step ends. */
static void read_in(struct task *t, struct file_object *f, frame_t frame)
{
	struct host *host = f->object.host;
	bool stalled = f->disk && page_of(host, frame)->flags & PG_WORKINGSET, outer = false;

	if (stalled)
		outer = psi_memstall_enter(t);
	if (f->disk)
		disk_read(t, f->disk, 1);
	cpu_work(t, host->costs->read_device);
	task_sync(t);
	if (stalled)
		psi_memstall_leave(t, outer);
	page_done(t, host, frame, PG_LOCKED);
}

/* filemap_add_folio() of a new page and what follows it. */
static enum cache_result bring_in(struct task *t, struct file_object *f, uint64_t index, struct memcg *m,
				  enum file_access how, struct memcg **failed)
{
	struct host *host = f->object.host;
	frame_t frame = frame_alloc(t, host);
	slot_t before = SLOT_EMPTY;

	if (!frame)
		return CACHE_NOMEM;
	if (!memcg_charge(t, m, 1, failed)) {
		frame_free(t, host, frame);
		return CACHE_NOMEM;
	}
	page_charged(host, frame, m, f->object.id, (uint32_t)index, how == FILE_FOR_WRITE ? 0 : PG_LOCKED);
	cpu_defer(t, host->costs->charge_commit);
	count_memcg_events(t, m, PGPGIN, 1);
	enum cache_result result = cache_add(t, &f->object, index, frame, m, &before, failed);

	if (result != CACHE_ADDED) {
		pages_release(t, host, &frame, 1);
		return result;
	}
	if (slot_is_shadow(before) && how != FILE_FOR_WRITE) /* __GFP_WRITE: no test */
		workingset_refault(t, host, frame, slot_shadow(before), how == FILE_FOR_FAULT);
	if (how == FILE_FOR_FAULT)
		page_of(host, frame)->flags |=
			PG_YOUNG; /* lru_gen_in_fault(): the batch may be drained now */
	page_add_lru(t, host, frame);
	if (how != FILE_FOR_WRITE)
		read_in(t, f, frame);
	return CACHE_ADDED;
}

enum file_result file_get(struct task *t, struct memcg *m, struct file_object *f, uint64_t index,
			  enum file_access how, frame_t *frame, struct memcg **failed)
{
	struct host *host = f->object.host;
	bool missed = false;

	if (failed)
		*failed = NULL;
	task_sync(t);
	if (need_resched(t))
		cond_resched(t);
	/* What was brought in may be gone again before it is looked up: then once more. */
	while (!(*frame = slot_frame(f->object.slots[index])) || page_of(host, *frame)->flags & PG_LOCKED) {
		if (*frame) {
			page_wait(t, host, *frame, PG_LOCKED);
		} else {
			enum cache_result result = bring_in(t, f, index, m, how, failed);

			if (result == CACHE_NOMEM)
				return FILE_NOMEM;
			missed |= result == CACHE_ADDED;
		}
		task_sync(t);
	}
	cpu_defer(t, host->costs->cache_lookup);
	return missed ? FILE_MISS : FILE_HIT;
}

/* ---- read ---- */

enum file_result file_read_open(struct task *t, struct memcg *m, struct file_object *f, uint64_t index,
				uint64_t *position, struct memcg **failed)
{
	frame_t frame;
	enum file_result result = file_get(t, m, f, index, FILE_FOR_READ, &frame, failed);

	if (result == FILE_NOMEM)
		return result;
	page_copy(t, f->object.host);
	if (*position != index) /* pos_same_folio() */
		page_mark_accessed(t, f->object.host, frame);
	*position = index;
	return result;
}

enum file_result file_read(struct task *t, struct memcg *m, struct file_object *f, uint64_t index,
			   struct memcg **failed)
{
	uint64_t position = NO_INDEX;

	return file_read_open(t, m, f, index, &position, failed);
}

/* ---- drop ---- */

/* mapping_evict_folio(): false when somebody refers to the page, or it is dirty or mapped. */
static bool evict(struct task *t, struct file_object *f, uint64_t index, frame_t *evicted)
{
	struct host *host = f->object.host;
	bool gone = false;

	spin_lock_irq(t, &f->tree.lock);
	frame_t frame = slot_frame(f->object.slots[index]);
	struct page *page = page_of(host, frame);

	if (frame && !f->buffers_used && !page->batched &&
	    !(page->flags & (PG_DIRTY | PG_WRITEBACK | PG_MAPPED | PG_LOCKED))) {
		cache_del(t, &f->object, index, SLOT_EMPTY);
		*evicted = frame;
		gone = true;
	}
	spin_unlock_irq(t, &f->tree.lock);
	if (gone)
		file_left(t, &f->object);
	return gone;
}

/* clear_shadow_entry() */
static void clear_shadow(struct task *t, struct file_object *f, uint64_t index)
{
	spin_lock_irq(t, &f->tree.lock);
	if (slot_is_shadow(f->object.slots[index]))
		cache_tree_store(t, f->object.host, &f->tree, index, SLOT_EMPTY, NULL);
	spin_unlock_irq(t, &f->tree.lock);
}

/* invalidate_mapping_pagevec(); returns how many pages were there and stayed. */
static uint64_t invalidate(struct task *t, struct file_object *f, uint64_t from, uint64_t to)
{
	struct host *host = f->object.host;
	frame_t frames[PAGEVEC_MOST];
	uint64_t stayed = 0;

	for (uint64_t i = from; i < to;) {
		uint32_t looked = 0, nr = 0;

		for (; i < to && looked < host->pages->batch; i++) {
			task_sync(t);
			slot_t slot = f->object.slots[i];

			if (!slot)
				continue;
			looked++;
			if (slot_is_shadow(slot))
				clear_shadow(t, f, i);
			else if (evict(t, f, i, &frames[nr]))
				nr++;
			else
				stayed++;
		}
		lru_add_drain(t); /* __pagevec_release() begins so */
		if (nr)
			pages_release(t, host, frames, nr);
		cond_resched(t);
	}
	return stayed;
}

void file_hold_buffers(struct file_object *f)
{
	f->buffers_used = true;
}

bool file_is_empty(const struct file_object *f)
{
	return !f->object.present && !f->tree.height && !(f->tree.single && f->object.slots[0]);
}

void file_invalidate(struct task *t, struct file_object *f)
{
	invalidate(t, f, 0, f->object.nr_pages);
}

void file_drop(struct task *t, struct file_object *f, uint64_t from, uint64_t nr)
{
	cpu_work(t, f->object.host->costs->syscall);
	lru_add_drain(t);
	if (invalidate(t, f, from, from + nr)) {
		lru_add_drain_all(t);
		invalidate(t, f, from, from + nr);
	}
}

void file_drop_caches(struct task *t, struct host *host)
{
	lru_add_drain_all(t);
	for (uint32_t i = 0; i < host->pages->nr_objects; i++) {
		struct page_object *object = host->pages->objects[i];

		if (object->kind == OBJECT_FILE && object->present)
			file_invalidate(t, (struct file_object *)(void *)object);
	}
}
