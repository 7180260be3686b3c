/*
 * objects.c - what pages belong to, numbered so that a page can name it in 32 bits; and the start of the
 * whole.
 */
#include <string.h>

#include "models/page/page_impl.h"
#include "models/page/reparent.h"

static void number(struct host *host, struct page_object *object)
{
	struct page_state *ps = host->pages;

	if (ps->nr_objects == ps->objects_capacity) {
		uint32_t capacity = ps->objects_capacity ? 2 * ps->objects_capacity : 64;
		struct page_object **objects = sim_alloc(host->sim, capacity * sizeof(*objects));

		if (ps->nr_objects) {
			memcpy(objects, ps->objects, ps->nr_objects * sizeof(*objects));
			sim_free(host->sim, ps->objects, ps->objects_capacity * sizeof(*objects));
		}
		ps->objects = objects;
		ps->objects_capacity = capacity;
	}
	object->id = ps->nr_objects;
	ps->objects[ps->nr_objects++] = object;
}

void page_object_init(struct host *host, struct page_object *object, enum page_object_kind kind,
		      uint64_t nr_pages)
{
	object->kind = kind;
	object->host = host;
	object->nr_pages = nr_pages;
	number(host, object);
	/* The swap cache is nearly empty, and looked at by whole nodes. */
	host->pages->nr_indices += kind == OBJECT_SWAP ? nr_pages >> CACHE_SLOTS_LOG : nr_pages;
	if (object->tree) {
		cache_tree_init(host, object->tree, object->id, nr_pages, kind != OBJECT_TMPFS);
		object->slots = object->tree->slots;
	} else {
		object->slots = arena_array(sim_arena(host->sim), nr_pages ? nr_pages : 1, sizeof(slot_t));
	}
}

void page_object_own(struct task *t, struct page_object *object)
{
	struct cgroup_task *ct = cgroup_task_of(t);

	if (object->owned || !ct)
		return;
	object->owned = true;
	object->next_owned = ct->objects;
	ct->objects = object;
}

void page_build(struct host *host)
{
	host->pages = sim_alloc(host->sim, sizeof *host->pages);
	host->pages->cache_class = lock_class(host->sim, "&mapping->i_pages");
	page_waiters_build(host);
	reparent_build(host);
	frames_build(host);
	lru_build(host);
	tmpfs_build(host);
}

void page_finish(struct host *host)
{
	pages_check(host, host->run->record);
}
