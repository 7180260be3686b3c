/*
 * random.c - random streams. See random.h; the distributions are in dist.c.
 *
 * Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011) is a
 * keyed bijection of a 128-bit counter: number i of a stream is a function of its key and of i. So a stream
 * is 48 bytes, is opened in the time of hashing its name, and two streams cannot overlap unless their keys
 * collide. The key is a 64-bit hash of (seed, entity, purpose): with a million streams the chance that any
 * two collide is 3e-8.
 */
#include "sim/engine/random.h"

#include <assert.h>

#include "sim/engine/sim.h"

#define NR_ROUNDS 10
#define WORDS     4

void philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t block[4])
{
	uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
	uint32_t k0 = key[0], k1 = key[1];

	for (int round = 0; round < NR_ROUNDS; round++) {
		uint64_t even = (uint64_t)0xD2511F53 * c0;
		uint64_t odd = (uint64_t)0xCD9E8D57 * c2;

		c0 = (uint32_t)(odd >> 32) ^ c1 ^ k0;
		c1 = (uint32_t)odd;
		c2 = (uint32_t)(even >> 32) ^ c3 ^ k1;
		c3 = (uint32_t)even;
		k0 += 0x9E3779B9;
		k1 += 0xBB67AE85;
	}
	block[0] = c0;
	block[1] = c1;
	block[2] = c2;
	block[3] = c3;
}

/* The finaliser of MurmurHash3: every bit of the result depends on every bit of x. */
static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xFF51AFD7ED558CCD;
	x ^= x >> 33;
	x *= 0xC4CEB9FE1A85EC53;
	return x ^ x >> 33;
}

/* FNV-1a over the string and its final NUL, which keeps ("ab", "c") and ("a", "bc") apart. */
static uint64_t hash_string(uint64_t hash, const char *s)
{
	do {
		hash ^= (unsigned char)*s;
		hash *= 0x100000001B3;
	} while (*s++);
	return hash;
}

static uint32_t next_word(struct stream_state *s)
{
	if (s->used == WORDS) {
		const uint32_t counter[4] = { (uint32_t)s->counter, (uint32_t)(s->counter >> 32), 0, 0 };
		const uint32_t key[2] = { (uint32_t)s->key, (uint32_t)(s->key >> 32) };

		philox4x32(counter, key, s->block);
		s->counter++;
		s->used = 0;
	}
	return s->block[s->used++];
}

static uint64_t next_two_words(struct stream_state *s)
{
	uint64_t low = next_word(s);

	return low | (uint64_t)next_word(s) << 32;
}

static void start(struct stream_state *s, uint64_t key)
{
	*s = (struct stream_state){ .key = key, .used = WORDS };
}

static void rng_set(void *state, unsigned long seed)
{
	start(state, mix(seed));
}

static unsigned long rng_get(void *state)
{
	return next_word(state);
}

static double rng_get_double(void *state)
{
	return (double)(next_two_words(state) >> 11) * 0x1p-53;
}

static const gsl_rng_type philox_type = {
	.name = "philox4x32-10",
	.max = UINT32_MAX,
	.size = sizeof(struct stream_state),
	.set = rng_set,
	.get = rng_get,
	.get_double = rng_get_double,
};

const gsl_rng_type *const stream_rng_type = &philox_type;

void stream_init(struct stream *s, uint64_t seed, const char *entity, const char *purpose)
{
	uint64_t hash = hash_string(hash_string(mix(seed ^ 0xCBF29CE484222325), entity), purpose);

	start(&s->state, mix(hash));
	s->rng = (gsl_rng){ .type = stream_rng_type, .state = &s->state };
}

struct stream *stream_open(struct sim *sim, const char *entity, const char *purpose)
{
	struct stream *s = sim_alloc(sim, sizeof(*s));

	stream_init(s, sim_seed(sim), entity, purpose);
	return s;
}

double stream_uniform(struct stream *s)
{
	return rng_get_double(&s->state);
}

/*
 * A 64-bit draw times the limit, of which the high half is the result. Low halves below 2^64 mod limit belong
 * to results that would come up once too often, and are drawn again (Lemire, ACM TOMACS 2019).
 */
uint64_t stream_below(struct stream *s, uint64_t limit)
{
	unsigned __int128 product;

	assert(limit);
	do {
		product = (unsigned __int128)next_two_words(&s->state) * limit;
	} while ((uint64_t)product < limit && (uint64_t)product < -limit % limit);
	return (uint64_t)(product >> 64);
}
