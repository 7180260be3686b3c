/*
 * summary_data.h - the numbers of summary tables, between reading and printing.
 */
#ifndef SIM_RESULTS_SUMMARY_DATA_H
#define SIM_RESULTS_SUMMARY_DATA_H

#include <stdint.h>

#include "sim/results/summary.h"

struct summary_variant {
	char *name;
	uint32_t done, other; /* runs that are complete; that are not */
};

/* One row in one variant. */
struct summary_cell {
	uint32_t runs; /* with a value; 0: the rest means nothing */
	double median, spread;
};

struct summary_line {
	const struct summary_table *table;
	const struct summary_row *row;
	char *entity; /* SUMMARY_EACH: its label; NULL: that of the row */
	struct summary_cell *cells; /* one a variant */
};

struct summary_data {
	char *experiment, *scenario;
	struct summary_variant *variants;
	struct summary_line *lines; /* table by table; only those that have a value */
	size_t nr_variants, nr_lines;
};

/* False, with store_error(), if the store cannot be read. */
bool summary_read(struct summary_data *d, struct store *s, const char *experiment,
		  const struct summary_table *const *tables, size_t nr);
void summary_release(struct summary_data *d);
const char *summary_label(const struct summary_line *line);
/* With the row's decimals; "<0.01" for what is more than nothing and would read 0.00. To be freed. */
char *summary_number(const struct summary_row *row, double value);

/* (cell - base) / base in percent; NAN where that has no meaning. */
double summary_difference(const struct summary_cell *base, const struct summary_cell *cell);
/* Whether the difference is larger than both spreads together; never with a single run, which has none. */
bool summary_beyond_spread(const struct summary_cell *base, const struct summary_cell *cell);

void summary_write_text(const struct summary_data *d, FILE *out);
/* The tables alone, a row a variant: for many of them. */
void summary_write_matrix(const struct summary_data *d, FILE *out);
void summary_write_csv(const struct summary_data *d, FILE *out);
void summary_write_json(const struct summary_data *d, FILE *out);

#endif
