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

/* The number that `part` names in a value such as 1.5, "22,24", "[-41,39]" or "4/1024". */
static bool number_in(const char *text, uint32_t part, double *value)
{
	char *end;

	if (!part) {
		*value = strtod(text, &end);
		return end != text && !*end;
	}
	for (uint32_t i = 0; i < part; i++) {
		text += strspn(text, "[,/");
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
		char *fields[NR_FIELDS];

		if (!split(line, fields) || !row_matches(from, fields))
			continue;
		found++;
		number = number_in(fields[VALUE], from->part, value);
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
