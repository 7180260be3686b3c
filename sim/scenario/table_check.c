/*
 * table_check.c - are the option tables of the program, or of a plug-in, in order?
 *
 * A default with the wrong unit is a mistake of whoever wrote the module, and should be told at the start of
 * the program, not on the day when somebody leaves the key out. So every default is bound once, by the same
 * code that binds a user's value.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/random.h"
#include "sim/scenario/bind.h"
#include "sim/scenario/table.h"
#include "sim/scenario/units.h"

#define DEEPEST 16 /* tables within each other other than through lists */

static size_t value_size(const struct option *row)
{
	switch (row->type) {
	case OPT_BOOL:
		return sizeof(bool);
	case OPT_U32:
		return sizeof(uint32_t);
	case OPT_ENUM:
		return sizeof(int);
	case OPT_DIST:
	case OPT_DIST_DURATION:
	case OPT_DIST_BYTES:
		return sizeof(struct dist);
	case OPT_POLICY:
	case OPT_MODULE:
		return sizeof(struct module_use);
	case OPT_STRINGS:
	case OPT_LIST:
		return sizeof(struct option_list);
	case OPT_MAP:
		return row->sub ? row->sub->size : 0;
	default:
		return sizeof(uint64_t);
	}
}

static bool needs_table(const struct option *row)
{
	return row->type == OPT_MAP || row->type == OPT_REF || row->type == OPT_LIST;
}

static const char *shape_fault(const struct option_table *table, const struct option *row)
{
	if (!row->name || !*row->name)
		return "has no name";
	if (!row->help)
		return "has no help";
	if (table_row(table, row->name) != row)
		return "stands there twice";
	if (needs_table(row) && !row->sub)
		return "has no table of its own";
	if (row->type == OPT_ENUM && !row->names)
		return "has no names";
	if (row->type == OPT_POLICY && !row->axis)
		return "has no axis";
	if (row->with && (!row->with_value || !table_row(table, row->with)))
		return "hangs on a key that there is not";
	if (row->offset + value_size(row) > table->size)
		return "lies outside of its structure";
	return NULL;
}

static bool is_bound(enum opt_type type, const char *text)
{
	struct unit_error error;
	uint64_t integer;
	double real;

	if (!text)
		return true;
	switch (type) {
	case OPT_DIST:
		return unit_real(OPT_NUMBER, text, &real, &error);
	case OPT_DIST_DURATION:
		return unit_integer(OPT_DURATION, text, &integer, &error);
	case OPT_DIST_BYTES:
		return unit_integer(OPT_BYTES, text, &integer, &error);
	case OPT_RATIO:
	case OPT_NUMBER:
	case OPT_RATE:
		return unit_real(type, text, &real, &error);
	default:
		return unit_is_integer(type) && unit_integer(type, text, &integer, &error);
	}
}

static bool embeds_too_deep(const struct option_table *table, unsigned depth)
{
	if (depth > DEEPEST)
		return true;
	for (size_t i = 0; i < table->nr; i++) {
		const struct option *row = &table->rows[i];

		if ((row->type == OPT_MAP || row->type == OPT_REF) && row->sub &&
		    embeds_too_deep(row->sub, depth + 1))
			return true;
	}
	return false;
}

/* Binds the default of one row; what the binder complains of goes to buf. */
static bool default_fault(const struct option *row, char *buf, size_t size)
{
	struct complaints *c = complaints_new();
	struct binder b = { .pool = pool_new(), .complaints = c, .partial = true, .times = 1 };
	const struct node *map = node_map(b.pool, (struct where){ 0 });
	void *room = pool_alloc(b.pool, value_size(row));
	size_t nr;

	if (row->fallback)
		bind_value(&b, row, map, NULL, room);
	nr = complaints_count(c);
	if (nr) {
		FILE *out = fmemopen(buf, size, "w");

		if (out) {
			complaints_print(c, out);
			fclose(out);
		}
		buf[size - 1] = '\0';
		buf[strcspn(buf, "\n")] = '\0';
	}
	pool_free(b.pool);
	complaints_free(c);
	return nr > 0;
}

const char *table_check(const struct option_table *table, char buf[TABLE_TEXT])
{
	char text[TABLE_TEXT / 2] = "";

	if (embeds_too_deep(table, 0)) {
		snprintf(buf, TABLE_TEXT, "table '%s' holds itself other than through a list", table->name);
		return buf;
	}
	for (size_t i = 0; i < table->nr; i++) {
		const struct option *row = &table->rows[i];
		const char *fault = shape_fault(table, row);

		if (!fault && (!is_bound(row->type, row->min) || !is_bound(row->type, row->max)))
			fault = "has a bound that is no value of its type";
		if (!fault && default_fault(row, text, sizeof(text)))
			fault = text;
		if (!fault)
			continue;
		snprintf(buf, TABLE_TEXT, "option '%.40s' of '%.40s': %s", row->name ? row->name : "",
			 table->name, fault);
		return buf;
	}
	return NULL;
}
