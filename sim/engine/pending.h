/*
 * pending.h - the set of pending events, and the layout of struct sim that its fast path needs.
 *
 * Two structures, by what their entries do. CPUs are few, always there, and move at every step: they are
 * the leaves of a tournament (tournament.c), in which moving one is a walk to the root whose addresses do
 * not depend on the comparisons. Everything else (timers, control) is a 4-ary heap (pending.c), whose size
 * is that of what is pending. The earlier of the two tops is next.
 *
 * The CPU that runs stays in the tournament with the time at which it was taken; its leaf is brought up to
 * date once, when it gives way. While it goes on, `next` is what it must stay before: one comparison.
 *
 * Entries of the heap that were overtaken by slot_arm() or slot_cancel() stay until they surface; the heap is
 * rebuilt without them when they are the majority. With cross_check everything is repeated on a pairing heap
 * (pending_check.c), and the two must agree on each event.
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
	struct pending_entry next; /* the earliest but for the running CPU; when = 0: unknown, or stop */
	uint64_t events, check_at; /* at check_at events the slow path looks whether time moves */
	uint64_t fingerprint;
	uint64_t seed;
	bool naive, random_ties, stepping;
	volatile bool stop;
	sim_time_t until;

	struct slot *running;            /* the CPU slot taken last, until it gives way */
	struct pending_entry *tree;      /* tree[1] is the root, the leaves begin at nr_leaves */
	uint32_t nr_leaves, used_leaves; /* a power of two; given out */
	struct pending_entry *heap;      /* heap[1] begins a cache line */
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

/* The slot is now pending at slot->when, after having been so at `before` (SIM_NEVER: not). */
void pending_move(struct sim *sim, struct slot *slot, sim_time_t before);

/*
 * Takes the earliest event that is due (not after sim->until) off the set, makes it the present (now, events,
 * fingerprint) and returns its slot, no longer pending. NULL: none is due, stop was asked for, or time stands
 * still. The running CPU gives way: to go on later, its slot's `when` has been set to its time.
 */
struct slot *pending_take(struct sim *sim);

/* Is anything pending at all? */
bool pending_any(struct sim *sim);

/*
 * Tournament: a place for one more CPU; sets its entry and returns the earliest; the earliest of all but
 * one.
 */
uint32_t tournament_add(struct sim *sim);
struct pending_entry tournament_set(struct sim *sim, uint32_t leaf, sim_time_t when, uint64_t key);
struct pending_entry tournament_other(const struct sim *sim, uint32_t leaf);

static inline bool entry_before(struct pending_entry a, struct pending_entry b)
{
	return ((unsigned __int128)a.when << 64 | a.key) < ((unsigned __int128)b.when << 64 | b.key);
}

#endif
