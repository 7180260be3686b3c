/*
 * pending.h - the set of pending events, and the layout of struct sim that its fast path needs.
 *
 * An implicit 4-ary heap of 16-byte entries (the four children of a node share a cache line, the smallest
 * is chosen without a branch). The earliest entry is also copied to `next`: the test whether a task may go
 * on without giving way is one comparison. Entries that were overtaken by slot_arm() or slot_cancel() stay
 * until they surface; the heap is rebuilt without them when they are the majority.
 *
 * With cross_check every insertion and removal is repeated on a pairing heap (pending_check.c), and the two
 * must agree on each event.
 */
#ifndef SIM_ENGINE_PENDING_H
#define SIM_ENGINE_PENDING_H

#include "sim/engine/coroutine.h"
#include "sim/engine/sim.h"

struct pending_entry {
	sim_time_t when;
	uint64_t key; /* class (8 bits), tie (24), slot id (32) */
};

struct pending_check;

struct sim {
	sim_time_t now;
	struct pending_entry next; /* the earliest; when = 0 forces the slow path */
	uint64_t events, check_at; /* at check_at events the slow path looks whether time moves */
	uint64_t fingerprint;
	uint64_t seed;
	bool naive, random_ties, stepping;
	volatile bool stop;
	sim_time_t until;

	struct pending_entry *heap; /* heap[1] begins a cache line */
	uint32_t nr, capacity, nr_stale;
	struct slot **slots; /* by id */
	uint32_t nr_slots, slot_capacity, *free_ids, nr_free_ids;
	sim_time_t checked_now;
	bool stalled;

	struct coroutine main;
	struct arena *arena;
	struct pending_check *check;
	void *state[SIM_NR_STATES];
	char *error;
};

static inline bool pending_naive(const struct sim *sim)
{
	return sim->naive;
}

/* The tie-breaking part of an event's key. */
static inline uint64_t pending_key(const struct sim *sim, const struct slot *slot, sim_time_t when)
{
	uint64_t key = (uint64_t)slot->class << 56 | slot->id;

	if (__builtin_expect(sim->random_ties, 0)) {
		uint64_t h = (when ^ sim->seed ^ (uint64_t)slot->id << 40) * 0x9E3779B97F4A7C15u;

		h = (h ^ h >> 32) * 0xD6E8FEB86659FD93u;
		key |= (h >> 40) << 32;
	}
	return key;
}

static inline bool pending_before(sim_time_t when, uint64_t key, const struct pending_entry *e)
{
	return when < e->when || (when == e->when && key < e->key);
}

static inline void pending_count(struct sim *sim, sim_time_t when, uint64_t key)
{
	sim->events++;
	sim->fingerprint = (sim->fingerprint ^ when ^ key << 20) * 0x9E3779B97F4A7C15u;
	sim->fingerprint ^= sim->fingerprint >> 29;
}

/* If the owner of `slot` (not pending) may go on at `when` because nothing is earlier: does so. */
static inline bool pending_advance(struct sim *sim, sim_time_t when, const struct slot *slot)
{
	uint64_t key = pending_key(sim, slot, when);

	if (__builtin_expect(!pending_before(when, key, &sim->next), 0) || sim->events >= sim->check_at)
		return false;
	sim->now = when;
	pending_count(sim, when, key);
	return true;
}

void pending_init(struct sim *sim);
void pending_release(struct sim *sim);

/* Inserts the slot at slot->when. */
void pending_push(struct sim *sim, struct slot *slot);

/*
 * Takes the earliest event that is due (not after sim->until) off the set, makes it the present (now, events,
 * fingerprint) and returns its slot, no longer pending. NULL: none is due, stop was asked for, or time stands
 * still. With `push` not NULL that slot is inserted first (one sift for both).
 */
struct slot *pending_take(struct sim *sim, struct slot *push);

#endif
