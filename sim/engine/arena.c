/*
 * arena.c - one reservation of address space per simulation. See arena.h.
 *
 * Layout: [ objects, growing up ... | stacks, growing up ... ], half a tebibyte each, reserved without access
 * and opened in chunks. A bump pointer serves new blocks; freed blocks wait in lists by size class (multiples
 * of 64 bytes, beyond 4 KiB powers of two).
 */
#include "sim/engine/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HALF       ((size_t)1 << 39)
#define FIRST_BASE ((uintptr_t)0x200000000000)
#define CHUNK      ((size_t)16 << 20)
#define PAGE       ((size_t)4096)
#define GRAIN      ((size_t)64)
#define NR_SMALL   (4096 / GRAIN + 1)
#define NR_LARGE   40
#define MAX_BASES  8

/* Mappings are a limited resource (vm.max_map_count, 65,530 by default); each guard page takes two. */
#define MAX_GUARDS 28000

/* Free stacks that keep their pages. Giving pages back is dear: all CPUs of the process have to be told. */
#define WARM_STACKS 64

/* Stacks start at different offsets in a page, or the hot tops of all would fall into the same cache sets. */
#define COLOURS 24

struct free_block {
	struct free_block *next;
};

struct arena {
	char *base, *next, *end; /* of the objects: end of what is open */
	char *stacks;
	size_t stacks_open;
	uint32_t nr_stacks, nr_guarded;
	uint32_t *free_stacks;
	uint32_t nr_free_stacks, free_capacity;
	struct free_block *small[NR_SMALL], *large[NR_LARGE];
};

static void out_of_memory(void)
{
	fprintf(stderr, "memcgsim: out of memory\n");
	exit(1);
}

static void open_range(char *from, size_t size)
{
	if (mprotect(from, size, PROT_READ | PROT_WRITE))
		out_of_memory();
}

static void *reserve(void)
{
	for (uintptr_t i = 0; i < MAX_BASES; i++) {
		void *want = (char *)FIRST_BASE + i * 2 * HALF;
		void *got = mmap(want, 2 * HALF, PROT_NONE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

		if (got == want)
			return got;
		if (got != MAP_FAILED)
			munmap(got, 2 * HALF);
	}
	void *any = mmap(NULL, 2 * HALF, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return any == MAP_FAILED ? NULL : any;
}

struct arena *arena_create(void)
{
	char *base = reserve();

	if (!base)
		return NULL;
	/* Simulations walk over all their objects all the time; stacks keep small pages: most use one. */
	madvise(base, HALF, MADV_HUGEPAGE);
	open_range(base, CHUNK);
	struct arena *a = (struct arena *)(void *)base;

	a->base = base;
	a->next = base + ((sizeof *a + GRAIN - 1) & ~(GRAIN - 1));
	a->end = base + CHUNK;
	a->stacks = base + HALF;
	return a;
}

void arena_destroy(struct arena *a)
{
	munmap(a->base, 2 * HALF);
}

static void *bump(struct arena *a, size_t size, size_t align)
{
	char *block = (char *)(((uintptr_t)a->next + align - 1) & ~(uintptr_t)(align - 1));

	if (size > HALF - (size_t)(block - a->base))
		out_of_memory();
	if (block + size > a->end) {
		size_t more = ((size_t)(block + size - a->end) + CHUNK - 1) & ~(CHUNK - 1);

		open_range(a->end, more);
		a->end += more;
	}
	a->next = block + size;
	return block;
}

/* The list for a size, and the size that its blocks really have. */
static struct free_block **size_class(struct arena *a, size_t *size)
{
	if (*size <= 4096) {
		size_t units = (*size + GRAIN - 1) / GRAIN;

		if (*size <= 16) { /* small strings and links share grains of their own */
			*size = 16;
			return &a->small[0];
		}
		*size = units * GRAIN;
		return &a->small[units];
	}
	uint32_t order = 64 - (uint32_t)__builtin_clzll(*size - 1);

	if (order >= NR_LARGE)
		out_of_memory();
	*size = (size_t)1 << order;
	return &a->large[order];
}

void *arena_alloc(struct arena *a, size_t size)
{
	if (!size)
		size = 1;
	struct free_block **list = size_class(a, &size);
	struct free_block *block = *list;

	if (!block)
		return bump(a, size, size >= GRAIN ? GRAIN : 16);
	*list = block->next;
	memset(block, 0, size);
	return block;
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		out_of_memory();
	if (bytes < CHUNK)
		return arena_alloc(a, bytes);
	size_class(a, &bytes); /* as large as arena_free() will take it to be */
	return bump(a, bytes, PAGE);
}

void arena_free(struct arena *a, void *block, size_t size)
{
	if (!block)
		return;
	if (!size)
		size = 1;
	struct free_block **list = size_class(a, &size);
	struct free_block *b = block;

	b->next = *list;
	*list = b;
}

char *arena_strdup(struct arena *a, const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(arena_alloc(a, n), s, n);
}

size_t arena_committed(const struct arena *a)
{
	return (size_t)(a->next - a->base);
}

/* ---- stacks ---- */

#define PATTERN 0x5ac5ac5ac5ac5ac5u

static void fill_pattern(char *page)
{
	uint64_t *w = (uint64_t *)(void *)page;

	for (size_t i = 0; i < PAGE / sizeof *w; i++)
		w[i] = PATTERN;
}

bool stack_intact(const struct stack *s)
{
	/* The page below base; its upper words are the first that an overflow reaches. */
	const uint64_t *w = (const uint64_t *)(const void *)(s->base - 64);
	bool intact = true;

	for (size_t i = 0; i < 8; i++)
		intact &= w[i] == PATTERN;
	return intact;
}

static void open_stack(struct arena *a, uint32_t id)
{
	char *low = a->stacks + (size_t)id * ARENA_STACK_SIZE;

	if ((size_t)(id + 1) * ARENA_STACK_SIZE > HALF)
		out_of_memory();
	/* The limit may be lower than usual, or another simulation have used it up. */
	if (id == a->nr_guarded && id < MAX_GUARDS &&
	    !mprotect(low + PAGE, ARENA_STACK_SIZE - PAGE, PROT_READ | PROT_WRITE)) {
		a->nr_guarded++;
		return;
	}
	open_range(low, ARENA_STACK_SIZE);
	fill_pattern(low);
}

/* The last bytes of a stack's room. */
struct owner {
	_Alignas(GRAIN) uint64_t pattern;
	const void *who;
};

static struct owner *owner_of(char *low)
{
	return (struct owner *)(void *)(low + ARENA_STACK_SIZE) - 1;
}

struct stack stack_alloc(struct arena *a)
{
	uint32_t id;

	if (a->nr_free_stacks) {
		id = a->free_stacks[--a->nr_free_stacks];
	} else {
		id = a->nr_stacks++;
		open_stack(a, id);
	}
	char *low = a->stacks + (size_t)id * ARENA_STACK_SIZE;

	return (struct stack){ .base = low + PAGE,
			       .top = (char *)owner_of(low) - (id * 7u % COLOURS) * 2 * GRAIN,
			       .id = id,
			       .guarded = id < a->nr_guarded };
}

void stack_set_owner(const struct stack *s, const void *owner)
{
	*owner_of(s->base - PAGE) = (struct owner){ .pattern = PATTERN, .who = owner };
}

const void *stack_owner_by_guard(const void *address)
{
	uintptr_t at = (uintptr_t)address, into = (at - FIRST_BASE) % HALF % ARENA_STACK_SIZE;

	/* Only in the upper halves of where reserve() puts arenas: nothing is known about other addresses. */
	if (at < FIRST_BASE || at >= FIRST_BASE + MAX_BASES * 2 * HALF || !((at - FIRST_BASE) & HALF) ||
	    into >= PAGE)
		return NULL;
	const struct owner *o = owner_of((char *)(at - into));

	return o->pattern == PATTERN ? o->who : NULL;
}

void stack_free(struct arena *a, const struct stack *s)
{
	/* All but its top page goes back. Not so the last few's: they are the next to be used again. */
	if (a->nr_free_stacks >= WARM_STACKS)
		madvise(s->base, ARENA_STACK_SIZE - 2 * PAGE, MADV_DONTNEED);
	if (a->nr_free_stacks == a->free_capacity) {
		uint32_t capacity = a->free_capacity ? 2 * a->free_capacity : 64;
		uint32_t *grown = arena_alloc(a, capacity * sizeof *grown);

		if (a->free_stacks) {
			memcpy(grown, a->free_stacks, a->free_capacity * sizeof *grown);
			arena_free(a, a->free_stacks, a->free_capacity * sizeof *grown);
		}
		a->free_stacks = grown;
		a->free_capacity = capacity;
	}
	a->free_stacks[a->nr_free_stacks++] = s->id;
}
