/*
 * test_arena.c - memory of a simulation: zero, aligned, reused, apart from that of another one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/engine/arena.h"
#include "sim/engine/random.h"

static void assert_zero(const void *block, size_t size)
{
	const unsigned char *p = block;

	for (size_t i = 0; i < size; i++)
		assert_int_equal(p[i], 0);
}

static void zeroed_and_aligned(void **state)
{
	static const size_t sizes[] = { 0, 1, 15, 16, 17, 63, 64, 65, 100, 4095, 4096, 4097, 9000, 1 << 20 };
	struct arena *a = arena_create();

	(void)state;
	for (int round = 0; round < 3; round++)
		for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
			char *block = arena_alloc(a, sizes[i]);

			assert_int_equal((uintptr_t)block % (sizes[i] >= 64 ? 64 : 16), 0);
			assert_zero(block, sizes[i]);
			memset(block, 0xff, sizes[i]);
			if (round)
				arena_free(a, block, sizes[i]);
		}
	arena_destroy(a);
}

static void freed_blocks_come_back_zeroed(void **state)
{
	struct arena *a = arena_create();

	(void)state;
	for (size_t size = 1; size < 100000; size = size * 3 / 2 + 1) {
		char *block = arena_alloc(a, size);

		memset(block, 0xff, size);
		arena_free(a, block, size);
		size_t committed = arena_committed(a);

		assert_ptr_equal(arena_alloc(a, size), block);
		assert_zero(block, size);
		assert_int_equal(arena_committed(a), committed);
	}
	arena_free(a, NULL, 100); /* as free() */
	arena_destroy(a);
}

#define NR_BLOCKS 500

struct block {
	unsigned char *at;
	size_t size;
	unsigned char fill;
};

/* Nobody writes into anybody else's block, and the arena does not grow once it has seen the worst. */
static void blocks_do_not_overlap(void **state)
{
	struct arena *a = arena_create();
	struct block blocks[NR_BLOCKS] = { 0 };
	size_t committed = 0;
	struct stream dice;

	(void)state;
	stream_init(&dice, 1, "arena", "sizes");
	for (uint32_t i = 0; i < 40000; i++) {
		struct block *b = &blocks[stream_below(&dice, NR_BLOCKS)];

		for (size_t j = 0; j < b->size; j++)
			assert_int_equal(b->at[j], b->fill);
		arena_free(a, b->at, b->size);
		b->size = stream_below(&dice, 10) ? stream_below(&dice, 200) : stream_below(&dice, 6000);
		b->fill = (unsigned char)i;
		b->at = arena_alloc(a, b->size);
		assert_zero(b->at, b->size);
		memset(b->at, b->fill, b->size);
		if (i == 20000)
			committed = arena_committed(a);
	}
	assert_true(arena_committed(a) < committed + committed / 4);
	arena_destroy(a);
}

static size_t resident_pages(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	size_t total, resident;

	assert_int_equal(fscanf(f, "%zu %zu", &total, &resident), 2);
	fclose(f);
	return resident;
}

static void large_arrays_cost_what_is_touched(void **state)
{
	struct arena *a = arena_create();
	size_t n = (size_t)1 << 30, before = resident_pages();
	char *array = arena_array(a, n, 4);

	(void)state;
	assert_int_equal((uintptr_t)array % 4096, 0);
	assert_true(arena_committed(a) >= 4 * n);
	array[0] = array[4 * n - 1] = 1;
	assert_true(resident_pages() - before < 4096); /* of a million; huge pages may come at once */
	assert_zero(array + 2 * n, 4096);
	char *next = arena_alloc(a, 100); /* behind it */

	assert_true(next >= array + 4 * n || next + 100 <= array);
	arena_destroy(a);
}

static void freed_large_blocks_are_used_again(void **state)
{
	struct arena *a = arena_create();
	char *array = arena_array(a, 3 << 20, 16);

	(void)state;
	array[100] = 1;
	arena_free(a, array, (size_t)16 * (3 << 20));
	size_t committed = arena_committed(a);
	char *again = arena_alloc(a, (size_t)16 * (3 << 20));

	assert_ptr_equal(again, array);
	assert_int_equal(again[100], 0);
	assert_int_equal(arena_committed(a), committed);
	arena_destroy(a);
}

static void strings_are_copied(void **state)
{
	struct arena *a = arena_create();
	char text[] = "/parent3/child2";
	char *copy = arena_strdup(a, text), *empty = arena_strdup(a, "");

	(void)state;
	text[1] = 'x';
	assert_string_equal(copy, "/parent3/child2");
	assert_string_equal(empty, "");
	arena_destroy(a);
}

static void arenas_are_apart(void **state)
{
	struct arena *one = arena_create(), *two = arena_create();
	char *a = arena_alloc(one, 1000), *b = arena_alloc(two, 1000);

	(void)state;
	memset(a, 1, 1000);
	assert_zero(b, 1000);
	arena_free(one, a, 1000);
	assert_ptr_not_equal(arena_alloc(two, 1000), a);
	arena_destroy(one);
	b[500] = 3; /* still there */
	struct arena *three = arena_create();

	/* The place depends on nothing but how many there are: this one is where the first was. */
	assert_ptr_equal(arena_alloc(three, 1000), a);
	assert_zero(a, 1000);
	arena_destroy(three);
	assert_int_equal(b[500], 3);
	arena_destroy(two);
}

#define NR_STACKS 200

static void stacks_are_apart_and_reused(void **state)
{
	struct arena *a = arena_create();
	struct stack stacks[NR_STACKS];

	(void)state;
	for (uint32_t i = 0; i < NR_STACKS; i++) {
		stacks[i] = stack_alloc(a);
		assert_true((size_t)(stacks[i].top - stacks[i].base) >= ARENA_STACK_LEAST);
		assert_int_equal((uintptr_t)stacks[i].top % 64, 0);
		assert_true(stacks[i].guarded);
		memset(stacks[i].base, (int)i, (size_t)(stacks[i].top - stacks[i].base));
	}
	for (uint32_t i = 0; i < NR_STACKS; i++) {
		assert_int_equal((unsigned char)*stacks[i].base, i & 0xff);
		assert_int_equal((unsigned char)stacks[i].top[-1], i & 0xff);
	}
	/* The owner is found by an address in the guard page, and by no other. */
	for (uint32_t i = 0; i < NR_STACKS; i++)
		stack_set_owner(&stacks[i], &stacks[i]);
	assert_ptr_equal(stack_owner_by_guard(stacks[7].base - 1), &stacks[7]);
	assert_ptr_equal(stack_owner_by_guard(stacks[7].base - 4096), &stacks[7]);
	assert_null(stack_owner_by_guard(stacks[7].base));
	assert_null(stack_owner_by_guard(stacks));
	assert_null(stack_owner_by_guard(NULL));
	size_t resident = resident_pages();

	for (uint32_t i = 0; i < NR_STACKS; i++)
		stack_free(a, &stacks[i]);
	assert_true(resident - resident_pages() > (NR_STACKS - 100) * 25); /* of 33 pages each */
	for (uint32_t i = 0; i < NR_STACKS; i++)
		assert_true(stack_alloc(a).id < NR_STACKS);
	assert_int_equal(stack_alloc(a).id, NR_STACKS);
	arena_destroy(a);
}

/* Two simulations want more guard pages than a process has mappings, as a rule: later stacks do without. */
static void guards_run_out(void **state)
{
	struct arena *one = arena_create(), *two = arena_create();

	(void)state;
	for (uint32_t i = 0; i < 28000; i++)
		assert_true(stack_alloc(one).guarded);
	assert_false(stack_alloc(one).guarded);
	for (uint32_t i = 0; i < 8000; i++) {
		struct stack s = stack_alloc(two);

		assert_true(s.guarded || stack_intact(&s));
		s.top[-1] = 1;
		if (!s.guarded && i % 100 == 0) {
			s.base[-1] = 0; /* one byte too far */
			assert_false(stack_intact(&s));
		}
	}
	arena_destroy(one);
	arena_destroy(two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zeroed_and_aligned),
		cmocka_unit_test(freed_blocks_come_back_zeroed),
		cmocka_unit_test(blocks_do_not_overlap),
		cmocka_unit_test(large_arrays_cost_what_is_touched),
		cmocka_unit_test(freed_large_blocks_are_used_again),
		cmocka_unit_test(strings_are_copied),
		cmocka_unit_test(arenas_are_apart),
		cmocka_unit_test(stacks_are_apart_and_reused),
		cmocka_unit_test(guards_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
