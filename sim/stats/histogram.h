/*
 * histogram.h - log-linear histograms.
 *
 * Values are unsigned integers in a unit of the owner's choice. Values below 2^(bits+1) have a bucket each;
 * above, every power of two is cut into 2^bits equal buckets, so a quantile is off by at most a relative
 * 2^-(bits+1) (bits = 6: 0.8 %). Minimum, maximum, sum and count are exact. Buckets are allocated from the
 * arena (or by malloc when the arena is NULL) as far as they are reached.
 */
#ifndef SIM_STATS_HISTOGRAM_H
#define SIM_STATS_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#define HISTOGRAM_BITS 6

struct arena;
struct histogram {
	uint64_t count, min, max;
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
void histogram_merge(struct histogram *into, const struct histogram *from);

double histogram_mean(const struct histogram *h);     /* 0 when empty */
double histogram_deviation(const struct histogram *h);
/* The value below or at which a share q of the values lies; interpolated in its bucket, within min..max. */
double histogram_quantile(const struct histogram *h, double q);

uint32_t histogram_bucket(uint64_t value);
uint64_t histogram_low(uint32_t bucket);  /* smallest value of a bucket */
uint64_t histogram_high(uint32_t bucket); /* one past its largest */

#endif
