/*
 * work.h - kernel timers and work queues.
 *
 * ktimer: a timer of the timer wheel (kernel/time/timer.c): expires on a tick, never early, and the further
 * away, the coarser (less than 63 ticks ahead on the next tick after its time, less than 504 on the next
 * multiple of 8 after it, less than 4032 of 64, ...). A deferrable one does not wake an idle CPU: it fires at
 * the first tick at which its CPU is not idle.
 *
 * workqueue: per-CPU queues run their work on the CPU that queued it, unbound ones where there is room. At
 * most max_active items run at once (per CPU for per-CPU queues). A work item is queued at most once and is
 * never run by two workers at a time; it may queue or free itself while it runs. Workers are tasks, made on
 * demand and kept.
 *
 * What takes no task is called from a step or from an event.
 */
#ifndef SIM_HW_WORK_H
#define SIM_HW_WORK_H

#include "sim/hw/task.h"

struct ktimer {
	struct slot slot;
	struct sim *sim;
	void (*func)(struct sim *sim, struct ktimer *timer);
	bool deferrable;
	uint32_t cpu;
	struct ktimer *next,
		**prev; /* among those due that wait for their CPU to leave idleness; prev NULL: none */
};

void ktimer_init(struct sim *sim, struct ktimer *timer, void (*func)(struct sim *sim, struct ktimer *timer));
/* Expires `ticks` ticks from now, rounded up as the wheel does. */
void ktimer_arm(struct ktimer *timer, uint32_t cpu, uint64_t ticks);
void ktimer_cancel(struct ktimer *timer);
bool ktimer_pending(const struct ktimer *timer);
/* Gives back what ktimer_init() took, before the memory that holds it is freed. */
void ktimer_release(struct ktimer *timer);
/* When a timer set for `expires` (a tick number) at tick `now` fires: the wheel's rounding. Pure. */
uint64_t ktimer_wheel(uint64_t now, uint64_t expires);
/* The scheduler's hook: the CPU leaves idleness. */
void ktimer_cpu_busy(struct sim *sim, struct cpu *cpu);

struct workqueue;
struct work {
	struct work *next;
	void (*func)(struct task *t, struct work *work);
	bool queued;
	uint32_t cpu;
};
struct delayed_work {
	struct work work;
	struct ktimer timer;
	struct workqueue *wq;
};

/* `name` stays alive. max_active 0: 256. */
struct workqueue *workqueue_create(struct sim *sim, const char *name, bool unbound, uint32_t max_active);
void work_init(struct work *work, void (*func)(struct task *t, struct work *work));
/* false: was queued already. `t` may be NULL (a timer queues); `cpu` is used by per-CPU queues. */
bool queue_work_on(struct sim *sim, struct task *t, uint32_t cpu, struct workqueue *wq, struct work *work);

void delayed_work_init(struct sim *sim, struct delayed_work *dw, bool deferrable,
		       void (*func)(struct task *t, struct work *work));
/* The delay is rounded up to ticks, then as the wheel does; 0 queues at once. No effect if it is queued. */
void queue_delayed_work(struct sim *sim, uint32_t cpu, struct workqueue *wq, struct delayed_work *dw,
			sim_time_t delay);

#endif
