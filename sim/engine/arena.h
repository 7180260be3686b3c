/*
 * arena.h - the one piece of address space in which a simulation lives.
 *
 * A simulation reserves its address space once, at a fixed address that depends only on how many
 * simulations the process already has, and commits it as it grows. Everything that changes during a run
 * is in it, task stacks included: a fork() is a warm start, and a dump of the committed part is a
 * checkpoint. Memory handed out is zero. Freed blocks go to a list of their size class and are reused,
 * zeroed again; nothing is returned to the system before arena_destroy().
 *
 * Not thread safe. Running out of memory ends the process with a message and status 1: a simulation that
 * has lost an allocation half-way through a kernel path has no meaningful state to continue from.
 */
#ifndef SIM_ENGINE_ARENA_H
#define SIM_ENGINE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* A new arena; NULL when the address space cannot be reserved. */
struct arena *arena_create(void);
void arena_destroy(struct arena *a);

/* `size` zeroed bytes, aligned to 16, or to a cache line (64) when size >= 64. Never NULL. */
void *arena_alloc(struct arena *a, size_t size);

/* `n` elements of `size` bytes, page aligned and untouched (so not resident) when large. Never NULL. */
void *arena_array(struct arena *a, size_t n, size_t size);

/* Gives back a block of exactly the size that was asked for. */
void arena_free(struct arena *a, void *block, size_t size);

/* A copy of a string, for the life of the simulation. */
char *arena_strdup(struct arena *a, const char *s);

/* Bytes committed so far, for progress lines and tests. */
size_t arena_committed(const struct arena *a);

/*
 * Stacks. Each is ARENA_STACK_SIZE of address space, of which at least ARENA_STACK_LEAST can be used and only
 * touched pages cost memory. The size is an odd number of pages: were it a power of two, the top pages of all
 * would fall into the same few sets of the TLB, which costs a step between 256 tasks a quarter of its time.
 *
 * A guard page lies below each stack as long as the kernel's limit on mappings allows (at most 28,000
 * stacks); beyond that the lowest page is filled with a pattern that stack_intact() looks at, as every switch
 * does with the stack pointer (see coroutine.h).
 */
#define ARENA_STACK_SIZE  ((size_t)35 * 4096)
#define ARENA_STACK_LEAST ((size_t)32 * 4096)

struct stack {
	uint32_t id;  /* slot, for stack_free() */
	bool guarded; /* a guard page lies below base; looked at in each switch, so near the beginning */
	char *base;   /* lowest usable byte */
	char *top;    /* one past the highest; coloured, so that stacks do not share cache sets */
};

struct stack stack_alloc(struct arena *a);
void stack_free(struct arena *a,
		const struct stack *s); /* its pages go back to the system, sooner or later */
bool stack_intact(const struct stack *s);

/* Who uses a stack; and the user of the stack whose guard page an address is in, NULL if it is in none. */
void stack_set_owner(const struct stack *s, const void *owner);
const void *stack_owner_by_guard(const void *address);

#endif
