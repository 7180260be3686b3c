/*
 * random.h - random streams and distributions.
 *
 * A stream is named by (seed, entity, purpose): "/parent3/child2", "think time". Its numbers depend on those
 * three and on nothing else, so another policy, another order of creation or one more entity never shifts
 * anybody's draws: variants run on common random numbers. Behind it is a counter-based generator (Philox
 * 4x32-10) that presents itself as a gsl_rng_type, so that all of GSL's distributions run on it.
 */
#ifndef SIM_ENGINE_RANDOM_H
#define SIM_ENGINE_RANDOM_H

#include <gsl/gsl_rng.h>
#include <stddef.h>
#include <stdint.h>

struct sim;

extern const gsl_rng_type *const stream_rng_type;

struct stream {
	gsl_rng rng; /* usable with every gsl_ran_* function: &s->rng */
	struct stream_state {
		uint64_t key, counter;
		uint32_t block[4];
		uint32_t used;
	} state;
};

/* A stream in the simulation's arena. The names are only read here. */
struct stream *stream_open(struct sim *sim, const char *entity, const char *purpose);
void stream_init(struct stream *s, uint64_t seed, const char *entity, const char *purpose);
double stream_uniform(struct stream *s);                 /* [0, 1) */
uint64_t stream_below(struct stream *s, uint64_t limit); /* 0 .. limit - 1, unbiased */

/* The generator itself: ten rounds over one counter. */
void philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t block[4]);

enum dist_kind {
	DIST_CONSTANT,
	DIST_UNIFORM,
	DIST_EXPONENTIAL,
	DIST_NORMAL,
	DIST_LOGNORMAL,
	DIST_PARETO,
	DIST_ZIPF,
	DIST_TABLE
};

/*
 * In a scenario: a plain value is constant; otherwise a map of one key: {uniform: [1ms, 3ms]},
 * {exponential: 10ms} (mean), {normal: [mean, sd]} (negative draws become 0), {lognormal: [median, sigma]},
 * {pareto: [scale, shape]}, {zipf: [n, s]} (ranks 1..n), {table: [[value, weight], ...]}.
 * Values carry the unit of the option (durations in ps, sizes in bytes).
 */
struct dist {
	enum dist_kind kind;
	double a, b;
	const double *table; /* DIST_TABLE: pairs (value, weight), owned by the caller */
	uint32_t nr;         /* of pairs */
	void *lookup;        /* made by dist_prepare() */
};

/*
 * Once, after the parameters are set and before the first draw. Only DIST_ZIPF (n >= 1, s >= 0) and
 * DIST_TABLE (a positive weight at least) have something to prepare; for the others it does nothing.
 */
void dist_prepare(struct dist *d);
void dist_release(struct dist *d); /* frees what dist_prepare() made */

/*
 * The largest that is drawn: a heavy tail has no end, but what is drawn becomes a time or a count, for which
 * C has no conversion from 2^64 on. As a time it is 106 days.
 */
#define DIST_LARGEST 0x1p63

double dist_draw(const struct dist *d, struct stream *s); /* from 0 to DIST_LARGEST */
double dist_mean(const struct dist *d);                   /* of the distribution as cut; inf where none */

#endif
