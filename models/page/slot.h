/*
 * slot.h - what an object has at an index: nothing, a page, the shadow of one that was evicted, or a place in
 * swap. 64 bits, as an XArray entry is: frames and swap slots have 32 of them, a shadow 63.
 */
#ifndef MODELS_PAGE_SLOT_H
#define MODELS_PAGE_SLOT_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t slot_t;
#define SLOT_EMPTY ((slot_t)0)

enum { SLOT_TAG_SHADOW = 1, SLOT_TAG_SWAP = 2, SLOT_TAGS = 3, SLOT_TAG_BITS = 2 };

static inline slot_t slot_of_frame(uint32_t frame)
{
	return (slot_t)frame << SLOT_TAG_BITS;
}
static inline slot_t slot_of_swap(uint32_t swap)
{
	return (slot_t)swap << SLOT_TAG_BITS | SLOT_TAG_SWAP;
}
static inline slot_t slot_of_shadow(uint64_t shadow)
{
	return shadow << 1 | SLOT_TAG_SHADOW;
}

static inline bool slot_is_frame(slot_t slot)
{
	return slot && !(slot & SLOT_TAGS);
}
static inline bool slot_is_swap(slot_t slot)
{
	return (slot & SLOT_TAGS) == SLOT_TAG_SWAP;
}
static inline bool slot_is_shadow(slot_t slot)
{
	return slot & SLOT_TAG_SHADOW;
}
/* xa_is_value(): counts as a value of its node, which no page does. */
static inline bool slot_is_value(slot_t slot)
{
	return slot & SLOT_TAGS;
}

/* 0 where there is none of that sort. */
static inline uint32_t slot_frame(slot_t slot)
{
	return slot_is_frame(slot) ? (uint32_t)(slot >> SLOT_TAG_BITS) : 0;
}
static inline uint32_t slot_swap(slot_t slot)
{
	return slot_is_swap(slot) ? (uint32_t)(slot >> SLOT_TAG_BITS) : 0;
}
static inline uint64_t slot_shadow(slot_t slot)
{
	return slot_is_shadow(slot) ? slot >> 1 : 0;
}

#endif
