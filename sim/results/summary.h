/*
 * summary.h - the tables that compare the variants of an experiment.
 *
 * A model declares what is worth showing as a module of kind MODULE_SUMMARY, whose operations are a struct
 * summary_table:
 *
 *	static const struct summary_row rows[] = {
 *		{ "read latency p99", "stat.read_latency.p99", "all", .scale = 1e-3, .unit = "us" },
 *	};
 *	static const struct summary_table readers = { "Statistics readers", rows, 1 };
 *	MODULE(readers) = { .kind = MODULE_SUMMARY, .name = "readers", .ops = &readers, ... };
 *
 * A row that no run has a value for is left out, and so is a table without rows.
 */
#ifndef SIM_RESULTS_SUMMARY_H
#define SIM_RESULTS_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "sim/results/store.h"

/* What becomes of several entities in one run. EACH: a row of its own for each, labelled with its name. */
enum summary_combine { SUMMARY_MEAN, SUMMARY_SUM, SUMMARY_MAX, SUMMARY_EACH };
#define SUMMARY_EACH_MOST 12 /* rows of that kind */

struct summary_row {
	const char *label;  /* "read latency p99"; the shorter, the more fits beside it; EACH: NULL */
	const char *metric; /* of the summary table */
	const char *entity; /* a name, or a pattern of SQLite's GLOB for many */
	enum summary_combine combine;
	double scale;     /* shown = stored * scale; 0: 1 */
	const char *unit; /* of what is shown; NULL: none */
	int decimals;
};

struct summary_table {
	const char *title;
	const struct summary_row *rows;
	size_t nr;
};

enum summary_format { SUMMARY_TEXT, SUMMARY_CSV, SUMMARY_JSON };

/*
 * All tables of all modules, for the complete runs of an experiment (NULL: the one of the newest run).
 * Variants stand in the order of their first runs; differences are against the first. Over replications: the
 * median and, as spread, half the range. False, with store_error(), if the store cannot be read.
 */
bool summary_print(struct store *s, const char *experiment, enum summary_format format, FILE *out);

/* The same for given tables. */
bool summary_print_tables(struct store *s, const char *experiment, const struct summary_table *const *tables,
			  size_t nr, enum summary_format format, FILE *out);

#endif
