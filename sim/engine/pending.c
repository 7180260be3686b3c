/*
 * pending.c - the 4-ary heap of pending events. See pending.h.
 *
 * Costs (256 entries): about 25 ns for a take together with an insertion. The heap lives in the arena and
 * doubles; entries are 16 bytes, so with its slot pointer an entity pending costs under 64 bytes.
 */
#include "sim/engine/pending.h"

#include <string.h>

#include "sim/engine/pending_check.h"

/* Events without progress of simulated time after which a run counts as stuck: some seconds of real time. */
#define STALL_EVENTS ((uint64_t)1 << 24)

#define HEAP_LEAD 3 /* unused entries before heap[0], so that heap[1] begins a cache line */

static struct pending_entry *heap_new(struct sim *sim, uint32_t capacity)
{
	return (struct pending_entry *)arena_alloc(sim->arena, (capacity + HEAP_LEAD) * sizeof(struct pending_entry)) +
	       HEAP_LEAD;
}

static void heap_free(struct sim *sim)
{
	arena_free(sim->arena, sim->heap - HEAP_LEAD, (sim->capacity + HEAP_LEAD) * sizeof(struct pending_entry));
}

void pending_init(struct sim *sim)
{
	sim->capacity = 1024 - HEAP_LEAD;
	sim->heap = heap_new(sim, sim->capacity);
	sim->check_at = STALL_EVENTS;
	sim->next = (struct pending_entry){ 0, 0 };
}

void pending_release(struct sim *sim)
{
	pending_check_free(sim->check);
	sim->check = NULL;
}

static inline bool entry_before(struct pending_entry a, struct pending_entry b)
{
	return ((unsigned __int128)a.when << 64 | a.key) < ((unsigned __int128)b.when << 64 | b.key);
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

static struct slot *entry_slot(const struct sim *sim, struct pending_entry e)
{
	struct slot *slot = sim->slots[(uint32_t)e.key];

	return slot && slot->when == e.when ? slot : NULL;
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

/* What the fast path compares with: the earliest entry or the end of the run, whichever comes first. */
static void set_next(struct sim *sim)
{
	struct pending_entry end = { sim->until, UINT64_MAX };

	sim->next = sim->nr && entry_before(sim->heap[0], end) ? sim->heap[0] : end;
	if (sim->stop)
		sim->next.when = 0;
}

void pending_push(struct sim *sim, struct slot *slot)
{
	struct pending_entry e = { slot->when, pending_key(sim, slot, slot->when) };

	if (sim->nr == sim->capacity)
		heap_grow(sim);
	if (sim->nr_stale > 64 && sim->nr_stale > sim->nr / 2)
		heap_rebuild(sim);
	sift_up(sim->heap, sim->nr++, e);
	pending_check_insert(sim->check, e);
	set_next(sim);
}

static void drop_top(struct sim *sim)
{
	pending_check_take(sim->check, sim->heap[0]);
	sim->nr--;
	if (sim->nr)
		sift_down(sim->heap, sim->nr, 0, sim->heap[sim->nr]);
}

static bool time_moves(struct sim *sim)
{
	if (sim->events < sim->check_at)
		return true;
	sim->check_at = sim->events + STALL_EVENTS;
	sim->stalled = sim->checked_now == sim->now && sim->now > 0;
	sim->checked_now = sim->now;
	return !sim->stalled;
}

struct slot *pending_take(struct sim *sim, struct slot *push)
{
	struct pending_entry mine = { 0, 0 };

	if (push)
		mine = (struct pending_entry){ push->when, pending_key(sim, push, push->when) };
	while (time_moves(sim) && !sim->stop) {
		struct pending_entry top;

		if (push && (!sim->nr || entry_before(mine, sim->heap[0]))) {
			/* Only the slow-path conditions brought us here: it is still the first. */
			if (mine.when > sim->until)
				break;
			top = mine;
			pending_check_insert(sim->check, mine);
			pending_check_take(sim->check, mine);
			push = NULL;
		} else if (sim->nr) {
			top = sim->heap[0];
			if (!entry_slot(sim, top)) {
				sim->nr_stale -= sim->nr_stale > 0;
				drop_top(sim);
				continue;
			}
			if (top.when > sim->until)
				break;
			if (push) {
				pending_check_insert(sim->check, mine);
				pending_check_take(sim->check, top);
				sift_down(sim->heap, sim->nr, 0, mine);
				push = NULL;
			} else {
				drop_top(sim);
			}
		} else {
			break;
		}
		struct slot *slot = sim->slots[(uint32_t)top.key];

		slot->when = SIM_NEVER;
		sim->now = top.when;
		pending_count(sim, top.when, top.key);
		set_next(sim);
		return slot;
	}
	if (push)
		pending_push(sim, push);
	else
		set_next(sim);
	return NULL;
}
