/*
 * summary.c - the numbers of summary tables. See summary.h.
 *
 * Medians, since one replication that ran into something rare must not move a column. The spread is half the
 * distance between the smallest and the largest replication: with the few that people run it says more than a
 * deviation, it assumes nothing of their distribution, and variants whose ranges touch are never told apart.
 */
#include "sim/results/summary.h"

#include <math.h>

#include "sim/engine/xalloc.h"
#include "sim/module.h"
#include "sim/results/store_internal.h"
#include "sim/results/summary_data.h"

static bool failed(struct store *s)
{
	store_complain_sqlite(s, "read its results");
	return false;
}

static bool read_variants(struct summary_data *d, struct store *s)
{
	sqlite3_stmt *stmt = store_prepare(
		s, "SELECT variant, sum(status = 'done'), sum(status != 'done'), scenario"
		   " FROM run WHERE experiment = ? GROUP BY variant"
		   " ORDER BY min(run_id)");

	if (!stmt)
		return failed(s);
	sqlite3_bind_text(stmt, 1, d->experiment, -1, SQLITE_STATIC);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		d->variants = xreallocarray(d->variants, d->nr_variants + 1, sizeof(*d->variants));
		d->variants[d->nr_variants++] = (struct summary_variant){
			.name = xstrdup((const char *)sqlite3_column_text(stmt, 0)),
			.done = (uint32_t)sqlite3_column_int64(stmt, 1),
			.other = (uint32_t)sqlite3_column_int64(stmt, 2),
		};
		if (!d->scenario)
			d->scenario = xstrdup((const char *)sqlite3_column_text(stmt, 3));
	}
	return sqlite3_finalize(stmt) == SQLITE_OK || failed(s);
}

static double scaled(const struct summary_row *row, double value)
{
	return row->scale != 0 ? value * row->scale : value;
}

/* Of the values of one variant, in ascending order. */
static struct summary_cell describe(const double *values, uint32_t nr)
{
	struct summary_cell cell = { .runs = nr };

	if (nr) {
		cell.median = (values[(nr - 1) / 2] + values[nr / 2]) / 2;
		cell.spread = (values[nr - 1] - values[0]) / 2;
	}
	return cell;
}

static bool read_cell(struct summary_cell *cell, sqlite3_stmt *stmt, const struct summary_data *d,
		      const struct summary_variant *v, const struct summary_row *row, const char *entity)
{
	double *values = xcalloc(v->done, sizeof(*values));
	uint32_t nr = 0;

	sqlite3_bind_text(stmt, 1, d->experiment, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 2, v->name, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 3, row->metric, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 4, entity ? entity : row->entity, -1, SQLITE_STATIC);
	while (nr < v->done && sqlite3_step(stmt) == SQLITE_ROW)
		values[nr++] = scaled(row, sqlite3_column_double(stmt, 0));
	*cell = describe(values, nr);
	free(values);
	return sqlite3_reset(stmt) == SQLITE_OK;
}

static bool has_value(const struct summary_data *d, const struct summary_line *line)
{
	for (size_t i = 0; i < d->nr_variants; i++)
		if (line->cells[i].runs)
			return true;
	return false;
}

/* entity NULL: all that the row is for. */
static bool read_line(struct summary_data *d, struct store *s, const struct summary_table *table,
		      const struct summary_row *row, const char *entity)
{
	static const char *const combine[] = { "avg", "sum", "max", "sum" };
	struct summary_line line = { .table = table, .row = row };
	char *sql = xasprintf(
		"SELECT %s(value) AS x FROM run JOIN summary USING (run_id) WHERE experiment = ?1"
		" AND variant = ?2 AND status = 'done' AND metric = ?3 AND entity %s ?4"
		" GROUP BY run_id ORDER BY x",
		combine[row->combine], entity ? "=" : "GLOB");
	sqlite3_stmt *stmt = store_prepare(s, sql);
	bool ok = stmt;

	free(sql);
	line.cells = xcalloc(d->nr_variants, sizeof(*line.cells));
	for (size_t i = 0; ok && i < d->nr_variants; i++)
		ok = read_cell(&line.cells[i], stmt, d, &d->variants[i], row, entity);
	sqlite3_finalize(stmt);
	if (!ok || !has_value(d, &line)) {
		free(line.cells);
		return ok || failed(s);
	}
	line.entity = entity ? xstrdup(entity) : NULL;
	d->lines = xreallocarray(d->lines, d->nr_lines + 1, sizeof(*d->lines));
	d->lines[d->nr_lines++] = line;
	return true;
}

/* A line for each entity, in the order of their names. */
static bool read_each(struct summary_data *d, struct store *s, const struct summary_table *table,
		      const struct summary_row *row)
{
	sqlite3_stmt *stmt = store_prepare(
		s, "SELECT DISTINCT entity FROM run JOIN summary USING (run_id) WHERE experiment = ?1"
		   " AND status = 'done' AND metric = ?2 AND entity GLOB ?3 ORDER BY entity LIMIT ?4");
	bool ok = stmt;

	if (!stmt)
		return failed(s);
	sqlite3_bind_text(stmt, 1, d->experiment, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 2, row->metric, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 3, row->entity, -1, SQLITE_STATIC);
	sqlite3_bind_int(stmt, 4, SUMMARY_EACH_MOST);
	while (ok && sqlite3_step(stmt) == SQLITE_ROW)
		ok = read_line(d, s, table, row, (const char *)sqlite3_column_text(stmt, 0));
	return (sqlite3_finalize(stmt) == SQLITE_OK && ok) || failed(s);
}

static bool read_row(struct summary_data *d, struct store *s, const struct summary_table *table,
		     const struct summary_row *row)
{
	if (row->combine == SUMMARY_EACH)
		return read_each(d, s, table, row);
	return read_line(d, s, table, row, NULL);
}

bool summary_read(struct summary_data *d, struct store *s, const char *experiment,
		  const struct summary_table *const *tables, size_t nr)
{
	*d = (struct summary_data){ .experiment = experiment ? xstrdup(experiment)
							     : store_last_experiment(s) };
	if (!d->experiment)
		return true;
	if (store_database(s) && !read_variants(d, s))
		return false;
	for (size_t i = 0; i < nr && d->nr_variants; i++)
		for (size_t j = 0; j < tables[i]->nr; j++)
			if (!read_row(d, s, tables[i], &tables[i]->rows[j]))
				return false;
	return true;
}

void summary_release(struct summary_data *d)
{
	for (size_t i = 0; i < d->nr_variants; i++)
		free(d->variants[i].name);
	for (size_t i = 0; i < d->nr_lines; i++) {
		free(d->lines[i].entity);
		free(d->lines[i].cells);
	}
	free(d->variants);
	free(d->lines);
	free(d->experiment);
	free(d->scenario);
}

const char *summary_label(const struct summary_line *line)
{
	return line->entity ? line->entity : line->row->label;
}

char *summary_number(const struct summary_row *row, double value)
{
	double least = pow(10, -row->decimals);

	if (value > 0 && value < least / 2)
		return xasprintf("<%.*f", row->decimals, least);
	return xasprintf("%.*f", row->decimals, value);
}

double summary_difference(const struct summary_cell *base, const struct summary_cell *cell)
{
	if (!base->runs || !cell->runs)
		return NAN;
	if (base->median == cell->median)
		return 0;
	if (base->median == 0)
		return NAN;
	return (cell->median - base->median) / fabs(base->median) * 100;
}

bool summary_beyond_spread(const struct summary_cell *base, const struct summary_cell *cell)
{
	return base->runs > 1 && cell->runs > 1 &&
	       fabs(cell->median - base->median) > base->spread + cell->spread;
}

bool summary_print_tables(struct store *s, const char *experiment, const struct summary_table *const *tables,
			  size_t nr, enum summary_format format, FILE *out)
{
	static void (*const writers[])(const struct summary_data *d, FILE *out) = {
		[SUMMARY_TEXT] = summary_write_text,
		[SUMMARY_CSV] = summary_write_csv,
		[SUMMARY_JSON] = summary_write_json,
	};
	struct summary_data d;
	bool ok = summary_read(&d, s, experiment, tables, nr);

	if (ok)
		writers[format](&d, out);
	summary_release(&d);
	return ok;
}

bool summary_print(struct store *s, const char *experiment, enum summary_format format, FILE *out)
{
	size_t nr;
	const struct module *const *modules = modules_of(MODULE_SUMMARY, &nr);
	const struct summary_table **tables = xcalloc(nr, sizeof(struct summary_table *));
	bool ok;

	for (size_t i = 0; i < nr; i++)
		tables[i] = modules[i]->ops;
	ok = summary_print_tables(s, experiment, tables, nr, format, out);
	free(tables);
	return ok;
}
