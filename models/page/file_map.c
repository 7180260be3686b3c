/*
 * file_map.c - a file through a shared mapping, after filemap_fault() and filemap_map_pages() of
 * mm/filemap.c and do_fault_around() of mm/memory.c, Linux 6.1.
 *
 * A touch of a mapped page only sets the accessed bit, which is seen when a scan or munmap() looks at it;
 * the fault that maps a page sets it too. There is one mapping, the first user's: what is modelled is
 * that the page is mapped, its accessed bit and the page tables, not how many processes share it.
 */
#include "models/cgroup/stock.h"
#include "models/page/mapping.h"
#include "models/reclaim/reclaim.h"

static bool have_table(struct task *t, struct file_object *f, uint64_t index, struct memcg **failed)
{
	struct mapping *mapping = f->object.mapping;
	uint64_t table = mapping_table(mapping, index);

	return mapping->tables[table] || mapping_add_table(t, mapping, table, failed);
}

/*
 * What is cached beside the page that was faulted on, in an aligned window of addresses: pages of its page
 * table that nobody has locked. On x86 an entry comes with its accessed bit set, whoever asked for it.
 */
static void fault_around(struct task *t, struct file_object *f, uint64_t index)
{
	struct host *host = f->object.host;
	const struct mapping *mapping = f->object.mapping;
	uint64_t window = host->reclaim->vm->fault_around / PAGE_SIZE;
	uint64_t from, to, start;

	while (window & (window - 1))
		window &= window - 1;
	mapping_range(mapping, mapping_table(mapping, index), &from, &to);
	start = (index + mapping->offset) / window * window;
	start = start > mapping->offset ? start - mapping->offset : 0;
	uint64_t end = (index + mapping->offset) / window * window + window - mapping->offset;

	to = end < to ? end : to;
	for (uint64_t i = start > from ? start : from; i < to; i++) {
		task_sync(t);
		frame_t frame = slot_frame(f->object.slots[i]);

		if (i == index || !frame || page_of(host, frame)->flags & (PG_LOCKED | PG_MAPPED))
			continue;
		page_of(host, frame)->flags |= PG_YOUNG;
		page_map(t, host, frame);
	}
}

static enum file_result fault(struct task *t, struct memcg *m, struct file_object *f, uint64_t index,
			      struct memcg **failed)
{
	struct host *host = f->object.host;
	frame_t frame;

	cpu_defer(t, host->costs->fault_entry);
	count_memcg_events(t, m, PGFAULT, 1);
	if (!have_table(t, f, index, failed))
		return FILE_NOMEM;
	fault_around(t, f, index);
	enum file_result result = file_get(t, m, f, index, FILE_FOR_FAULT, &frame, failed);

	if (result == FILE_NOMEM)
		return result;
	mapping_touch(t, f->object.mapping, index, page_of(host, frame));
	if (!(page_of(host, frame)->flags & PG_MAPPED))
		page_map(t, host, frame);
	if (result != FILE_MISS)
		return result;
	/* The mmap lock was let go of for the read, so the fault is taken again (VM_FAULT_RETRY). */
	cpu_defer(t, host->costs->fault_entry);
	count_memcg_events(t, m, PGMAJFAULT, 1);
	if (host->kernel_version < 604) /* 53156443de38: counted when it is done */
		count_memcg_events(t, m, PGFAULT, 1);
	return result;
}

enum file_result file_touch(struct task *t, struct memcg *m, struct file_object *f, uint64_t index,
			    struct memcg **failed)
{
	struct host *host = f->object.host;
	enum file_result result = FILE_HIT;
	frame_t frame;

	if (failed)
		*failed = NULL;
	task_sync(t);
	if (!f->object.mapping)
		mapping_create(&f->object, m);
	frame = slot_frame(f->object.slots[index]);
	if (frame && page_of(host, frame)->flags & PG_MAPPED)
		mapping_touch(t, f->object.mapping, index, page_of(host, frame));
	else
		result = fault(t, m, f, index, failed);
	memcg_handle_over_high(t);
	cpu_defer(t, host->costs->touch);
	return result;
}

/*
 * zap_pte_range() looks at the accessed bit before it drops the entry: a page that was touched through it has
 * been accessed once more (vma_has_recency(); nobody here asks for MADV_SEQUENTIAL or MADV_RANDOM).
 */
static void zap(struct task *t, struct file_object *f, uint64_t index)
{
	struct host *host = f->object.host;
	frame_t frame = slot_frame(f->object.slots[index]);

	if (!frame || !(page_of(host, frame)->flags & PG_MAPPED))
		return;
	if (page_of(host, frame)->flags & PG_YOUNG) {
		page_mark_accessed(t, host, frame);
		task_sync(t); /* reclaim may have been at it meanwhile */
		frame = slot_frame(f->object.slots[index]);
	}
	if (frame && page_of(host, frame)->flags & PG_MAPPED)
		page_unmap(t, host, frame);
}

/* All of one table, and free_pgtables() of it. */
static void unmap_table(struct task *t, struct file_object *f, uint64_t table)
{
	struct mapping *mapping = f->object.mapping;
	uint64_t from, to;

	mapping_range(mapping, table, &from, &to);
	for (; from < to; from++) {
		task_sync(t);
		zap(t, f, from);
	}
	mapping_drop_tables(t, mapping, table, 1);
}

void file_unmap(struct task *t, struct file_object *f)
{
	const struct mapping *mapping = f->object.mapping;

	cpu_work(t, f->object.host->costs->syscall);
	for (uint64_t i = 0; mapping && i < mapping->nr_tables; i++) {
		if (mapping->tables[i])
			unmap_table(t, f, i);
		cond_resched(t);
	}
}
