/*
 * tournament.c - the pending events of the CPUs: a complete binary tree of which each node holds the
 * earlier of its two children.
 *
 * A leaf never moves, so the nodes on its way to the root are known beforehand: their loads overlap, and each
 * level adds one comparison and a conditional move, no branch. Measured beside a 4-ary heap with replace-top:
 * see docs/engine-speed.md.
 */
#include <string.h>

#include "sim/engine/pending.h"

static const struct pending_entry never = { SIM_NEVER, UINT64_MAX };

/*
 * The earlier of two, by masks and in general registers: left to itself the compiler makes this a branch,
 * which is mispredicted every other time, or moves the halves in and out of a vector register at each
 * level.
 */
static inline struct pending_entry earlier(struct pending_entry a, struct pending_entry b)
{
	uint64_t take_b = -(uint64_t)entry_before(b, a);
	uint64_t when = a.when ^ ((a.when ^ b.when) & take_b);
	uint64_t key = a.key ^ ((a.key ^ b.key) & take_b);

	__asm__("" : "+r"(when), "+r"(key));
	return (struct pending_entry){ when, key };
}

static void grow(struct sim *sim)
{
	uint32_t n = sim->nr_leaves ? 2 * sim->nr_leaves : 1;
	struct pending_entry *tree = arena_alloc(sim->arena, 2 * n * sizeof *tree);

	for (uint32_t i = 0; i < n; i++)
		tree[n + i] = i < sim->nr_leaves ? sim->tree[sim->nr_leaves + i] : never;
	for (uint32_t i = n; --i;)
		tree[i] = earlier(tree[2 * i], tree[2 * i + 1]);
	if (sim->tree)
		arena_free(sim->arena, sim->tree, 2 * sim->nr_leaves * sizeof *tree);
	sim->tree = tree;
	sim->nr_leaves = n;
}

uint32_t tournament_add(struct sim *sim)
{
	if (sim->used_leaves == sim->nr_leaves)
		grow(sim);
	return sim->used_leaves++;
}

/*
 * Brings what a CPU needs to go on nearer: its slot, its task, the top of its stack, three dependent loads
 * that would otherwise follow one another when its turn has come. The loads themselves wait for nobody.
 */
static inline void fetch(const struct sim *sim, struct pending_entry e)
{
	if (e.when == SIM_NEVER)
		return;
	const struct slot *slot = sim->slots[(uint32_t)e.key];

	__builtin_prefetch(slot->co->sp);
}

/* The nodes of this level are eight: the best of an eighth is not yet the next of all, but soon. */
#define FETCH_LEVEL 8

struct pending_entry tournament_set(struct sim *sim, uint32_t leaf, sim_time_t when, uint64_t key)
{
	struct pending_entry *tree = sim->tree;
	uint32_t i = sim->nr_leaves + leaf;
	struct pending_entry e = { when, key };

	tree[i].when = when;
	tree[i].key = key;
	for (; i >= 2 * FETCH_LEVEL; i >>= 1) {
		e = earlier(e, tree[i ^ 1]);
		tree[i >> 1].when =
			e.when; /* by halves, as they are read: a wider load would wait for both stores */
		tree[i >> 1].key = e.key;
	}
	fetch(sim, e);
	for (; i > 1; i >>= 1) {
		e = earlier(e, tree[i ^ 1]);
		tree[i >> 1].when = e.when;
		tree[i >> 1].key = e.key;
	}
	return e;
}

struct pending_entry tournament_other(const struct sim *sim, uint32_t leaf)
{
	struct pending_entry e = never;

	for (uint32_t i = sim->nr_leaves + leaf; i > 1; i >>= 1)
		e = earlier(e, sim->tree[i ^ 1]);
	return e;
}
