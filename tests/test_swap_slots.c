/*
 * test_swap_slots.c - slots of swap that wait on a CPU to get free.
 */
#include "models/backing/backing_impl.h"
#include "tests/reclaim_rig.h"

#define ZRAM(size_)                                                 \
	RIG_HOST(1, 256MiB, "v6.1")                                 \
	"devices: [ { name: z, device: zram, size: " size_ " } ]\n" \
	"swap: { device: z }\ncgroups: [ { name: c } ]\n"

struct slots {
	swap_slot_t slot[400];
};

static void expect(const struct actor *a, uint64_t used, uint64_t charged)
{
	assert_int_equal(swap_used_slots(a->rig->host), used);
	assert_int_equal(a->memcg->swap.usage, charged);
}

static void in_lots(struct task *t, struct actor *a)
{
	struct slots *s = a->arg;

	for (uint32_t i = 0; i < 130; i++)
		s->slot[i] = swap_alloc(t, a->memcg);
	expect(a, 130, 130);
	for (uint32_t i = 0; i < SWAP_BATCH; i++)
		swap_free(t, s->slot[i]);
	expect(a, 130, 130); /* all of these wait */
	swap_free(t, s->slot[SWAP_BATCH]);
	expect(a, 130 - SWAP_BATCH, 130 - SWAP_BATCH);
	for (uint32_t i = SWAP_BATCH + 1; i < 130; i++)
		swap_free(t, s->slot[i]);
	expect(a, 2, 2);
}

static void at_once(struct task *t, struct actor *a)
{
	struct slots *s = a->arg;

	for (uint32_t i = 0; i < 100; i++)
		s->slot[i] = swap_alloc(t, a->memcg);
	expect(a, 100, 100);
	for (uint32_t i = 0; i < 100; i++) {
		swap_free(t, s->slot[i]);
		expect(a, 99 - i, 99 - i);
	}
}

static void near_the_end(struct task *t, struct actor *a)
{
	struct slots *s = a->arg;
	const struct swap_state *swap = swap_of(a->rig->host);
	uint32_t nr = swap->nr_slots;

	assert_in_range(nr, 330, 400);
	for (uint32_t i = 0; i < 150; i++)
		s->slot[i] = swap_alloc(t, a->memcg);
	assert_true(swap->by_cpu);
	for (uint32_t i = 0; i < 10; i++)
		swap_free(t, s->slot[i]);
	assert_int_equal(a->memcg->swap.usage, 150);
	/* With less than 128 left the lists are given back; every slot can be had. */
	for (uint32_t i = 150; i < nr + 10; i++)
		assert_int_not_equal(swap_alloc(t, a->memcg), NO_SWAP);
	assert_false(swap->by_cpu);
	expect(a, nr, nr);
	assert_int_equal(swap_alloc(t, a->memcg), NO_SWAP);
	for (swap_slot_t slot = 1; slot <= nr; slot++)
		swap_free(t, slot);
	expect(a, 0, 0);
}

static void run_as(const char *text, uint32_t version, void (*act)(struct task *t, struct actor *a))
{
	struct rig r;
	struct slots s = { 0 };
	struct actor a = { .arg = &s };

	rig_open(&r, text, version);
	rig_actor(&r, &a, "/c", act);
	rig_run(&r, 1);
	assert_true(a.ended);
	rig_close(&r);
}

static void test_lots(void **state)
{
	(void)state;
	run_as(ZRAM("64MiB"), 601, in_lots);
	run_as(ZRAM("64MiB"), 612, in_lots);
}

static void test_without(void **state)
{
	(void)state;
	run_as(ZRAM("64MiB"), 614, at_once);
	run_as(ZRAM("1MiB"), 601, at_once); /* too little for lists */
}

static void test_end(void **state)
{
	(void)state;
	run_as(ZRAM("1400KiB"), 601, near_the_end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lots),
		cmocka_unit_test(test_without),
		cmocka_unit_test(test_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
