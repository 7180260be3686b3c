/*
 * file_truncate.c - pages of a file that go for good, after truncate_inode_pages_range(),
 * truncate_cleanup_folio() of mm/truncate.c and folio_cancel_dirty(), Linux 6.1.
 *
 * What is being read or written is waited for; what is dirty will never be written; what is mapped is
 * unmapped, and its next touch faults. Shadows go too. Room that the pages had on the device is given back.
 */
#include "models/page/page_impl.h"

/* One index; true: its page is to be let go. */
static bool take_out(struct task *t, struct file_object *f, uint64_t index, frame_t *frame)
{
	struct host *host = f->object.host;
	struct page *page;
	uint32_t busy;

	for (;;) {
		spin_lock_irq(t, &f->tree.lock);
		*frame = slot_frame(f->object.slots[index]);
		page = page_of(host, *frame);
		busy = *frame ? page->flags & (PG_LOCKED | PG_WRITEBACK) : 0;
		if (!busy)
			break;
		spin_unlock_irq(t, &f->tree.lock);
		task_sync(t);
		page_wait(t, host, *frame, busy & PG_LOCKED ? PG_LOCKED : PG_WRITEBACK);
	}
	if (*frame) {
		page->flags |= PG_LOCKED; /* nobody maps it or writes to it any more */
		if (page->flags & PG_MAPPED)
			page_unmap(t, host, *frame);
		if (page->flags & PG_DIRTY)
			file_cancel_dirty(t, f, index, *frame);
		cache_del(t, &f->object, index, SLOT_EMPTY);
	} else if (f->object.slots[index]) {
		cache_tree_store(t, host, &f->tree, index, SLOT_EMPTY, NULL);
	}
	spin_unlock_irq(t, &f->tree.lock);
	if (*frame)
		page_done(t, host, *frame, PG_LOCKED);
	file_left(t, &f->object);
	return *frame;
}

void file_truncate(struct task *t, struct file_object *f, uint64_t from)
{
	struct host *host = f->object.host;
	frame_t frames[PAGE_BATCH_MOST];
	uint32_t nr = 0;

	cpu_work(t, host->costs->syscall);
	for (uint64_t i = from; i < f->object.nr_pages; i++) {
		if (!f->object.slots[i])
			continue;
		nr += take_out(t, f, i, &frames[nr]);
		if (nr < host->pages->batch)
			continue;
		lru_add_drain(t); /* __pagevec_release() begins so */
		pages_release(t, host, frames, nr);
		nr = 0;
		cond_resched(t);
	}
	lru_add_drain(t);
	if (nr)
		pages_release(t, host, frames, nr);
	task_sync(t);
	file_give_room(f, from);
}
