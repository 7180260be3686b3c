/*
 * bitmap.h - sets of small numbers: which CPUs are idle, which have tasks to give away.
 *
 * A search costs a word for each 64 CPUs: nothing at 4,096, and less than keeping an order among them would.
 */
#ifndef SIM_HW_BITMAP_H
#define SIM_HW_BITMAP_H

#include <stdbool.h>
#include <stdint.h>

static inline void bit_set(uint64_t *map, uint32_t i)
{
	map[i / 64] |= (uint64_t)1 << (i % 64);
}

static inline void bit_clear(uint64_t *map, uint32_t i)
{
	map[i / 64] &= ~((uint64_t)1 << (i % 64));
}

static inline bool bit_test(const uint64_t *map, uint32_t i)
{
	return map[i / 64] >> (i % 64) & 1;
}

/* The first set bit in [from, to), or `to`. */
static inline uint32_t bit_find(const uint64_t *map, uint32_t from, uint32_t to)
{
	while (from < to) {
		uint64_t word = map[from / 64] >> (from % 64);

		if (word) {
			uint32_t at = from + (uint32_t)__builtin_ctzll(word);

			return at < to ? at : to;
		}
		from = (from / 64 + 1) * 64;
	}
	return to;
}

/* The first set bit at or after `start`, going round in [from, to); `to` if there is none. */
static inline uint32_t bit_find_round(const uint64_t *map, uint32_t from, uint32_t to, uint32_t start)
{
	uint32_t at = bit_find(map, start, to);

	if (at == to) {
		at = bit_find(map, from, start);
		if (at == start)
			at = to;
	}
	return at;
}

#endif
