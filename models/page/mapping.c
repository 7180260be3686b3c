/*
 * mapping.c - mappings come to be; see mapping.h.
 */
#include "models/page/mapping.h"

struct mapping *mapping_create(struct page_object *object, struct memcg *m)
{
	struct sim *sim = m->host->sim;
	struct mapping *mapping = sim_alloc(sim, sizeof *mapping);

	mapping->object = object;
	mapping->memcg = m;
	/* One more than the pages need, for an offset. */
	mapping->nr_tables = object->nr_pages / PAGES_PER_TABLE + 2;
	mapping->tables = arena_array(sim_arena(sim), mapping->nr_tables, sizeof *mapping->tables);
	object->mapping = mapping;
	if (m->last_mapping)
		m->last_mapping->next = mapping;
	else
		m->mappings = mapping;
	m->last_mapping = mapping;
	return mapping;
}

void mapping_place(struct mapping *mapping, uint32_t offset)
{
	assert(offset < PAGES_PER_TABLE && !mapping->object->present);
	mapping->offset = offset;
}
