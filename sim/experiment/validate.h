/*
 * validate.h - comparing what a scenario gives with what was published or measured.
 *
 * A scenario may carry a `validate:` list: which of its summary values stand for which published number, and
 * how far off they may be. `memcgsim validate` runs the scenarios that have one.
 *
 *	validate:
 *	  - { source: seed-5, row: "p99 of a read", metric: stat.read_latency.p99, entity: all,
 *	      variant: patched, relative_to: base, published: 0.42, band: 25% }
 *	  - { source: ground-truth, row: "E5a leaf step=1", metric: gap_mean, slack: 1,
 *	      published_from: { file: ground-truth/counts.csv, experiment: E5a,
 *	                        setup: "cpus=4;step=1", metric: gap_mean } }
 *	  - { source: user-cases, row: "A13 error, pages", metric: staleness.pages.max, is: at_most,
 *	      published: 16384 }
 */
#ifndef SIM_EXPERIMENT_VALIDATE_H
#define SIM_EXPERIMENT_VALIDATE_H

#include "sim/results/record.h"
#include "sim/scenario/scenario.h"

/* A row of a table of measurements: experiment,kernel,lru,setup,metric,value. NULL: not looked at. */
struct published_from {
	const char *file; /* below scenarios/ */
	const char *experiment, *kernel, *setup, *metric;
	uint32_t part; /* which number of a value that holds several ("22,24"), from 1; 0: it holds one */
	double scale;  /* units of the metric in one of the table's */
};

/* Orders and bounds are claims too: they hold or not, and have no band. */
enum validate_is { VALIDATE_ABOUT, VALIDATE_AT_LEAST, VALIDATE_AT_MOST };

struct validate_row {
	const char *source, *row;
	const char *metric, *entity, *variant;
	struct option_list or_variant; /* of const char *: other courses of the same system */
	const char *relative_to;
	const char *per; /* metric of the same entity that the value is divided by; NULL: none */
	double published;
	struct published_from from;
	int is; /* enum validate_is */
	double band, slack;
	int fitted; /* enum: 1 if any constant was fitted to this row */
};

/* The rows of a scenario, bound; none if it has no such section. */
size_t validate_rows(const struct scenario_set *set, const struct validate_row *const **rows);

/* The published number. false, with a reason in `why`, if it is in a table and not found there. */
bool validate_published(const struct validate_row *row, double *value, char why[256]);

/* The mean over the runs that were added. */
struct mean {
	double sum;
	uint32_t n;
};

struct verdict {
	double published, simulated; /* simulated NaN: there is no such value */
	double error;                /* relative to the published value; absolute where that is 0 */
	bool in;
};

/* `base` is the mean of the variant that the row is relative to; not used by others. */
struct verdict validate_judge(const struct validate_row *row, double published, const struct mean *simulated,
			      const struct mean *base);

/* ---- courses: that of `variant`, 0, and those of `or_variant`; validate_courses.c ---- */

size_t validate_nr_courses(const struct validate_row *row);
/* A variant, or several with " + " between them, whose mean is taken. NULL: the first variant. */
const char *validate_course(const struct validate_row *row, size_t course);
uint32_t validate_course_parts(const char *course);
/* How often is the variant named in it? */
uint32_t validate_course_has(const char *course, const char *variant);
/* Are they rows of one run, which takes one course? */
bool validate_same_run(const struct validate_row *a, const struct validate_row *b);
/* The course of a run, from how many of its rows are in with each. */
size_t validate_choose(const uint32_t *nr_in, size_t nr_courses);

/* What a row is about, in a record: one of its summary values, or a quotient of two; false: it has none. */
bool validate_value(const struct record *r, const struct validate_row *row, double *value);

#endif
