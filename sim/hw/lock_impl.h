/*
 * lock_impl.h - what the kinds of lock share: queues of tasks and the accounts of a class.
 *
 * The accounts are changed in synchronised steps only, so that sums come out the same however finely the
 * private work between them is cut. wait_total is the sum of what each waiter waited; queue_area is the
 * number of waiters weighted by time. Little's law says that they agree once nobody waits, which the tests
 * use as a check of one against the other.
 */
#ifndef SIM_HW_LOCK_IMPL_H
#define SIM_HW_LOCK_IMPL_H

#include "sim/hw/lock.h"

void lock_wait_begin(struct lock_class *class, sim_time_t now);
/* Got it at `now`, waiting from `since`; burned its CPU for `spun` of that. Counts the acquisition. */
void lock_wait_end(struct lock_class *class, sim_time_t now, sim_time_t since, sim_time_t spun);

static inline void lock_held(struct lock_class *class, sim_time_t length)
{
	class->hold_total += length;
	if (length > class->hold_max)
		class->hold_max = length;
	histogram_add_one(class->hold, length / SIM_NS);
}

static inline void lock_queue_push(struct lock_queue *q, struct task *t)
{
	t->next = NULL;
	if (q->tail)
		q->tail->next = t;
	else
		q->head = t;
	q->tail = t;
	q->nr++;
}

static inline struct task *lock_queue_pop(struct lock_queue *q)
{
	struct task *t = q->head;

	if (t) {
		q->head = t->next;
		if (!q->head)
			q->tail = NULL;
		q->nr--;
		t->next = NULL;
	}
	return t;
}

void lock_queue_remove(struct lock_queue *q, struct task *t);

#endif
