/*
 * record_io.c - a record through a pipe.
 *
 * A run may happen in a child process that crashes or is killed at any byte, so what arrives counts only if
 * it begins with the mark, ends with the mark, and every number in between is one that record_write() can
 * have written. Both ends are the same program: numbers go as they lie in memory. Rows are put in through the
 * same functions that the run itself used, so the copy is a record like any other.
 *
 * Stream: mark, version; names; series, histograms; values, locks, modules; invariants, end; mark.
 */
#include "sim/engine/xalloc.h"
#include "sim/results/record_rows.h"

#define MARK        0x64726F636572636DULL /* "mcrecord" */
#define VERSION     1
#define MAX_STRING  ((uint32_t)1 << 20)
#define MAX_BUCKETS (histogram_bucket(UINT64_MAX) + 1)

struct in {
	FILE *file;
	bool bad;
};

static void put(FILE *out, const void *data, size_t size)
{
	fwrite(data, 1, size, out); /* errors stick to the stream and are looked at once, at the end */
}

static void put_u32(FILE *out, uint32_t x)
{
	put(out, &x, sizeof(x));
}

static void put_u64(FILE *out, uint64_t x)
{
	put(out, &x, sizeof(x));
}

static void put_double(FILE *out, double x)
{
	put(out, &x, sizeof(x));
}

static void put_string(FILE *out, const char *s)
{
	uint32_t length = s ? (uint32_t)strlen(s) : UINT32_MAX;

	put_u32(out, length);
	if (s)
		put(out, s, length);
}

static void get(struct in *in, void *data, size_t size)
{
	if (in->bad || fread(data, 1, size, in->file) != size) {
		in->bad = true;
		memset(data, 0, size);
	}
}

static uint32_t get_u32(struct in *in)
{
	uint32_t x;

	get(in, &x, sizeof(x));
	return x;
}

static uint64_t get_u64(struct in *in)
{
	uint64_t x;

	get(in, &x, sizeof(x));
	return x;
}

static double get_double(struct in *in)
{
	double x;

	get(in, &x, sizeof(x));
	return x;
}

/* A number below `limit`; anything else spoils the stream. */
static uint32_t get_below(struct in *in, uint32_t limit)
{
	uint32_t x = get_u32(in);

	if (x < limit)
		return x;
	in->bad = true;
	return 0;
}

/* On the heap; NULL was written as NULL. */
static char *get_optional_string(struct in *in)
{
	uint32_t length = get_u32(in);
	char *s;

	if (in->bad || length == UINT32_MAX)
		return NULL;
	if (length > MAX_STRING) {
		in->bad = true;
		return NULL;
	}
	s = xcalloc(length + 1, 1);
	get(in, s, length);
	return s;
}

static char *get_string(struct in *in)
{
	char *s = get_optional_string(in);

	if (s)
		return s;
	in->bad = true;
	return xstrdup("");
}

static void write_names(const struct record *r, FILE *out)
{
	put_u32(out, r->nr_metrics);
	for (uint32_t i = 0; i < r->nr_metrics; i++) {
		put_string(out, r->metrics[i].name);
		put_string(out, r->metrics[i].unit);
		put_u32(out, r->metrics[i].kind);
		put_string(out, r->metrics[i].help);
	}
	put_u32(out, r->nr_entities);
	for (uint32_t i = 0; i < r->nr_entities; i++)
		put_string(out, r->entities[i]);
}

static void read_names(struct record *r, struct in *in)
{
	uint32_t nr = get_u32(in);

	for (uint32_t i = 0; i < nr && !in->bad; i++) {
		char *name = get_string(in), *unit = get_string(in), *help;
		enum metric_kind kind = get_below(in, METRIC_DISTRIBUTION + 1);

		help = get_string(in);
		record_metric(r, &(struct metric){ name, unit, kind, help });
		free(name);
		free(unit);
		free(help);
	}
	nr = get_u32(in);
	for (uint32_t i = 0; i < nr && !in->bad; i++) {
		char *name = get_string(in);

		record_entity(r, name);
		free(name);
	}
}

static void write_series(const struct record *r, FILE *out)
{
	put_u32(out, r->nr_series);
	for (uint32_t i = 0; i < r->nr_series; i++) {
		const struct series *s = &r->series[i].series;

		put_u32(out, r->series[i].metric);
		put_u32(out, r->series[i].entity);
		put_u32(out, s->stride);
		put_u32(out, s->skipped);
		put_u32(out, s->nr);
		for (uint32_t j = 0; j < s->nr; j++) {
			put_u64(out, s->rows[j].t);
			put_double(out, s->rows[j].value);
		}
	}
}

static void read_series(struct record *r, struct in *in)
{
	uint32_t nr = get_u32(in);

	for (uint32_t i = 0; i < nr && !in->bad; i++) {
		uint32_t metric = get_below(in, r->nr_metrics), entity = get_below(in, r->nr_entities);
		uint32_t stride = get_u32(in), skipped = get_u32(in);
		uint32_t rows = get_u32(in);
		struct series *s;

		if (in->bad)
			return;
		s = record_series_of(r, metric, entity);
		in->bad = rows > s->budget;
		for (uint32_t j = 0; j < rows && !in->bad; j++) {
			sim_time_t t = get_u64(in);

			series_add(s, t, get_double(in));
		}
		s->stride = stride;
		s->skipped = skipped;
	}
}

static void write_histograms(const struct record *r, FILE *out)
{
	put_u32(out, r->nr_histograms);
	for (uint32_t i = 0; i < r->nr_histograms; i++) {
		const struct histogram *h = &r->histograms[i].histogram;

		put_u32(out, r->histograms[i].metric);
		put_u32(out, r->histograms[i].entity);
		put_u64(out, h->count);
		put_u64(out, h->min);
		put_u64(out, h->max);
		put_double(out, h->sum);
		put_double(out, h->sum_squares);
		for (uint32_t b = 0; b < h->nr_buckets; b++) {
			if (h->buckets[b]) {
				put_u32(out, b);
				put_u64(out, h->buckets[b]);
			}
		}
		put_u32(out, MAX_BUCKETS);
	}
}

static void read_histograms(struct record *r, struct in *in)
{
	uint32_t nr = get_u32(in);

	for (uint32_t i = 0; i < nr && !in->bad; i++) {
		uint32_t metric = get_below(in, r->nr_metrics), entity = get_below(in, r->nr_entities);
		struct histogram exact = { .count = get_u64(in), .min = get_u64(in), .max = get_u64(in) };
		struct histogram *h;
		uint32_t bucket;

		exact.sum = get_double(in);
		exact.sum_squares = get_double(in);
		if (in->bad)
			return;
		h = record_histogram_of(r, metric, entity);
		while ((bucket = get_below(in, MAX_BUCKETS + 1)) < MAX_BUCKETS && !in->bad)
			histogram_add(h, histogram_low(bucket), get_u64(in));
		if (h->count != exact.count)
			in->bad = true;
		h->min = exact.min;
		h->max = exact.max;
		h->sum = exact.sum;
		h->sum_squares = exact.sum_squares;
	}
}

static void write_rows(const struct record *r, FILE *out)
{
	put_u32(out, r->nr_values);
	for (uint32_t i = 0; i < r->nr_values; i++) {
		put_u32(out, r->values[i].metric);
		put_u32(out, r->values[i].entity);
		put_double(out, r->values[i].value);
	}
	put_u32(out, r->nr_locks);
	for (uint32_t i = 0; i < r->nr_locks; i++) {
		put_u32(out, r->locks[i].entity);
		put(out, &r->locks[i].acquisitions, 6 * sizeof(uint64_t));
	}
	put_u32(out, r->nr_modules);
	for (uint32_t i = 0; i < r->nr_modules; i++) {
		put_string(out, r->modules[i].axis);
		put_string(out, r->modules[i].name);
	}
}

static void read_rows(struct record *r, struct in *in)
{
	uint32_t nr = get_u32(in);

	for (uint32_t i = 0; i < nr && !in->bad; i++) {
		uint32_t metric = get_below(in, r->nr_metrics), entity = get_below(in, r->nr_entities);
		double value = get_double(in);

		if (!in->bad)
			record_put_value(r, metric, entity, value);
	}
	nr = get_u32(in);
	for (uint32_t i = 0; i < nr && !in->bad; i++) {
		struct lock_row row = { .entity = get_below(in, r->nr_entities) };

		get(in, &row.acquisitions, 6 * sizeof(uint64_t));
		if (!in->bad)
			record_put_lock(r, &row);
	}
	nr = get_u32(in);
	for (uint32_t i = 0; i < nr && !in->bad; i++) {
		char *axis = get_string(in), *name = get_string(in);

		record_module(r, axis, name);
		free(axis);
		free(name);
	}
}

static void write_end(const struct record *r, FILE *out)
{
	put_u64(out, r->invariants_held);
	put_u64(out, r->invariants_broken);
	put_string(out, r->broken);
	put_u64(out, r->invariants_known);
	put_string(out, r->known);
	put_u32(out, r->ended);
	put_u32(out, r->end.done);
	put_string(out, r->end.error);
	put_u64(out, r->end.sim_time);
	put_u64(out, r->end.events);
	put_u64(out, r->end.fingerprint);
	put_double(out, r->end.wall_s);
	put_u64(out, r->end.peak_rss_bytes);
}

static void read_end(struct record *r, struct in *in)
{
	r->invariants_held = get_u64(in);
	r->invariants_broken = get_u64(in);
	r->broken = get_optional_string(in);
	r->invariants_known = get_u64(in);
	r->known = get_optional_string(in);
	r->ended = get_below(in, 2);
	r->end.done = get_below(in, 2);
	r->end.error = get_optional_string(in);
	r->end.sim_time = get_u64(in);
	r->end.events = get_u64(in);
	r->end.fingerprint = get_u64(in);
	r->end.wall_s = get_double(in);
	r->end.peak_rss_bytes = get_u64(in);
}

bool record_write(const struct record *r, FILE *out)
{
	put_u64(out, MARK);
	put_u32(out, VERSION);
	put_u32(out, r->series_budget);
	write_names(r, out);
	write_series(r, out);
	write_histograms(r, out);
	write_rows(r, out);
	write_end(r, out);
	put_u64(out, MARK);
	return fflush(out) == 0 && !ferror(out);
}

struct record *record_read(FILE *file)
{
	struct in in = { .file = file };
	struct record *r;

	if (get_u64(&in) != MARK || get_u32(&in) != VERSION)
		return NULL;
	r = record_new(get_u32(&in));
	read_names(r, &in);
	read_series(r, &in);
	read_histograms(r, &in);
	read_rows(r, &in);
	read_end(r, &in);
	if (get_u64(&in) == MARK && !in.bad)
		return r;
	record_free(r);
	return NULL;
}
