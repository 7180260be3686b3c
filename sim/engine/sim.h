/*
 * sim.h - a simulation: clock, pending events, fingerprint.
 *
 * Events happen in the order (time, class, sequence). The class says what kind of thing happens first at
 * equal times (enum sim_class); the sequence is the number of the entity the event belongs to (a CPU, a
 * timer), given out at creation. It is deliberately not the order of scheduling: that order would depend
 * on how finely a task's private work is cut into events, and then the engine that merges private work
 * and the one that does not (struct sim_config.naive) could not agree on ties. With random_ties the
 * sequence is replaced by a hash of (seed, time, entity): any result that hangs on a tie shows itself.
 *
 * Every entity has at most one pending event, so the event is the entity's `struct slot`; arming it again
 * moves it.
 */
#ifndef SIM_ENGINE_SIM_H
#define SIM_ENGINE_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/engine/arena.h"
#include "sim/engine/time.h"

struct sim;
struct slot;
struct coroutine;

enum sim_class {
	SIM_CLASS_CONTROL, /* the experiment itself: end of warm-up, samples, end of run */
	SIM_CLASS_TIMER,   /* timers and other device-like events */
	SIM_CLASS_CPU,     /* a CPU goes on with its task */
	SIM_NR_CLASSES
};

/* One pending event of one entity. Embed it; initialise it with slot_init(). */
struct slot {
	sim_time_t when;      /* SIM_NEVER: not pending */
	uint32_t id;          /* creation order: the sequence of the tie rule */
	uint32_t leaf;        /* SIM_CLASS_CPU: its place in the tournament */
	uint8_t class;        /* enum sim_class */
	struct coroutine *co; /* SIM_CLASS_CPU: what goes on when it is its turn */
	void (*fire)(struct sim *sim, struct slot *slot);
};

struct sim_config {
	uint64_t seed;
	bool naive;       /* synchronise at every step: slow, for cross-checks */
	bool random_ties; /* --tie-order random */
	bool cross_check; /* keep a second pending set and compare each event (default in debug builds) */
};

enum sim_end {
	SIM_END_TIME,   /* reached the time asked for */
	SIM_END_IDLE,   /* nothing is pending */
	SIM_END_ASKED,  /* sim_stop() */
	SIM_END_STALLED /* many events without progress of simulated time; sim_error() says where */
};

/* A new simulation at time 0, or NULL when address space cannot be reserved. */
struct sim *sim_create(const struct sim_config *config);
void sim_destroy(struct sim *sim);

/* Runs until nothing is left, `until` is reached (the clock then stands at `until`), or sim_stop(). */
enum sim_end sim_run(struct sim *sim, sim_time_t until);

/* Ends sim_run() after the current event. Safe from a signal handler or another thread. */
void sim_stop(struct sim *sim);

/* Records a failure of the model (with printf text) and stops. The first one is kept. */
void sim_fail(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *sim_error(const struct sim *sim); /* NULL: none */

sim_time_t sim_now(const struct sim *sim);
uint64_t sim_events(const struct sim *sim);      /* events dispatched and steps synchronised so far */
uint64_t sim_fingerprint(const struct sim *sim); /* hash of the event stream so far */
uint64_t sim_seed(const struct sim *sim);
struct arena *sim_arena(const struct sim *sim);

/* The part of the state that each layer hangs into a simulation; NULL until set. */
enum sim_state_id {
	SIM_STATE_SCHED,
	SIM_STATE_LOCKS,
	SIM_STATE_RCU,
	SIM_STATE_WORK,
	SIM_STATE_MODEL,
	SIM_NR_STATES
};
void *sim_state_get(const struct sim *sim, enum sim_state_id id);
void sim_state_set(struct sim *sim, enum sim_state_id id, void *state);

/* Mixes a value of the model's own into the fingerprint. */
void sim_mark(struct sim *sim, uint64_t value);

/* A zeroed block in the arena. */
void *sim_alloc(struct sim *sim, size_t size);
void sim_free(struct sim *sim, void *block, size_t size);

void slot_init(struct sim *sim, struct slot *slot, enum sim_class class,
	       void (*fire)(struct sim *sim, struct slot *slot));
/* Gives the slot's number back; the slot is not pending afterwards. */
void slot_release(struct sim *sim, struct slot *slot);
/* Pending at `when`, which must not lie in the past; replaces what was pending. */
void slot_arm(struct sim *sim, struct slot *slot, sim_time_t when);
void slot_cancel(struct sim *sim, struct slot *slot);
static inline bool slot_pending(const struct slot *slot)
{
	return slot->when != SIM_NEVER;
}

#endif
