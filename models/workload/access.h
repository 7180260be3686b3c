/*
 * access.h - in which order a workload touches its pages.
 *
 * A workload has the pattern's options among its own, flat: put ACCESS_OPTIONS into its rows and a struct
 * access_options into what they fill.
 */
#ifndef MODELS_WORKLOAD_ACCESS_H
#define MODELS_WORKLOAD_ACCESS_H

#include "models/workload/workload.h"

enum access_pattern { ACCESS_CYCLIC, ACCESS_UNIFORM, ACCESS_ZIPF };
enum access_stream { STREAM_OWN, STREAM_XORSHIFT };

struct access_options {
	int pattern, stream;
	double exponent;
	uint64_t stream_seed, stream_step;
};

extern const struct enum_name access_patterns[], access_streams[];

/* clang-format off */
#define ACCESS_OPTIONS(type, member)                                                                        \
	OPTION_AS("pattern", type, member.pattern, OPT_ENUM, .names = access_patterns,                     \
		  .fallback = "cyclic", .help = "which page is next"),                                     \
	OPTION_AS("exponent", type, member.exponent, OPT_NUMBER, .fallback = "0.99", .min = "0",           \
		  .max = "10", .help = "of zipf: page of rank k with a probability as k^-exponent",        \
		  .with = "pattern", .with_value = "zipf"),                                                \
	OPTION_AS("stream", type, member.stream, OPT_ENUM, .names = access_streams, .fallback = "own",     \
		  .help = "where random numbers come from"),                                               \
	OPTION_AS("stream_seed", type, member.stream_seed, OPT_U64, .fallback = "1",                       \
		  .help = "of stream xorshift, in the first replication",                                  \
		  .with = "stream", .with_value = "xorshift"),                                             \
	OPTION_AS("stream_step", type, member.stream_step, OPT_U64, .fallback = "1",                       \
		  .help = "added to stream_seed in each further replication",                              \
		  .with = "stream", .with_value = "xorshift")
/* clang-format on */

struct access_table; /* of a Zipf distribution; shared by all who draw from the same */

struct access {
	enum access_pattern pattern;
	uint64_t nr_pages, position;
	bool xorshift;
	uint64_t state;
	struct stream stream;
	const struct access_table *table;
};

/* Complains of a table that would not fit: what is bound to `own` has `key` pages. */
void access_check(const struct access_options *o, uint64_t nr_pages, const void *own, const char *key,
		  struct complaints *c);
/* `purpose` names the random stream beside the task. */
void access_open(struct access *a, const struct workload_task *w, const struct access_options *o,
		 uint64_t nr_pages, const char *purpose);
uint64_t access_next(struct access *a); /* a page, below nr_pages */

#endif
