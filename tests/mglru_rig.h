/*
 * mglru_rig.h - the access loops of the kernel measurements (file churn, anonymous memory on zram, siblings
 * in lock step), on a host with one CPU, with the same random streams, for tests that compare counts.
 */
#ifndef TESTS_MGLRU_RIG_H
#define TESTS_MGLRU_RIG_H

#include <math.h>

#include "tests/draw.h"
#include "tests/mglru_fixture.h"

enum pattern { SEQUENTIAL, UNIFORM, ZIPF };

struct zipf {
	uint64_t n;
	double *cdf;
	uint32_t *page;
};

static inline struct zipf zipf_new(uint64_t n)
{
	struct zipf z = { .n = n, .cdf = malloc(n * sizeof *z.cdf), .page = malloc(n * sizeof *z.page) };
	struct xorshift r;
	double sum = 0;

	r = xorshift_seed(12345);
	for (uint64_t i = 0; i < n; i++) {
		sum += pow((double)(i + 1), -0.99);
		z.cdf[i] = sum;
		z.page[i] = (uint32_t)i;
	}
	for (uint64_t i = 0; i < n; i++)
		z.cdf[i] /= sum;
	for (uint64_t i = n - 1; i > 0; i--) {
		uint64_t j = xorshift_next(&r) % (i + 1);
		uint32_t swapped = z.page[i];

		z.page[i] = z.page[j];
		z.page[j] = swapped;
	}
	return z;
}

static inline uint64_t zipf_draw(const struct zipf *z, struct xorshift *r)
{
	double u = (double)(xorshift_next(r) >> 11) * (1.0 / 9007199254740992.0);
	uint64_t lo = 0, hi = z->n - 1;

	while (lo < hi) {
		uint64_t middle = (lo + hi) / 2;

		if (z->cdf[middle] < u)
			lo = middle + 1;
		else
			hi = middle;
	}
	return z->page[lo];
}

/* ---- what a pass counted ---- */

enum count { MISSES, REFAULT, ACTIVATE, RESTORE, SCAN, STEAL, REFILL, PGACT, MAX, NR_COUNTS };

struct counts {
	int64_t of[NR_COUNTS];
	int64_t active, inactive; /* at the end */
};

static const char *const count_names[] = { "misses", "refault", "activate",   "restore", "scan",
					   "steal",  "refill",  "pgactivate", "max" };

static inline struct counts counts_now(const struct memcg *m, enum lru_type type, uint64_t misses)
{
	enum stat_item file = type == LRU_FILE ? 1 : 0;

	return (struct counts){
		.of = { (int64_t)misses, stat_truth(m, WORKINGSET_REFAULT_ANON + file),
			stat_truth(m, WORKINGSET_ACTIVATE_ANON + file),
			stat_truth(m, WORKINGSET_RESTORE_ANON + file), stat_truth(m, PGSCAN_DIRECT),
			stat_truth(m, PGSTEAL_DIRECT), stat_truth(m, PGREFILL), stat_truth(m, PGACTIVATE),
			(int64_t)m->events[EVENT_MAX] },
		.active = stat_truth(m, NR_ACTIVE_ANON + 2 * file),
		.inactive = stat_truth(m, NR_INACTIVE_ANON + 2 * file),
	};
}

/* ---- one cgroup ---- */

#define MOST_PASSES 9

struct churn {
	struct mglru_fixture x;
	enum lru_type type;
	enum pattern pattern;
	uint64_t pages, reads, seed; /* of the file or range; of a random pass */
	uint32_t passes;
	struct counts passed[MOST_PASSES]; /* differences; anonymous memory: [0] is the population */
};

static inline void churn_task(struct task *t, void *arg)
{
	struct churn *c = (struct churn *)(void *)((char *)arg - offsetof(struct churn, x));
	struct memcg *m = c->x.m;
	struct xorshift r;
	struct zipf z = { 0 };
	struct file_object *f = NULL;
	struct anon_object *a = NULL;
	uint64_t position = NO_INDEX, misses = 0;

	if (c->pattern == ZIPF)
		z = zipf_new(c->pages);
	if (c->type == LRU_FILE)
		f = file_create(c->x.host, c->pages);
	else
		a = anon_create(c->x.host, m, c->pages);
	r = xorshift_seed(c->seed);
	for (uint32_t pass = c->type == LRU_FILE; pass <= c->passes; pass++) {
		bool in_order = !pass || c->pattern == SEQUENTIAL;
		struct counts before, after;

		task_sync(t);
		before = counts_now(m, c->type, misses);
		for (uint64_t i = 0; i < (in_order ? c->pages : c->reads); i++) {
			uint64_t page = in_order                ? i
					: c->pattern == UNIFORM ? xorshift_next(&r) % c->pages
								: zipf_draw(&z, &r);

			if (f) {
				misses += file_read_open(t, m, f, page, &position, NULL) == FILE_MISS;
			} else {
				misses += !anon_is_present(a, page);
				anon_touch(t, a, page, NULL);
			}
			user_work(t, 100 * SIM_NS);
		}
		task_sync(t);
		after = counts_now(m, c->type, misses);
		c->passed[pass] = after;
		for (int k = 0; k < NR_COUNTS; k++)
			c->passed[pass].of[k] -= before.of[k];
	}
	free(z.cdf);
	free(z.page);
}

/* ---- two in lock step under one limit: /g/hot and /g/stream ---- */

struct siblings {
	struct mglru_fixture x;
	enum pattern pattern;      /* of the hot one: SEQUENTIAL is cyclic */
	uint64_t reads, of_stream; /* a round */
	uint64_t nr_reads;         /* of the hot one in the second half */
	struct counts hot;         /* in the second half */
};

static inline void siblings_task(struct task *t, void *arg)
{
	enum { HOT_PAGES = 6144, STREAM_PAGES = 65536 };
	struct siblings *s = (struct siblings *)(void *)((char *)arg - offsetof(struct siblings, x));
	struct memcg *hot = memcg_find(s->x.host, "/g/hot"), *stream = memcg_find(s->x.host, "/g/stream");
	struct file_object *hot_file = file_create(s->x.host, HOT_PAGES);
	struct file_object *stream_file = file_create(s->x.host, STREAM_PAGES);
	uint64_t position = NO_INDEX, stream_position = NO_INDEX, at = 0, stream_at = 0, misses = 0;
	uint64_t rounds = 2 * STREAM_PAGES / s->of_stream;
	struct counts before = { .active = 0 };
	struct xorshift r;

	r = xorshift_seed(3000);
	if (rounds * s->reads < 8 * HOT_PAGES)
		rounds = 8 * HOT_PAGES / s->reads;
	for (uint64_t round = 0; round < rounds / 2 * 2; round++) {
		task_sync(t);
		if (round == rounds / 2)
			before = counts_now(hot, LRU_FILE, misses);
		for (uint64_t i = 0; i < s->reads; i++) {
			uint64_t page = s->pattern == UNIFORM ? xorshift_next(&r) % HOT_PAGES
							      : at++ % HOT_PAGES;

			misses += file_read_open(t, hot, hot_file, page, &position, NULL) == FILE_MISS;
			user_work(t, 100 * SIM_NS);
		}
		for (uint64_t i = 0; i < s->of_stream; i++) {
			file_read_open(t, stream, stream_file, stream_at++ % STREAM_PAGES, &stream_position,
				       NULL);
			user_work(t, 100 * SIM_NS);
		}
	}
	task_sync(t);
	s->hot = counts_now(hot, LRU_FILE, misses);
	s->nr_reads = rounds / 2 * s->reads;
	for (int k = 0; k < NR_COUNTS; k++)
		s->hot.of[k] -= before.of[k];
}

#endif
