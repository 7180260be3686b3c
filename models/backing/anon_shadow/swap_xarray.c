/*
 * swap_xarray.c - the swap cache as XArrays, after mm/swap_state.c of Linux 5.9 to 6.17 (add_to_swap_cache,
 * __delete_from_swap_cache, get_shadow_from_swap_cache, clear_shadow_from_swap_cache).
 *
 * There is one address space, with a lock of its own, for every 2^14 slots (64 MiB). A page that is evicted
 * leaves its shadow where it stood, so leaves of the swap cache are shadow nodes as a file's are; the shadow
 * goes when the slot is freed. Trees are indexed from 0 in each space, as since 6.9; before, the whole offset
 * was the index, which makes them up to two nodes higher.
 */
#include "models/backing/anon_shadow/swap_xarray.h"

#include "models/reclaim/reclaim.h"

#define SPACE_LOG 14u /* SWAP_ADDRESS_SPACE_SHIFT */

struct swap_space {
	struct page_object object;
	struct cache_tree tree;
};

static struct page_object *space_of(const struct host *host, swap_slot_t slot)
{
	struct swap_space *spaces = swap_of(host)->shadow_state;

	return &spaces[slot >> SPACE_LOG].object;
}

static uint64_t index_of(swap_slot_t slot)
{
	return slot & ((1u << SPACE_LOG) - 1);
}

void swap_xarray_init(struct host *host, uint32_t nr_slots)
{
	uint32_t nr = (nr_slots >> SPACE_LOG) + 1;
	struct swap_space *spaces = arena_array(sim_arena(host->sim), nr, sizeof *spaces);

	swap_of(host)->shadow_state = spaces;
	for (uint32_t i = 0; i < nr; i++) {
		spaces[i].object.tree = &spaces[i].tree;
		page_object_init(host, &spaces[i].object, OBJECT_SWAP, 1u << SPACE_LOG);
	}
}

bool swap_xarray_add(struct task *t, swap_slot_t slot, frame_t frame, struct memcg *owner)
{
	slot_t before = SLOT_EMPTY;

	return cache_add(t, space_of(host_of(t), slot), index_of(slot), frame, owner, &before, NULL) ==
	       CACHE_ADDED;
}

void swap_xarray_del(struct task *t, swap_slot_t slot, frame_t frame, struct memcg *target)
{
	struct host *host = host_of(t);
	struct page_object *space = space_of(host, slot);

	spin_lock_irq(t, &space->tree->lock);
	shadow_t shadow = target ? reclaim_ops(host)->eviction(t, frame, target) : NO_SHADOW;

	cache_del(t, space, index_of(slot), shadow ? slot_of_shadow(shadow) : SLOT_EMPTY);
	spin_unlock_irq(t, &space->tree->lock);
}

shadow_t swap_xarray_get(const struct host *host, swap_slot_t slot)
{
	return slot_shadow(space_of(host, slot)->slots[index_of(slot)]);
}

void swap_xarray_clear(struct task *t, struct host *host, swap_slot_t slot)
{
	struct page_object *space = space_of(host, slot);

	if (!slot_is_shadow(space->slots[index_of(slot)]))
		return;
	spin_lock_irq(t, &space->tree->lock);
	if (slot_is_shadow(space->slots[index_of(slot)])) /* unless the shrinker was faster */
		cache_tree_store(t, host, space->tree, index_of(slot), SLOT_EMPTY, NULL);
	spin_unlock_irq(t, &space->tree->lock);
}

uint64_t swap_xarray_kept(const struct host *host)
{
	(void)host;
	return 0;
}
