/*
 * test_shadow.c - shadow entries: what fits in, on which machines, and what comes out again.
 */
#include "models/workingset/workingset_impl.h"
#include "sim/engine/random.h"
#include "tests/evict_rig.h"

static const char plain[] = RIG_HEAD RIG_POLICIES " }\ncgroups: [ { name: c } ]\n";

static struct fixture f;

static int open_host(void **state)
{
	(void)state;
	fixture_open(&f, plain);
	return 0;
}

static int close_host(void **state)
{
	(void)state;
	fixture_close(&f);
	return 0;
}

/* CONFIG_NODES_SHIFT 10: 64 - (1 + 1 + 10 + 16). */
static void layout(void **state)
{
	const struct shadow_fields ones = { .stamp = 1, .css_id = 2, .node = 1, .workingset = true };

	(void)state;
	assert_int_equal(workingset_stamp_bits(f.host), 36);
	/* From low to high: workingset, node, memcg (ids begin with 1), stamp. */
	assert_int_equal(shadow_pack(f.host, ones), 1 | 1 << 1 | 2 << 11 | (uint64_t)1 << 27);
	assert_true(shadow_pack(f.host, (struct shadow_fields){ .css_id = 1 }) != NO_SHADOW);
}

static void there_and_back(void **state)
{
	struct stream s;

	(void)state;
	stream_init(&s, 1, "test", "shadows");
	for (int i = 0; i < 10000; i++) {
		const struct shadow_fields in = { .workingset = stream_below(&s, 2),
						  .node = (uint32_t)stream_below(&s, 1024),
						  .css_id = 1 + (uint32_t)stream_below(&s, 65535),
						  .stamp = stream_below(&s, UINT64_MAX) };
		const slot_t slot = slot_of_shadow(shadow_pack(f.host, in));
		const struct shadow_fields out = shadow_unpack(f.host, slot_shadow(slot));

		assert_true(slot_is_shadow(slot) && slot_is_value(slot));
		assert_false(slot_is_frame(slot) || slot_is_swap(slot));
		assert_int_equal(out.workingset, in.workingset);
		assert_int_equal(out.node, in.node);
		assert_int_equal(out.css_id, in.css_id);
		assert_int_equal(out.stamp, in.stamp & (((uint64_t)1 << 36) - 1));
	}
}

/* An age that has passed the end of the stamp gives the same distance. */
static void distance_wraps(void **state)
{
	const uint64_t mask = ((uint64_t)1 << 36) - 1;
	const uint64_t at_eviction = mask - 5, now = at_eviction + 20;
	const shadow_t shadow = shadow_pack(f.host, (struct shadow_fields){ .stamp = at_eviction });

	(void)state;
	assert_int_equal((now - shadow_unpack(f.host, shadow).stamp) & mask, 20);
}

static void other_slots(void **state)
{
	const uint32_t numbers[] = { 1, 2, 3, 0x7fffffff, UINT32_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		assert_int_equal(slot_frame(slot_of_frame(numbers[i])), numbers[i]);
		assert_int_equal(slot_swap(slot_of_swap(numbers[i])), numbers[i]);
		assert_false(slot_is_value(slot_of_frame(numbers[i])));
		assert_true(slot_is_value(slot_of_swap(numbers[i])));
		assert_int_equal(slot_frame(slot_of_swap(numbers[i])), 0);
		assert_int_equal(slot_swap(slot_of_frame(numbers[i])), 0);
		assert_int_equal(slot_shadow(slot_of_swap(numbers[i])), NO_SHADOW);
	}
	assert_false(slot_is_frame(SLOT_EMPTY) || slot_is_value(SLOT_EMPTY));
}

/* fls(pages - 1) - 36, where that is more than 0. */
static void buckets(void **state)
{
	const uint64_t memory = f.host->memory;

	(void)state;
	assert_int_equal(workingset_bucket_order(f.host), 0);
	f.host->memory = ((uint64_t)1 << 36) * PAGE_SIZE;
	workingset_build(f.host);
	assert_int_equal(workingset_bucket_order(f.host), 0);
	f.host->memory += PAGE_SIZE;
	workingset_build(f.host);
	assert_int_equal(workingset_bucket_order(f.host), 1);
	f.host->memory = memory;
	workingset_build(f.host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layout),         cmocka_unit_test(there_and_back),
		cmocka_unit_test(distance_wraps), cmocka_unit_test(other_slots),
		cmocka_unit_test(buckets),
	};

	return cmocka_run_group_tests(tests, open_host, close_host);
}
