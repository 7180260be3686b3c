/*
 * histogram.h - log-linear histograms.
 *
 * Values are unsigned integers in a unit of the owner's choice. Values below 2^(bits+1) have a bucket each;
 * above, every power of two is cut into 2^bits equal buckets, so a quantile is off by less than a relative
 * 2^-bits (bits = 6: 1.6 %) in the worst case, and by much less where the values spread over their buckets.
 * Minimum, maximum and count are exact, and so is the sum up to 2^53. Buckets are allocated from the arena
 * (or by malloc when the arena is NULL) as far as they are reached.
 */
#ifndef SIM_STATS_HISTOGRAM_H
#define SIM_STATS_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#define HISTOGRAM_BITS   6
#define HISTOGRAM_OCTAVE ((uint32_t)1 << HISTOGRAM_BITS) /* buckets of a power of two */

struct arena;
struct histogram {
	uint64_t count, min, max; /* min and max mean nothing while count is 0 */
	double sum, sum_squares;
	uint64_t *buckets;
	uint32_t nr_buckets; /* allocated */
	struct arena *arena;
};

struct histogram *histogram_create(struct arena *arena);
void histogram_init(struct histogram *h, struct arena *arena);
void histogram_release(struct histogram *h); /* frees the buckets */
void histogram_reset(struct histogram *h);
void histogram_add(struct histogram *h, uint64_t value, uint64_t times);
static inline void histogram_add_one(struct histogram *h, uint64_t value);
void histogram_merge(struct histogram *into, const struct histogram *from);

double histogram_mean(const struct histogram *h); /* 0 when empty */
double histogram_deviation(const struct histogram *h);
/*
 * The smallest value that at least a share q of the values does not exceed; interpolated in its bucket, and
 * within min..max; 0 when empty.
 */
double histogram_quantile(const struct histogram *h, double q);

uint64_t histogram_low(uint32_t bucket);  /* smallest value of a bucket */
uint64_t histogram_high(uint32_t bucket); /* one past its largest; UINT64_MAX for the last bucket */

/* ---- the fast path: a value like those before, which is what every lock and every section has ---- */

static inline uint32_t histogram_bucket(uint64_t value)
{
	uint32_t shift;

	if (value < 2 * HISTOGRAM_OCTAVE)
		return (uint32_t)value;
	shift = 63 - (uint32_t)__builtin_clzll(value) - HISTOGRAM_BITS;
	return (shift << HISTOGRAM_BITS) + (uint32_t)(value >> shift);
}

static inline void histogram_add_one(struct histogram *h, uint64_t value)
{
	if (__builtin_expect(value < h->min || value > h->max, 0)) {
		histogram_add(h, value, 1);
		return;
	}
	h->buckets[histogram_bucket(value)]++;
	h->count++;
	h->sum += (double)value;
	h->sum_squares += (double)value * (double)value;
}

#endif
