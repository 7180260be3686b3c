/*
 * test_page_counter.c - hierarchical charging: limits at any level, undo, watermark, failcnt, contention.
 */
#include "tests/host_fixture.h"

static const char tree[] = FIXTURE_BASE(4, 64, 1) "cgroups: [ { name: a, memory.max: 400KiB, children: [ { "
						  "name: b, children: [ { name: c } ] }, { name: d } ] } ]\n";

struct levels {
	struct page_counter *a, *b, *c, *d, *root;
};

static struct levels levels_of(struct fixture *f)
{
	return (struct levels){
		.root = &f->host->cgroups->root->memory,
		.a = &memcg_find(f->host, "/a")->memory,
		.b = &memcg_find(f->host, "/a/b")->memory,
		.c = &memcg_find(f->host, "/a/b/c")->memory,
		.d = &memcg_find(f->host, "/a/d")->memory,
	};
}

static void charge_and_fail(struct task *t, void *arg)
{
	struct fixture *f = arg;
	struct levels l = levels_of(f);
	struct page_counter *failed = NULL;

	assert_true(page_counter_try_charge(t, l.c, 60, &failed));
	assert_int_equal(l.c->usage, 60);
	assert_int_equal(l.b->usage, 60);
	assert_int_equal(l.a->usage, 60);
	assert_int_equal(l.root->usage, 60);
	assert_int_equal(l.d->usage, 0);

	assert_true(page_counter_try_charge(t, l.d, 40, &failed));
	assert_int_equal(l.a->usage, 100);
	assert_int_equal(l.a->watermark, 100);
	assert_null(failed);

	/* One page above the limit of the middle level: nothing is left of it on the levels below. */
	assert_false(page_counter_try_charge(t, l.c, 1, &failed));
	assert_ptr_equal(failed, l.a);
	assert_int_equal(l.a->failcnt, 1);
	assert_int_equal(l.b->failcnt, 0);
	assert_int_equal(l.c->usage, 60);
	assert_int_equal(l.b->usage, 60);
	assert_int_equal(l.a->usage, 100);
	assert_int_equal(l.a->watermark, 100);
	assert_int_equal(l.root->usage, 100);

	page_counter_uncharge(t, l.d, 40);
	page_counter_uncharge(t, l.c, 60);
	assert_int_equal(l.root->usage, 0);
	assert_int_equal(l.c->usage, 0);
	assert_int_equal(l.a->watermark, 100);
}

static void test_levels(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, tree);
	fixture_spawn(&f, 0, charge_and_fail, &f);
	fixture_run(&f);
	assert_int_equal(levels_of(&f).a->failcnt, 1); /* the task came to its end */
	fixture_close(&f);
}

/* What a walk under way has done to a level is in in_flight there: usage = usage below + in_flight. */
static void charge_once(struct task *t, void *arg)
{
	struct levels l = levels_of(arg);
	struct page_counter *failed;

	assert_true(page_counter_try_charge(t, l.c, 8, &failed));
	page_counter_uncharge(t, l.c, 8);
}

struct watched {
	struct fixture *f;
	bool half_way;
};

static void watch(struct task *t, void *arg)
{
	struct watched *w = arg;
	struct levels l = levels_of(w->f);
	const struct page_counter *path[] = { l.c, l.b, l.a, l.root };

	for (int i = 0; i < 2000; i++, cpu_work(t, SIM_NS)) {
		uint64_t below = 0;

		task_sync(t);
		for (int k = 0; k < 4; k++) {
			assert_int_equal(path[k]->usage, below + (uint64_t)path[k]->in_flight);
			below = path[k]->usage;
		}
		w->half_way |= l.c->usage == 8 && l.root->usage == 0;
	}
}

static void test_in_flight(void **state)
{
	struct fixture f;
	struct watched w = { .f = &f };

	(void)state;
	fixture_open(&f, tree);
	fixture_spawn(&f, 0, charge_once, &f);
	fixture_spawn(&f, 1, watch, &w);
	fixture_run(&f);
	assert_true(w.half_way);
	assert_int_equal(levels_of(&f).root->usage, 0);
	fixture_close(&f);
}

/* A word that every CPU writes goes round: each charge waits for the line to come over. */
#define ROUNDS 100

static void charge_often(struct task *t, void *arg)
{
	struct levels l = levels_of(arg);
	struct page_counter *failed;

	for (int i = 0; i < ROUNDS; i++)
		assert_true(page_counter_try_charge(t, l.root, 1, &failed));
	task_sync(t);
	l.root->low = sim_now(t->sim); /* of the last to get here */
}

static void test_contention(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, tree);
	for (uint32_t cpu = 0; cpu < 4; cpu++)
		fixture_spawn(&f, cpu, charge_often, &f);
	fixture_run(&f);
	assert_int_equal(levels_of(&f).root->usage, 4 * ROUNDS);
	sim_time_t transfer = f.host->machine->line_socket;

	assert_true(levels_of(&f).root->low >= (4 * ROUNDS - 1) * transfer);
	assert_true(levels_of(&f).root->low < 4 * ROUNDS * (transfer + f.host->machine->atomic) * 2);
	fixture_close(&f);
}

/* A large charge that is about to fail is in the way of a small one that would have fitted. */
struct failing {
	struct fixture *f;
	uint64_t nr;
	int times, failures;
};

static void charge_more(struct task *t, void *arg)
{
	struct failing *w = arg;
	struct page_counter *failed, *c = &memcg_find(w->f->host, "/a/d")->memory;

	for (int i = 0; i < w->times; i++) {
		if (!page_counter_try_charge(t, c, w->nr, &failed))
			w->failures++;
		else
			page_counter_uncharge(t, c, w->nr);
	}
}

static void test_speculative(void **state)
{
	struct fixture f;
	struct failing large = { &f, 101, 100, 0 }, small = { &f, 1, 1000, 0 };

	(void)state;
	fixture_open(&f, tree);
	fixture_spawn(&f, 0, charge_more, &large);
	fixture_spawn(&f, 1, charge_more, &small);
	fixture_run(&f);
	assert_int_equal(large.failures, 100);
	assert_in_range(small.failures, 1, 999);
	assert_int_equal(levels_of(&f).a->usage, 0);
	fixture_close(&f);
}

/*
 * memory.low below which usage stays: each charge writes the parent's words of protection, on a line of
 * their own from 6.1 on; above it, and without memory.low, nothing of them changes.
 */
static void charge_protected(struct task *t, void *arg)
{
	struct levels l = levels_of(arg);
	struct page_counter *failed;

	assert_true(page_counter_try_charge(t, l.d, 5, &failed));
	assert_int_equal(l.a->protection_line.owner, LINE_NOWHERE);
	l.d->low = 20;
	assert_true(page_counter_try_charge(t, l.d, 5, &failed));
	assert_int_equal(l.a->children_low_usage, 10);
	bool second = host_of(t)->kernel_version >= 601;

	assert_int_equal(l.a->protection_line.owner, second ? t->cpu->id : LINE_NOWHERE);
	assert_int_equal(l.d->protection_line.owner, second ? t->cpu->id : LINE_NOWHERE);
	assert_true(page_counter_try_charge(t, l.d, 15, &failed));
	line_init(&l.a->protection_line);
	assert_true(page_counter_try_charge(t, l.d, 5, &failed));
	assert_int_equal(l.a->children_low_usage, 20);
	assert_int_equal(l.a->protection_line.owner, LINE_NOWHERE);
	page_counter_uncharge(t, l.d, 30);
	assert_int_equal(l.a->children_low_usage, 0);
}

static void test_protection(void **state)
{
	(void)state;
	for (uint32_t version = 600; version <= 601; version++) {
		struct fixture f;

		fixture_open(&f, tree);
		f.host->kernel_version = version;
		fixture_spawn(&f, 2, charge_protected, &f);
		fixture_run(&f);
		assert_int_equal(levels_of(&f).root->usage, 0);
		fixture_close(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels),     cmocka_unit_test(test_in_flight),
		cmocka_unit_test(test_contention), cmocka_unit_test(test_speculative),
		cmocka_unit_test(test_protection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
