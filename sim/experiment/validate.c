/*
 * validate.c - the rows of `validate:` and the verdict on each. See validate.h.
 *
 * A value is in when it is within the band, a share of the published number, or within the slack, an absolute
 * amount: counts that come in steps (pages a read, say) cannot be nearer than a step. A row that states a
 * bound is in on the right side of it, at whatever distance.
 */
#include "sim/experiment/validate.h"

#include <math.h>
#include <string.h>

#include "sim/module.h"
#include "sim/results/record_rows.h"

static const struct option from_rows[] = {
	OPTION(struct published_from, file, OPT_STRING, .help = "CSV file below scenarios/"),
	OPTION(struct published_from, experiment, OPT_STRING, .help = "first column"),
	OPTION(struct published_from, kernel, OPT_STRING, .help = "second column"),
	OPTION(struct published_from, setup, OPT_STRING, .help = "fourth column"),
	OPTION(struct published_from, metric, OPT_STRING, .help = "fifth column"),
	OPTION(struct published_from, part, OPT_U32, .fallback = "0", .max = "100",
	       .help = "which number of a value that holds several, from 1; 0: it holds one"),
	OPTION(struct published_from, scale, OPT_NUMBER, .fallback = "1",
	       .help = "what it is multiplied by: 1e9 for seconds, where the metric is in ns"),
};
static const struct option_table from_table = OPTION_TABLE("published_from", struct published_from,
							   from_rows);

static const struct enum_name fits[] = {
	{ "P", 0, "predicted: no constant was fitted to this row" },
	{ "C", 1, "calibrated: a constant was fitted to this row" },
	{ NULL, 0, NULL },
};

static const struct enum_name comparisons[] = {
	{ "about", VALIDATE_ABOUT, "within the band or the slack" },
	{ "at_least", VALIDATE_AT_LEAST, "a lower bound or an order; band and slack are not used" },
	{ "at_most", VALIDATE_AT_MOST, "an upper bound; the same" },
	{ NULL, 0, NULL },
};

static const struct option rows[] = {
	OPTION(struct validate_row, source, OPT_STRING, .required = true,
	       .help = "where the published number comes from: seed-1 to seed-5, ground-truth, user-cases; "
		       "rules: it is not published, but follows from the kernel's rules"),
	OPTION(struct validate_row, row, OPT_STRING, .required = true, .help = "what the row is called"),
	OPTION(struct validate_row, metric, OPT_STRING, .required = true, .help = "name of a summary value"),
	OPTION(struct validate_row, entity, OPT_STRING, .fallback = "all", .help = "whose value"),
	OPTION(struct validate_row, variant, OPT_STRING, .help = "of which variant; the first if not given"),
	OPTION(struct validate_row, or_variant, OPT_STRINGS,
	       .help = "variants that differ in what is chance in the system that was measured, each another "
		       "course of it; A + B: the mean of both. All rows with the same variants are judged by "
		       "the course that most of them are in with, by that of `variant` if no other has more"),
	OPTION(struct validate_row, relative_to, OPT_STRING,
	       .help = "the published number is a ratio to the value of this variant"),
	OPTION(struct validate_row, per, OPT_STRING,
	       .help = "metric of the same entity that the value is divided by: misses per read"),
	OPTION(struct validate_row, published, OPT_NUMBER, .fallback = "0", .help = "the published number"),
	OPTION_AS("published_from", struct validate_row, from, OPT_MAP, .sub = &from_table,
		  .help = "where to find it in a table instead"),
	OPTION(struct validate_row, is, OPT_ENUM, .names = comparisons, .fallback = "about",
	       .help = "how the simulated value has to stand to the published one"),
	OPTION(struct validate_row, band, OPT_RATIO, .fallback = "3%", .min = "0",
	       .help = "how far off the simulated value may be, as a share of the published one"),
	OPTION(struct validate_row, slack, OPT_NUMBER, .fallback = "0", .min = "0",
	       .help = "how far off it may be in any case"),
	OPTION_AS("fit", struct validate_row, fitted, OPT_ENUM, .names = fits, .fallback = "P",
		  .help = "whether any constant was fitted to this row"),
};
static const struct option_table validate_options = OPTION_TABLE("validate", struct validate_row, rows);

MODULE(validate_section) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_SECTION,
	.name = "validate",
	.help = "published numbers that `memcgsim validate` compares this scenario's results with",
	.options = &validate_options,
	.order = 900,
	.list = true,
};

size_t validate_rows(const struct scenario_set *set, const struct validate_row *const **result)
{
	const struct option_list *list = scenario_section(scenario_variant(set, 0), "validate");

	*result = (const struct validate_row *const *)list->items;
	return list->nr;
}

static double mean_of(const struct mean *m)
{
	return m->n ? m->sum / m->n : NAN;
}

struct verdict validate_judge(const struct validate_row *row, double published, const struct mean *simulated,
			      const struct mean *base)
{
	struct verdict v = { .published = published, .simulated = mean_of(simulated) };

	if (row->relative_to)
		v.simulated /= mean_of(base);

	double off = fabs(v.simulated - published);

	v.error = published != 0 ? (v.simulated - published) / fabs(published) : v.simulated;
	/* Not a number: never in. */
	if (row->is == VALIDATE_AT_LEAST)
		v.in = v.simulated >= published;
	else if (row->is == VALIDATE_AT_MOST)
		v.in = v.simulated <= published;
	else
		v.in = off <= row->band * fabs(published) || off <= row->slack;
	return v;
}

static bool find_value(const struct record *r, const char *metric, const char *entity, double *value)
{
	for (uint32_t i = 0; i < r->nr_values; i++) {
		const struct value_row *v = &r->values[i];

		if (strcmp(r->metrics[v->metric].name, metric) != 0 ||
		    strcmp(r->entities[v->entity], entity) != 0)
			continue;
		*value = v->value;
		return true;
	}
	return false;
}

bool validate_value(const struct record *r, const struct validate_row *row, double *value)
{
	double divisor = 1;

	if (!find_value(r, row->metric, row->entity, value) ||
	    (row->per && !find_value(r, row->per, row->entity, &divisor)))
		return false;
	*value /= divisor;
	return true;
}
