/*
 * spinlock.c - the queued spinlock, after kernel/locking/qspinlock.c and spinlock_api_smp.h of Linux 6.1.
 *
 * A free lock is taken with one locked operation on its line. A taken one makes the task queue: it stays on
 * its CPU with preemption off, burning it, until the owner before it hands over. The first in the queue reads
 * the lock's word over and over, so it has a copy of its line, and a release takes two journeys: the copy has
 * to go before the word can be written, and then the next owner reads it. What that one writes, to the word
 * and to the one that the next in the queue spins on, goes through its store buffer; it does not wait for it.
 * So a waiter that arrives does not slow the owner down, and n waiters on a lock that each holds for h wait
 * n(n-1)/2 h, plus transfers.
 *
 * Ownership changes in the step of the unlock; the next owner's hold time begins when the line has arrived.
 */
#include "sim/hw/lock_impl.h"
#include "sim/hw/section.h"

void spin_lock_init(struct spinlock *l, struct lock_class *class)
{
	*l = (struct spinlock){ .class = class };
	line_init(&l->line);
}

static inline void take_free(struct task *t, struct spinlock *l)
{
	line_touch_rmw(t, &l->line);
	l->owner = t;
	l->since = t->clock;
	l->class->acquisitions++;
}

static void wait_for(struct task *t, struct spinlock *l)
{
	sim_time_t since = t->clock;

	assert(l->owner != t);
	lock_wait_begin(l->class, since);
	lock_queue_push(&l->waiters, t);
	task_spin(t); /* cannot be broken: preemption is off */
	assert(l->owner == t);
	lock_wait_end(l->class, t->clock, since, t->clock - since);
}

static inline void acquire(struct task *t, struct spinlock *l)
{
	section_preempt_off(t);
	if (l->owner)
		wait_for(t, l);
	else
		take_free(t, l);
}

static void hand_over(struct task *t, struct spinlock *l)
{
	const struct machine *m = sim_sched(t->sim)->machine;
	struct task *next = lock_queue_pop(&l->waiters);
	sim_time_t copy_gone = machine_transfer(m, t->cpu->id, next->cpu->id);

	l->owner = next;
	l->since = line_send(t, &l->line, next->cpu->id) + copy_gone;
	l->line.busy_until = l->since;
	task_grant(t->sim, next, l->since);
	cpu_defer(t, m->line_hit);
}

static inline void release(struct task *t, struct spinlock *l)
{
	task_sync(t);
	assert(l->owner == t);
	lock_held(l->class, t->clock - l->since);
	if (l->waiters.head) {
		hand_over(t, l);
		return;
	}
	l->owner = NULL;
	line_touch(t, &l->line, true);
}

void spin_lock(struct task *t, struct spinlock *l)
{
	acquire(t, l);
}

bool spin_trylock(struct task *t, struct spinlock *l)
{
	section_preempt_off(t);
	if (!l->owner) {
		take_free(t, l);
		return true;
	}
	line_touch(t, &l->line, false); /* it looks before it tries */
	section_preempt_on(t);
	return false;
}

void spin_unlock(struct task *t, struct spinlock *l)
{
	release(t, l);
	section_preempt_on(t);
}

void spin_lock_irq(struct task *t, struct spinlock *l)
{
	section_irq_off(t);
	acquire(t, l);
}

void spin_unlock_irq(struct task *t, struct spinlock *l)
{
	release(t, l);
	section_irq_on(t);
	section_preempt_on(t);
}

bool spin_is_contended(const struct spinlock *l)
{
	return l->waiters.nr > 0;
}
