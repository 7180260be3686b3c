/*
 * test_coroutine.c - many coroutines at once, deep stacks, and overflows that are noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/engine/coroutine.h"
#include "sim/engine/sim.h"

#ifdef COROUTINE_ASAN
#define NR_MANY    3000 /* each has 32 KiB of shadow */
#define LIMIT_EACH (64 * 1024)
#else
#define NR_MANY    50000
#define LIMIT_EACH (10 * 1024)
#endif
#define NR_GUARDED 28000 /* beyond these the lowest page of a stack has a pattern in it */

struct player {
	struct coroutine co;
	struct ring *ring;
	uint64_t sum;
	uint32_t number;
};

struct ring {
	struct coroutine main;
	struct player *players;
	uint32_t nr, turns;
};

/* Passes on to the next of the ring; the last gives back to main, which begins the next round. */
static void pass_on(void *arg)
{
	struct player *p = arg;
	struct ring *ring = p->ring;
	uint64_t local = p->number;
	double real = p->number;

	for (;;) {
		local = local * 3 + p->number;
		real = real * 0.5 + 1;
		p->sum = local + (uint64_t)(real > 0);
		ring->turns++;
		coroutine_switch(&p->co,
				 p->number + 1 < ring->nr ? &ring->players[p->number + 1].co : &ring->main);
	}
}

static size_t resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	size_t total, resident;

	assert_int_equal(fscanf(f, "%zu %zu", &total, &resident), 2);
	fclose(f);
	return resident * (size_t)sysconf(_SC_PAGESIZE);
}

static void many_at_once(void **state)
{
	struct arena *a = arena_create();
	struct ring ring = { .nr = NR_MANY };
	size_t before = resident_bytes();

	(void)state;
	ring.players = arena_array(a, NR_MANY, sizeof *ring.players);
	for (uint32_t i = 0; i < NR_MANY; i++) {
		struct player *p = &ring.players[i];

		p->number = i;
		p->ring = &ring;
		coroutine_init(&p->co, a, "player", pass_on, p);
	}
	for (int round = 0; round < 5; round++)
		coroutine_switch(&ring.main, &ring.players[0].co);
	assert_int_equal(ring.turns, 5 * NR_MANY);
	for (uint32_t i = 0; i < NR_MANY; i++) {
		uint64_t expected = i;

		for (int round = 0; round < 5; round++)
			expected = expected * 3 + i;
		assert_int_equal(ring.players[i].sum, expected + 1);
		assert_int_equal(ring.players[i].co.stack.guarded, i < NR_GUARDED);
	}
	assert_true(resident_bytes() - before < (size_t)NR_MANY * LIMIT_EACH);
	for (uint32_t i = 0; i < NR_MANY; i++)
		coroutine_release(&ring.players[i].co, a);
	arena_destroy(a);
}

/* ---- deep ---- */

struct diver {
	struct coroutine co, main;
	size_t depth;
	uint64_t result;
	bool surface; /* switches at the bottom */
};

static __attribute__((noinline)) uint64_t dive(struct diver *d, size_t depth)
{
	volatile char frame[960];

	memset((char *)(uintptr_t)frame, (int)depth, sizeof frame);
	uint64_t below = 0;

	if (depth)
		below = dive(d, depth - 1);
	else if (d->surface)
		coroutine_switch(&d->co, &d->main);
	return below + (uint64_t)(unsigned char)frame[depth % sizeof frame];
}

static void dive_and_end(void *arg)
{
	struct diver *d = arg;

	for (;;) {
		d->result = dive(d, d->depth);
		coroutine_switch(&d->co, &d->main);
	}
}

static uint64_t expected_sum(size_t depth)
{
	uint64_t sum = 0;

	for (size_t i = 0; i <= depth; i++)
		sum += i & 0xff;
	return sum;
}

static void deep_stacks(void **state)
{
	struct arena *a = arena_create();
	struct diver d = { .depth = 100, .surface = true };

	(void)state;
	coroutine_init(&d.co, a, "diver", dive_and_end, &d);
	coroutine_switch(&d.main, &d.co); /* comes back from the bottom */
	assert_int_equal(d.result, 0);
	coroutine_switch(&d.main, &d.co);
	assert_int_equal(d.result, expected_sum(100));
	coroutine_release(&d.co, a);
	arena_destroy(a);
}

/* What a stack used is given back, and another coroutine can have it. */
static void stacks_are_used_again(void **state)
{
	struct arena *a = arena_create();
	struct diver d = { .depth = 100 };
	size_t before = 0;
	char *base = NULL;

	(void)state;
	for (int i = 0; i < 300; i++) {
		coroutine_init(&d.co, a, "diver", dive_and_end, &d);
		assert_true(!base || base == d.co.stack.base);
		base = d.co.stack.base;
		d.depth = 10 + (size_t)i % 90;
		coroutine_switch(&d.main, &d.co);
		assert_int_equal(d.result, expected_sum(d.depth));
		coroutine_release(&d.co, a);
		if (i == 150)
			before = resident_bytes();
	}
	assert_true(resident_bytes() < before + 512 * 1024);
	arena_destroy(a);
}

/* ---- too deep ---- */

/* What a child that dives in the stack with number `id` says on standard error; *status is how it ended. */
static const char *drown(uint32_t id, size_t depth, bool surface, int *status)
{
	static char text[4096];
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();

	if (!pid) {
		dup2(ends[1], STDERR_FILENO);
		signal(SIGABRT, SIG_DFL); /* the test framework has its own ideas about both */
		signal(SIGSEGV, SIG_DFL);
		struct sim *sim = sim_create(&(struct sim_config){ .seed = 1 });
		struct diver d = { .depth = depth, .surface = surface };

		for (uint32_t i = 0; i < id; i++)
			stack_alloc(sim_arena(sim));
		coroutine_init(&d.co, sim_arena(sim), "deep diver", dive_and_end, &d);
		coroutine_switch(&d.main, &d.co);
		_exit(0);
	}
	close(ends[1]);
	size_t n = 0;
	ssize_t got;

	while (n < sizeof text - 1 && (got = read(ends[0], text + n, sizeof text - 1 - n)) > 0)
		n += (size_t)got;
	text[n] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(pid, status, 0), pid);
	return text;
}

/* Deep, but no overflow: some 115 of at least 128 KiB. A frame of 1 KiB is longer under the sanitizer. */
#ifdef COROUTINE_ASAN
enum { NEARLY_FULL = 92 };
#else
enum { NEARLY_FULL = 110 };
#endif

static void nearly_full_is_not_an_overflow(void **state)
{
	int status;

	(void)state;
	assert_string_equal(drown(5, NEARLY_FULL, false, &status), "");
	assert_int_equal(status, 0);
	assert_string_equal(drown(NR_GUARDED + 1, NEARLY_FULL, true, &status), "");
	assert_int_equal(status, 0);
}

#ifndef COROUTINE_ASAN /* it catches overflows and faults in its own way */

static void assert_drowns(uint32_t id, size_t depth, bool surface)
{
	int status;
	const char *text = drown(id, depth, surface, &status);

	unsigned int kib;

	assert_int_equal(
		sscanf(text, "memcgsim: stack overflow in task 'deep diver' (it has %u KiB)\n", &kib), 1);
	assert_in_range(kib, ARENA_STACK_LEAST / 1024, ARENA_STACK_SIZE / 1024);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void an_overflow_hits_the_guard_page(void **state)
{
	(void)state;
	assert_drowns(5, 100000, false);
}

/* Beyond the guarded stacks a switch looks: at the stack pointer, and at the pattern when it is back up. */
static void an_overflow_without_guard_is_seen_by_a_switch(void **state)
{
	(void)state;
	assert_drowns(NR_GUARDED + 1, 280, true);
	assert_drowns(NR_GUARDED + 1, 280, false);
}

/* Other faults keep their meaning. */
static void other_faults_are_let_through(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		sim_create(&(struct sim_config){ .seed = 1 });
		raise(SIGSEGV);
		volatile uintptr_t nowhere = 64;

		*(volatile int *)nowhere = 1;
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSEGV);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_at_once),
		cmocka_unit_test(deep_stacks),
		cmocka_unit_test(stacks_are_used_again),
#ifndef COROUTINE_ASAN
		cmocka_unit_test(an_overflow_hits_the_guard_page),
		cmocka_unit_test(an_overflow_without_guard_is_seen_by_a_switch),
		cmocka_unit_test(other_faults_are_let_through),
#endif
		cmocka_unit_test(nearly_full_is_not_an_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
