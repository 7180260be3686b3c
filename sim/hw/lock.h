/*
 * lock.h - the kernel's locks, and what lock_stat keeps of each class.
 *
 * Each lock belongs to a class, named as in the kernel ("cgroup_rstat_lock"); statistics are kept by class.
 *
 * spinlock: queued (kernel/locking/qspinlock.c). First come, first served; waiters burn their CPUs with
 *   preemption off; hand-off takes two journeys of the lock's line between releasing and acquiring CPU.
 *   The _irq forms also switch interrupts off. A per-CPU raw lock is a spinlock used with _irq.
 * mutex: kernel/locking/mutex.c. Optimistic spinning while the owner runs (one spinner watches the owner,
 *   the others queue behind it), else sleep; unlock wakes the first sleeper, which may lose to a spinner and
 *   then asks for a hand-off.
 * rwsem: readers share, writers exclude; waiters sleep in arrival order, adjacent readers enter together.
 * seqlock: a spinlock for writers and a count that makes readers try again.
 *
 * All of them synchronise (task.h). A lock is initialised once; its line may be given back with
 * line_release().
 */
#ifndef SIM_HW_LOCK_H
#define SIM_HW_LOCK_H

#include "sim/hw/line.h"
#include "sim/hw/task.h"
#include "sim/stats/histogram.h"

struct lock_class {
	const char *name;
	uint32_t id;
	uint64_t acquisitions, contended;
	sim_time_t wait_total, wait_max; /* contended acquisitions only */
	sim_time_t hold_total, hold_max;
	sim_time_t spin_total;  /* of the waits: spent burning a CPU */
	double queue_area;      /* integral of the number of waiters over time, ps: Little's law */
	struct histogram *wait; /* ns, contended only */
	struct histogram *hold; /* ns; readers of one rwsem that overlap hold it once */
	uint32_t waiting;       /* now */
	uint32_t most_waiting;  /* at any time, for all locks of the class together */
	sim_time_t changed;     /* when `waiting` last did; queue_area is right up to here */
	struct lock_class *next;
};

/* The class of that name, made at first use. `name` must stay alive. */
struct lock_class *lock_class(struct sim *sim, const char *name);
/* All classes, in order of first use: for (c = lock_classes(sim); c; c = c->next). */
const struct lock_class *lock_classes(const struct sim *sim);
/* Forgets everything counted so far (end of warm-up). A wait under way counts in full when it ends. */
void lock_classes_reset(struct sim *sim);

struct lock_queue { /* linked by task.next */
	struct task *head, *tail;
	uint32_t nr;
};

struct spinlock {
	struct line line;
	struct lock_class *class;
	struct task *owner;
	struct lock_queue waiters;
	sim_time_t since; /* when the owner got it */
};

void spin_lock_init(struct spinlock *l, struct lock_class *class);
void spin_lock(struct task *t, struct spinlock *l);
bool spin_trylock(struct task *t, struct spinlock *l);
void spin_unlock(struct task *t, struct spinlock *l);
void spin_lock_irq(struct task *t, struct spinlock *l);
void spin_unlock_irq(struct task *t, struct spinlock *l);
bool spin_is_contended(const struct spinlock *l); /* somebody waits; caller is in a step */

struct mutex {
	struct line line;
	struct lock_class *class;
	struct task *owner;
	struct lock_queue sleepers;
	struct lock_queue spinners; /* the kernel's osq: the first watches the owner */
	bool handoff;               /* the first sleeper has lost once: it is next */
	sim_time_t since;
};

void mutex_init(struct mutex *m, struct lock_class *class);
void mutex_lock(struct task *t, struct mutex *m);
bool mutex_trylock(struct task *t, struct mutex *m);
void mutex_unlock(struct task *t, struct mutex *m);

struct rwsem_waiter; /* on the stack of who waits */
struct rwsem {
	struct line line;
	struct lock_class *class;
	struct task *writer;
	uint32_t readers;
	struct rwsem_waiter *first, **last; /* sleeping */
	sim_time_t since;                   /* the writer, or the first of the readers, was let in */
};

void rwsem_init(struct rwsem *s, struct lock_class *class);
void down_read(struct task *t, struct rwsem *s);
void up_read(struct task *t, struct rwsem *s);
void down_write(struct task *t, struct rwsem *s);
void up_write(struct task *t, struct rwsem *s);

struct seqlock {
	struct spinlock lock;
	struct line line;
	uint64_t sequence;         /* odd while a writer is inside */
	struct lock_queue readers; /* in read_seqbegin, until the writer leaves */
};

void seqlock_init(struct seqlock *s, struct lock_class *class);
void write_seqlock(struct task *t, struct seqlock *s);
void write_sequnlock(struct task *t, struct seqlock *s);
/* do { seq = read_seqbegin(t, s); ... } while (read_seqretry(t, s, seq)); begin waits for a writer to end. */
uint64_t read_seqbegin(struct task *t, struct seqlock *s);
bool read_seqretry(struct task *t, struct seqlock *s, uint64_t sequence);

#endif
