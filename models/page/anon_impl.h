/*
 * anon_impl.h - inside of anonymous memory: what its first faults and its faults from swap share.
 */
#ifndef MODELS_PAGE_ANON_IMPL_H
#define MODELS_PAGE_ANON_IMPL_H

#include "models/backing/backing.h"
#include "models/page/mapping.h"

struct anon_object {
	struct page_object object;
	struct memcg *memcg;
	struct mapping *mapping;
	bool zapping;      /* somebody takes pages out */
	uint32_t faulting; /* faults under way: they need their page tables */
};

/* A frame charged to the object's memcg, for the page at index. NO_FRAME: as anon_touch() fails. */
frame_t anon_frame(struct task *t, struct anon_object *a, uint64_t index, struct memcg **failed);
void anon_install(struct task *t, struct anon_object *a, uint64_t index, frame_t frame);
/* do_swap_page(), from the device or from the swap cache; anon_swap.c. */
bool anon_from_cache(struct task *t, struct anon_object *a, uint64_t index, struct memcg **failed);
bool anon_swap_in(struct task *t, struct anon_object *a, uint64_t index, struct memcg **failed);

#endif
