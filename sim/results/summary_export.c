/*
 * summary_export.c - summary tables for programs: CSV (RFC 4180) and JSON. Full precision, in shown units.
 */
#include <math.h>
#include <string.h>

#include "sim/json.h"
#include "sim/results/summary_data.h"

static void csv_string(FILE *out, const char *s)
{
	if (!s[strcspn(s, ",\"\r\n")]) {
		fputs(s, out);
		return;
	}
	putc('"', out);
	for (; *s; s++) {
		if (*s == '"')
			putc('"', out);
		putc(*s, out);
	}
	putc('"', out);
}

/* Empty where there is no number. */
static void csv_number(FILE *out, double value)
{
	if (!isnan(value))
		fprintf(out, "%.15g", value);
}

static void csv_line(FILE *out, const struct summary_line *line, const struct summary_variant *variant,
		     const struct summary_cell *cell)
{
	const char *const strings[] = {
		line->table->title,
		summary_label(line),
		line->row->metric,
		line->row->entity,
		line->row->unit ? line->row->unit : "",
		variant->name,
	};

	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		csv_string(out, strings[i]);
		putc(',', out);
	}
	fprintf(out, "%u,", cell->runs);
	csv_number(out, cell->runs ? cell->median : NAN);
	putc(',', out);
	csv_number(out, cell->runs > 1 ? cell->spread : NAN);
	putc(',', out);
	csv_number(out, summary_difference(&line->cells[0], cell));
	fprintf(out, ",%d\n", summary_beyond_spread(&line->cells[0], cell));
}

void summary_write_csv(const struct summary_data *d, FILE *out)
{
	fputs("table,row,metric,entity,unit,variant,runs,median,spread,difference_percent,beyond_spread\n",
	      out);
	for (size_t i = 0; i < d->nr_lines; i++)
		for (size_t v = 0; v < d->nr_variants; v++)
			csv_line(out, &d->lines[i], &d->variants[v], &d->lines[i].cells[v]);
}

static void json_field(FILE *out, const char *name, const char *value)
{
	fprintf(out, "\"%s\": ", name);
	json_string(out, value);
	fputs(", ", out);
}

static void json_cell(FILE *out, const struct summary_line *line, const struct summary_variant *variant,
		      const struct summary_cell *cell)
{
	fputs("{", out);
	json_field(out, "variant", variant->name);
	fprintf(out, "\"runs\": %u, \"median\": ", cell->runs);
	json_number(out, cell->runs ? cell->median : NAN);
	fputs(", \"spread\": ", out);
	json_number(out, cell->runs > 1 ? cell->spread : NAN);
	fputs(", \"difference_percent\": ", out);
	json_number(out, summary_difference(&line->cells[0], cell));
	fprintf(out, ", \"beyond_spread\": %s}",
		summary_beyond_spread(&line->cells[0], cell) ? "true" : "false");
}

void summary_write_json(const struct summary_data *d, FILE *out)
{
	fputs("{", out);
	json_field(out, "experiment", d->experiment);
	json_field(out, "scenario", d->scenario);
	fputs("\"rows\": [", out);
	for (size_t i = 0; i < d->nr_lines; i++) {
		const struct summary_line *line = &d->lines[i];

		fputs(i ? ",\n {" : "\n {", out);
		json_field(out, "table", line->table->title);
		json_field(out, "label", summary_label(line));
		json_field(out, "metric", line->row->metric);
		json_field(out, "entity", line->row->entity);
		json_field(out, "unit", line->row->unit);
		fputs("\"variants\": [", out);
		for (size_t v = 0; v < d->nr_variants; v++) {
			fputs(v ? ",\n  " : "\n  ", out);
			json_cell(out, line, &d->variants[v], &line->cells[v]);
		}
		fputs("]}", out);
	}
	fputs("\n]}\n", out);
}
