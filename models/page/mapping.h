/*
 * mapping.h - the lowest page tables of a process that maps an object: what the hardware marks there, and
 * what a walk over them needs to know.
 *
 * A table holds 512 pages of 2 MiB of addresses. Where the mapping begins within its first table is `offset`,
 * in pages: which pages share a table follows from it, and with that which of them a walk passes over. The
 * accessed bit of a page-table entry is PG_YOUNG of its page, so a page is mapped at one place at most; the
 * accessed bit of the entry that points to a table is TABLE_YOUNG here, set by every translation through it.
 *
 * One mapping stands for one process (struct mm_struct): a memcg's mappings are the list that a walk goes
 * through, in order of creation (mm_list of include/linux/mmzone.h).
 */
#ifndef MODELS_PAGE_MAPPING_H
#define MODELS_PAGE_MAPPING_H

#include "models/page/page_impl.h"

enum table_flag { TABLE_PRESENT = 1, TABLE_YOUNG = 2 };

struct mapping {
	struct page_object *object;
	struct memcg *memcg;  /* of the process */
	struct mapping *next; /* of the memcg's */
	uint32_t offset;      /* of the object's first page in the first table */
	uint8_t *tables;      /* enum table_flag */
	uint32_t *payers;     /* by table: the owner (struct obj_cgroup) it is charged to */
	uint16_t *nodes;      /* by table: of its page */
	uint64_t nr_tables;
	/*
	 * By node modulo 64, as bits: since the last walk for that node's lruvec, and whether there was one.
	 */
	uint64_t touched, switched, walked;
	const struct task *user; /* who touched it last */
	uint64_t switches;       /* of that task, then or when it was last asked */
};

struct mapping *mapping_create(struct page_object *object, struct memcg *m);
/* A table comes, charged to whom the process belongs to; false: there is no memory. And goes again. */
bool mapping_add_table(struct task *t, struct mapping *mapping, uint64_t table, struct memcg **failed);
void mapping_drop_tables(struct task *t, struct mapping *mapping, uint64_t from, uint64_t nr);
/* Before the first touch. */
void mapping_place(struct mapping *mapping, uint32_t offset);

static inline uint64_t mapping_table(const struct mapping *mapping, uint64_t index)
{
	return (index + mapping->offset) / PAGES_PER_TABLE;
}

/* The frame that is there, or NO_FRAME; mapped or on its way to swap. */
static inline frame_t object_frame(const struct page_object *object, uint64_t index)
{
	return slot_frame(object->slots[index]);
}

/* The pages of the object that table `table` maps: [*from, *to). */
static inline void mapping_range(const struct mapping *mapping, uint64_t table, uint64_t *from, uint64_t *to)
{
	uint64_t end = (table + 1) * PAGES_PER_TABLE - mapping->offset;

	*from = table ? table * PAGES_PER_TABLE - mapping->offset : 0;
	*to = end < mapping->object->nr_pages ? end : mapping->object->nr_pages;
}

/* The hardware translates an address of page `index`, which is mapped, for the running task. In a step. */
static inline void mapping_touch(const struct task *t, struct mapping *mapping, uint64_t index,
				 struct page *page)
{
	page->flags |= PG_YOUNG;
	mapping->tables[mapping_table(mapping, index)] |= TABLE_YOUNG;
	mapping->touched = UINT64_MAX;
	if (mapping->switches != t->switches || mapping->user != t) {
		mapping->user = t;
		mapping->switches = t->switches;
		mapping->switched = UINT64_MAX;
	}
}

#endif
