/*
 * sched.h - inside of the scheduler: what task.c, sched.c and bandwidth.c share.
 *
 * All functions run synchronised: in a step of the running task or in a timer's event, so sim_now() is the
 * present for everybody. A task's `clock` may lie ahead of it by the private work it still has to do.
 */
#ifndef SIM_HW_SCHED_H
#define SIM_HW_SCHED_H

#include "sim/hw/task.h"

/* Books CPU time up to now: the task's clocks, vruntime and quota. */
void sched_account(struct task *t);

/* A CPU for a task that becomes runnable. `waker_cpu` may be NULL. */
struct cpu *sched_select_cpu(struct sched *s, const struct task *t, const struct cpu *waker_cpu);

/* Puts a runnable task on the CPU: runs it if the CPU is idle, else queues it and perhaps preempts. */
void sched_place(struct sim *sim, struct task *t, struct cpu *cpu);

/* The CPU's current task has left (blocked, ended, was queued): runs the next or idles. */
void sched_next(struct sim *sim, struct cpu *cpu);

/* Takes the current task, which stays runnable, off its CPU. */
void sched_put(struct sim *sim, struct cpu *cpu);

/* Asks the current task to give way: at once where it is preemptible, else need_resched. */
void sched_resched(struct sim *sim, struct cpu *cpu);

/* May the task be preempted in the private work it is at? */
bool sched_preemptible(const struct sched *s, const struct task *t);

/* The running task leaves its CPU (it is SLEEPING, DEAD or queued) and comes back when it runs again. */
void sched_away(struct task *t);

/* Lets everybody who spins because `t` runs give up. */
void sched_break_watchers(struct sim *sim, struct task *t);

/* Slots of a CPU, which begins idle; `resume` switches to its task. */
void sched_init_cpu(struct sim *sim, struct cpu *cpu, void (*resume)(struct sim *sim, struct slot *slot));

void sched_tick_arm(struct sim *sim, struct cpu *cpu);

/* bandwidth.c: books consumed time; false when some level's quota is used up. */
bool bandwidth_consume(struct sim *sim, struct task *t, sim_time_t used);
/* Makes sure that the task may run; else it is parked until the next period and false is returned. */
bool bandwidth_admit(struct sim *sim, struct task *t);
/* The CPU time until the quota at hand is used up; SIM_NEVER without a limit. */
sim_time_t bandwidth_left(const struct task *t);
/* The CPU has no more of this group's work: gives back what is left of its slice. */
void bandwidth_return(struct sim *sim, struct task *t);

#endif
