/*
 * test_anon_path.c - the anonymous fault and zap: counts of statistics updates as a 6.1 kernel makes them,
 * the time of a page as the sum of its parts, and what must hold of pages.
 */
#include "models/host/costs.h"
#include "models/page/page_impl.h"
#include "models/stat/stat.h"
#include "tests/host_fixture.h"

static const char two_levels[] = FIXTURE_BASE(4, 64,
					      1) "cgroups: [ { name: p, children: [ { name: c } ] } ]\n";

struct anon_test {
	struct fixture f;
	struct anon_object *a;
	struct memcg *m;
};

static void open_test(struct anon_test *x, const char *text, uint64_t pages)
{
	fixture_open(&x->f, text);
	x->m = memcg_find(x->f.host, "/p/c");
	x->a = anon_create(x->f.host, x->m, pages);
}

static void close_test(struct anon_test *x)
{
	assert_true(fixture_holds(&x->f));
	fixture_close(&x->f);
}

static void touch(struct task *t, struct anon_test *x, uint64_t from, uint64_t nr)
{
	for (uint64_t i = from; i < from + nr; i++)
		assert_true(anon_touch(t, x->a, i, NULL));
}

/* ---- counts: rows E5f of kernel 6.1, one CPU ---- */

static void expect_calls(struct task *t, struct anon_test *x, struct stat_calls *before, uint64_t lruvec,
			 uint64_t events, uint64_t event_sum)
{
	task_sync(t);
	const struct stat_calls *now = stat_calls(x->f.host);

	assert_int_equal(now->calls[STAT_LRUVEC] - before->calls[STAT_LRUVEC], lruvec);
	assert_int_equal(now->absval[STAT_LRUVEC] - before->absval[STAT_LRUVEC], lruvec);
	assert_int_equal(now->calls[STAT_EVENT] - before->calls[STAT_EVENT], events);
	assert_int_equal(now->absval[STAT_EVENT] - before->absval[STAT_EVENT], event_sum);
	*before = *now;
}

/* The guest's process touches one page under each page table first, and skips those later. */
static void fault_1024(struct task *t, struct anon_test *x)
{
	for (uint64_t i = 0, done = 0; done < 1024; i++)
		if (i % 512) {
			assert_true(anon_touch(t, x->a, i, NULL));
			done++;
		}
}

static void count_updates(struct task *t, void *arg)
{
	struct anon_test *x = arg;
	struct stat_calls before = { 0 };

	for (uint64_t i = 0; i < 4096; i += 512)
		touch(t, x, i, 1);
	/* 8 pages and page tables; nothing is on the LRU yet. */
	expect_calls(t, x, &before, 16, 16, 16);
	/* NR_ANON_MAPPED and two events a page; 68 batches of 15 on the LRU, 12 pages still wait. */
	fault_1024(t, x);
	expect_calls(t, x, &before, 1024 + 1020, 2048, 2048);
	/* Those 12 are put on their list first; then two updates a page; 8 + 510 + 509 pages uncharged. */
	anon_zap(t, x->a, 0, 1027);
	expect_calls(t, x, &before, 12 + 2 * 1027, 3, 1027);
	fault_1024(t, x);
	expect_calls(t, x, &before, 1024 + 1020, 2048, 2048);
	/*
	 * 1,024 and the 5 left of the first 8; 4 from the batch; 8 page tables. The kernel: 2070/2070,
	 * 4/1029.
	 */
	anon_unmap(t, x->a);
	expect_calls(t, x, &before, 4 + 2 * 1029 + 8, 4, 1029);
	assert_int_equal(anon_present(x->a), 0);
	task_sleep(t, 100 * SIM_MS); /* page tables are freed after a grace period */
	assert_int_equal(x->m->nr_charged, 0);
	assert_int_equal(stat_truth(x->m, MEMCG_KMEM), 0);
	assert_int_equal(stat_truth(x->f.host->cgroups->root, NR_PAGETABLE), 0);
	assert_int_equal(stat_truth(x->m, PGPGIN), 1024 + 1024 + 8);
}

static void test_counts(void **state)
{
	struct anon_test x = { 0 };

	(void)state;
	open_test(&x, two_levels, 4096);
	fixture_spawn(&x.f, 0, count_updates, &x);
	fixture_run(&x.f);
	close_test(&x);
}

/* ---- a fault that finds everything at hand is one step ---- */

static void count_steps(struct task *t, void *arg)
{
	struct anon_test *x = arg;

	touch(t, x, 0, 3); /* stock, free list, page table, updated list */
	for (uint64_t i = 3; i < 14; i++) {
		uint64_t before = sim_events(t->sim);
		sim_time_t clock = t->clock;

		touch(t, x, i, 1);
		assert_int_equal(sim_events(t->sim) - before, 1);
		assert_int_equal(sim_now(t->sim), clock); /* all of it at the instant of the fault */
	}
	sim_time_t clock = t->clock;

	touch(t, x, 5, 1); /* there already */
	assert_int_equal(t->clock - clock, x->f.host->costs->touch);
	anon_unmap(t, x->a);
}

static void test_one_step(void **state)
{
	struct anon_test x = { 0 };

	(void)state;
	open_test(&x, two_levels, 64);
	fixture_spawn(&x.f, 0, count_steps, &x);
	fixture_run(&x.f);
	close_test(&x);
}

/* ---- the time of a page is the sum of its parts ---- */

#define W1_PAGES  8192
#define W1_ROUNDS 4
#define W1_NS     228.46 /* seed 1, w1, base: 4,377,122 pages/s */

struct part {
	const char *name;
	double ns;
};

static double ns(sim_time_t t)
{
	return sim_nanoseconds(t);
}

/* A locked section on lines that nobody else uses: taken with an atomic operation, let go with a store. */
static double lock_ns(const struct machine *m)
{
	return ns(m->line_hit + m->atomic) + ns(m->line_hit);
}

/* Fills in what the path is made of, per page; returns how many parts. */
static size_t parts_of(const struct host *host, struct part parts[16])
{
	const struct kernel_costs *c = host->costs;
	const struct machine *m = host->machine;
	double level = ns(m->line_hit + m->atomic), levels = 2; /* the cgroup and the root */
	double batch = host->pages->batch, charged = host->charge_batch;
	size_t n = 0;

	parts[n++] = (struct part){ "fault entry and exit", ns(c->fault_entry) };
	parts[n++] = (struct part){ "store", ns(c->touch) };
	parts[n++] = (struct part){ "clearing", ns(c->page_clear) };
	parts[n++] = (struct part){ "allocation and freeing", ns(c->page_alloc + c->page_free) };
	parts[n++] = (struct part){ "zone lists, 63 pages a lock", 2 * (ns(c->zone_page) + lock_ns(m) / 63) };
	parts[n++] = (struct part){ "rmap and page table, in and out", ns(c->rmap_add + c->rmap_remove) };
	parts[n++] = (struct part){ "charge: stock and owner", ns(c->consume_stock + c->charge_commit) };
	parts[n++] = (struct part){ "charge: counters, a batch at a time",
				    (levels * level + ns(c->refill_stock)) / charged };
	parts[n++] = (struct part){ "uncharge", ns(c->uncharge) + levels * level / 510 };
	parts[n++] = (struct part){ "folio batch and list, in and out",
				    ns(c->batch_add + c->lru_add + c->lru_del) };
	parts[n++] = (struct part){ "lruvec lock, in and out", lock_ns(m) / batch + lock_ns(m) / 32 };
	parts[n++] = (struct part){ "six statistics updates", 6 * ns(c->stat_update + c->rstat_check) };
	return n;
}

struct w1 {
	struct anon_test x;
	double ns_per_page;
};

static void churn(struct task *t, void *arg)
{
	struct w1 *w = arg;

	w->x.m = memcg_find(w->x.f.host, "/w");
	w->x.a = anon_create(w->x.f.host, w->x.m, W1_PAGES);
	touch(t, &w->x, 0, W1_PAGES);
	anon_zap(t, w->x.a, 0, W1_PAGES);
	task_sync(t);
	sim_time_t began = sim_now(t->sim);

	for (int round = 0; round < W1_ROUNDS; round++) {
		touch(t, &w->x, 0, W1_PAGES);
		anon_zap(t, w->x.a, 0, W1_PAGES);
	}
	task_sync(t);
	w->ns_per_page = ns(sim_now(t->sim) - began) / (W1_PAGES * W1_ROUNDS);
	anon_unmap(t, w->x.a);
}

static void test_w1(void **state)
{
	struct w1 w = { 0 };
	struct part parts[16];
	double sum = 0;

	(void)state;
	fixture_open(&w.x.f, "schema: 1\nscenario: w1\nhost: { machine: epyc-guest }\nkernel: v6.6\n"
			     "cgroups: [ { name: w } ]\n");
	fixture_spawn(&w.x.f, 0, churn, &w);
	fixture_run(&w.x.f);
	size_t n = parts_of(w.x.f.host, parts);

	for (size_t i = 0; i < n; i++) {
		print_message("%-40s %7.2f ns\n", parts[i].name, parts[i].ns);
		sum += parts[i].ns;
	}
	print_message("%-40s %7.2f ns\n%-40s %7.2f ns\n", "sum", sum, "simulated", w.ns_per_page);
	/*
	 * Beside the parts there are calls per round, shares of batches that do not divide, and the
	 * threshold.
	 */
	assert_true(w.ns_per_page > sum - 0.5 && w.ns_per_page < sum + 1.5);
	/* fault_entry was fitted to this: it guards against changes unawares, and confirms nothing. */
	assert_true(w.ns_per_page > W1_NS * 0.98 && w.ns_per_page < W1_NS * 1.02);
	close_test(&w.x);
}

/* ---- a page in the batch of a CPU that its task has left ---- */

static void leave_batch(struct task *t, void *arg)
{
	struct anon_test *x = arg;

	touch(t, x, 0, 4);
	task_pin(t, 1);
	anon_zap(t, x->a, 0, 4);
	task_sync(t);
	/* Nobody maps them any more, but CPU 0's batch still holds them: charged, and on no list. */
	assert_int_equal(anon_present(x->a), 0);
	assert_int_equal(x->m->nr_charged - x->m->nr_kmem, 4);
	assert_int_equal(stat_truth(x->m, NR_ANON_MAPPED), 0);
	assert_int_equal(stat_truth(x->m, NR_INACTIVE_ANON), 0);
	lru_add_drain_all(t);
	task_sync(t);
	assert_int_equal(x->m->nr_charged - x->m->nr_kmem, 0);
	assert_int_equal(stat_truth(x->m, NR_INACTIVE_ANON), 0);
	assert_int_equal(stat_truth(x->m, PGPGOUT), 4);
	assert_int_equal(frames_used(x->f.host), 1); /* the page table */
}

static void test_left_batch(void **state)
{
	struct anon_test x = { 0 };

	(void)state;
	open_test(&x, two_levels, 64);
	fixture_spawn(&x.f, 0, leave_batch, &x);
	fixture_run(&x.f);
	close_test(&x);
}

/* ---- no frame left ---- */

static void use_all(struct task *t, void *arg)
{
	struct anon_test *x = arg;
	struct memcg *level = x->m;
	/* All but what lies below the min mark, 64 pages, and two page tables. */
	uint64_t pages = x->f.host->memory / PAGE_SIZE - 64 - 2;

	touch(t, x, 0, pages);
	assert_int_equal(frames_used(x->f.host), pages + 2);
	assert_false(anon_touch(t, x->a, pages, &level));
	assert_null(level); /* not a limit's fault */
	anon_zap(t, x->a, 0, 1);
	assert_true(anon_touch(t, x->a, pages, &level));
	anon_unmap(t, x->a);
}

static void test_all_frames(void **state)
{
	struct anon_test x = { 0 };

	(void)state;
	open_test(&x,
		  "schema: 1\nscenario: small\nhost: { cpus: 1, nodes: 1, memory: 4MiB }\nkernel: v6.1\n"
		  "cgroups: [ { name: p, children: [ { name: c } ] } ]\n",
		  2000);
	fixture_spawn(&x.f, 0, use_all, &x);
	fixture_run(&x.f);
	close_test(&x);
}

/* ---- merged steps and single steps give the same ---- */

struct worker {
	struct fixture *f;
	const char *path;
	sim_time_t ended;
};

static void work_a_while(struct task *t, void *arg)
{
	struct worker *w = arg;
	struct anon_object *a = anon_create(w->f->host, memcg_find(w->f->host, w->path), 700);

	for (int round = 0; round < 5; round++) {
		for (uint64_t i = 0; i < 700; i++) {
			assert_true(anon_touch(t, a, i, NULL));
			user_work(t, 3 * SIM_NS);
		}
		anon_zap(t, a, 100, 500);
	}
	anon_unmap(t, a);
	task_sync(t);
	w->ended = sim_now(t->sim);
}

static void run_workers(struct worker workers[3], bool naive)
{
	struct fixture f;
	static const char *const paths[] = { "/p/c", "/p/d", "/p/c" };

	fixture_open_as(
		&f,
		FIXTURE_BASE(4, 64, 1) "cgroups: [ { name: p, children: [ { name: c }, { name: d } ] } ]\n",
		naive);
	for (uint32_t i = 0; i < 3; i++) {
		workers[i] = (struct worker){ .f = &f, .path = paths[i] };
		fixture_spawn(&f, i, work_a_while, &workers[i]);
	}
	fixture_run(&f);
	assert_true(fixture_holds(&f));
	fixture_close(&f);
}

static void test_naive(void **state)
{
	struct worker merged[3], naive[3];

	(void)state;
	run_workers(merged, false);
	run_workers(naive, true);
	for (int i = 0; i < 3; i++) {
		assert_true(merged[i].ended > 0);
		assert_int_equal(merged[i].ended, naive[i].ended);
	}
}

/* ---- what the invariants are for ---- */

static void leave_pages(struct task *t, void *arg)
{
	touch(t, arg, 0, 20);
}

static void test_broken(void **state)
{
	struct anon_test x = { 0 };

	(void)state;
	open_test(&x, two_levels, 64);
	fixture_spawn(&x.f, 0, leave_pages, &x);
	fixture_run(&x.f);
	struct host *host = x.f.host;
	frame_t frame = host->pages->zones[0].first + 1; /* the first after the page table */
	struct page *page = page_of(host, frame);

	assert_true(page->flags & PG_LRU);
	page->flags ^= PG_CHARGED;
	fixture_expect_broken(&x.f, pages_check, "pages charged");
	page->flags ^= PG_CHARGED | PG_MAPPED;
	fixture_expect_broken(&x.f, pages_check, "anon counts");
	page->flags ^= PG_MAPPED;
	page->index++;
	fixture_expect_broken(&x.f, pages_check, "pages of objects");
	page->index--;
	memcg_lruvec(x.m, 0)->lru_zone_size[LRU_INACTIVE_ANON]++;
	fixture_expect_broken(&x.f, pages_check, "I5");
	memcg_lruvec(x.m, 0)->lru_zone_size[LRU_INACTIVE_ANON]--;
	uint32_t next = page->next, prev = page->prev;

	page->next = page->prev = frame; /* a list bent back on itself */
	fixture_expect_broken(&x.f, pages_check, "I5");
	page->next = next;
	page->prev = prev;
	close_test(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),     cmocka_unit_test(test_one_step),
		cmocka_unit_test(test_w1),         cmocka_unit_test(test_left_batch),
		cmocka_unit_test(test_all_frames), cmocka_unit_test(test_naive),
		cmocka_unit_test(test_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
