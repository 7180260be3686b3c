/*
 * mutex.c - the sleeping mutex, after kernel/locking/mutex.c and osq_lock.c of Linux 6.1.
 *
 * A free mutex is taken with one locked operation, by whoever comes first: nothing keeps a newcomer from
 * stealing it from a task that has been woken for it. A taken one is waited for in two ways.
 *
 * Optimistic spinning (mutex_optimistic_spin): while the owner runs on a CPU the release is probably near.
 * The spinners queue up; only the first watches the owner, the others wait for it to leave the queue. All
 * give up when they are asked to reschedule; the first also when the owner leaves its CPU, and then passes
 * the place on, so that a crowd of spinners dissolves one by one, two line transfers apart. Who was asked
 * to reschedule does so before anything else, still runnable; only when it runs again does it join the
 * sleepers. So a task that came to a CPU full of spinners, and spins there itself in the end, puts both to
 * sleep.
 *
 * Sleeping: each unlock wakes the first sleeper, which tries again when it runs. If somebody else has got the
 * mutex meanwhile it sets `handoff`: the next unlock gives the mutex to it whatever spinners there are, even
 * if it has no CPU then. Until then it spins too, if the owner runs.
 *
 * This is where a mutex loses against a spinlock: an owner that is preempted or throttled lets everybody go
 * to sleep behind it, and each of them then has to be woken in turn (the convoy).
 *
 * Who watches the owner reads the word that the owner will clear, so it has a copy of the line. A release
 * then takes three journeys, one after the other, before the next owner goes on: the copy has to go before
 * the word can be written, the watcher reads it, and its compare-and-exchange calls in the copy that was left
 * behind. Those who wait behind it spin on words of their own (osq_lock.c), which cost two journeys when
 * their turn comes: to who writes the word, and back. The list of sleepers is protected by a lock of its own
 * in the kernel; its cost is in machine.mutex_slowpath.
 */
#include "sim/hw/lock_impl.h"

void mutex_init(struct mutex *m, struct lock_class *class)
{
	*m = (struct mutex){ .class = class };
	line_init(&m->line);
}

/* __mutex_trylock: true if it was free, and now is ours. */
static bool take_free(struct task *t, struct mutex *m)
{
	if (m->owner)
		return false;
	line_touch_rmw(t, &m->line);
	m->owner = t;
	return true;
}

/* Spins until the situation may have changed; what it has changed to is for the caller to see. */
static sim_time_t spin(struct task *t, struct task *owner)
{
	sim_time_t since = t->clock;

	task_watch(t, owner);
	return t->clock - since;
}

/* Spins with a copy of the line, which it reads over and over; the first read is part of the wait. */
static sim_time_t watch_owner(struct task *t, struct mutex *m)
{
	line_cost(t, &m->line, false);
	return spin(t, m->owner);
}

static bool worth_spinning(const struct task *t, const struct mutex *m)
{
	return !need_resched(t) && (!m->owner || task_on_cpu(m->owner));
}

static sim_time_t way(const struct task *from, const struct task *to)
{
	return machine_transfer(sim_sched(from->sim)->machine, from->cpu->id, to->cpu->id);
}

static void pass_place(struct task *t, struct mutex *m)
{
	struct task *next = m->spinners.head;

	/* A spinner that is not spinning is on its way out, or in, and will look for itself. */
	if (next && next->state == TASK_SPINNING)
		task_grant(t->sim, next, t->clock + 2 * way(t, next));
}

/* mutex_optimistic_spin, but for its end: true if the mutex is ours. Adds to *spun. */
static bool spin_in_queue(struct task *t, struct mutex *m, sim_time_t *spun)
{
	if (!worth_spinning(t, m))
		return false;
	lock_queue_push(&m->spinners, t);
	while (m->spinners.head != t && !need_resched(t))
		*spun += spin(t, NULL);
	bool first = m->spinners.head == t;

	while (first && m->owner != t && !take_free(t, m) && worth_spinning(t, m))
		*spun += watch_owner(t, m);
	lock_queue_remove(&m->spinners, t);
	if (first)
		pass_place(t, m);
	return m->owner == t;
}

/* With its end: gives way before anything else, so as not to lose the CPU with the mutex in hand. */
static bool spin_for(struct task *t, struct mutex *m, sim_time_t *spun)
{
	if (spin_in_queue(t, m, spun))
		return true;
	cond_resched(t);
	return false;
}

/* The same for the first of the sleepers, which has no place in the queue of spinners. */
static bool spin_as_first(struct task *t, struct mutex *m, sim_time_t *spun)
{
	while (m->owner != t && worth_spinning(t, m))
		*spun += watch_owner(t, m);
	if (m->owner != t)
		cond_resched(t);
	return m->owner == t;
}

/* The slow path of __mutex_lock_common. Adds to *spun. */
static void sleep_for(struct task *t, struct mutex *m, sim_time_t *spun)
{
	cpu_work(t, sim_sched(t->sim)->machine->mutex_slowpath);
	task_sync(t);
	lock_queue_push(&m->sleepers, t);
	while (!take_free(t, m)) {
		/* Uninterruptible: a signal, which wakes anybody in the queue, is none of its business. */
		do
			task_block(t);
		while (m->owner != t && m->sleepers.head != t);
		if (m->owner == t || take_free(t, m))
			break;
		m->handoff = true; /* it is the first */
		if (spin_as_first(t, m, spun))
			break;
	}
	lock_queue_remove(&m->sleepers, t);
}

void mutex_lock(struct task *t, struct mutex *m)
{
	might_sleep(t);
	task_sync(t);
	assert(m->owner != t);
	if (take_free(t, m)) {
		m->class->acquisitions++;
	} else {
		sim_time_t since = t->clock, spun = 0;

		lock_wait_begin(m->class, since);
		if (!spin_for(t, m, &spun))
			sleep_for(t, m, &spun);
		task_sync(t);
		lock_wait_end(m->class, t->clock, since, spun);
	}
	m->since = t->clock;
}

bool mutex_trylock(struct task *t, struct mutex *m)
{
	task_sync(t);
	if (!take_free(t, m)) {
		line_touch(t, &m->line, false);
		return false;
	}
	m->class->acquisitions++;
	m->since = t->clock;
	return true;
}

/* To a task that watches, or to one that sleeps and will find it its own. Written after `released`. */
static void give(struct task *t, struct mutex *m, struct task *next, sim_time_t released)
{
	m->owner = next;
	if (next->state != TASK_SPINNING)
		return;
	sim_time_t read = line_send(t, &m->line, next->cpu->id) + released;

	m->line.busy_until = read + way(t, next) + sim_sched(t->sim)->machine->atomic;
	task_grant(t->sim, next, m->line.busy_until);
}

void mutex_unlock(struct task *t, struct mutex *m)
{
	task_sync(t);
	assert(m->owner == t);
	lock_held(m->class, t->clock - m->since);
	struct task *sleeper = m->sleepers.head, *spinner = m->spinners.head;
	sim_time_t cost = line_cost(t, &m->line, true) + sim_sched(t->sim)->machine->atomic;

	if (m->handoff) {
		m->handoff = false;
		give(t, m, sleeper, cost);
		pass_place(t, m); /* the first spinner has somebody else to watch now */
	} else if (spinner && spinner->state == TASK_SPINNING) {
		give(t, m, spinner, cost);
	} else {
		m->owner = NULL;
	}
	/* The wake-up belongs to this step, so the costs of the step come after it. */
	if (sleeper && sleeper->state == TASK_SLEEPING)
		task_wake(t->sim, t, sleeper);
	cpu_defer(t, cost);
}
