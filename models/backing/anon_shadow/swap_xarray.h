/*
 * swap_xarray.h - the swap cache as XArrays, of which two values of anon_shadow differ by who is charged.
 */
#ifndef MODELS_BACKING_ANON_SHADOW_SWAP_XARRAY_H
#define MODELS_BACKING_ANON_SHADOW_SWAP_XARRAY_H

#include "models/backing/backing_impl.h"

void swap_xarray_init(struct host *host, uint32_t nr_slots);
/* Nodes that are missing are charged to `owner`. */
bool swap_xarray_add(struct task *t, swap_slot_t slot, frame_t frame, struct memcg *owner);
void swap_xarray_del(struct task *t, swap_slot_t slot, frame_t frame, struct memcg *target);
shadow_t swap_xarray_get(const struct host *host, swap_slot_t slot);
void swap_xarray_clear(struct task *t, struct host *host, swap_slot_t slot);
uint64_t swap_xarray_kept(const struct host *host); /* none that is in no tree */

#endif
