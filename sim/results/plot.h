/*
 * plot.h - figures: the result of a query, drawn by gnuplot.
 *
 * A figure is a pair of files in the folder analysis/: NAME.sql, whose rows are the lines of a data file, and
 * NAME.gp, which draws it. Both work by hand (docs/figures.md); here they are put together. Another figure is
 * another pair of files. Where there is no NAME.gp the rows are the figure, a text.
 */
#ifndef SIM_RESULTS_PLOT_H
#define SIM_RESULTS_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "sim/results/store.h"

enum plot_format { PLOT_TEXT, PLOT_PNG, PLOT_SVG };

struct plot_request {
	const char *folder;     /* of the figures: data_path("analysis") */
	const char *figure;     /* its name */
	const char *experiment; /* NULL: that of the newest run */
	const char *entity;     /* NULL: what the figure shows by default */
	enum plot_format format;
	const char *output; /* a file; NULL with PLOT_TEXT: to `text` */
	FILE *text;
	bool *empty; /* set when it is for want of data that there is no figure; NULL: not asked for */
};

/* The names of all figures in a folder, sorted, on the heap; free each and the array. */
char **plot_figures(const char *folder, size_t *nr);

/* What it shows: the comment at the head of its query, without the marks. NULL: there is no such figure. */
char *plot_about(const char *folder, const char *figure);

/* False, with the reason on the heap in *error, if there is no figure; then no file is written either. */
bool plot_figure(struct store *s, const struct plot_request *r, char **error);

#endif
