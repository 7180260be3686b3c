/*
 * draw.h - random numbers for tests: xorshift64*, and seeds as the harness of the kernel measurements makes
 * them.
 */
#ifndef TESTS_DRAW_H
#define TESTS_DRAW_H

#include <stdint.h>

struct xorshift {
	uint64_t s;
};

static inline struct xorshift xorshift_seed(uint64_t seed)
{
	return (struct xorshift){ seed * 0x9E3779B97F4A7C15u + 0x1234567 };
}

static inline uint64_t xorshift_next(struct xorshift *x)
{
	x->s ^= x->s >> 12;
	x->s ^= x->s << 25;
	x->s ^= x->s >> 27;
	return x->s * 0x2545F4914F6CDD1Du;
}

/* Below `below`; *state is any number but 0. */
static inline uint64_t draw(uint64_t *state, uint64_t below)
{
	struct xorshift x = { *state };
	uint64_t next = xorshift_next(&x);

	*state = x.s;
	return (next >> 11) % below;
}

#endif
