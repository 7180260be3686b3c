/*
 * bind_scalar.c - options that are one text, and their bounds.
 */
#include <stdio.h>
#include <string.h>

#include "sim/scenario/bind.h"
#include "sim/scenario/hint.h"
#include "sim/scenario/name.h"
#include "sim/scenario/units.h"

const char *range_text(const struct option *row, char buf[RANGE_TEXT])
{
	buf[0] = '\0';
	if (row->min && row->max)
		snprintf(buf, RANGE_TEXT, row->above_min ? "more than %s, at most %s" : "%s to %s", row->min,
			 row->max);
	else if (row->min)
		snprintf(buf, RANGE_TEXT, "%s %s", row->above_min ? "more than" : "at least", row->min);
	else if (row->max)
		snprintf(buf, RANGE_TEXT, "at most %s", row->max);
	return buf;
}

bool in_range_integer(const struct option *row, enum opt_type type, uint64_t value)
{
	struct unit_error error;
	uint64_t bound;

	if (row->min && unit_integer(type, row->min, &bound, &error) &&
	    (value < bound || (row->above_min && value == bound)))
		return false;
	if (row->max && unit_integer(type, row->max, &bound, &error) && value > bound)
		return false;
	return type != OPT_U32 || value <= UINT32_MAX;
}

bool in_range_real(const struct option *row, enum opt_type type, double value)
{
	struct unit_error error;
	double bound;

	if (row->min && unit_real(type, row->min, &bound, &error) &&
	    (value < bound || (row->above_min && value <= bound)))
		return false;
	return !row->max || !unit_real(type, row->max, &bound, &error) || value <= bound;
}

static bool complain_number(struct binder *b, const struct option *row, const struct node *value,
			    const struct unit_error *error)
{
	struct option limits = *row; /* with those of the type itself */
	char range[RANGE_TEXT] = "";
	const char *word = row->allow_max ? "max" : row->never;

	if (strchr("-0123456789", *value->text)) /* meant as a number; or empty */
		word = NULL;
	if (unit_is_integer(row->type) && !row->max)
		limits.max = row->type == OPT_U32        ? "4294967295"
			     : row->type == OPT_DURATION ? "213d"
							 : "2^64 - 1";
	if (row->type != OPT_NUMBER && !row->min)
		limits.min = "0";
	if (error->range)
		range_text(&limits, range);
	complain(b->complaints, value->at, "%s: '%.60s' %s%s%s%s%s", row->name, value->text, error->text,
		 *range ? "; allowed: " : "", range, word ? "; also allowed: " : "", word ? word : "");
	return false;
}

static const struct unit_error out_of_range = { .text = "is out of range", .range = true };

static bool bind_integer(struct binder *b, const struct option *row, const struct node *value, void *to)
{
	struct unit_error error;
	uint64_t integer;

	if ((row->allow_max && !strcmp(value->text, "max")) ||
	    (row->never && !strcmp(value->text, row->never)))
		integer = UINT64_MAX;
	else if (!unit_integer(row->type, value->text, &integer, &error))
		return complain_number(b, row, value, &error);
	else if (!in_range_integer(row, row->type, integer))
		return complain_number(b, row, value, &out_of_range);
	if (row->type == OPT_U32)
		*(uint32_t *)to = (uint32_t)integer;
	else
		*(uint64_t *)to = integer;
	return true;
}

static bool bind_real(struct binder *b, const struct option *row, const struct node *value, double *to)
{
	struct unit_error error;
	double real;

	if (!unit_real(row->type, value->text, &real, &error))
		return complain_number(b, row, value, &error);
	if (!in_range_real(row, row->type, real))
		return complain_number(b, row, value, &out_of_range);
	*to = real;
	return true;
}

static bool bind_bool(struct binder *b, const struct option *row, const struct node *value, bool *to)
{
	static const char *const words[2][3] = { { "false", "off", "no" }, { "true", "on", "yes" } };

	for (int v = 0; v < 2; v++) {
		for (int i = 0; i < 3; i++) {
			if (strcmp(words[v][i], value->text))
				continue;
			*to = v;
			return true;
		}
	}
	complain(b->complaints, value->at, "%s: '%.60s' is neither true nor false (or on, off, yes, no)",
		 row->name, value->text);
	return false;
}

static bool bind_enum(struct binder *b, const struct option *row, const struct node *value, int *to)
{
	struct hint hint = hint_for(value->text);
	char buf[HINT_TEXT];

	for (const struct enum_name *n = row->names; n->name; n++) {
		hint_offer(&hint, n->name);
		if (strcmp(n->name, value->text))
			continue;
		*to = n->value;
		return true;
	}
	complain(b->complaints, value->at, "%s: unknown value '%.60s'%s", row->name, value->text,
		 hint_text(&hint, buf));
	return false;
}

static bool bind_text(struct binder *b, const struct option *row, const struct node *value, const char **to)
{
	struct name_error error;

	*to = value->text;
	if (row->type != OPT_NAME || name_check(value->text, &error))
		return true;
	complain(b->complaints, value->at, "%s: '%.100s' %s", row->name, value->text, error.text);
	return false;
}

bool bind_scalar(struct binder *b, const struct option *row, const struct node *value, void *to)
{
	if (value->kind != NODE_SCALAR) {
		complain(b->complaints, value->at, "%s: a single value is expected, not %s", row->name,
			 node_kind_name(value));
		return false;
	}
	switch (row->type) {
	case OPT_BOOL:
		return bind_bool(b, row, value, to);
	case OPT_ENUM:
		return bind_enum(b, row, value, to);
	case OPT_STRING:
	case OPT_NAME:
		return bind_text(b, row, value, to);
	default:
		return unit_is_integer(row->type) ? bind_integer(b, row, value, to)
						  : bind_real(b, row, value, to);
	}
}
