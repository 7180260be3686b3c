/*
 * access.c - cyclic, uniform and Zipf references to the pages of a set.
 *
 * The ranks of a Zipf distribution are spread over the pages by a fixed permutation, so that hot pages are
 * not neighbours. The cumulative sums and the permutation depend on the number of pages and the exponent
 * alone and are made once a host. Memory: 12 bytes a page of the set.
 *
 * The stream `xorshift` is that of the counts from real kernels (scenarios/ground-truth): xorshift64* from
 * seed * 0x9E3779B97F4A7C15 + 0x1234567, remainders for uniform pages, 53 bits for a probability; the
 * permutation is a Fisher-Yates shuffle with seed 12345. With it the simulator reads the very same pages.
 */
#include "models/workload/access.h"

#include <math.h>

#include "models/workload/registry.h"

#define SHUFFLE_SEED 12345u

const struct enum_name access_patterns[] = {
	{ "cyclic", ACCESS_CYCLIC, "one after the other, from the start again at the end" },
	{ "uniform", ACCESS_UNIFORM, "each with the same probability" },
	{ "zipf", ACCESS_ZIPF, "a few often, most seldom" },
	{ NULL, 0, NULL },
};

const struct enum_name access_streams[] = {
	{ "own", STREAM_OWN, "the task's own stream of the run's seed" },
	{ "xorshift", STREAM_XORSHIFT, "the stream of the counts from real kernels" },
	{ NULL, 0, NULL },
};

enum { MOST_RANKS = 100000000 }; /* as of distributions */

struct access_table {
	struct access_table *next;
	uint64_t nr_pages;
	double exponent;
	double *sums;       /* of the probabilities, by rank */
	uint32_t *shuffled; /* page by rank */
};

static uint64_t xorshift_seed(uint64_t seed)
{
	return seed * 0x9E3779B97F4A7C15u + 0x1234567u;
}

static uint64_t xorshift(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545F4914F6CDD1Du;
}

static struct access_table *make_table(struct host *host, uint64_t nr_pages, double exponent)
{
	struct arena *arena = sim_arena(host->sim);
	struct access_table *table = sim_alloc(host->sim, sizeof *table);
	uint64_t state = xorshift_seed(SHUFFLE_SEED);
	double sum = 0;

	table->nr_pages = nr_pages;
	table->exponent = exponent;
	table->sums = arena_array(arena, nr_pages, sizeof *table->sums);
	table->shuffled = arena_array(arena, nr_pages, sizeof *table->shuffled);
	for (uint64_t i = 0; i < nr_pages; i++) {
		sum += pow((double)(i + 1), -exponent);
		table->sums[i] = sum;
		table->shuffled[i] = (uint32_t)i;
	}
	for (uint64_t i = 0; i < nr_pages; i++)
		table->sums[i] /= sum;
	for (uint64_t i = nr_pages - 1; i > 0; i--) {
		uint64_t j = xorshift(&state) % (i + 1);
		uint32_t page = table->shuffled[i];

		table->shuffled[i] = table->shuffled[j];
		table->shuffled[j] = page;
	}
	return table;
}

static const struct access_table *find_table(struct host *host, uint64_t nr_pages, double exponent)
{
	struct access_table **tables = &host->workloads->access_tables, *table;

	for (table = *tables; table; table = table->next)
		if (table->nr_pages == nr_pages && table->exponent >= exponent && table->exponent <= exponent)
			return table;
	table = make_table(host, nr_pages, exponent);
	table->next = *tables;
	*tables = table;
	return table;
}

void access_check(const struct access_options *o, uint64_t nr_pages, const void *own, const char *key,
		  struct complaints *c)
{
	if (o->pattern == ACCESS_ZIPF && nr_pages > MOST_RANKS)
		complain(c, option_where(own, key), "%s: pattern zipf draws from at most 100 million", key);
}

void access_open(struct access *a, const struct workload_task *w, const struct access_options *o,
		 uint64_t nr_pages, const char *purpose)
{
	uint64_t replication = sim_seed(w->host->sim) - scenario_run(w->host->scenario)->seed;

	*a = (struct access){
		.pattern = (enum access_pattern)o->pattern,
		.nr_pages = nr_pages,
		.xorshift = o->stream == STREAM_XORSHIFT,
		.state = xorshift_seed(o->stream_seed + replication * o->stream_step),
	};
	stream_init(&a->stream, sim_seed(w->host->sim), w->name, purpose);
	if (a->pattern == ACCESS_ZIPF)
		a->table = find_table(w->host, nr_pages, o->exponent);
}

/* The smallest rank whose sum is not below u. */
static uint64_t rank_of(const struct access_table *table, double u)
{
	uint64_t low = 0, high = table->nr_pages - 1;

	while (low < high) {
		uint64_t middle = (low + high) / 2;

		if (table->sums[middle] < u)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static double probability(struct access *a)
{
	if (a->xorshift)
		return (double)(xorshift(&a->state) >> 11) * (1.0 / 9007199254740992.0);
	return stream_uniform(&a->stream);
}

uint64_t access_next(struct access *a)
{
	uint64_t page = 0;

	switch (a->pattern) {
	case ACCESS_CYCLIC:
		page = a->position;
		a->position = page + 1 == a->nr_pages ? 0 : page + 1;
		break;
	case ACCESS_UNIFORM:
		page = a->xorshift ? xorshift(&a->state) % a->nr_pages
				   : stream_below(&a->stream, a->nr_pages);
		break;
	case ACCESS_ZIPF:
		page = a->table->shuffled[rank_of(a->table, probability(a))];
		break;
	}
	return page;
}
