/*
 * pending.c - what is next: the heap of timers, and its meeting with the tournament of CPUs. See pending.h.
 *
 * The heap lives in the arena and doubles; an implicit 4-ary heap of 16-byte entries, the four children of a
 * node in one cache line, the smallest chosen without a branch.
 */
#include "sim/engine/pending.h"

#include <string.h>

#include "sim/engine/pending_check.h"

/* Events without progress of simulated time after which a run counts as stuck: some seconds of real time. */
#define STALL_EVENTS ((uint64_t)1 << 24)

#define HEAP_LEAD 3 /* unused entries before heap[0], so that heap[1] begins a cache line */

static struct pending_entry *heap_new(struct sim *sim, uint32_t capacity)
{
	return (struct pending_entry *)arena_alloc(sim->arena,
						   (capacity + HEAP_LEAD) * sizeof(struct pending_entry)) +
	       HEAP_LEAD;
}

static void heap_free(struct sim *sim)
{
	arena_free(sim->arena, sim->heap - HEAP_LEAD,
		   (sim->capacity + HEAP_LEAD) * sizeof(struct pending_entry));
}

void pending_init(struct sim *sim)
{
	sim->capacity = 1024 - HEAP_LEAD;
	sim->heap = heap_new(sim, sim->capacity);
	sim->check_at = STALL_EVENTS;
	sim->checked_now = SIM_NEVER;
}

void pending_release(struct sim *sim)
{
	pending_check_free(sim->check);
	sim->check = NULL;
}

/* The smallest of the (up to four) children from `first`, by comparisons without branches. */
static inline uint32_t smallest_child(const struct pending_entry *heap, uint32_t first, uint32_t nr)
{
	if (first + 4 <= nr) {
		uint32_t a = first + entry_before(heap[first + 1], heap[first]);
		uint32_t b = first + 2 + entry_before(heap[first + 3], heap[first + 2]);

		return entry_before(heap[b], heap[a]) ? b : a;
	}
	uint32_t best = first;

	for (uint32_t i = first + 1; i < nr; i++)
		best = entry_before(heap[i], heap[best]) ? i : best;
	return best;
}

static void sift_down(struct pending_entry *heap, uint32_t nr, uint32_t hole, struct pending_entry e)
{
	for (uint32_t first; (first = 4 * hole + 1) < nr;) {
		uint32_t child = smallest_child(heap, first, nr);

		if (!entry_before(heap[child], e))
			break;
		heap[hole] = heap[child];
		hole = child;
	}
	heap[hole] = e;
}

static void sift_up(struct pending_entry *heap, uint32_t hole, struct pending_entry e)
{
	while (hole) {
		uint32_t parent = (hole - 1) / 4;

		if (!entry_before(e, heap[parent]))
			break;
		heap[hole] = heap[parent];
		hole = parent;
	}
	heap[hole] = e;
}

/* NULL: stale. The class is looked at too, since the number may meanwhile belong to a slot of another one. */
static struct slot *entry_slot(const struct sim *sim, struct pending_entry e)
{
	struct slot *slot = sim->slots[(uint32_t)e.key];

	return slot && slot->when == e.when && slot->class == e.key >> 56 ? slot : NULL;
}

static void heap_grow(struct sim *sim)
{
	uint32_t capacity = 2 * (sim->capacity + HEAP_LEAD) - HEAP_LEAD;
	struct pending_entry *heap = heap_new(sim, capacity);

	memcpy(heap, sim->heap, sim->nr * sizeof *heap);
	heap_free(sim);
	sim->heap = heap;
	sim->capacity = capacity;
}

/* Drops the stale entries and restores the heap order. */
static void heap_rebuild(struct sim *sim)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sim->nr; i++)
		if (entry_slot(sim, sim->heap[i]))
			sim->heap[n++] = sim->heap[i];
		else
			pending_check_remove(sim->check, sim->heap[i]);
	sim->nr = n;
	sim->nr_stale = 0;
	for (uint32_t i = n / 4 + 1; i-- > 0;)
		if (i < n)
			sift_down(sim->heap, n, i, sim->heap[i]);
}

static void heap_insert(struct sim *sim, struct pending_entry e)
{
	if (sim->nr == sim->capacity)
		heap_grow(sim);
	if (sim->nr_stale > 64 && sim->nr_stale > sim->nr / 2)
		heap_rebuild(sim);
	sift_up(sim->heap, sim->nr++, e);
}

static void heap_drop_top(struct sim *sim)
{
	sim->nr--;
	if (sim->nr)
		sift_down(sim->heap, sim->nr, 0, sim->heap[sim->nr]);
}

/* The earliest timer that is not stale; false if there is none. */
static bool heap_top(struct sim *sim, struct pending_entry *top)
{
	while (sim->nr) {
		*top = sim->heap[0];
		if (entry_slot(sim, *top))
			return true;
		sim->nr_stale -= sim->nr_stale > 0;
		pending_check_remove(sim->check, *top);
		heap_drop_top(sim);
	}
	return false;
}

static struct pending_entry entry_of(const struct sim *sim, const struct slot *slot)
{
	if (slot->when == SIM_NEVER)
		return (struct pending_entry){ SIM_NEVER, UINT64_MAX };
	return (struct pending_entry){ slot->when, pending_key(sim, slot, slot->when) };
}

void pending_move(struct sim *sim, struct slot *slot, sim_time_t before)
{
	struct pending_entry e = entry_of(sim, slot);

	if (slot->class == SIM_CLASS_CPU) {
		tournament_set(sim, slot->leaf, e.when, e.key);
		if (slot == sim->running)
			sim->running = NULL;
		if (before != SIM_NEVER)
			pending_check_remove(
				sim->check, (struct pending_entry){ before, pending_key(sim, slot, before) });
	} else if (slot->when != SIM_NEVER) {
		heap_insert(sim, e);
	}
	if (slot->when == SIM_NEVER)
		return;
	pending_check_insert(sim->check, e);
	if (entry_before(e, sim->next))
		sim->next = e;
}

static bool time_moves(struct sim *sim)
{
	if (sim->events < sim->check_at)
		return true;
	sim->stalled = sim->checked_now == sim->now;
	sim->checked_now = sim->now;
	if (!sim->stalled) /* else whoever comes next finds out too */
		sim->check_at = sim->events + STALL_EVENTS;
	return !sim->stalled;
}

/* What the running CPU must stay before: any other CPU, the first timer, the end of the run. */
static void set_next(struct sim *sim, const struct slot *running)
{
	struct pending_entry timer, next = tournament_other(sim, running->leaf);
	struct pending_entry end = { sim->until, UINT64_MAX };

	if (heap_top(sim, &timer) && entry_before(timer, next))
		next = timer;
	sim->next = entry_before(end, next) ? end : next;
	if (sim->stop)
		sim->next.when = 0;
}

struct slot *pending_take(struct sim *sim)
{
	struct slot *before = sim->running;
	struct pending_entry top = { SIM_NEVER, UINT64_MAX }, timer;

	if (before) { /* it gives way: pending again, or idle */
		struct pending_entry e = entry_of(sim, before);

		sim->running = NULL;
		top = tournament_set(sim, before->leaf, e.when, e.key);
		if (__builtin_expect(sim->check && e.when != SIM_NEVER, 0))
			pending_check_insert(sim->check, e);
	} else if (sim->nr_leaves) {
		top = sim->tree[1];
	}
	sim->next.when = 0;
	if (sim->stop || !time_moves(sim))
		return NULL;
	bool cpu = true;

	if (sim->nr && heap_top(sim, &timer) && entry_before(timer, top)) {
		top = timer;
		cpu = false;
	}
	if (top.when > sim->until || top.when == SIM_NEVER)
		return NULL;
	struct slot *slot = sim->slots[(uint32_t)top.key];

	if (__builtin_expect(sim->check != NULL, 0))
		pending_check_take(sim->check, top);
	slot->when = SIM_NEVER;
	sim->now = top.when;
	pending_count(sim, top.when, top.key);
	if (cpu) {
		sim->running = slot;
		if (slot == before) /* it goes on alone: let it do so without coming here again */
			set_next(sim, slot);
	} else {
		heap_drop_top(sim);
	}
	return slot;
}

bool pending_any(struct sim *sim)
{
	struct pending_entry e;

	return heap_top(sim, &e) || (sim->nr_leaves && sim->tree[1].when != SIM_NEVER);
}
