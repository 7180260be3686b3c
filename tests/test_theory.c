/*
 * test_theory.c - what is known without a simulator: cyclic, uniform and Zipf references to more pages than
 * there is room for.
 */
#include <math.h>
#include <unistd.h>

#include "tests/reclaim_rig.h"

#define LIMIT 2048u /* pages of memory.max */

/* What an actor reads, and what came of it. */
struct reading {
	uint64_t pages, warm, reads;
	const double *sums; /* cumulative probabilities by page; NULL: cyclic, or uniform */
	bool uniform;
	struct reference *reference;
	uint64_t misses, differences;
	double present; /* mean number of pages in the cache */
};

/* An LRU as in a textbook, of which only the size is that of the simulated cache at each moment. */
struct reference {
	uint32_t *prev, *next; /* 0 is the head of a ring; page p is p + 1 */
	bool *there;
	uint64_t nr;
};

static struct reference *reference_new(uint64_t pages)
{
	struct reference *r = calloc(1, sizeof *r);

	assert_non_null(r);
	r->prev = calloc(pages + 1, sizeof *r->prev);
	r->next = calloc(pages + 1, sizeof *r->next);
	r->there = calloc(pages + 1, sizeof *r->there);
	assert_true(r->prev && r->next && r->there);
	return r;
}

static void reference_free(struct reference *r)
{
	free(r->prev);
	free(r->next);
	free(r->there);
	free(r);
}

static void unlink_page(struct reference *r, uint32_t p)
{
	r->next[r->prev[p]] = r->next[p];
	r->prev[r->next[p]] = r->prev[p];
	r->there[p] = false;
	r->nr--;
}

/* Reads a page, then shrinks to `size`; true if it was there. */
static bool reference_read(struct reference *r, uint64_t page, uint64_t size)
{
	uint32_t p = (uint32_t)page + 1;
	bool hit = r->there[p];

	if (hit)
		unlink_page(r, p);
	r->next[p] = r->next[0];
	r->prev[p] = 0;
	r->prev[r->next[0]] = p;
	r->next[0] = p;
	r->there[p] = true;
	r->nr++;
	while (r->nr > size)
		unlink_page(r, r->prev[0]);
	return hit;
}

static uint64_t next_page(const struct reading *w, struct xorshift *random, uint64_t i)
{
	double u = (double)(xorshift_next(random) >> 11) * (1.0 / 9007199254740992.0);
	uint64_t low = 0, high = w->pages - 1;

	if (!w->sums)
		return w->uniform ? (uint64_t)(u * (double)w->pages) : i % w->pages;
	while (low < high) {
		uint64_t middle = (low + high) / 2;

		if (w->sums[middle] < u)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void read_pages(struct task *t, struct actor *a)
{
	struct reading *w = a->arg;
	struct file_object *file = file_create(a->rig->host, w->pages);
	struct xorshift random = xorshift_seed(4711);

	for (uint64_t i = 0; i < w->warm + w->reads; i++) {
		uint64_t page = next_page(w, &random, i);
		struct memcg *failed;
		bool hit = file_read(t, a->memcg, file, page, &failed) == FILE_HIT;

		if (w->reference)
			w->differences += reference_read(w->reference, page, file_present(file)) != hit;
		if (i < w->warm)
			continue;
		w->misses += !hit;
		w->present += (double)file_present(file) / (double)w->reads;
	}
}

static void simulate(struct reading *w, const char *lru)
{
	char text[512];
	struct actor actor = { .arg = w };
	struct rig rig;

	snprintf(text, sizeof text,
		 RIG_HOST(1, 64MiB, "v6.1") "policies: { reclaim: %s }\n"
					    "cgroups: [ { name: a, memory.max: %u, memory.swap.max: 0 } ]\n",
		 lru, LIMIT * PAGE_SIZE);
	rig_open(&rig, text, 0);
	rig_actor(&rig, &actor, "/a", read_pages);
	rig_run(&rig, 30);
	assert_true(actor.ended);
	rig_close(&rig);
}

/* The next page is always the one that went last. */
static void cyclic_misses_always(void **state)
{
	struct reading w = { .pages = LIMIT + 64, .warm = LIMIT + 64, .reads = 4 * (LIMIT + 64) };

	(void)state;
	simulate(&w, "classic");
	assert_int_equal(w.misses, w.reads);
	w.misses = 0;
	simulate(&w, "plain_lru");
	assert_int_equal(w.misses, w.reads);
	/* And never when there is room. */
	w = (struct reading){ .pages = LIMIT - 256, .warm = LIMIT - 256, .reads = 4 * (LIMIT - 256) };
	simulate(&w, "classic");
	assert_int_equal(w.misses, 0);
}

/* Without activation all pages are alike, and what is there is a random part of the set. */
static void uniform_hits_in_proportion(void **state)
{
	struct reading w = { .pages = 2 * LIMIT, .warm = 8 * LIMIT, .reads = 64 * LIMIT, .uniform = true };

	(void)state;
	simulate(&w, "plain_lru");
	assert_near(1 - (double)w.misses / (double)w.reads, w.present / (double)w.pages, 0.01);
	assert_true(w.present > LIMIT - 128 && w.present < LIMIT);
}

/*
 * Che, Tung and Wang, 2002: under LRU a page is there if it was read in the last T reads, where T is such
 * that the expected number of such pages is the size of the cache.
 */
static double che_hit_rate(const double *p, uint64_t pages, double size)
{
	double low = 0, high = 1e9, hits = 0;

	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2, expected = 0;

		for (uint64_t k = 0; k < pages; k++)
			expected += 1 - exp(-p[k] * middle);
		if (expected < size)
			low = middle;
		else
			high = middle;
	}
	for (uint64_t k = 0; k < pages; k++)
		hits += p[k] * (1 - exp(-p[k] * low));
	return hits;
}

static void zipf_meets_che_and_a_reference(void **state)
{
	static const double exponents[] = { 0.7, 1.0 };
	enum { PAGES = 4 * LIMIT };
	double *p = calloc(PAGES, sizeof *p), *sums = calloc(PAGES, sizeof *sums);

	(void)state;
	assert_true(p && sums);
	for (size_t e = 0; e < sizeof exponents / sizeof exponents[0]; e++) {
		struct reading w = { .pages = PAGES, .warm = 16 * LIMIT, .reads = 96 * LIMIT, .sums = sums };
		double sum = 0;

		for (uint64_t k = 0; k < PAGES; k++)
			sum += p[k] = pow((double)(k + 1), -exponents[e]);
		for (uint64_t k = 0; k < PAGES; k++) {
			p[k] /= sum;
			sums[k] = p[k] + (k ? sums[k - 1] : 0);
		}
		w.reference = reference_new(PAGES);
		simulate(&w, "plain_lru");
		assert_int_equal(w.differences, 0);
		assert_near(1 - (double)w.misses / (double)w.reads, che_hit_rate(p, PAGES, w.present), 0.01);
		reference_free(w.reference);
	}
	free(p);
	free(sums);
}

static int setup(void **state)
{
	char path[1024];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);

	(void)state;
	if (length < 0 || !modules_init())
		return -1;
	path[length] = '\0';
	strcpy(strrchr(path, '/') + 1, "plugin_lru.so");
	return modules_load(path) ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cyclic_misses_always),
		cmocka_unit_test(uniform_hits_in_proportion),
		cmocka_unit_test(zipf_meets_che_and_a_reference),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
