/*
 * lru_lines.c - what moves from CPU to CPU with the lock of an lruvec.
 *
 * Whoever gets the lock finds the list heads and lru_zone_size where its predecessor wrote them, and the
 * page at the head of the list too: list_add() and list_del() write both neighbours of a page
 * (include/linux/list.h), update_lru_size() the count (mm_inline.h; both as in Linux 6.6). Pages that a CPU
 * put on a list together are neighbours, so of a run of them only those at its ends meet a page of somebody
 * else's.
 *
 * lru_add and lru_del of the cost table are list work whose lines are at hand. Charged here is what they
 * cost beyond that: nothing as long as one CPU uses the lruvec alone.
 */
#include "models/page/page_impl.h"

static void touch_line(struct task *t, struct line *l)
{
	cpu_defer(t, line_cost(t, l, true) - sim_sched(t->sim)->machine->line_hit);
}

/* A struct page: written under the lock or by who has the page, so nobody queues for it. */
static void touch_page(struct task *t, struct page *page)
{
	const struct machine *m = sim_sched(t->sim)->machine;

	if (page->cpu == t->cpu->id)
		return;
	cpu_stall(t, machine_transfer(m, page->cpu, t->cpu->id) - m->line_hit);
	page->cpu = (uint16_t)t->cpu->id;
}

static void touch_neighbour(struct task *t, struct lruvec *lruvec, struct page *pages, frame_t frame)
{
	if (frame)
		touch_page(t, &pages[frame]);
	else
		touch_line(t, &lruvec->list_line);
}

void lru_touch_lines(struct task *t, struct lruvec *lruvec, struct page *pages, frame_t frame)
{
	touch_page(t, &pages[frame]);
	touch_neighbour(t, lruvec, pages, pages[frame].prev);
	touch_neighbour(t, lruvec, pages, pages[frame].next);
	touch_line(t, &lruvec->size_line);
}
