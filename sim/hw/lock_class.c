/*
 * lock_class.c - classes of locks and what is kept of each. See lock.h and lock_impl.h.
 *
 * There are a few dozen classes at most and a class is looked up when a lock is made, so a list will do.
 */
#include <string.h>

#include "sim/hw/lock_impl.h"

static struct lock_class *class_new(struct sim *sim, const char *name, uint32_t id)
{
	struct lock_class *class = sim_alloc(sim, sizeof *class);

	class->name = name;
	class->id = id;
	class->wait = histogram_create(sim_arena(sim));
	class->hold = histogram_create(sim_arena(sim));
	return class;
}

struct lock_class *lock_class(struct sim *sim, const char *name)
{
	struct lock_class *first = sim_state_get(sim, SIM_STATE_LOCKS), **at = &first;
	uint32_t nr = 0;

	for (; *at; at = &(*at)->next, nr++)
		if (!strcmp((*at)->name, name))
			return *at;
	struct lock_class *class = *at = class_new(sim, name, nr);

	sim_state_set(sim, SIM_STATE_LOCKS, first);
	return class;
}

const struct lock_class *lock_classes(const struct sim *sim)
{
	return sim_state_get(sim, SIM_STATE_LOCKS);
}

void lock_classes_reset(struct sim *sim)
{
	for (struct lock_class *c = sim_state_get(sim, SIM_STATE_LOCKS); c; c = c->next) {
		c->acquisitions = c->contended = 0;
		c->wait_total = c->wait_max = 0;
		c->hold_total = c->hold_max = 0;
		c->spin_total = 0;
		c->most_waiting = c->waiting;
		c->queue_area = 0;
		c->changed = sim_now(sim);
		histogram_reset(c->wait);
		histogram_reset(c->hold);
	}
}

static void queue_changed(struct lock_class *class, sim_time_t now)
{
	class->queue_area += (double)((now - class->changed) * class->waiting);
	class->changed = now;
}

void lock_wait_begin(struct lock_class *class, sim_time_t now)
{
	queue_changed(class, now);
	if (++class->waiting > class->most_waiting)
		class->most_waiting = class->waiting;
}

void lock_wait_end(struct lock_class *class, sim_time_t now, sim_time_t since, sim_time_t spun)
{
	sim_time_t waited = now - since;

	queue_changed(class, now);
	class->waiting--;
	class->acquisitions++;
	class->contended++;
	class->wait_total += waited;
	class->spin_total += spun;
	if (waited > class->wait_max)
		class->wait_max = waited;
	histogram_add(class->wait, waited / SIM_NS, 1);
}

void lock_queue_remove(struct lock_queue *q, struct task *t)
{
	struct task *before = NULL;

	for (struct task *at = q->head; at != t; at = at->next)
		before = at;
	if (before)
		before->next = t->next;
	else
		q->head = t->next;
	if (q->tail == t)
		q->tail = before;
	t->next = NULL;
	q->nr--;
}
