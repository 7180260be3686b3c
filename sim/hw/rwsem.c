/*
 * rwsem.c - the read-write semaphore, after kernel/locking/rwsem.c of Linux 6.1.
 *
 * Whoever finds the semaphore taken against it, or anybody waiting, queues up and sleeps. Whoever leaves it
 * free admits from the head of the queue: one writer, or all readers up to the next writer. So readers share,
 * and a writer waits at most for those before it. Admission is by the one who leaves: it admits the waiters
 * in one step and then wakes them one after the other, which costs it time for each.
 *
 * Simpler than the kernel: writers do not spin for a writer that runs, and a wake-up lets in only the readers
 * before the next writer (the kernel collects up to 256 from the whole queue).
 */
#include "sim/hw/lock_impl.h"

struct rwsem_waiter {
	struct task *task;
	struct rwsem_waiter *next;
	bool writer, released; /* from its wait; it is inside since before */
};

void rwsem_init(struct rwsem *s, struct lock_class *class)
{
	*s = (struct rwsem){ .class = class };
	s->last = &s->first;
	line_init(&s->line);
}

/* Room for one more of the kind, as far as those inside are concerned? */
static bool has_room(const struct rwsem *s, bool writer)
{
	return !s->writer && (!writer || !s->readers);
}

static void enter(struct rwsem *s, struct task *t, bool writer, sim_time_t now)
{
	if (writer)
		s->writer = t;
	else
		s->readers++;
	if (writer || s->readers == 1)
		s->since = now;
}

static void wait(struct task *t, struct rwsem *s, bool writer)
{
	struct rwsem_waiter me = { .task = t, .writer = writer };
	sim_time_t since = t->clock;

	lock_wait_begin(s->class, since);
	*s->last = &me;
	s->last = &me.next;
	while (!me.released)
		task_block(t);
	cpu_work(t, sim_sched(t->sim)->machine->mutex_slowpath);
	task_sync(t);
	lock_wait_end(s->class, t->clock, since, 0);
}

static void down(struct task *t, struct rwsem *s, bool writer)
{
	task_sync(t);
	if (s->first || !has_room(s, writer)) {
		wait(t, s, writer);
	} else {
		line_touch_rmw(t, &s->line);
		enter(s, t, writer, t->clock);
		s->class->acquisitions++;
	}
}

/* Lets in whoever may come in now: their list, still to be woken. */
static struct rwsem_waiter *admit(struct rwsem *s, sim_time_t now)
{
	struct rwsem_waiter *list = s->first, *last = NULL;

	while (s->first && has_room(s, s->first->writer)) {
		last = s->first;
		enter(s, last->task, last->writer, now);
		s->first = last->next;
	}
	if (!s->first)
		s->last = &s->first;
	if (!last)
		return NULL;
	last->next = NULL;
	return list;
}

static void up(struct task *t, struct rwsem *s)
{
	sim_time_t cost = line_cost(t, &s->line, true) + sim_sched(t->sim)->machine->atomic;
	struct rwsem_waiter *admitted = admit(s, t->clock);

	while (admitted) {
		struct rwsem_waiter *w = admitted;

		task_sync(t);
		/* It may be gone once it is released: something else may have woken its task. */
		admitted = w->next;
		w->released = true;
		task_wake(t->sim, t, w->task);
	}
	cpu_defer(t, cost);
}

void down_read(struct task *t, struct rwsem *s)
{
	might_sleep(t);
	down(t, s, false);
}

void down_write(struct task *t, struct rwsem *s)
{
	might_sleep(t);
	down(t, s, true);
}

void up_read(struct task *t, struct rwsem *s)
{
	task_sync(t);
	assert(s->readers);
	if (--s->readers)
		line_touch_rmw(t, &s->line);
	else {
		lock_held(s->class, t->clock - s->since);
		up(t, s);
	}
}

void up_write(struct task *t, struct rwsem *s)
{
	task_sync(t);
	assert(s->writer == t);
	lock_held(s->class, t->clock - s->since);
	s->writer = NULL;
	up(t, s);
}
