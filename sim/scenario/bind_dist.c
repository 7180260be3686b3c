/*
 * bind_dist.c - distributions: a value, or a map of one key that names the distribution.
 *
 *	pause: 10ms
 *	pause: { exponential: 10ms }
 *	pause: { table: [[1ms, 90], [50ms, 10]] }
 *
 * What the arguments of each are is a string with a letter for each: v is a value in the option's unit and
 * within its bounds, w one without bounds (a width), n a plain number, c a count.
 */
#include <math.h>
#include <string.h>

#include "sim/engine/random.h"
#include "sim/scenario/bind.h"
#include "sim/scenario/hint.h"
#include "sim/scenario/units.h"

static const struct form {
	const char *name;
	enum dist_kind kind;
	const char *arguments;
	const char *help;
} forms[] = {
	{ "constant", DIST_CONSTANT, "v", "value" },
	{ "uniform", DIST_UNIFORM, "vv", "[lowest, highest]" },
	{ "exponential", DIST_EXPONENTIAL, "v", "mean" },
	{ "normal", DIST_NORMAL, "vw", "[mean, standard deviation]" },
	{ "lognormal", DIST_LOGNORMAL, "vn", "[median, sigma]" },
	{ "pareto", DIST_PARETO, "vn", "[scale, shape]" },
	{ "zipf", DIST_ZIPF, "cn", "[number of ranks, exponent]" },
	{ "table", DIST_TABLE, "", "[[value, weight], ...]" },
};
#define NR_FORMS (sizeof(forms) / sizeof(forms[0]))

const char *dist_form(size_t i, const char **arguments)
{
	*arguments = i < NR_FORMS ? forms[i].help : NULL;
	return i < NR_FORMS ? forms[i].name : NULL;
}

static enum opt_type value_type(const struct option *row)
{
	switch (row->type) {
	case OPT_DIST_DURATION:
		return OPT_DURATION;
	case OPT_DIST_BYTES:
		return OPT_BYTES;
	default:
		return OPT_NUMBER;
	}
}

static bool read_number(struct binder *b, const struct option *row, const struct node *value, char argument,
			double *to)
{
	enum opt_type type = argument == 'n' ? OPT_NUMBER : argument == 'c' ? OPT_U64 : value_type(row);
	struct option bounds = { .name = row->name, .type = type };
	uint64_t integer = 0;
	bool good;

	if (argument == 'v') {
		bounds.min = row->min;
		bounds.max = row->max;
		bounds.above_min = row->above_min;
	}
	if (!bounds.min && type == OPT_NUMBER)
		bounds.min = "0";
	if (argument == 'c')
		bounds.min = "1";
	good = bind_scalar(b, &bounds, value, unit_is_integer(type) ? (void *)&integer : (void *)to);
	if (unit_is_integer(type))
		*to = (double)integer;
	return good;
}

static bool is_list(struct binder *b, const struct node *value, size_t nr, const struct form *form)
{
	if (value->kind == NODE_LIST && (nr ? value->nr == nr : value->nr > 0))
		return true;
	complain(b->complaints, value->at, "%s takes %s", form->name, form->help);
	return false;
}

static void read_table(struct binder *b, const struct option *row, const struct node *value,
		       const struct form *form, struct dist *d)
{
	double *table, weights = 0;
	bool good = true;

	if (!is_list(b, value, 0, form))
		return;
	table = pool_alloc(b->pool, 2 * value->nr * sizeof(*table));
	for (size_t i = 0; i < value->nr; i++) {
		const struct node *pair = value->entries[i].value;

		good &= is_list(b, pair, 2, form) &&
			read_number(b, row, pair->entries[0].value, 'v', &table[2 * i]) &&
			read_number(b, row, pair->entries[1].value, 'n', &table[2 * i + 1]);
		weights += table[2 * i + 1];
	}
	if (!good)
		return;
	if (!(weights > 0 && isfinite(weights))) {
		complain(b->complaints, value->at, "%s: the weights add up to nothing", row->name);
		return;
	}
	d->table = table;
	d->nr = (uint32_t)value->nr;
	d->kind = DIST_TABLE;
}

/* What the units cannot know; a clause, or NULL. */
static const char *impossible(const struct dist *d)
{
	if (d->kind == DIST_UNIFORM && d->a > d->b)
		return "its lowest value is above its highest";
	if (d->kind == DIST_LOGNORMAL && d->a <= 0)
		return "its median must be above 0";
	if (d->kind == DIST_PARETO && (d->a <= 0 || d->b <= 0))
		return "its scale and shape must be above 0";
	if (d->kind == DIST_ZIPF && d->a > 1e8)
		return "it has more than 100 million ranks";
	return NULL;
}

static void read_form(struct binder *b, const struct option *row, const struct node *value,
		      const struct form *form, struct dist *d)
{
	size_t nr = strlen(form->arguments);
	double numbers[2] = { 0 };
	bool good = true;
	struct dist read;

	if (!nr) {
		read_table(b, row, value, form, d);
		return;
	}
	if (form->kind == DIST_ZIPF && row->type != OPT_DIST) {
		complain(b->complaints, value->at, "%s: zipf gives ranks, not values with a unit", row->name);
		return;
	}
	if (nr > 1 && !is_list(b, value, nr, form))
		return;
	for (size_t i = 0; i < nr; i++)
		good &= read_number(b, row, nr > 1 ? value->entries[i].value : value, form->arguments[i],
				    &numbers[i]);
	read = (struct dist){ .kind = form->kind, .a = numbers[0], .b = numbers[1] };
	if (good && impossible(&read))
		complain(b->complaints, value->at, "%s: %s: %s", row->name, form->name, impossible(&read));
	else if (good)
		*d = read;
}

static void release(void *dist)
{
	dist_release(dist);
}

void bind_dist(struct binder *b, const struct option *row, const struct node *value, void *to)
{
	struct hint hint;
	char buf[HINT_TEXT];
	struct dist *d = to;

	if (value->kind == NODE_SCALAR) {
		read_number(b, row, value, 'v', &d->a);
		return;
	}
	if (value->kind != NODE_MAP || value->nr != 1) {
		complain(b->complaints, value->at,
			 "%s: a value is expected, or a map of one distribution: "
			 "{ exponential: ... }",
			 row->name);
		return;
	}
	hint = hint_for(value->entries[0].key);
	for (size_t i = 0; i < NR_FORMS; i++) {
		hint_offer(&hint, forms[i].name);
		if (strcmp(forms[i].name, value->entries[0].key))
			continue;
		read_form(b, row, value->entries[0].value, &forms[i], d);
		dist_prepare(d);
		pool_on_free(b->pool, release, d);
		return;
	}
	complain(b->complaints, value->entries[0].at, "unknown distribution '%.60s'%s", value->entries[0].key,
		 hint_text(&hint, buf));
}
