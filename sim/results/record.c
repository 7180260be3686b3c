/*
 * record.c - the results of one run, in memory. See record.h.
 *
 * Everything is an array that doubles, in the order in which the model reported it; trees of tsearch(3) find
 * what is there already. A second value for the same (metric, entity) replaces the first. NaN is how a model
 * says that there is no value (a mean of nothing), and makes no row.
 */
#include "sim/results/record.h"

#include <math.h>
#include <search.h>
#include <stdarg.h>

#include "sim/engine/xalloc.h"
#include "sim/results/record_rows.h"

/* A run that breaks an invariant tends to break it everywhere; the first few tell the story. */
#define MAX_BROKEN_LINES 20

enum row_kind { ROW_VALUE, ROW_SERIES, ROW_HISTOGRAM };

struct name_node {
	const char *name;
	uint32_t id;
};

struct row_node {
	enum row_kind kind;
	uint32_t metric, entity, row;
};

struct record *record_new(uint32_t series_budget)
{
	struct record *r = xcalloc(1, sizeof(*r));

	r->series_budget = series_budget;
	return r;
}

void record_free(struct record *r)
{
	if (!r)
		return;
	tdestroy(r->metric_index, free);
	tdestroy(r->entity_index, free);
	tdestroy(r->row_index, free);
	for (uint32_t i = 0; i < r->nr_metrics; i++) {
		free((char *)r->metrics[i].name);
		free((char *)r->metrics[i].unit);
		free((char *)r->metrics[i].help);
	}
	for (uint32_t i = 0; i < r->nr_entities; i++)
		free(r->entities[i]);
	for (uint32_t i = 0; i < r->nr_series; i++)
		series_release(&r->series[i].series);
	for (uint32_t i = 0; i < r->nr_histograms; i++)
		histogram_release(&r->histograms[i].histogram);
	for (uint32_t i = 0; i < r->nr_modules; i++) {
		free(r->modules[i].axis);
		free(r->modules[i].name);
	}
	free(r->metrics);
	free(r->entities);
	free(r->values);
	free(r->series);
	free(r->histograms);
	free(r->locks);
	free(r->modules);
	free(r->broken);
	free(r->known);
	free((char *)r->end.error);
	free(r);
}

/* Room for one more row after `nr` of them: arrays double at each power of two. */
static void *one_more(void *rows, uint32_t nr, size_t size)
{
	if (nr & (nr - 1))
		return rows;
	return xreallocarray(rows, nr ? (size_t)nr * 2 : 1, size);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct name_node *)a)->name, ((const struct name_node *)b)->name);
}

/* The node of a name; it is new, and the caller has to give it a name that lasts, if its id is `next`. */
static struct name_node *find_name(void **tree, const char *name, uint32_t next)
{
	struct name_node probe = { .name = name };
	struct name_node **found = tfind(&probe, tree, by_name);
	struct name_node *node;

	if (found)
		return *found;
	node = xcalloc(1, sizeof(*node));
	*node = (struct name_node){ .name = name, .id = next };
	xalloc_checked(tsearch(node, tree, by_name));
	return node;
}

uint32_t record_entity(struct record *r, const char *name)
{
	struct name_node *node = find_name(&r->entity_index, name, r->nr_entities);

	if (node->id == r->nr_entities) {
		r->entities = one_more(r->entities, r->nr_entities, sizeof(*r->entities));
		node->name = r->entities[r->nr_entities++] = xstrdup(name);
	}
	return node->id;
}

uint32_t record_metric(struct record *r, const struct metric *m)
{
	struct name_node *node = find_name(&r->metric_index, m->name, r->nr_metrics);

	if (node->id == r->nr_metrics) {
		struct metric *copy;

		r->metrics = one_more(r->metrics, r->nr_metrics, sizeof(*r->metrics));
		copy = &r->metrics[r->nr_metrics++];
		*copy = (struct metric){
			.name = xstrdup(m->name),
			.unit = xstrdup(m->unit),
			.kind = m->kind,
			.help = xstrdup(m->help ? m->help : ""),
		};
		node->name = copy->name;
	}
	return node->id;
}

static int by_row(const void *left, const void *right)
{
	const struct row_node *a = left, *b = right;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->metric != b->metric)
		return a->metric < b->metric ? -1 : 1;
	if (a->entity != b->entity)
		return a->entity < b->entity ? -1 : 1;
	return 0;
}

/* The number of the row of that key; `next` if there is none yet, which then becomes its number. */
static uint32_t find_row(struct record *r, enum row_kind kind, uint32_t metric, uint32_t entity,
			 uint32_t next)
{
	struct row_node probe = { .kind = kind, .metric = metric, .entity = entity, .row = next };
	struct row_node **found = tfind(&probe, &r->row_index, by_row);
	struct row_node *node;

	if (found)
		return (*found)->row;
	node = xcalloc(1, sizeof(*node));
	*node = probe;
	xalloc_checked(tsearch(node, &r->row_index, by_row));
	return next;
}

void record_put_value(struct record *r, uint32_t metric, uint32_t entity, double value)
{
	uint32_t i = find_row(r, ROW_VALUE, metric, entity, r->nr_values);

	if (i == r->nr_values) {
		r->values = one_more(r->values, r->nr_values, sizeof(*r->values));
		r->nr_values++;
	}
	r->values[i] = (struct value_row){ metric, entity, value };
}

struct series *record_series_of(struct record *r, uint32_t metric, uint32_t entity)
{
	uint32_t i = find_row(r, ROW_SERIES, metric, entity, r->nr_series);

	if (i == r->nr_series) {
		r->series = one_more(r->series, r->nr_series, sizeof(*r->series));
		r->nr_series++;
		r->series[i] = (struct series_of){ .metric = metric, .entity = entity };
		series_init(&r->series[i].series, r->series_budget);
	}
	return &r->series[i].series;
}

struct histogram *record_histogram_of(struct record *r, uint32_t metric, uint32_t entity)
{
	uint32_t i = find_row(r, ROW_HISTOGRAM, metric, entity, r->nr_histograms);

	if (i == r->nr_histograms) {
		r->histograms = one_more(r->histograms, r->nr_histograms, sizeof(*r->histograms));
		r->nr_histograms++;
		r->histograms[i] = (struct histogram_of){ .metric = metric, .entity = entity };
		histogram_init(&r->histograms[i].histogram, NULL);
	}
	return &r->histograms[i].histogram;
}

void record_summary(struct record *r, const struct metric *m, const char *entity, double value)
{
	if (!isnan(value))
		record_put_value(r, record_metric(r, m), record_entity(r, entity), value);
}

void record_sample(struct record *r, const struct metric *m, const char *entity, sim_time_t t, double value)
{
	if (!isnan(value))
		series_add(record_series_of(r, record_metric(r, m), record_entity(r, entity)), t, value);
}

/* A number that describes a distribution, as a metric of its own: "stat.read_latency.p99". */
static void put_derived(struct record *r, const struct metric *m, uint32_t entity, const char *suffix,
			double value)
{
	struct metric derived = { .unit = m->unit, .kind = METRIC_GAUGE };
	char *name = xasprintf("%s.%s", m->name, suffix);
	char *help = xasprintf("%s of: %s", suffix, m->help ? m->help : m->name);

	derived.name = name;
	derived.help = help;
	if (strcmp(suffix, "count") == 0) {
		derived.unit = "1";
		derived.kind = METRIC_COUNTER;
	}
	record_put_value(r, record_metric(r, &derived), entity, value);
	free(name);
	free(help);
}

void record_histogram(struct record *r, const struct metric *m, const char *entity, const struct histogram *h)
{
	uint32_t e = record_entity(r, entity);
	struct histogram *own = record_histogram_of(r, record_metric(r, m), e);

	histogram_release(own);
	histogram_merge(own, h);
	put_derived(r, m, e, "count", (double)h->count);
	if (!h->count)
		return;
	put_derived(r, m, e, "mean", histogram_mean(h));
	put_derived(r, m, e, "p50", histogram_quantile(h, 0.5));
	put_derived(r, m, e, "p90", histogram_quantile(h, 0.9));
	put_derived(r, m, e, "p99", histogram_quantile(h, 0.99));
	put_derived(r, m, e, "p999", histogram_quantile(h, 0.999));
	put_derived(r, m, e, "max", (double)h->max);
}

void record_put_lock(struct record *r, const struct lock_row *row)
{
	for (uint32_t i = 0; i < r->nr_locks; i++) {
		if (r->locks[i].entity == row->entity) {
			r->locks[i] = *row;
			return;
		}
	}
	r->locks = one_more(r->locks, r->nr_locks, sizeof(*r->locks));
	r->locks[r->nr_locks++] = *row;
}

void record_module(struct record *r, const char *axis, const char *name)
{
	for (uint32_t i = 0; i < r->nr_modules; i++)
		if (strcmp(r->modules[i].axis, axis) == 0 && strcmp(r->modules[i].name, name) == 0)
			return;
	r->modules = one_more(r->modules, r->nr_modules, sizeof(*r->modules));
	r->modules[r->nr_modules++] = (struct module_row){ xstrdup(axis), xstrdup(name) };
}

/* One line more in *lines. */
static void __attribute__((format(printf, 4, 0)))
add_line(char **lines, const char *name, const char *known, const char *format, va_list args)
{
	char *what = xvasprintf(format, args), *before = *lines;

	*lines = xasprintf("%sinvariant %s: %s%s%s%s\n", before ? before : "", name, what, known ? " (" : "",
			   known ? known : "", known ? ")" : "");
	free(what);
	free(before);
}

void record_invariant(struct record *r, const char *name, bool holds, const char *format, ...)
{
	va_list args;

	if (holds) {
		r->invariants_held++;
		return;
	}
	if (r->invariants_broken++ >= MAX_BROKEN_LINES)
		return;
	va_start(args, format);
	add_line(&r->broken, name, NULL, format, args);
	va_end(args);
}

void record_invariant_known(struct record *r, const char *name, const char *known, bool holds,
			    const char *format, ...)
{
	va_list args;

	if (holds) {
		r->invariants_held++;
		return;
	}
	if ((known ? r->invariants_known++ : r->invariants_broken++) >= MAX_BROKEN_LINES)
		return;
	va_start(args, format);
	add_line(known ? &r->known : &r->broken, name, known, format, args);
	va_end(args);
}

uint64_t record_invariants_held(const struct record *r)
{
	return r->invariants_held;
}

uint64_t record_invariants_broken(const struct record *r)
{
	return r->invariants_broken;
}

uint64_t record_invariants_known(const struct record *r)
{
	return r->invariants_known;
}

const char *record_known_text(const struct record *r)
{
	return r->known ? r->known : "";
}

const char *record_invariants_text(const struct record *r)
{
	return r->broken ? r->broken : "";
}

void record_finish(struct record *r, const struct record_end *end)
{
	char *error = end->error ? xstrdup(end->error) : NULL;

	free((char *)r->end.error);
	r->end = *end;
	r->end.error = error;
	r->ended = true;
}

const struct record_end *record_ended(const struct record *r)
{
	return r->ended ? &r->end : NULL;
}
