/*
 * published.c - looking up a measured number in a CSV file of scenarios/. See validate.h.
 *
 * The file is experiment,kernel,lru,setup,metric,value with a heading; fields may be quoted. A row that does
 * not name exactly one number would make a verdict meaningless, so both none and several are reported.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/datadir.h"
#include "sim/experiment/validate.h"

enum { EXPERIMENT, KERNEL, LRU, SETUP, METRIC, VALUE, NR_FIELDS };

/* Cuts a line into its fields, in place; false unless there are exactly NR_FIELDS. */
static bool split(char *line, char *fields[NR_FIELDS])
{
	size_t n = 0;
	char *c = line;

	line[strcspn(line, "\r\n")] = '\0';
	for (;;) {
		bool quoted = *c == '"';
		char *end;

		if (n == NR_FIELDS)
			return false;
		fields[n++] = c += quoted;
		end = c + strcspn(c, quoted ? "\"" : ",");
		c = end + (quoted && *end);
		if (*c != ',') {
			*end = '\0';
			return n == NR_FIELDS && *c == '\0';
		}
		*end = '\0';
		c++;
	}
}

static bool matches(const char *wanted, const char *field)
{
	return !wanted || !strcmp(wanted, field);
}

static bool row_matches(const struct published_from *from, char *fields[NR_FIELDS])
{
	return matches(from->experiment, fields[EXPERIMENT]) && matches(from->kernel, fields[KERNEL]) &&
	       matches(from->setup, fields[SETUP]) && matches(from->metric, fields[METRIC]);
}

static bool find(FILE *in, const struct published_from *from, double *value, char why[256])
{
	char *line = NULL;
	size_t size = 0;
	unsigned int found = 0;
	bool number = false;

	while (getline(&line, &size, in) > 0) {
		char *fields[NR_FIELDS], *end;

		if (!split(line, fields) || !row_matches(from, fields))
			continue;
		found++;
		*value = strtod(fields[VALUE], &end);
		number = end != fields[VALUE] && !*end;
	}
	free(line);
	if (found == 1 && number)
		return true;
	if (found == 1)
		snprintf(why, 256, "the value in '%s' is not a number", from->file);
	else
		snprintf(why, 256, "%u rows of '%s' match, not one", found, from->file);
	return false;
}

bool validate_published(const struct validate_row *row, double *value, char why[256])
{
	char name[256];

	if (!row->from.file) {
		*value = row->published;
		return true;
	}
	snprintf(name, sizeof(name), "scenarios/%s", row->from.file);
	char *path = data_path(name);
	FILE *in = path ? fopen(path, "re") : NULL;

	free(path);
	if (!in) {
		snprintf(why, 256, "'%.200s' cannot be read", name);
		return false;
	}
	bool good = find(in, &row->from, value, why);

	fclose(in);
	return good;
}
