/*
 * summary_matrix.c - summary tables of many variants as text: a row a variant, a column a number.
 *
 * Beside each other eight variants leave no room for their names, and in blocks of two nobody sees how a
 * number goes from one to the next. So the labels become letters, explained above; the spread is left to
 * --format csv, and what differs from the first variant by more than it is marked.
 */
#include "sim/engine/xalloc.h"
#include "sim/results/summary_data.h"

#define WIDTH    75
#define MAX_NAME 40
#define GAP      2

/* Lines [from, to) of one table. */
struct part {
	size_t from, to;
};

static char *cell_text(const struct summary_data *d, size_t line, size_t variant)
{
	const struct summary_line *l = &d->lines[line];
	const struct summary_cell *cell = &l->cells[variant];

	char *number, *text;

	if (!cell->runs)
		return xstrdup("- ");
	number = summary_number(l->row, cell->median);
	text = xasprintf("%s%s", number, summary_beyond_spread(&l->cells[0], cell) ? "*" : " ");
	free(number);
	return text;
}

static int column_width(const struct summary_data *d, size_t line)
{
	int width = 2;

	for (size_t v = 0; v < d->nr_variants; v++) {
		char *text = cell_text(d, line, v);
		int own = (int)strlen(text);

		width = own > width ? own : width;
		free(text);
	}
	return width;
}

static int name_width(const struct summary_data *d)
{
	int width = 0;

	for (size_t v = 0; v < d->nr_variants; v++) {
		int own = (int)strnlen(d->variants[v].name, MAX_NAME);

		width = own > width ? own : width;
	}
	return width;
}

/* a to z, then aa, ab: of a table's lines. */
static void letter(size_t i, char text[3])
{
	snprintf(text, 3, i < 26 ? "%c" : "a%c", (int)('a' + i % 26));
}

/* As many of the columns as fit. */
static struct part next_part(const struct summary_data *d, size_t from, size_t end, int names)
{
	struct part p = { from, from };
	int used = names;

	while (p.to < end) {
		used += GAP - 1 + column_width(d, p.to);
		if (p.to > from && used > WIDTH)
			break;
		p.to++;
	}
	return p;
}

static void put_row(FILE *out, const struct summary_data *d, size_t variant, const struct part *p, int names)
{
	char *line = xasprintf("%-*.*s", names, MAX_NAME, d->variants[variant].name);

	for (size_t i = p->from; i < p->to; i++) {
		char *cell = cell_text(d, i, variant), *longer;

		longer = xasprintf("%s%*s", line, GAP - 1 + column_width(d, i), cell);
		free(cell);
		free(line);
		line = longer;
	}
	for (size_t end = strlen(line); end && line[end - 1] == ' ';)
		line[--end] = '\0';
	fprintf(out, "%s\n", line);
	free(line);
}

static void put_part(FILE *out, const struct summary_data *d, size_t first, const struct part *p, int names)
{
	char text[3];

	fprintf(out, "%*s", names, "");
	for (size_t i = p->from; i < p->to; i++) {
		letter(i - first, text);
		fprintf(out, "%*s%s", GAP - 2 + column_width(d, i), text, i + 1 < p->to ? " " : "");
	}
	putc('\n', out);
	for (size_t v = 0; v < d->nr_variants; v++)
		put_row(out, d, v, p, names);
}

static void put_table(FILE *out, const struct summary_data *d, size_t first, size_t end)
{
	int names = name_width(d);
	char text[3];

	fprintf(out, "\n%s\n", d->lines[first].table->title);
	for (size_t i = first; i < end; i++) {
		const struct summary_row *row = d->lines[i].row;

		letter(i - first, text);
		fprintf(out, "  %-2s %s%s%s\n", text, summary_label(&d->lines[i]), row->unit ? ", " : "",
			row->unit ? row->unit : "");
	}
	for (struct part p = next_part(d, first, end, names); p.from < end;
	     p = next_part(d, p.to, end, names))
		put_part(out, d, first, &p, names);
}

void summary_write_matrix(const struct summary_data *d, FILE *out)
{
	for (size_t first = 0, i = 1; first < d->nr_lines; i++)
		if (i == d->nr_lines || d->lines[i].table != d->lines[first].table) {
			put_table(out, d, first, i);
			first = i;
		}
}
