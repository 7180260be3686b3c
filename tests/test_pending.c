/*
 * test_pending.c - the pending set against a reference that knows everything and sorts by looking.
 *
 * All three classes of slots take part, so the heap of timers and the tournament of CPUs are at work, and the
 * engine's own cross-check is on. Times come from a coarse grid: most events have company.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "sim/engine/pending.h"
#include "sim/engine/random.h"

#define NR_SLOTS  150
#define NR_EVENTS 30000

struct item {
	struct slot slot;
	struct bench *bench;
	sim_time_t when; /* what the reference believes */
};

struct bench {
	struct sim *sim;
	struct stream dice;
	struct item items[NR_SLOTS];
	uint64_t fired, digest;
	bool known_order; /* ties by number */
	bool quiet;       /* no more arming */
};

static struct sim *new_sim(uint64_t seed, bool random_ties)
{
	return sim_create(
		&(struct sim_config){ .seed = seed, .random_ties = random_ties, .cross_check = true });
}

/* Does `a` come before `b` for certain? */
static bool is_before(const struct bench *b, const struct item *x, const struct item *y)
{
	if (x->when != y->when)
		return x->when < y->when;
	if (x->slot.class != y->slot.class)
		return x->slot.class < y->slot.class;
	return b->known_order && x->slot.id < y->slot.id;
}

static sim_time_t near(struct bench *b)
{
	return sim_now(b->sim) + stream_below(&b->dice, 20) * SIM_NS;
}

static void fire(struct sim *sim, struct slot *slot);

static void new_slot(struct sim *sim, struct slot *slot, enum sim_class class,
		     void (*function)(struct sim *sim, struct slot *slot))
{
	static struct coroutine nobody; /* what a CPU's slot would switch to; here its function does not */

	slot_init(sim, slot, class, function);
	slot->co = &nobody;
}

static void change_one(struct bench *b)
{
	struct item *item = &b->items[stream_below(&b->dice, NR_SLOTS)];

	switch (stream_below(&b->dice, 8)) {
	case 0:
		slot_cancel(b->sim, &item->slot);
		item->when = SIM_NEVER;
		break;
	case 1: /* a number that is given back goes to the next who asks */
		if (item->slot.class == SIM_CLASS_CPU)
			break;
		slot_release(b->sim, &item->slot);
		slot_init(b->sim, &item->slot,
			  stream_below(&b->dice, 2) ? SIM_CLASS_CONTROL : SIM_CLASS_TIMER, fire);
		item->when = SIM_NEVER;
		break;
	case 2: /* far away and back: stale entries for the rebuild */
		slot_arm(b->sim, &item->slot, near(b) + SIM_SEC);
		/* fall through */
	default:
		item->when = near(b);
		slot_arm(b->sim, &item->slot, item->when);
		break;
	}
}

static void fire(struct sim *sim, struct slot *slot)
{
	struct item *item = (struct item *)(void *)slot;
	struct bench *b = item->bench;

	assert_int_equal(item->when, sim_now(sim));
	assert_false(slot_pending(slot));
	for (int i = 0; i < NR_SLOTS; i++)
		assert_false(is_before(b, &b->items[i], item));
	item->when = SIM_NEVER;
	b->fired++;
	b->digest = (b->digest ^ slot->id) * 0x9E3779B97F4A7C15u;
	if (b->quiet)
		return;
	for (uint64_t n = stream_below(&b->dice, 4); n; n--)
		change_one(b);
}

static struct bench *bench_new(uint64_t seed, bool random_ties)
{
	struct bench *b = test_calloc(1, sizeof *b);

	b->sim = new_sim(seed, random_ties);
	b->known_order = !random_ties;
	stream_init(&b->dice, 1, "pending", "changes");
	for (uint32_t i = 0; i < NR_SLOTS; i++) {
		b->items[i].bench = b;
		b->items[i].when = SIM_NEVER;
		new_slot(b->sim, &b->items[i].slot, (enum sim_class)(i % SIM_NR_CLASSES), fire);
	}
	return b;
}

static void bench_free(struct bench *b)
{
	sim_destroy(b->sim);
	test_free(b);
}

static void check_pending(struct bench *b)
{
	for (int i = 0; i < NR_SLOTS; i++) {
		assert_int_equal(slot_pending(&b->items[i].slot), b->items[i].when != SIM_NEVER);
		if (b->items[i].when != SIM_NEVER)
			assert_int_equal(b->items[i].slot.when, b->items[i].when);
	}
}

static uint64_t random_changes(uint64_t seed, bool random_ties)
{
	struct bench *b = bench_new(seed, random_ties);
	sim_time_t until = 0;

	while (b->fired < NR_EVENTS) {
		for (int i = 0; i < 10; i++)
			change_one(b);
		until += stream_below(&b->dice, 100) * SIM_NS;
		sim_run(b->sim, until);
		check_pending(b);
		for (int i = 0; i < NR_SLOTS; i++) /* all that was due has fired */
			assert_true(b->items[i].when > until);
	}
	b->quiet = true;
	assert_int_equal(sim_run(b->sim, SIM_NEVER - 1), SIM_END_IDLE);
	check_pending(b);
	assert_int_equal(sim_events(b->sim), b->fired);
	assert_null(sim_error(b->sim));
	uint64_t digest = b->digest;

	bench_free(b);
	return digest;
}

static void random_changes_keep_the_order(void **state)
{
	(void)state;
	random_changes(1, false);
}

static void random_ties_keep_time_and_class(void **state)
{
	uint64_t one = random_changes(1, true);

	(void)state;
	assert_true(random_changes(1, true) == one);
	assert_true(random_changes(2, true) != one);
}

/* ---- ties ---- */

static uint32_t first_of_ties(uint64_t seed, bool random_ties)
{
	struct bench *b = bench_new(seed, random_ties);
	uint32_t first = 0;

	b->quiet = true;
	for (uint32_t i = NR_SLOTS; i-- > 0;) {
		b->items[i].when = SIM_US;
		slot_arm(b->sim, &b->items[i].slot, SIM_US);
	}
	sim_run(b->sim, SIM_US - 1);
	assert_int_equal(b->fired, 0);
	sim_run(b->sim, SIM_US);
	assert_int_equal(b->fired, NR_SLOTS);
	first = (uint32_t)(b->digest >> 32);
	bench_free(b);
	return first;
}

static void ties_go_by_class_and_number(void **state)
{
	(void)state;
	first_of_ties(1, false); /* fire() checks the order */
	assert_true(first_of_ties(1, true) != first_of_ties(1, false));
	assert_true(first_of_ties(1, true) != first_of_ties(2, true));
	assert_true(first_of_ties(3, true) == first_of_ties(3, true));
}

/* ---- size ---- */

struct many {
	struct slot slot;
	struct crowd *crowd;
};

struct crowd {
	sim_time_t last;
	uint32_t fired, last_id;
};

static void fire_many(struct sim *sim, struct slot *slot)
{
	struct crowd *c = ((struct many *)(void *)slot)->crowd;

	assert_true(sim_now(sim) >= c->last);
	c->last = sim_now(sim);
	c->last_id = slot->id;
	c->fired++;
}

static void a_hundred_thousand_pending(void **state)
{
	struct sim *sim = new_sim(1, false);
	struct crowd crowd = { 0 };
	struct many *many = arena_array(sim_arena(sim), 100000, sizeof *many);
	struct stream dice;

	(void)state;
	stream_init(&dice, 1, "pending", "many");
	size_t before = arena_committed(sim_arena(sim));

	for (int i = 0; i < 100000; i++) {
		many[i].crowd = &crowd;
		new_slot(sim, &many[i].slot, i % 10 ? SIM_CLASS_TIMER : SIM_CLASS_CPU, fire_many);
		slot_arm(sim, &many[i].slot, stream_below(&dice, SIM_SEC));
	}
	/* 64 bytes an entry; what was outgrown stays in the arena, which as much again covers. */
	assert_true(arena_committed(sim_arena(sim)) - before < 100000 * 2 * 64);
	assert_int_equal(sim_run(sim, 2 * SIM_SEC), SIM_END_IDLE);
	assert_int_equal(crowd.fired, 100000);
	sim_destroy(sim);
}

static void what_is_moved_again_and_again_takes_no_room(void **state)
{
	struct sim *sim = new_sim(1, false);
	struct crowd crowd = { 0 };
	struct many many[10];

	(void)state;
	for (int i = 0; i < 10; i++) {
		many[i].crowd = &crowd;
		slot_init(sim, &many[i].slot, SIM_CLASS_TIMER, fire_many);
	}
	size_t before = arena_committed(sim_arena(sim));

	for (uint32_t i = 0; i < 100000; i++) {
		slot_arm(sim, &many[i % 10].slot, SIM_SEC + i);
		if (i % 7 == 0)
			slot_cancel(sim, &many[i % 10].slot);
	}
	assert_int_equal(arena_committed(sim_arena(sim)), before);
	for (int i = 0; i < 10; i++)
		slot_cancel(sim, &many[i].slot);
	assert_int_equal(sim_run(sim, 2 * SIM_SEC), SIM_END_IDLE);
	assert_int_equal(crowd.fired, 0);
	assert_int_equal(sim_now(sim), 0);
	sim_destroy(sim);
}

/* ---- a number that is used again ---- */

/* What a released slot left behind at a time must not lend its class to the next owner of its number. */
static void a_stale_entry_lends_nothing(void **state)
{
	struct sim *sim = new_sim(1, false);
	struct crowd crowd = { 0 };
	struct many first = { .crowd = &crowd }, second = { .crowd = &crowd };

	(void)state;
	slot_init(sim, &first.slot, SIM_CLASS_TIMER, fire_many);
	slot_init(sim, &second.slot, SIM_CLASS_CONTROL, fire_many);
	slot_arm(sim, &second.slot, SIM_US);
	slot_release(sim, &second.slot);
	slot_init(sim, &second.slot, SIM_CLASS_TIMER, fire_many); /* the number again, now a timer's */
	slot_arm(sim, &second.slot, SIM_US);
	slot_arm(sim, &first.slot, SIM_US);
	assert_int_equal(sim_run(sim, SIM_SEC), SIM_END_IDLE);
	assert_int_equal(crowd.fired, 2);
	assert_int_equal(crowd.last_id, second.slot.id);
	sim_destroy(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_changes_keep_the_order),
		cmocka_unit_test(random_ties_keep_time_and_class),
		cmocka_unit_test(ties_go_by_class_and_number),
		cmocka_unit_test(a_hundred_thousand_pending),
		cmocka_unit_test(what_is_moved_again_and_again_takes_no_room),
		cmocka_unit_test(a_stale_entry_lends_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
