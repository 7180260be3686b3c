/*
 * complaints.c - every mistake of a scenario, collected so that all are reported at once.
 *
 * The same mistake is met once for each variant, so equal ones are kept once. Past a bound they are only
 * counted: a file of a million wrong keys must not cost a million messages. A message quotes what the user
 * wrote, which may be long or hold a line break: it is cut, and stays on its line.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/xalloc.h"
#include "sim/scenario/pool.h"
#include "sim/scenario/scenario.h"

#define MOST_KEPT    500
#define LONGEST_TEXT 600

struct complaint {
	struct where at;
	size_t number; /* order of arrival, for a stable sort */
	const char *text;
};

struct complaints {
	struct pool *pool;
	size_t nr, dropped, raised, nr_remarks;
	struct complaint kept[MOST_KEPT];
	struct complaint remarks[MOST_KEPT]; /* text NULL: settled */
};

struct complaints *complaints_new(void)
{
	struct complaints *c = xcalloc(1, sizeof(*c));

	c->pool = pool_new();
	return c;
}

void complaints_free(struct complaints *c)
{
	if (!c)
		return;
	pool_free(c->pool);
	free(c);
}

static int compare_places(const struct where *a, const struct where *b)
{
	int files = strcmp(a->file, b->file);

	if (files)
		return files;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return (a->column > b->column) - (a->column < b->column);
}

void complain(struct complaints *c, struct where at, const char *format, ...)
{
	char text[LONGEST_TEXT];
	va_list args;

	c->raised++;
	if (c->nr == MOST_KEPT) {
		c->dropped++;
		return;
	}
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (char *s = text; *s; s++) {
		if ((unsigned char)*s < ' ')
			*s = '?';
	}
	at.file = at.file ? at.file : "";
	for (size_t i = 0; i < c->nr; i++) {
		if (!compare_places(&c->kept[i].at, &at) && !strcmp(c->kept[i].text, text))
			return;
	}
	/* Complaints outlive the scenario that they are about, and with it its file names. */
	at.file = pool_text(c->pool, at.file, strlen(at.file));
	c->kept[c->nr] = (struct complaint){ at, c->nr, pool_text(c->pool, text, strlen(text)) };
	c->nr++;
}

/* Of each place there is one remark. */
void remark(struct complaints *c, struct where at, bool settled, const char *format, ...)
{
	struct complaint *r = c->remarks, *end = c->remarks + c->nr_remarks;
	char text[LONGEST_TEXT];
	va_list args;

	at.file = at.file ? at.file : "";
	while (r < end && compare_places(&r->at, &at))
		r++;
	if (r == c->remarks + MOST_KEPT)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (r == end) {
		at.file = pool_text(c->pool, at.file, strlen(at.file));
		*r = (struct complaint){ at, c->nr_remarks++, pool_text(c->pool, text, strlen(text)) };
	}
	if (settled)
		r->text = NULL;
}

size_t complaints_count(const struct complaints *c)
{
	return c->nr + c->dropped;
}

size_t complaints_raised(const struct complaints *c)
{
	return c->raised;
}

static int compare(const void *a, const void *b)
{
	const struct complaint *x = a, *y = b;
	int places = compare_places(&x->at, &y->at);

	return places ? places : (x->number > y->number) - (x->number < y->number);
}

static void print_sorted(const struct complaint *all, size_t nr, const char *mark, FILE *out)
{
	struct complaint *sorted = xcalloc(nr, sizeof(*sorted));

	memcpy(sorted, all, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), compare);
	for (size_t i = 0; i < nr; i++) {
		const struct where *at = &sorted[i].at;

		if (!sorted[i].text)
			continue;
		if (at->file[0])
			fprintf(out, "%s:", at->file);
		if (at->line)
			fprintf(out, "%u:%u:", at->line, at->column);
		fprintf(out, "%s%s%s\n", at->file[0] ? " " : "", mark, sorted[i].text);
	}
	free(sorted);
}

void complaints_print(const struct complaints *c, FILE *out)
{
	print_sorted(c->kept, c->nr, "", out);
	if (c->dropped)
		fprintf(out, "and %zu more\n", c->dropped);
	print_sorted(c->remarks, c->nr_remarks, "remark: ", out);
}
