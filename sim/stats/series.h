/*
 * series.h - values over time.
 *
 * time_weighted: the mean of a value that changes at known times, weighted by how long it held.
 * series: (time, value) rows under a budget. When the budget is reached every second row is dropped and from
 * then on only every 2^k-th is kept, so the rows stay evenly spread however long the run.
 */
#ifndef SIM_STATS_SERIES_H
#define SIM_STATS_SERIES_H

#include <stdint.h>

#include "sim/engine/time.h"

struct time_weighted {
	sim_time_t since, begin;
	double value, area, max;
};

void time_weighted_start(struct time_weighted *w, sim_time_t now, double value);
void time_weighted_set(struct time_weighted *w, sim_time_t now, double value);
double time_weighted_mean(const struct time_weighted *w, sim_time_t now);

struct series {
	struct series_row {
		sim_time_t t;
		double value;
	} * rows;
	uint32_t nr, capacity, budget; /* kept; allocated; most that may be kept, an even number */
	uint32_t stride, skipped;      /* 2^k; rows since the last kept */
};

void series_init(struct series *s, uint32_t budget); /* made even, and at least 2 */
void series_release(struct series *s);
void series_add(struct series *s, sim_time_t t, double value);

#endif
