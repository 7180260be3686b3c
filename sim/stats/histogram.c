/*
 * histogram.c - log-linear histograms. See histogram.h.
 *
 * A bucket number is the position of the highest bit and the HISTOGRAM_BITS bits below it, read as one number
 * (a tiny floating-point format), so finding a bucket is a shift and an addition. Bucket counts are integers
 * and sums are added in the order of the events, so that the same run gives the same bytes.
 */
#include "sim/stats/histogram.h"

#include <math.h>

#include "sim/engine/arena.h"
#include "sim/engine/xalloc.h"

uint64_t histogram_low(uint32_t bucket)
{
	uint32_t shift;

	if (bucket < 2 * HISTOGRAM_OCTAVE)
		return bucket;
	shift = bucket / HISTOGRAM_OCTAVE - 1;
	return (uint64_t)(bucket - shift * HISTOGRAM_OCTAVE) << shift;
}

uint64_t histogram_high(uint32_t bucket)
{
	if (bucket >= histogram_bucket(UINT64_MAX))
		return UINT64_MAX;
	return histogram_low(bucket + 1);
}

void histogram_init(struct histogram *h, struct arena *arena)
{
	*h = (struct histogram){ .min = UINT64_MAX, .arena = arena };
}

struct histogram *histogram_create(struct arena *arena)
{
	struct histogram *h = arena ? arena_alloc(arena, sizeof(*h)) : xcalloc(1, sizeof(*h));

	histogram_init(h, arena);
	return h;
}

static void free_buckets(struct histogram *h)
{
	if (h->arena && h->buckets)
		arena_free(h->arena, h->buckets, h->nr_buckets * sizeof(*h->buckets));
	else
		free(h->buckets);
}

void histogram_release(struct histogram *h)
{
	free_buckets(h);
	histogram_init(h, h->arena);
}

void histogram_reset(struct histogram *h)
{
	for (uint32_t i = 0; i < h->nr_buckets; i++)
		h->buckets[i] = 0;
	h->count = 0;
	h->min = UINT64_MAX;
	h->max = 0;
	h->sum = 0;
	h->sum_squares = 0;
}

/* Whole octaves at a time: a distribution seldom grows by more than a few of them. */
static void reach(struct histogram *h, uint32_t bucket)
{
	uint32_t nr = (bucket / HISTOGRAM_OCTAVE + 1) * HISTOGRAM_OCTAVE;
	uint64_t *buckets;

	if (bucket < h->nr_buckets)
		return;
	buckets = h->arena ? arena_alloc(h->arena, nr * sizeof(*buckets)) : xcalloc(nr, sizeof(*buckets));
	if (h->nr_buckets)
		memcpy(buckets, h->buckets, h->nr_buckets * sizeof(*buckets));
	free_buckets(h);
	h->buckets = buckets;
	h->nr_buckets = nr;
}

void histogram_add(struct histogram *h, uint64_t value, uint64_t times)
{
	uint32_t bucket = histogram_bucket(value);

	if (!times)
		return;
	reach(h, bucket);
	h->buckets[bucket] += times;
	h->count += times;
	if (value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->sum += (double)value * (double)times;
	h->sum_squares += (double)value * (double)value * (double)times;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	if (!from->count)
		return;
	reach(into, histogram_bucket(from->max));
	for (uint32_t i = 0; i <= histogram_bucket(from->max); i++)
		into->buckets[i] += from->buckets[i];
	into->count += from->count;
	if (from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
	into->sum += from->sum;
	into->sum_squares += from->sum_squares;
}

double histogram_mean(const struct histogram *h)
{
	return h->count ? h->sum / (double)h->count : 0;
}

double histogram_deviation(const struct histogram *h)
{
	double mean = histogram_mean(h);
	double variance = h->count ? h->sum_squares / (double)h->count - mean * mean : 0;

	/* Rounding can make the variance of equal values a little negative. */
	return variance > 0 ? sqrt(variance) : 0;
}

/* The rank-th of the values in a bucket, taken as spread evenly over the integers that the bucket covers. */
static double interpolate(const struct histogram *h, uint32_t bucket, uint64_t rank)
{
	double low = (double)histogram_low(bucket);
	double last = (double)(histogram_high(bucket) - 1);
	double value = low + (last - low) * ((double)rank - 0.5) / (double)h->buckets[bucket];

	return fmin(fmax(value, (double)h->min), (double)h->max);
}

double histogram_quantile(const struct histogram *h, double q)
{
	uint64_t rank, before = 0;
	uint32_t bucket = 0;

	if (!h->count)
		return 0;
	if (q <= 0)
		return (double)h->min;
	if (q >= 1)
		return (double)h->max;
	rank = (uint64_t)ceil(q * (double)h->count);
	while (before + h->buckets[bucket] < rank)
		before += h->buckets[bucket++];
	return interpolate(h, bucket, rank - before);
}
