/*
 * wait.c - waiting for a page that is on its way in or out, after folio_wait_bit_common(), folio_unlock() and
 * folio_end_writeback() of mm/filemap.c, Linux 6.1.
 *
 * Who finds a page that another task is just reading sleeps until the read is done. Waiters of all pages
 * share a table of queues by frame number, as in the kernel; all that wait for a page are woken at once. A
 * wait for a page that was part of the workingset when it was evicted is a memory stall.
 *
 * The end of a write that reclaim waits for (PG_RECLAIM) puts the page to the tail of its list, so that it is
 * looked at next, whatever it was before; not if it is off its list just then.
 */
#include "models/page/page_impl.h"
#include "models/pressure/pressure.h"
#include "models/reclaim/reclaim.h"
#include "models/stat/stat.h"

#define WAIT_TABLE 256u /* PAGE_WAIT_TABLE_SIZE */

struct page_waiter { /* on the stack of who waits */
	struct page_waiter *next;
	struct task *task;
	frame_t frame;
	bool woken;
};

struct page_waiters {
	struct page_waiter *queues[WAIT_TABLE];
};

void page_waiters_build(struct host *host)
{
	host->pages->waiters = sim_alloc(host->sim, sizeof *host->pages->waiters);
}

static struct page_waiter **queue_of(const struct host *host, frame_t frame)
{
	return &host->pages->waiters->queues[frame % WAIT_TABLE];
}

void page_wait(struct task *t, struct host *host, frame_t frame, enum page_flag what)
{
	struct page_waiter wait = { .task = t, .frame = frame };
	struct page_waiter **queue = queue_of(host, frame);
	bool stalled, outer = false;

	if (!(page_of(host, frame)->flags & what))
		return;
	wait.next = *queue;
	*queue = &wait;
	stalled = what == PG_LOCKED && page_of(host, frame)->flags & PG_WORKINGSET;
	if (stalled)
		outer = psi_memstall_enter(t);
	while (!wait.woken)
		task_block(t);
	if (stalled)
		psi_memstall_leave(t, outer);
}

void page_done(struct task *t, struct host *host, frame_t frame, enum page_flag what)
{
	struct page_waiter *woken = NULL;

	page_of(host, frame)->flags &= (uint16_t)~what;
	for (struct page_waiter **at = queue_of(host, frame); *at;) {
		struct page_waiter *w = *at;

		if (w->frame != frame) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		w->next = woken;
		woken = w;
	}
	while (woken) {
		struct page_waiter *w = woken;

		woken = w->next;
		w->woken = true;
		task_wake(t->sim, t, w->task);
	}
}

void page_begin_writeback(struct task *t, struct host *host, frame_t frame)
{
	struct page *page = page_of(host, frame);

	page->flags |= PG_WRITEBACK;
	mod_lruvec_state(t, page_memcg(host, page), page->node, NR_WRITEBACK, 1);
}

void page_end_writeback(struct task *t, struct host *host, frame_t frame, uint32_t cpu)
{
	struct page *page = page_of(host, frame);

	shared_step(t);
	if (page->flags & PG_RECLAIM) {
		page->flags &= (uint16_t)~PG_RECLAIM;
		if (page->flags & PG_LRU && !(page->flags & (PG_LOCKED | PG_DIRTY)))
			page_rotate_later(t, host, frame, cpu);
		task_sync(t);
	}
	page_done(t, host, frame, PG_WRITEBACK);
	reclaim_page_written(t, host, page->node);
	mod_lruvec_state(t, page_memcg(host, page), page->node, NR_WRITEBACK,
			 -1); /* it may be gone after this */
}
