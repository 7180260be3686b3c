/*
 * published.c - looking up a measured number in a CSV file of scenarios/. See validate.h.
 *
 * The file is experiment,kernel,lru,setup,metric,value with a heading; fields may be quoted. A row that does
 * not name exactly one number would make a verdict meaningless, so both none and several are reported.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/experiment/validate.h"
#include "sim/scenario/counts.h"

static bool matches(const char *wanted, const char *field)
{
	return !wanted || !strcmp(wanted, field);
}

static bool row_matches(const struct published_from *from, char *fields[NR_COUNTS_FIELDS])
{
	return matches(from->experiment, fields[COUNTS_EXPERIMENT]) &&
	       matches(from->kernel, fields[COUNTS_KERNEL]) && matches(from->setup, fields[COUNTS_SETUP]) &&
	       matches(from->metric, fields[COUNTS_METRIC]);
}

/* The number that `part` names in a value such as 1.5, "22,24", "[-41,39]" or "4/1024". */
static bool number_in(const char *text, uint32_t part, double *value)
{
	char *end;

	if (!part) {
		*value = strtod(text, &end);
		return end != text && !*end;
	}
	for (uint32_t i = 0; i < part; i++) {
		text = counts_number(text);
		*value = strtod(text, &end);
		if (end == text)
			return false;
		text = end;
	}
	return true;
}

static bool find(FILE *in, const struct published_from *from, double *value, char why[256])
{
	char *line = NULL;
	size_t size = 0;
	unsigned int found = 0;
	bool number = false;

	while (getline(&line, &size, in) > 0) {
		char *fields[NR_COUNTS_FIELDS];

		if (!counts_split(line, fields) || !row_matches(from, fields))
			continue;
		found++;
		number = number_in(fields[COUNTS_VALUE], from->part, value);
		*value *= from->scale;
	}
	free(line);
	if (found == 1 && number)
		return true;
	if (found == 1)
		snprintf(why, 256, "the value in '%s' is not a number (see 'part')", from->file);
	else
		snprintf(why, 256, "%u rows of '%s' match, not one", found, from->file);
	return false;
}

bool validate_published(const struct validate_row *row, double *value, char why[256])
{
	if (!row->from.file) {
		*value = row->published;
		return true;
	}
	FILE *in = counts_open(row->from.file);

	if (!in) {
		snprintf(why, 256, "'scenarios/%.200s' cannot be read", row->from.file);
		return false;
	}
	bool good = find(in, &row->from, value, why);

	fclose(in);
	return good;
}
