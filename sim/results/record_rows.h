/*
 * record_rows.h - what is inside a record, for the files that fill, send and store it.
 *
 * Metrics and entities are interned: a row holds their numbers, given out in order of first use. Strings and
 * rows belong to the record. Rows of one kind have distinct (metric, entity).
 */
#ifndef SIM_RESULTS_RECORD_ROWS_H
#define SIM_RESULTS_RECORD_ROWS_H

#include "sim/results/record.h"

struct value_row {
	uint32_t metric, entity;
	double value;
};

struct series_of {
	uint32_t metric, entity;
	struct series series;
};

struct histogram_of {
	uint32_t metric, entity;
	struct histogram histogram;
};

struct lock_row {        /* sent as it lies: the six counts follow each other */
	uint32_t entity; /* the class */
	uint64_t acquisitions, contended;
	uint64_t wait_total_ns, wait_max_ns, hold_total_ns, hold_max_ns;
};

struct module_row {
	char *axis, *name;
};

struct record {
	uint32_t series_budget;
	uint32_t nr_metrics, nr_entities, nr_values, nr_series, nr_histograms, nr_locks, nr_modules;
	struct metric *metrics;
	char **entities;
	struct value_row *values;
	struct series_of *series;
	struct histogram_of *histograms;
	struct lock_row *locks;
	struct module_row *modules;
	void *metric_index, *entity_index, *row_index; /* trees of tsearch(3) */
	uint64_t invariants_held, invariants_broken, invariants_known;
	char *broken; /* one line an invariant; NULL: none */
	char *known;  /* the same of those that the variant is known to break */
	bool ended;
	struct record_end end;
};

uint32_t record_metric(struct record *r, const struct metric *m);
uint32_t record_entity(struct record *r, const char *name);
void record_put_value(struct record *r, uint32_t metric, uint32_t entity, double value);
struct series *record_series_of(struct record *r, uint32_t metric, uint32_t entity);
struct histogram *record_histogram_of(struct record *r, uint32_t metric, uint32_t entity);
void record_put_lock(struct record *r, const struct lock_row *row);

#endif
