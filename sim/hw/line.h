/*
 * line.h - cache lines that several CPUs use.
 *
 * A line has an owner (the CPU that last wrote it), the set of other CPUs that hold a shared copy, and the
 * time until which it is on its way. An access that hits costs machine.line_hit. One that misses waits until
 * the line is free and then for its transfer from where it is; a write makes the writer the owner and drops
 * all copies. So contended atomics on one line serialise at the line's transfer time, in order of arrival.
 *
 * The value in the line is the caller's own variable. Each call synchronises (task.h); the value may be
 * looked at or changed in the step that the call leaves behind, and takes effect in order of arrival. The
 * cost is charged to the task before the call returns, with cpu_defer().
 *
 * How near a line still is depends on what has passed since. A CPU that works through data once, clears a
 * page or copies one, says so with cache_stream(). What its core touched last before that many bytes is no
 * longer in its level-1 cache, or in level 2, or in its share of level 3 (machine.cache_*), and a hit costs
 * accordingly. Only data that stream are counted, and a copy that several CPUs hold always is near.
 *
 * Every hot word that the kernel's mechanisms argue about is such a line. Which words share one is part of
 * the model: embed one struct line beside all of them.
 */
#ifndef SIM_HW_LINE_H
#define SIM_HW_LINE_H

#include "sim/hw/task.h"

#define LINE_NOWHERE UINT32_MAX /* in no cache */

struct line {
	uint32_t owner;      /* a CPU with a copy (the last writer or, if never written, the first reader) */
	uint32_t nr_sharers; /* further CPUs with a copy */
	sim_time_t busy_until;
	uint64_t *sharers; /* bitmap of them; allocated at the first shared read */
	uint64_t left;     /* what had streamed through the owner's core when it touched the line last */
};

void line_init(struct line *l); /* in no cache */
/* Gives back what the line has allocated, before the memory that holds it is freed. */
void line_release(struct sim *sim, struct line *l);

void line_read(struct task *t, struct line *l);  /* plain load */
void line_write(struct task *t, struct line *l); /* plain store */
void line_rmw(struct task *t, struct line *l);   /* locked read-modify-write */

/* The same without synchronising: for a step that already is synchronised. They return the cost charged. */
static inline sim_time_t line_touch(struct task *t, struct line *l, bool write);
static inline sim_time_t line_touch_rmw(struct task *t, struct line *l);

/* Moves the line and returns the cost of the access, for a caller that charges it later in the step. */
static inline sim_time_t line_cost(const struct task *t, struct line *l, bool write);

static inline void cache_stream(struct task *t, uint64_t bytes)
{
	*t->cpu->streamed += bytes;
}

/*
 * The cost of lines that no other CPU takes away: of per-CPU data, or of what nobody writes. All that there
 * is to know of them is the time of their last touch, *left, which begins as 0 (never touched): lines that
 * are always touched together share one. In a step; the caller charges it.
 */
sim_time_t line_cost_near(const struct task *t, uint64_t *left);

/* What it costs beyond a hit, for a caller whose own cost counts the access as a hit. */
sim_time_t line_cost_farther(const struct task *t, uint64_t *left);
static inline sim_time_t line_cost_beyond(const struct task *t, uint64_t *left)
{
	return __builtin_expect(t->cpu->caches, 0) ? line_cost_farther(t, left) : 0;
}

/* Sends the line, modified, to a CPU that waits for it; returns when it is there. The hand-off of a lock. */
sim_time_t line_send(const struct task *t, struct line *l, uint32_t to);

/* ---- the fast path: the CPU has the line to itself ---- */

sim_time_t line_cost_slow(const struct task *t, struct line *l, bool write);

static inline const struct machine *line_machine(const struct task *t)
{
	return ((const struct sched *)t->sim->state[SIM_STATE_SCHED])->machine;
}

static inline sim_time_t line_cost(const struct task *t, struct line *l, bool write)
{
	if (__builtin_expect(l->owner == t->cpu->id && !l->nr_sharers && !t->cpu->caches, 1))
		return line_machine(t)->line_hit;
	return line_cost_slow(t, l, write);
}

static inline sim_time_t line_touch(struct task *t, struct line *l, bool write)
{
	sim_time_t cost = line_cost(t, l, write);

	cpu_defer(t, cost);
	return cost;
}

static inline sim_time_t line_touch_rmw(struct task *t, struct line *l)
{
	sim_time_t cost = line_cost(t, l, true) + line_machine(t)->atomic;

	cpu_defer(t, cost);
	return cost;
}

#endif
