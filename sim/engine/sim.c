/*
 * sim.c - creation, the main loop, slots. See sim.h.
 *
 * The main loop runs timers and control events itself. A CPU's event switches to its task (the slot's fire
 * function does, in sim/hw/task.c); tasks then switch directly from one to the next for as long as CPU events
 * are the earliest, and come back here only for something else.
 */
#include "sim/engine/sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/engine/overflow.h"
#include "sim/engine/pending.h"
#include "sim/engine/pending_check.h"

struct sim *sim_create(const struct sim_config *config)
{
	struct arena *arena = arena_create();

	if (!arena)
		return NULL;
	struct sim *sim = arena_alloc(arena, sizeof *sim);

	sim->arena = arena;
	sim->seed = config->seed;
	sim->naive = config->naive;
	sim->random_ties = config->random_ties;
	sim->main.name = "main loop";
	pending_init(sim);
	overflow_watch();
	if (config->cross_check)
		sim->check = pending_check_new();
	return sim;
}

void sim_destroy(struct sim *sim)
{
	if (!sim)
		return;
	pending_release(sim);
	arena_destroy(sim->arena);
}

enum sim_end sim_run(struct sim *sim, sim_time_t until)
{
	struct slot *slot;

	sim->until = until;
	while ((slot = pending_take(sim)))
		slot->fire(sim, slot);
	if (sim->stalled) {
		sim_fail(
			sim,
			"simulated time stands still at %.9f s: tasks take turns for ever without using time",
			sim_seconds(sim->now));
		return SIM_END_STALLED;
	}
	if (sim->stop) {
		sim->stop = false;
		return SIM_END_ASKED;
	}
	if (!pending_any(sim))
		return SIM_END_IDLE;
	if (until > sim->now)
		sim->now = until;
	return SIM_END_TIME;
}

void sim_stop(struct sim *sim)
{
	sim->stop = true;
	sim->next.when = 0;
}

void sim_fail(struct sim *sim, const char *format, ...)
{
	if (!sim->error) {
		va_list ap, again;

		va_start(ap, format);
		va_copy(again, ap);
		size_t size = (size_t)vsnprintf(NULL, 0, format, ap) + 1;

		sim->error = sim_alloc(sim, size);
		vsnprintf(sim->error, size, format, again);
		va_end(again);
		va_end(ap);
	}
	sim_stop(sim);
}

const char *sim_error(const struct sim *sim)
{
	return sim->error;
}

sim_time_t sim_now(const struct sim *sim)
{
	return sim->now;
}

uint64_t sim_events(const struct sim *sim)
{
	return sim->events;
}

uint64_t sim_fingerprint(const struct sim *sim)
{
	return sim->fingerprint;
}

uint64_t sim_seed(const struct sim *sim)
{
	return sim->seed;
}

struct arena *sim_arena(const struct sim *sim)
{
	return sim->arena;
}

void sim_mark(struct sim *sim, uint64_t value)
{
	sim->fingerprint = (sim->fingerprint ^ value) * 0xD6E8FEB86659FD93u;
}

void *sim_alloc(struct sim *sim, size_t size)
{
	return arena_alloc(sim->arena, size);
}

void sim_free(struct sim *sim, void *block, size_t size)
{
	arena_free(sim->arena, block, size);
}

void *sim_state_get(const struct sim *sim, enum sim_state_id id)
{
	return sim->state[id];
}

void sim_state_set(struct sim *sim, enum sim_state_id id, void *state)
{
	sim->state[id] = state;
}

/* Doubles an array in the arena. */
static void *grown(struct sim *sim, void *old, uint32_t from, uint32_t to, size_t size)
{
	void *block = arena_alloc(sim->arena, to * size);

	if (old) {
		memcpy(block, old, from * size);
		arena_free(sim->arena, old, from * size);
	}
	return block;
}

void slot_init(struct sim *sim, struct slot *slot, enum sim_class class,
	       void (*fire)(struct sim *sim, struct slot *slot))
{
	uint32_t id;

	if (sim->nr_free_ids) {
		id = sim->free_ids[--sim->nr_free_ids];
	} else {
		if (sim->nr_slots == sim->slot_capacity) {
			uint32_t capacity = sim->slot_capacity ? 2 * sim->slot_capacity : 256;

			sim->slots = grown(sim, sim->slots, sim->slot_capacity, capacity,
					   sizeof(struct slot *));
			sim->free_ids = grown(sim, sim->free_ids, sim->slot_capacity, capacity,
					      sizeof(uint32_t));
			sim->slot_capacity = capacity;
		}
		id = sim->nr_slots++;
	}
	*slot = (struct slot){ .when = SIM_NEVER, .id = id, .class = (uint8_t) class, .fire = fire };
	if (class == SIM_CLASS_CPU)
		slot->leaf = tournament_add(sim);
	sim->slots[id] = slot;
}

void slot_release(struct sim *sim, struct slot *slot)
{
	slot_cancel(sim, slot);
	sim->slots[slot->id] = NULL;
	sim->free_ids[sim->nr_free_ids++] = slot->id;
}

void slot_arm(struct sim *sim, struct slot *slot, sim_time_t when)
{
	if (when < sim->now) {
		sim_fail(sim, "an event was scheduled %.3f ns in the past", sim_nanoseconds(sim->now - when));
		when = sim->now;
	}
	sim_time_t before = slot->when;

	if (before == when)
		return;
	slot->when = when;
	if (slot->class != SIM_CLASS_CPU)
		sim->nr_stale += before != SIM_NEVER;
	pending_move(sim, slot, before);
}

void slot_cancel(struct sim *sim, struct slot *slot)
{
	sim_time_t before = slot->when;

	if (before == SIM_NEVER)
		return;
	slot->when = SIM_NEVER;
	if (slot->class != SIM_CLASS_CPU)
		sim->nr_stale++;
	pending_move(sim, slot, before);
}
