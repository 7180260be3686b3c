/*
 * counts.c - see counts.h. Fields may be quoted; a quote within a field cannot be written, and is not needed.
 */
#include "sim/scenario/counts.h"

#include <stdlib.h>
#include <string.h>

#include "sim/datadir.h"
#include "sim/engine/xalloc.h"

FILE *counts_open(const char *name)
{
	char *below, *path;
	FILE *in;

	if (asprintf(&below, "scenarios/%s", name) < 0)
		return NULL;
	path = data_path(below);
	in = path ? fopen(path, "re") : NULL;
	free(path);
	free(below);
	return in;
}

bool counts_split(char *line, char *fields[NR_COUNTS_FIELDS])
{
	size_t n = 0;
	char *c = line;

	line[strcspn(line, "\r\n")] = '\0';
	for (;;) {
		bool quoted = *c == '"';
		char *end;

		if (n == NR_COUNTS_FIELDS)
			return false;
		fields[n++] = c += quoted;
		end = c + strcspn(c, quoted ? "\"" : ",");
		c = end + (quoted && *end);
		if (*c != ',') {
			*end = '\0';
			return n == NR_COUNTS_FIELDS && *c == '\0';
		}
		*end = '\0';
		c++;
	}
}

const char *counts_number(const char *value)
{
	return value + strspn(value, "[,/]");
}
