/*
 * record.h - the results of one run, in memory until it is stored.
 *
 * Metrics are declared once, in metric tables; a row names its metric by pointer. Everything the result
 * store (store.h) needs of a run is here and can be sent through a pipe, so that a run may happen in a child
 * process and the parent alone writes the database.
 */
#ifndef SIM_RESULTS_RECORD_H
#define SIM_RESULTS_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/engine/time.h"
#include "sim/hw/lock.h"
#include "sim/stats/histogram.h"
#include "sim/stats/series.h"

enum metric_kind { METRIC_GAUGE, METRIC_COUNTER, METRIC_RATE, METRIC_RATIO, METRIC_DISTRIBUTION };

struct metric {
	const char *name; /* dotted, without a unit; the kernel's own name where it has one */
	const char *unit; /* "ns", "pages", "bytes", "1/s", "1" */
	enum metric_kind kind;
	const char *help;
};

struct metric_table { /* .ops of MODULE_METRICS */
	const struct metric *rows;
	size_t nr;
};

struct record;

struct record *record_new(uint32_t series_budget);
void record_free(struct record *r);

/* A second value of the same (metric, entity) replaces the first; NaN is no value. */
void record_summary(struct record *r, const struct metric *m, const char *entity, double value);
/* Rows of one (metric, entity) thin themselves to the budget. */
void record_sample(struct record *r, const struct metric *m, const char *entity, sim_time_t t, double value);
/* The buckets, and as summaries NAME.mean .p50 .p90 .p99 .p999 .max .count (metrics made from m). */
void record_histogram(struct record *r, const struct metric *m, const char *entity,
		      const struct histogram *h);
/* A row of lock_stat, the wait and hold histograms (lock.wait, lock.hold), and lock.acquire, by class. */
void record_lock(struct record *r, const struct lock_class *c);
/* "flush" -> "unified": which modules made the run. */
void record_module(struct record *r, const char *axis, const char *name);
/* An invariant that was checked; the text is kept if it failed. */
void record_invariant(struct record *r, const char *name, bool holds, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/*
 * The same of what is known to go wrong in this variant, for the reason given: it is counted apart, and the
 * run goes on. NULL: it has to hold.
 */
void record_invariant_known(struct record *r, const char *name, const char *known, bool holds,
			    const char *format, ...) __attribute__((format(printf, 5, 6)));
uint64_t record_invariants_known(const struct record *r);
const char *record_known_text(const struct record *r);
uint64_t record_invariants_held(const struct record *r);
uint64_t record_invariants_broken(const struct record *r);
const char *record_invariants_text(const struct record *r); /* a line for each of the first broken ones */

struct record_end {
	bool done; /* else failed, and error says why */
	const char *error;
	sim_time_t sim_time;
	uint64_t events, fingerprint;
	double wall_s;
	uint64_t peak_rss_bytes;
};
void record_finish(struct record *r, const struct record_end *end);
const struct record_end *record_ended(const struct record *r); /* NULL before */

/* To and from a stream (pipe); read returns NULL when what arrives is not a whole record. */
bool record_write(const struct record *r, FILE *out);
struct record *record_read(FILE *in);

#endif
