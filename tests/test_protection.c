/*
 * test_protection.c - memory.min and memory.low: effective values by the kernel's formula, and what reclaim
 * leaves of siblings in a real 6.1.
 */
#include "tests/reclaim_rig.h"

#define TREE(vm_)                                                                                    \
	RIG_HOST(1, 256MiB, "v6.1")                                                                  \
	vm_ "cgroups: [ { name: p, memory.low: 400KiB, children: [ { name: a, memory.low: 800KiB }," \
	    " { name: b, memory.low: 200KiB }, { name: c } ] } ]\n"

/* Sets usage without charges, for formulas alone. */
static void use(struct memcg *m, uint64_t pages)
{
	struct page_counter *c = &m->memory;
	uint64_t protected = pages < c->low ? pages : c->low;

	c->usage = pages;
	c->parent->children_low_usage += protected - c->low_usage;
	c->low_usage = protected;
}

static uint64_t effective_low(struct rig *r, const char *path)
{
	struct memcg *root = r->host->cgroups->root, *m = memcg_find(r->host, path);
	struct scan_control sc = { .target = root };

	if (m->parent != root)
		memcg_protection(root, m->parent, &sc);
	memcg_protection(root, m, &sc);
	return sc.elow;
}

static void open_tree(struct rig *r, const char *text, uint64_t a, uint64_t b, uint64_t c)
{
	rig_open(r, text, 0);
	use(memcg_find(r->host, "/p"), a + b + c);
	use(memcg_find(r->host, "/p/a"), a);
	use(memcg_find(r->host, "/p/b"), b);
	use(memcg_find(r->host, "/p/c"), c);
}

/* The parent's 100 pages among claims of 150 and 50: in proportion. */
static void test_overcommitted(void **state)
{
	struct rig r;

	(void)state;
	open_tree(&r, TREE(""), 150, 60, 500);
	assert_int_equal(effective_low(&r, "/p"), 100);
	assert_int_equal(effective_low(&r, "/p/a"), 75);
	assert_int_equal(effective_low(&r, "/p/b"), 25);
	assert_int_equal(effective_low(&r, "/p/c"), 0);
	fixture_close(&r.f);
}

/* Claims of 10 and 50: what they leave is nobody's, or with memory_recursiveprot everybody's. */
static void test_unclaimed(void **state)
{
	struct rig r;

	(void)state;
	open_tree(&r, TREE(""), 10, 60, 500);
	assert_int_equal(effective_low(&r, "/p/a"), 10);
	assert_int_equal(effective_low(&r, "/p/b"), 50);
	assert_int_equal(effective_low(&r, "/p/c"), 0);
	fixture_close(&r.f);
	open_tree(&r, TREE("vm: { memory_recursiveprot: true }\n"), 10, 60, 500);
	assert_int_equal(effective_low(&r, "/p/a"), 10);
	assert_int_equal(effective_low(&r, "/p/b"), 50 + 40 * 10 / 510);
	assert_int_equal(effective_low(&r, "/p/c"), 40 * 500 / 510);
	fixture_close(&r.f);
}

/* The target is not protected from itself, and gives its children what they ask for. */
static void test_target(void **state)
{
	struct scan_control sc = { 0 };
	struct rig r;

	(void)state;
	open_tree(&r, TREE(""), 150, 60, 500);
	struct memcg *p = memcg_find(r.host, "/p");

	memcg_protection(p, p, &sc);
	assert_int_equal(sc.elow, 0);
	memcg_protection(p, memcg_find(r.host, "/p/a"), &sc);
	assert_int_equal(sc.elow, 200);
	fixture_close(&r.f);
}

/* ---- three siblings read files of 2,048 pages in turn, 64 at a time, below 4,096 ---- */

struct siblings {
	const char *text;
	bool uniform;
	double file[3], low[3], max;
};

static void read_in_turn(struct task *t, struct actor *a)
{
	struct siblings *s = a->arg;
	struct memcg *m[3];
	struct file_object *f[3];
	struct xorshift x[3];
	uint64_t position[3] = { 0 }, max = 0, low[3];

	for (uint64_t i = 0; i < 3; i++) {
		char path[16];

		snprintf(path, sizeof path, "/p/c%d", (int)i);
		m[i] = memcg_find(a->rig->host, path);
		f[i] = file_create(a->rig->host, 2048);
		x[i] = xorshift_seed(9000 + i);
	}
	for (int round = 0; round < 256; round++) {
		if (round == 192) { /* the last quarter counts */
			max = m[0]->parent->events[EVENT_MAX];
			for (int i = 0; i < 3; i++)
				low[i] = m[i]->events[EVENT_LOW];
		}
		for (int i = 0; i < 3; i++)
			for (int k = 0; k < 64; k++) {
				uint64_t index = s->uniform ? xorshift_next(&x[i]) % 2048
							    : position[i]++ % 2048;

				assert_int_not_equal(file_read(t, m[i], f[i], index, NULL), FILE_NOMEM);
			}
	}
	s->max = (double)(m[0]->parent->events[EVENT_MAX] - max);
	for (int i = 0; i < 3; i++) {
		s->file[i] = (double)file_present(f[i]);
		s->low[i] = (double)(m[i]->events[EVENT_LOW] - low[i]);
	}
}

#define SIBLINGS(low0_, low1_, low2_)                                                                  \
	RIG_HOST(1, 256MiB, "v6.1")                                                                    \
	"cgroups: [ { name: p, memory.max: 16MiB, memory.swap.max: 0, children: [ { name: c0, "        \
	"memory.low: " low0_ " }, { name: c1, memory.low: " low1_ " }, { name: c2, memory.low: " low2_ \
	" } ] } ]\n"

static void run_siblings(struct siblings *s)
{
	struct rig r;
	struct actor a = { .arg = s };

	rig_open(&r, s->text, 0);
	rig_actor(&r, &a, "/p/c0", read_in_turn);
	rig_run(&r, 10);
	assert_true(a.ended);
	rig_close(&r);
}

/* In proportion to what is not protected: counts of a 6.1. */
static void test_siblings_cyclic(void **state)
{
	struct siblings s = { .text = SIBLINGS("0", "4MiB", "8600KiB") };

	(void)state;
	run_siblings(&s);
	assert_near(s.file[0], 317, 0.03);
	assert_near(s.file[1], 1687, 0.01);
	assert_near(s.file[2], 2048, 0.001);
	assert_near(s.max, 228, 0.01);
	assert_int_equal((int)s.low[2], 0);
}

static void test_siblings_uniform(void **state)
{
	struct siblings s = { .text = SIBLINGS("0", "4MiB", "8600KiB"), .uniform = true };

	(void)state;
	run_siblings(&s);
	assert_near(s.file[0], 576, 0.05);
	assert_near(s.file[1], 1393, 0.02);
	assert_near(s.file[2], 2047, 0.001);
	assert_near(s.max, 74, 0.04);
}

/* All protected in full: so low is ignored, and each pass over each of them is an event. */
static void test_all_protected(void **state)
{
	struct siblings s = { .text = SIBLINGS("8600KiB", "8600KiB", "8600KiB"), .uniform = true };

	(void)state;
	run_siblings(&s);
	for (int i = 0; i < 3; i++)
		assert_near(s.low[i], 588, 0.02);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overcommitted),    cmocka_unit_test(test_unclaimed),
		cmocka_unit_test(test_target),           cmocka_unit_test(test_siblings_cyclic),
		cmocka_unit_test(test_siblings_uniform), cmocka_unit_test(test_all_protected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
