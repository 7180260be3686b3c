/*
 * summary_text.c - summary tables as text for a mail: ASCII, at most 75 columns.
 *
 * A column a variant, and beside each but the first its difference to the first. Names that do not fit above
 * their column go on in the next line. Variants that do not fit follow in further blocks, each with the first
 * one again, since that is what they are compared with. Five and more that do not fit are rows instead
 * (summary_matrix.c).
 */
#include <math.h>

#include "sim/engine/xalloc.h"
#include "sim/results/summary_data.h"

#define WIDTH        75
#define MAX_NAME     18
#define NARROW       12 /* where longer names would leave no room for labels, or be cut */
#define MAX_SCENARIO 36
#define MIN_LABEL    16
#define DIFFERENCE   10 /* " +183.3% *" */
#define MANY         5  /* variants that are rows if they do not fit beside each other */
#define GAP          2

/* The columns of one block: the first variant and some of the others. */
struct block {
	size_t from, to; /* others: [from, to) */
	int label;       /* width */
};

/* A percentage of which whole numbers would say nothing has a decimal. */
static char *spread_text(const struct summary_row *row, const struct summary_cell *cell)
{
	double percent = cell->spread / fabs(cell->median) * 100;
	char *number = summary_number(row, cell->median), *text;

	text = xasprintf("%s +-%.*f%%", number, percent > 0 && percent < 0.95, percent);
	free(number);
	return text;
}

/* "12.34 +-5%": the spread in percent, or as it is where a percentage would mean nothing. */
static char *cell_text(const struct summary_row *row, const struct summary_cell *cell)
{
	if (!cell->runs)
		return xstrdup("-");
	if (cell->runs == 1)
		return summary_number(row, cell->median);
	if (cell->median == 0)
		return xasprintf("%.*f +-%.*f", row->decimals, cell->median, row->decimals, cell->spread);
	return spread_text(row, cell);
}

/* "read latency p99, us", cut to `width` before the unit. */
static char *label_text(const struct summary_line *line, int width)
{
	const struct summary_row *row = line->row;
	int unit = row->unit ? (int)strlen(row->unit) + 2 : 0;
	int room = width > unit ? width - unit : 0;

	return xasprintf("%.*s%s%s", room, summary_label(line), row->unit ? ", " : "",
			 row->unit ? row->unit : "");
}

/* "+183.3% *"; from a factor of ten on, "x12.3". */
static char *difference_text(const struct summary_cell *base, const struct summary_cell *cell)
{
	double difference = summary_difference(base, cell);
	const char *mark = summary_beyond_spread(base, cell) ? "*" : " ";

	if (isnan(difference))
		return xstrdup("-  ");
	if (fabs(difference) < 0.05)
		return xasprintf("0.0%% %s", mark);
	if (difference >= 900)
		return xasprintf("x%.*f %s", difference < 99900 ? 1 : 0, difference / 100 + 1, mark);
	return xasprintf("%+.1f%% %s", difference, mark);
}

/* Both take the text and free it. */
static int width_of(char *text)
{
	int width = (int)strlen(text);

	free(text);
	return width;
}

static void put_right(FILE *out, int width, char *text)
{
	fprintf(out, "%*s", width, text);
	free(text);
}

static int widest_cell(const struct summary_data *d, size_t variant, size_t most)
{
	int width = (int)strnlen(d->variants[variant].name, most);

	for (size_t i = 0; i < d->nr_lines; i++) {
		int own = width_of(cell_text(d->lines[i].row, &d->lines[i].cells[variant]));

		width = own > width ? own : width;
	}
	return width;
}

/* What labels and titles would like to have. */
static int label_wish(const struct summary_data *d)
{
	int width = MIN_LABEL;

	for (size_t i = 0; i < d->nr_lines; i++) {
		int own = width_of(label_text(&d->lines[i], WIDTH));
		int title = (int)strlen(d->lines[i].table->title);

		own = title > own ? title : own;
		width = own > width ? own : width;
	}
	return width;
}

/* What the widest pair of variants leaves them. */
static int label_room(const struct summary_data *d, const int *widths)
{
	int pair = widths[0], room;

	for (size_t v = 1; v < d->nr_variants; v++) {
		int own = widths[0] + GAP + widths[v] + DIFFERENCE;

		pair = own > pair ? own : pair;
	}
	room = WIDTH - GAP - pair;
	return room < MIN_LABEL ? MIN_LABEL : room;
}

static int label_width(const struct summary_data *d, const int *widths)
{
	int wish = label_wish(d), room = label_room(d, widths);

	return wish < room ? wish : room;
}

/* Of the columns. */
static void set_widths(const struct summary_data *d, int *widths)
{
	for (size_t v = 0; v < d->nr_variants; v++)
		widths[v] = widest_cell(d, v, strlen(d->variants[v].name) > MAX_NAME ? NARROW : MAX_NAME);
	if (label_wish(d) > label_room(d, widths))
		for (size_t v = 0; v < d->nr_variants; v++)
			widths[v] = widest_cell(d, v, NARROW);
}

/* As many variants as fit beside the first, but one at least. */
static struct block next_block(const struct summary_data *d, const int *widths, size_t from, int label)
{
	struct block b = { .from = from, .to = from, .label = label };
	int used = label + GAP + widths[0];

	while (b.to < d->nr_variants) {
		used += GAP + widths[b.to] + DIFFERENCE;
		if (b.to > from && used > WIDTH)
			break;
		b.to++;
	}
	return b;
}

/* The piece of a name that stands in one line of the head: it ends after a - or _ where it can. */
static int name_piece(const char *name, int width)
{
	int length = (int)strlen(name);

	if (length <= width)
		return length;
	for (length = width; length > width / 2; length--)
		if (strchr("-_ ", name[length - 1]))
			return length;
	return width;
}

static const char *put_piece(FILE *out, const char *name, int width, int gap)
{
	int length = name_piece(name, width);

	fprintf(out, "%*.*s", gap + width, length, name);
	return name + length;
}

/* One line of the head, of what is left of the names. */
static bool put_head(FILE *out, const struct block *b, const int *widths, const char **names,
		     const char *title)
{
	size_t end = b->to;
	bool more;

	while (end > b->from && !*names[end - 1])
		end--;
	fprintf(out, "%-*.*s", b->label + GAP, b->label, title);
	names[0] = put_piece(out, names[0], widths[0], 0);
	more = *names[0] != '\0';
	for (size_t v = b->from; v < end; v++) {
		names[v] = put_piece(out, names[v], widths[v], v > b->from ? DIFFERENCE + GAP : GAP);
		more |= *names[v] != '\0';
	}
	putc('\n', out);
	return more;
}

static void put_title(FILE *out, const struct summary_data *d, const struct block *b, const int *widths,
		      const struct summary_table *table)
{
	const char **names = xcalloc(d->nr_variants, sizeof(*names));
	const char *title = table->title;

	for (size_t v = 0; v < d->nr_variants; v++)
		names[v] = d->variants[v].name;
	putc('\n', out);
	while (put_head(out, b, widths, names, title))
		title = "";
	free(names);
}

static void put_line(FILE *out, const struct block *b, const int *widths, const struct summary_line *line)
{
	char *label = label_text(line, b->label);

	fprintf(out, "%-*s", b->label + GAP, label);
	free(label);
	put_right(out, widths[0], cell_text(line->row, &line->cells[0]));
	for (size_t v = b->from; v < b->to; v++) {
		char *difference = difference_text(&line->cells[0], &line->cells[v]);

		put_right(out, GAP + widths[v], cell_text(line->row, &line->cells[v]));
		if (v + 1 == b->to && difference[strlen(difference) - 1] == ' ')
			fprintf(out, "%*.*s", DIFFERENCE - 2, (int)strcspn(difference, " "), difference);
		else
			fprintf(out, "%*s", DIFFERENCE, difference);
		free(difference);
	}
	putc('\n', out);
}

static void put_block(FILE *out, const struct summary_data *d, const struct block *b, const int *widths)
{
	const struct summary_table *table = NULL;

	for (size_t i = 0; i < d->nr_lines; i++) {
		if (d->lines[i].table != table)
			put_title(out, d, b, widths, table = d->lines[i].table);
		put_line(out, b, widths, &d->lines[i]);
	}
}

static void put_notes(FILE *out, const struct summary_data *d)
{
	bool replicated = false;

	for (size_t v = 0; v < d->nr_variants; v++)
		replicated |= d->variants[v].done > 1;
	if (replicated && d->nr_lines)
		fputs("\nMedian of the runs +- half their range; * the difference exceeds both.\n", out);
	for (size_t v = 0; v < d->nr_variants; v++)
		if (d->variants[v].other)
			fprintf(out, "%s: %u of %u runs failed or did not finish; not counted.\n",
				d->variants[v].name, d->variants[v].other,
				d->variants[v].other + d->variants[v].done);
}

static void put_heading(FILE *out, const struct summary_data *d)
{
	uint32_t least = UINT32_MAX, most = 0;

	for (size_t v = 0; v < d->nr_variants; v++) {
		least = d->variants[v].done < least ? d->variants[v].done : least;
		most = d->variants[v].done > most ? d->variants[v].done : most;
	}
	if (least == most)
		fprintf(out, "%.*s, simulated; %u run%s a variant\n", MAX_SCENARIO, d->scenario, most,
			most == 1 ? "" : "s");
	else
		fprintf(out, "%.*s, simulated; %u to %u runs a variant\n", MAX_SCENARIO, d->scenario, least,
			most);
}

void summary_write_text(const struct summary_data *d, FILE *out)
{
	int *widths;
	size_t from = 1;

	if (!d->nr_variants)
		return;
	widths = xcalloc(d->nr_variants, sizeof(*widths));
	set_widths(d, widths);
	put_heading(out, d);
	if (d->nr_variants >= MANY && next_block(d, widths, 1, label_width(d, widths)).to < d->nr_variants) {
		summary_write_matrix(d, out);
		from = d->nr_variants;
	}
	while (from < d->nr_variants || from == 1) {
		struct block b = next_block(d, widths, from, label_width(d, widths));

		put_block(out, d, &b, widths);
		from = b.to > from ? b.to : from + 1;
	}
	put_notes(out, d);
	free(widths);
}
