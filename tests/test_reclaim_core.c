/*
 * test_reclaim_core.c - the loop over priorities, the walk over cgroups with its early stop, the retries of a
 * call that gets nothing, and kswapd and direct reclaim of a machine that is full.
 */
#include "tests/reclaim_rig.h"

#define GROUPS 6u

#define SIBLINGS                                                                                            \
	RIG_HOST(1, 256MiB, "v6.1")                                                                         \
	"cgroups: [ { name: p, memory.swap.max: 0, children: [ { name: \"c{0..5}\" } ] }, { name: empty } " \
	"]\n"

/* ---- who gives how much: pages read once in each of six siblings, then calls of reclaim ---- */

struct walk {
	uint64_t want, calls;
	uint64_t taken[GROUPS]; /* from each */
};

static void fill_and_reclaim(struct task *t, struct actor *a)
{
	struct walk *w = a->arg;
	struct file_object *f[GROUPS];
	struct memcg *p = memcg_find(a->rig->host, "/p");

	for (uint32_t i = 0; i < GROUPS; i++) {
		char path[16];

		snprintf(path, sizeof path, "/p/c%u", i);
		f[i] = file_create(a->rig->host, 100);
		for (uint64_t k = 0; k < 100; k++)
			file_read(t, memcg_find(a->rig->host, path), f[i], k, NULL);
	}
	for (uint64_t i = 0; i < w->calls; i++)
		reclaim_memcg(t, p, w->want, true, false);
	for (uint32_t i = 0; i < GROUPS; i++)
		w->taken[i] = 100 - file_present(f[i]);
}

static void run_walk(struct walk *w, uint32_t version)
{
	struct rig r;
	struct actor a = { .arg = w };

	rig_open(&r, SIBLINGS, version);
	rig_actor(&r, &a, "/empty", fill_and_reclaim);
	rig_run(&r, 1);
	assert_true(a.ended);
	rig_close(&r);
}

/* The same by arithmetic: size >> priority of each list, all of them or until there is enough. */
static void expected(const struct walk *w, bool stop, uint64_t taken[GROUPS])
{
	uint32_t at = GROUPS; /* the next of the walk; GROUPS: the parent, which has no pages */

	for (uint32_t i = 0; i < GROUPS; i++)
		taken[i] = 0;
	for (uint64_t call = 0; call < w->calls; call++) {
		uint64_t got = 0;

		for (int priority = 12; priority >= 0 && got < w->want; priority--) {
			if (at == GROUPS || !stop)
				at = 0;
			for (; at < GROUPS; at++) {
				uint64_t now = (100 - taken[at]) >> priority;

				taken[at] += now;
				got += now;
				if (stop && got >= w->want) {
					at++;
					break;
				}
			}
			if (stop && got >= w->want)
				break;
		}
	}
}

static void test_full_walk(void **state)
{
	struct walk w = { .want = 32, .calls = 3 };
	uint64_t taken[GROUPS];

	(void)state;
	run_walk(&w, 601);
	expected(&w, false, taken);
	for (uint32_t i = 0; i < GROUPS; i++)
		assert_int_equal(w.taken[i], taken[i]);
	assert_int_equal(w.taken[0], w.taken[GROUPS - 1]);
}

static void test_early_stop(void **state)
{
	struct walk w = { .want = 32, .calls = 1 };
	uint64_t taken[GROUPS];

	(void)state;
	run_walk(&w, 612);
	expected(&w, true, taken);
	for (uint32_t i = 0; i < GROUPS; i++)
		assert_int_equal(w.taken[i], taken[i]);
	assert_true(w.taken[0] > w.taken[GROUPS - 1]);
}

/* ---- a call that can get nothing: passes, as counted by the flush that each begins with ---- */

static void hopeless(struct task *t, struct actor *a)
{
	const struct flush_count *count = stat_flush_count(a->rig->host);
	uint64_t *passes = a->arg, before;

	task_sync(t);
	before = count->calls[FLUSH_RECLAIM];
	assert_int_equal(reclaim_memcg(t, a->memcg, 1, true, false), 0);
	*passes = count->calls[FLUSH_RECLAIM] - before;
}

static uint64_t hopeless_passes(uint32_t version)
{
	uint64_t passes = 0;
	struct rig r;
	struct actor a = { .arg = &passes };

	rig_open(&r, SIBLINGS, version);
	rig_actor(&r, &a, "/empty", hopeless);
	rig_run(&r, 1);
	assert_true(a.ended);
	rig_close(&r);
	return passes;
}

static void test_retries(void **state)
{
	(void)state;
	assert_int_equal(hopeless_passes(601), 13);
	assert_int_equal(hopeless_passes(612), 26);
}

/* ---- the machine ---- */

static void scan_files(struct task *t, struct actor *a)
{
	struct host *host = a->rig->host;
	struct file_object *f = file_create(host, 100000);
	uint64_t least = UINT64_MAX;

	for (uint64_t i = 0; i < 100000; i++) {
		assert_int_equal(file_read(t, a->memcg, f, i, NULL), FILE_MISS);
		if (node_free(host, 0) < least)
			least = node_free(host, 0);
	}
	/* A refill of the CPU's list may go below the mark, by less than a batch. */
	assert_true(least + 64 > node_watermark(host, 0, WMARK_MIN));
}

static void test_machine(void **state)
{
	struct rig r;
	struct actor a = { 0 };

	(void)state;
	rig_open(&r, RIG_HOST(1, 64MiB, "v6.1") "cgroups: [ { name: c } ]\n", 0);
	rig_actor(&r, &a, "/c", scan_files);
	rig_run(&r, 5);
	assert_true(a.ended);
	assert_true(stat_truth(a.memcg, PGSTEAL_KSWAPD) > 50000);
	assert_true(stat_truth(a.memcg, PGSTEAL_KSWAPD) > 4 * stat_truth(a.memcg, PGSTEAL_DIRECT));
	assert_int_equal(a.memcg->events[EVENT_MAX], 0);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full_walk),
		cmocka_unit_test(test_early_stop),
		cmocka_unit_test(test_retries),
		cmocka_unit_test(test_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
