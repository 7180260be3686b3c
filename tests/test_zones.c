/*
 * test_zones.c - a node's two zones: their marks, which is used when, what ends kswapd's work; how much goes
 * from a CPU's list to its zone; and that MGLRU leaves the pages of ZONE_DMA for last.
 */
#include "models/reclaim/mglru.h"
#include "tests/reclaim_rig.h"

#define GUEST RIG_HOST(1, 207000KiB, "v6.1") "cgroups: [ { name: c } ]\n"
#define ALL   51750u
#define DMA   3840u
#define BATCH 15u
#define MOST  (4 * BATCH) /* on a CPU's list while kswapd is at work */
#define FILE_ 60000u

static struct page_zone *ordinary(const struct actor *a)
{
	return &a->rig->host->pages->zones[0];
}
static struct page_zone *dma(const struct actor *a)
{
	return &a->rig->host->pages->zones[1];
}

static void run_as(const char *text, uint32_t version, void (*act)(struct task *t, struct actor *a))
{
	struct rig r;
	struct actor a = { 0 };

	rig_open(&r, text, version);
	rig_actor(&r, &a, "/c", act);
	rig_run(&r, 20);
	assert_true(a.ended);
	rig_close(&r);
}

/* ---- marks: those that a guest with so much memory reports ---- */

static void marks(struct task *t, struct actor *a)
{
	static const uint64_t of_ordinary[] = { 420, 525, 630 }, of_dma[] = { 33, 41, 49 };
	struct host *host = a->rig->host;

	(void)t;
	assert_int_equal(ordinary(a)->nr_free + dma(a)->nr_free, ALL);
	for (int mark = 0; mark < NR_WMARKS; mark++) {
		assert_int_equal(ordinary(a)->watermark[mark], of_ordinary[mark]);
		assert_int_equal(dma(a)->watermark[mark], of_dma[mark]);
		assert_int_equal(node_watermark(host, 0, (enum watermark)mark),
				 of_ordinary[mark] + of_dma[mark]);
	}
	assert_int_equal(ordinary(a)->reserve, 0);
	assert_int_equal(dma(a)->reserve, (ALL - DMA) / 256);

	const uint64_t had[] = { ordinary(a)->nr_free, dma(a)->nr_free };

	ordinary(a)->nr_free = 630;
	dma(a)->nr_free = 49 + 187;
	assert_false(node_above(host, 0, WMARK_HIGH));
	dma(a)->nr_free++;
	assert_true(node_above(host, 0, WMARK_HIGH)); /* one is enough */
	assert_false(node_all_above(host, 0, WMARK_HIGH, 0));
	ordinary(a)->nr_free++;
	assert_true(node_all_above(host, 0, WMARK_HIGH, 0));
	assert_false(node_all_above(host, 0, WMARK_HIGH, 1));
	ordinary(a)->nr_free = had[0];
	dma(a)->nr_free = had[1];
}

static void test_marks(void **state)
{
	(void)state;
	run_as(GUEST, 0, marks);
	/* What is as small as that has no old devices. */
	struct rig r;

	rig_open(&r, RIG_HOST(1, 32MiB, "v6.1"), 0);
	assert_int_equal(r.host->pages->nr_zones, 1);
	assert_int_equal(r.host->pages->zones[0].nr_free, 8192);
	rig_close(&r);
}

/* ---- allocation: ordinary frames, then ZONE_DMA's, then kswapd ---- */

static void fill(struct task *t, struct actor *a)
{
	struct file_object *f = file_create(a->rig->host, FILE_);
	uint64_t i = 0, least = UINT64_MAX;

	while (dma(a)->nr_free == DMA)
		file_read(t, a->memcg, f, i++, NULL);
	assert_in_range(ordinary(a)->nr_free, 525 - BATCH, 525);
	while (!stat_truth(a->memcg, PGSTEAL_KSWAPD)) {
		least = dma(a)->nr_free;
		file_read(t, a->memcg, f, i++, NULL);
	}
	assert_in_range(least, 41 + 187 - BATCH, 41 + 187 + 1);
	/* From here on a run ends soon after one of the zones is above its mark. */
	uint64_t most = 0;

	for (; i < FILE_; i++) {
		uint64_t nr = node_free(a->rig->host, 0);

		most = nr > most ? nr : most;
		file_read(t, a->memcg, f, i, NULL);
	}
	assert_in_range(most, 49 + 187, 1100);
	/* A run brings 100 to 200 pages, and is one pass or more. */
	const struct reclaim_calls *calls = &a->rig->host->reclaim->calls;
	uint64_t stolen = (uint64_t)stat_truth(a->memcg, PGSTEAL_KSWAPD);

	assert_in_range(calls->kswapd, stolen / 200, stolen / 50);
	assert_true(calls->nodes >= calls->kswapd);
	assert_int_equal(calls->memcg, 0);
}

static void test_order(void **state)
{
	(void)state;
	run_as(GUEST, 0, fill);
}

/* ---- free_unref_page(): a batch, twice, four times as much as long as nothing is taken ---- */

static void give_and_take(struct task *t, struct actor *a)
{
	struct host *host = a->rig->host;
	struct page_zone *zone = ordinary(a);
	frame_t frames[8 * MOST];
	uint64_t nr_free;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < 8 * MOST; i++)
		frames[i] = frame_alloc(t, host);
	frames_drain(t, host);
	zone->reclaiming = true;
	nr_free = zone->nr_free;
	/* 15 of 60; the 15 missing, then 30 of 60; from then on 45 of 60. */
	static const uint32_t freed[] = { MOST, BATCH, 2 * BATCH, 3 * BATCH }, back[] = { 1, 2, 3, 3 };

	for (uint32_t step = 0; step < 4; step++) {
		for (uint32_t i = 0; i < freed[step]; i++) {
			assert_int_equal(zone->nr_free, nr_free);
			frame_free(t, host, frames[nr++]);
		}
		nr_free += back[step] * BATCH;
		assert_int_equal(zone->nr_free, nr_free);
	}
	/* Taking halves it: 15 are left and a fourth of the next is 15 again. */
	for (uint32_t i = 0; i < 2; i++)
		frames[--nr] = frame_alloc(t, host);
	for (uint32_t i = 0; i < 2 + 3 * BATCH; i++)
		frame_free(t, host, frames[nr++]);
	assert_int_equal(zone->nr_free, nr_free + BATCH);
	zone->reclaiming = false;
	while (nr < 8 * MOST)
		frame_free(t, host, frames[nr++]);
}

static void test_lists(void **state)
{
	(void)state;
	run_as(GUEST, 0, give_and_take);
}

/* ---- MGLRU: lists by zone ---- */

static uint64_t in_dma(const struct actor *a)
{
	const struct page_state *ps = a->rig->host->pages;
	uint64_t nr = 0;

	for (frame_t frame = 1; frame < ps->dma_end; frame++)
		nr += ps->pages[frame].memcg == a->memcg->id && ps->pages[frame].flags & PG_LRU;
	return nr;
}

static void reclaim_until(struct task *t, struct actor *a, const struct file_object *f, uint64_t nr)
{
	while (file_present(f) > nr) {
		uint64_t before = a->rig->host->reclaim->calls.memcg;

		assert_true(reclaim_memcg(t, a->memcg, 64, false, false) > 0);
		assert_int_equal(a->rig->host->reclaim->calls.memcg, before + 1);
	}
}

static void reclaim_by_zones(struct task *t, struct actor *a)
{
	struct file_object *f = file_create(a->rig->host, FILE_);
	uint64_t i = 0;

	/* Until kswapd has something to do; all pages are of one generation. */
	while (!stat_truth(a->memcg, PGSTEAL_KSWAPD))
		file_read(t, a->memcg, f, i++, NULL);
	lru_add_drain(t);
	uint64_t low = in_dma(a);

	assert_true(low > 3000);
	reclaim_until(t, a, f, low + 1000);
	assert_int_equal(in_dma(a), low);
	reclaim_until(t, a, f, low - 200);
	assert_true(in_dma(a) < low);
}

static void test_mglru(void **state)
{
	(void)state;
	run_as("policies: { reclaim: mglru }\n" GUEST, 0, reclaim_by_zones);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_mglru),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
