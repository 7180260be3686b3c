/*
 * file.c - the page cache of one file: read and drop, after mm/filemap.c and mm/truncate.c of Linux 6.1
 * (filemap_read, filemap_add_folio, invalidate_mapping_pagevec, generic_fadvise).
 *
 * A page is charged to whoever brings it in, and so are the tree nodes above it. Reads are page by page,
 * without readahead. A drop takes pages that nobody else refers to, fifteen at a time; if some sat in the
 * folio batch of another CPU, all CPUs' batches are drained and the drop goes over the range once more.
 *
 * Left out: the device (read_device is the CPU's part), dirty pages, and filemap_read()'s rule that two reads
 * in a row of the same page through one open file count as one access.
 */
#include "models/cgroup/stock.h"
#include "models/page/cache_tree.h"
#include "models/page/page_impl.h"

#define PAGEVEC_MOST PAGE_BATCH_MOST

struct file_object {
	struct page_object object;
	struct host *host;
	struct spinlock lock; /* i_pages */
	struct cache_tree tree;
};

struct file_object *file_create(struct host *host, uint64_t nr_pages)
{
	struct file_object *f = sim_alloc(host->sim, sizeof *f);

	page_object_init(host, &f->object, OBJECT_FILE, nr_pages);
	f->host = host;
	spin_lock_init(&f->lock, host->pages->cache_class);
	cache_tree_init(host, &f->tree, nr_pages);
	return f;
}

uint64_t file_present(const struct file_object *f)
{
	return f->object.present;
}

uint64_t file_size(const struct file_object *f)
{
	return f->object.nr_pages;
}

/* ---- read ---- */

/* Charges one node; with interrupts off it cannot wait for memory, so it may fail where it would not outside. */
static bool charge_node(struct task *t, struct memcg *m, uint32_t *spare, struct memcg **failed)
{
	bool charged = object_charge(t, m, t->cpu->node, NR_SLAB_RECLAIMABLE_B, CACHE_NODE_BYTES, failed);

	*spare += charged;
	return charged;
}

enum insert_result { INSERTED, THERE_ALREADY, NO_MEMORY };

/* __filemap_add_folio() */
static enum insert_result insert(struct task *t, struct file_object *f, uint64_t index, frame_t frame,
				 struct memcg *m, struct memcg **failed)
{
	struct page *page = page_of(f->host, frame);
	enum insert_result result = INSERTED;
	uint32_t spare = 0;

	for (;;) {
		spin_lock_irq(t, &f->lock);
		if (f->object.frames[index]) {
			result = THERE_ALREADY;
			break;
		}
		while (cache_tree_missing(&f->tree, index) > spare && charge_node(t, m, &spare, failed))
			;
		if (cache_tree_missing(&f->tree, index) <= spare) {
			spare -= cache_tree_missing(&f->tree, index);
			cache_tree_add(&f->tree, index, m, t->cpu->node);
			f->object.frames[index] = frame;
			f->object.present++;
			page->flags |= PG_CACHED;
			cpu_defer(t, f->host->costs->cache_add);
			mod_lruvec_state(t, m, page->node, NR_FILE_PAGES, 1);
			break;
		}
		spin_unlock_irq(t, &f->lock);
		if (!charge_node(t, m, &spare, failed)) {
			result = NO_MEMORY;
			break;
		}
	}
	if (result != NO_MEMORY)
		spin_unlock_irq(t, &f->lock);
	while (spare--)
		object_uncharge(t, m, t->cpu->node, NR_SLAB_RECLAIMABLE_B, CACHE_NODE_BYTES);
	return result;
}

static enum insert_result bring_in(struct task *t, struct file_object *f, uint64_t index, struct memcg *m,
				   struct memcg **failed)
{
	struct host *host = f->host;
	frame_t frame = frame_alloc(t, host);

	if (!frame)
		return NO_MEMORY;
	if (!memcg_charge(t, m, 1, failed)) {
		frame_free(t, host, frame);
		return NO_MEMORY;
	}
	page_charged(host, frame, m, f->object.id, (uint32_t)index, 0);
	cpu_defer(t, host->costs->charge_commit);
	count_memcg_events(t, m, PGPGIN, 1);
	enum insert_result result = insert(t, f, index, frame, m, failed);

	if (result == INSERTED) {
		page_add_lru(t, host, frame);
		cpu_work(t, host->costs->read_device);
	} else {
		pages_release(t, host, &frame, 1);
	}
	return result;
}

enum file_result file_read(struct task *t, struct memcg *m, struct file_object *f, uint64_t index,
			   struct memcg **failed)
{
	const struct kernel_costs *costs = f->host->costs;
	bool missed = false;

	if (failed)
		*failed = NULL;
	task_sync(t);
	if (need_resched(t))
		cond_resched(t);
	/* What was brought in may be gone again before it is looked up: then once more. */
	while (!f->object.frames[index]) {
		enum insert_result result = bring_in(t, f, index, m, failed);

		if (result == NO_MEMORY)
			return FILE_NOMEM;
		missed |= result == INSERTED;
		task_sync(t);
	}
	cpu_defer(t, costs->cache_lookup + costs->page_copy);
	page_mark_accessed(t, f->host, f->object.frames[index]);
	return missed ? FILE_MISS : FILE_HIT;
}

/* ---- drop ---- */

/* mapping_evict_folio(): false when a folio batch refers to the page. */
static bool evict(struct task *t, struct file_object *f, uint64_t index, frame_t *evicted)
{
	struct host *host = f->host;
	bool gone = false;

	spin_lock_irq(t, &f->lock);
	frame_t frame = f->object.frames[index];
	struct page *page = page_of(host, frame);

	if (frame && !page->batched) {
		struct memcg *m = page_memcg(host, page);

		f->object.frames[index] = NO_FRAME;
		f->object.present--;
		page->flags &= (uint16_t)~PG_CACHED;
		cpu_defer(t, host->costs->cache_remove);
		cache_tree_del(t, &f->tree, index, host);
		mod_lruvec_state(t, m, page->node, NR_FILE_PAGES, -1);
		*evicted = frame;
		gone = true;
	}
	spin_unlock_irq(t, &f->lock);
	return gone;
}

/* invalidate_mapping_pagevec(); returns how many pages were there and stayed. */
static uint64_t invalidate(struct task *t, struct file_object *f, uint64_t from, uint64_t to)
{
	struct host *host = f->host;
	frame_t frames[PAGEVEC_MOST];
	uint64_t stayed = 0;

	for (uint64_t i = from; i < to;) {
		uint32_t looked = 0, nr = 0;

		for (; i < to && looked < host->pages->batch; i++) {
			task_sync(t);
			if (!f->object.frames[i])
				continue;
			looked++;
			if (evict(t, f, i, &frames[nr]))
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

void file_drop(struct task *t, struct file_object *f, uint64_t from, uint64_t nr)
{
	cpu_work(t, f->host->costs->syscall);
	lru_add_drain(t);
	if (invalidate(t, f, from, from + nr)) {
		lru_add_drain_all(t);
		invalidate(t, f, from, from + nr);
	}
}
