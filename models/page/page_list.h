/*
 * page_list.h - lists of frames, linked by page.prev and page.next. A page is on one list at most.
 */
#ifndef MODELS_PAGE_PAGE_LIST_H
#define MODELS_PAGE_PAGE_LIST_H

#include "models/page/page.h"

static inline void page_list_add(struct page *pages, struct page_list *list, frame_t frame)
{
	struct page *page = &pages[frame];

	page->prev = NO_FRAME;
	page->next = list->head;
	if (page->next)
		pages[page->next].prev = frame;
	else
		list->tail = frame;
	list->head = frame;
}

static inline void page_list_add_tail(struct page *pages, struct page_list *list, frame_t frame)
{
	struct page *page = &pages[frame];

	page->next = NO_FRAME;
	page->prev = list->tail;
	if (page->prev)
		pages[page->prev].next = frame;
	else
		list->head = frame;
	list->tail = frame;
}

static inline void page_list_del(struct page *pages, struct page_list *list, frame_t frame)
{
	const struct page *page = &pages[frame];

	if (page->prev)
		pages[page->prev].next = page->next;
	else
		list->head = page->next;
	if (page->next)
		pages[page->next].prev = page->prev;
	else
		list->tail = page->prev;
}

/* All of `from`, which is empty afterwards, at the tail of `to`; and at its head. */
static inline void page_list_splice_tail(struct page *pages, struct page_list *from, struct page_list *to)
{
	if (!from->head)
		return;
	pages[from->head].prev = to->tail;
	if (to->tail)
		pages[to->tail].next = from->head;
	else
		to->head = from->head;
	to->tail = from->tail;
	*from = (struct page_list){ 0 };
}

static inline void page_list_splice(struct page *pages, struct page_list *from, struct page_list *to)
{
	struct page_list rest = *to;

	*to = *from;
	*from = (struct page_list){ 0 };
	page_list_splice_tail(pages, &rest, to);
}

/* By walking; UINT64_MAX when it is longer than `most` or its links disagree. */
static inline uint64_t page_list_length(const struct page *pages, const struct page_list *list, uint64_t most)
{
	uint64_t length = 0;
	frame_t before = NO_FRAME;

	for (frame_t frame = list->head; frame; frame = pages[frame].next) {
		if (pages[frame].prev != before || length > most)
			return UINT64_MAX;
		before = frame;
		length++;
	}
	return before == list->tail ? length : UINT64_MAX;
}

#endif
