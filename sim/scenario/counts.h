/*
 * counts.h - tables of measurements: experiment,kernel,lru,setup,metric,value, with a heading.
 */
#ifndef SIM_SCENARIO_COUNTS_H
#define SIM_SCENARIO_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum counts_field {
	COUNTS_EXPERIMENT,
	COUNTS_KERNEL,
	COUNTS_LRU,
	COUNTS_SETUP,
	COUNTS_METRIC,
	COUNTS_VALUE,
	NR_COUNTS_FIELDS
};

/* A file below scenarios/, open; NULL: cannot be read. */
FILE *counts_open(const char *name);
/* Cuts a line into its fields, in place; false unless there are exactly so many. */
bool counts_split(char *line, char *fields[NR_COUNTS_FIELDS]);
/* Where the next number of a value begins: "22,24", "[-41,39]" and "4/1024" hold two. Its end if none. */
const char *counts_number(const char *value);

#endif
