/*
 * sched.h - inside of the scheduler: what task.c, sched.c and bandwidth.c share.
 *
 * All functions run synchronised: in a step of the running task or in a timer's event, so sim_now() is the
 * present for everybody. A task's `clock` may lie ahead of it by the private work it still has to do.
 */
#ifndef SIM_HW_SCHED_H
#define SIM_HW_SCHED_H

#include "sim/hw/task.h"

/* Books the CPU time of a task on its CPU up to now: its clocks, vruntime and quota. */
void sched_account(struct task *t);
/* Adds what sched_account() would book to `clocks`: for a look that changes nothing. */
void sched_unbooked(const struct task *t, sim_time_t clocks[NR_TASK_CLOCKS]);

/* A CPU for a task that becomes runnable. `waker_cpu` may be NULL. */
struct cpu *sched_select_cpu(struct sched *s, const struct task *t, const struct cpu *waker_cpu);

/* Puts a runnable task on the CPU: runs it if the CPU is idle, else queues it and perhaps preempts. */
void sched_place(struct sim *sim, struct task *t, struct cpu *cpu);

/* The CPU's current task has left (blocked, ended, was queued): runs the next or idles. */
void sched_next(struct sim *sim, struct cpu *cpu);

/* The CPU's current task stays runnable, but makes way for the next in line. */
void sched_rotate(struct sim *sim, struct cpu *cpu);

/* Asks the current task to give way: at once, or when its step ends, or where it next can be preempted. */
void sched_resched(struct sim *sim, struct cpu *cpu);

/* May the task be preempted in the private work it is at? */
bool sched_preemptible(const struct sched *s, const struct task *t);

/* The running task leaves its CPU (it is SLEEPING, DEAD or queued) and comes back when it runs again. */
void sched_away(struct task *t);

/* Lets everybody who spins because `t` runs give up. */
void sched_break_watchers(struct sim *sim, struct task *t);

/* runqueue.c: the waiting tasks of a CPU; its first is cpu->queue. */
static inline bool runs_before(const struct task *a, const struct task *b)
{
	if (a->vruntime != b->vruntime)
		return a->vruntime < b->vruntime;
	return a->wait_since < b->wait_since || (a->wait_since == b->wait_since && a->id < b->id);
}
void runqueue_add(struct sched *s, struct cpu *cpu, struct task *t);
void runqueue_remove(struct sched *s, struct cpu *cpu, struct task *t);
/* One that may move to another CPU (the first found, down the oldest branches); NULL if there is none. */
struct task *runqueue_movable(const struct cpu *cpu);

/* Slots of a CPU, which begins idle; `resume` switches to its task. */
void sched_init_cpu(struct sim *sim, struct cpu *cpu, void (*resume)(struct sim *sim, struct slot *slot));

void sched_tick_arm(struct sim *sim, struct cpu *cpu);

/* bandwidth.c: books consumed time; false when some level's quota is used up. */
bool bandwidth_consume(struct sim *sim, struct task *t, sim_time_t used);
/* Makes sure that the task may run on the CPU; else parks it until the next period and returns false. */
bool bandwidth_admit(struct task *t, const struct cpu *cpu);
/* The CPU time until the quota at hand is used up; SIM_NEVER without a limit. */
sim_time_t bandwidth_left(const struct task *t);
/* The CPU has no more of this group's work: gives back what is left of its slice. */
void bandwidth_return(struct sim *sim, struct task *t);

#endif
