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

/* Equal times: rare, but for entries that are not pending, of which it does not matter which is kept. */
static __attribute__((noinline, cold)) bool tie_goes_to(uint64_t b, uint64_t a)
{
	return b < a;
}

/*
 * Sets *a to the earlier of the two. One comparison of times and two conditional moves, because the levels
 * wait for one another: left to itself the compiler makes this a branch, which is mispredicted every other
 * time. Only when the times are equal do the keys decide.
 */
static inline void keep_earlier(struct pending_entry *a, const struct pending_entry *b)
{
	uint64_t when = b->when, key = b->key;

	if (__builtin_expect(a->when == when, 0)) {
		if (when != SIM_NEVER && tie_goes_to(key, a->key))
			a->key = key;
		return;
	}
#ifdef __x86_64__
	__asm__("cmpq %[a], %[b]\n\tcmovbq %[b], %[a]\n\tcmovbq %[bk], %[ak]"
		: [a] "+r"(a->when), [ak] "+r"(a->key)
		: [b] "r"(when), [bk] "r"(key)
		: "cc");
#else
	a->key = when < a->when ? key : a->key;
	a->when = when < a->when ? when : a->when;
#endif
}

static inline struct pending_entry earlier(struct pending_entry a, struct pending_entry b)
{
	keep_earlier(&a, &b);
	return a;
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
 * What a CPU needs to go on is three dependent loads away: its slot, its task, the top of its stack. Each is
 * fetched when the CPU becomes the best of a smaller part of the tree than the next: as the best of a 64th it
 * will wait for some 64 steps of others, as the best of a quarter for some four. So each load finds what the
 * one before it has fetched, and nobody waits for any.
 */
#define FETCH_SLOT  64
#define FETCH_TASK  16
#define FETCH_STACK 4

static inline const struct slot *slot_of(const struct sim *sim, struct pending_entry e)
{
	return sim->slots[(uint32_t)e.key];
}

static inline struct pending_entry climb(struct pending_entry *tree, uint32_t *i, uint32_t to,
					 struct pending_entry e)
{
	for (; *i >= 2 * to; *i >>= 1) {
		keep_earlier(&e, &tree[*i ^ 1]);
		/* By halves, as they are read: a wider load would wait for both stores. */
		tree[*i >> 1].when = e.when;
		tree[*i >> 1].key = e.key;
	}
	return e;
}

struct pending_entry tournament_set(struct sim *sim, uint32_t leaf, sim_time_t when, uint64_t key)
{
	struct pending_entry *tree = sim->tree;
	uint32_t i = sim->nr_leaves + leaf;
	struct pending_entry e = { when, key };

	tree[i].when = when;
	tree[i].key = key;
	e = climb(tree, &i, FETCH_SLOT, e);
	if (e.when != SIM_NEVER)
		__builtin_prefetch(slot_of(sim, e));
	e = climb(tree, &i, FETCH_TASK, e);
	if (e.when != SIM_NEVER)
		__builtin_prefetch(slot_of(sim, e)->co);
	e = climb(tree, &i, FETCH_STACK, e);
	if (e.when != SIM_NEVER) {
		const char *sp = slot_of(sim, e)->co->sp;

		__builtin_prefetch(sp);
		__builtin_prefetch(sp + 144);
		__builtin_prefetch(sp + 208);
	}
	return climb(tree, &i, 1, e);
}

struct pending_entry tournament_other(const struct sim *sim, uint32_t leaf)
{
	struct pending_entry e = never;

	for (uint32_t i = sim->nr_leaves + leaf; i > 1; i >>= 1)
		e = earlier(e, sim->tree[i ^ 1]);
	return e;
}
