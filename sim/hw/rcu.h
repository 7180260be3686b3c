/*
 * rcu.h - read sections and grace periods.
 *
 * A read section costs machine.rcu_read and is not preemptible. Entering and leaving are private (where the
 * kernel preempts, they switch preemption off and on, and so synchronise); their times are kept, so that a
 * grace period sees the section that a CPU is in at its own time, even when the CPU has run ahead. A grace
 * period starts rcu_gp_start after it is asked for, and ends at the first look (every rcu_gp_poll) that finds
 * every CPU out of the sections it was in at the start. Requests that come while one is starting share it;
 * one that comes later waits for the next.
 *
 * Shared state is touched inside a section as anywhere else, after synchronising: rcu_read_lock() ends the
 * step at hand, for what was looked up before it is not protected by it.
 */
#ifndef SIM_HW_RCU_H
#define SIM_HW_RCU_H

#include "sim/hw/task.h"

struct rcu_head {
	struct rcu_head *next;
	uint32_t cpu; /* that it was queued on */
	void (*func)(struct sim *sim, struct rcu_head *head);
};

/* Done by sched_init(): readers are private and must find everything in place. */
void rcu_init(struct sim *sim);

void rcu_read_lock(struct task *t);
void rcu_read_unlock(struct task *t);

void synchronize_rcu(struct task *t); /* sleeps until a grace period has passed */
/* func runs, as an event, when a grace period has passed. Callable from any step or event. */
void call_rcu(struct sim *sim, struct rcu_head *head, void (*func)(struct sim *sim, struct rcu_head *head));
/*
 * The same for a callback that is queued on a CPU: until it has run, that CPU keeps its tick even when it is
 * idle (rcu_needs_cpu() in kernel/time/tick-sched.c), and so runs its deferrable timers.
 */
void call_rcu_on(struct sim *sim, uint32_t cpu, struct rcu_head *head,
		 void (*func)(struct sim *sim, struct rcu_head *head));
bool rcu_needs_cpu(const struct sim *sim, uint32_t cpu);
uint64_t rcu_grace_periods(const struct sim *sim);

#endif
