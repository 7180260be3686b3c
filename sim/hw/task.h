/*
 * task.h - simulated threads and the CPUs they run on.
 *
 * A task is a stackful coroutine, so a kernel path reads as straight code:
 *
 *	spin_lock(t, &queue->lock);
 *	queue->length += nr;
 *	cpu_work(t, costs->list_add);
 *	spin_unlock(t, &queue->lock);
 *
 * `struct task *t` is always the running task (the kernel's `current`) and always the first argument.
 *
 * Private and shared. cpu_work() moves the task's own clock and nothing else. Everything that another task
 * could see (a lock, a cache line, a list, per-CPU data that others read) is a shared action; it is done
 * *synchronised*: after task_sync(), when the task is the earliest of all in (time, class, sequence). All
 * primitives of sim/hw synchronise themselves. Code that touches shared state of its own calls task_sync()
 * first and then may touch what it likes until its next cpu_work(): that stretch is one atomic step, at one
 * instant. Costs that belong to the step but are paid after it are added with cpu_defer(), which does not
 * end the step. shared_step(t) asserts the rule in debug builds; call it where shared state is touched.
 *
 * Threads of a core. With machine.smt_share below 1, work takes longer while another thread of the core
 * works too; one that is idle or spins on a lock (it pauses) takes nothing, and the way of a line from
 * another CPU is as long as ever. What counts is who works when a piece of private work begins, so pieces
 * that the naive engine cuts finer come out a little different.
 *
 * Preemption. A task is preempted where the kernel would be: at any time in user_work(); in kernel work
 * (cpu_work) only with preemption model PREEMPT_FULL and a preempt count of zero; otherwise at
 * cond_resched(), with PREEMPT_VOLUNTARY before it takes a mutex or an rwsem, on blocking, and in
 * task_sync() at the end of user work. preempt_disable() and friends are shared actions: they synchronise.
 *
 * No function here may be called from outside a task unless it takes a `struct sim *`.
 */
#ifndef SIM_HW_TASK_H
#define SIM_HW_TASK_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/engine/coroutine.h"
#include "sim/engine/sim.h"
#include "sim/hw/machine.h"
#include "sim/stats/histogram.h"

struct task;
struct cpu;
struct bandwidth;
struct ktimer;

enum task_state {
	TASK_RUNNABLE, /* on a run queue, or running */
	TASK_SLEEPING, /* blocked; costs nothing */
	TASK_SPINNING, /* on its CPU, burning it, until somebody grants what it waits for */
	TASK_DEAD
};

/* CPU time of a task, by what it was spent on. */
enum task_clock { CLOCK_USER, CLOCK_SYS, CLOCK_SPIN, NR_TASK_CLOCKS };

struct task {
	/* What every step touches, on one cache line with the head of `co`. */
	struct sim *sim;
	struct cpu *cpu;  /* where it runs, or last ran */
	sim_time_t clock; /* its own time: never before sim_now(), ahead of it by its private work */
	bool stepping;    /* synchronised and nothing private since (debug builds) */
	bool shares_core; /* its speed depends on what the other threads of its core do */
	uint8_t state;    /* enum task_state */
	struct coroutine co;

	sim_time_t accounted;  /* up to here its CPU time is in clocks[] */
	sim_time_t spin_until; /* what it burns before is spinning; SIM_NEVER: not granted yet */
	sim_time_t remaining;  /* private work left when it was preempted */
	sim_time_t wait_since; /* when it became runnable or began to spin */
	uint64_t vruntime;     /* weighted run time, ps */
	uint32_t weight;       /* 1024 = nice 0 */
	uint16_t preempt_count;
	uint16_t irq_count;
	bool on_queue;    /* in its CPU's run queue (not running) */
	bool in_user;     /* the private work at hand is user work */
	bool spin_broken; /* preempted while spinning: give up the spin */
	bool pinned;      /* never migrates off `cpu` */
	bool slept;       /* placed as if woken, the first time too */
	bool timed_out;   /* its deadline ended its sleep */
	uint16_t rcu_nesting;
	sim_time_t preempt_since, irq_since, rcu_since;
	struct bandwidth *bandwidth; /* NULL: unlimited */
	struct task *next;           /* link in the one wait queue a task can be on */
	struct task *watchers;       /* tasks that spin because this one runs (task_watch) */
	struct task *watching, *watch_next;
	struct task *all_next, **all_prev;               /* list of living tasks */
	struct task *heap_child, *heap_next, *heap_prev; /* run queue: a pairing heap */
	struct slot sleep_timer;
	sim_time_t clocks[NR_TASK_CLOCKS];
	sim_time_t runq_wait; /* time spent runnable but not running */
	uint32_t id;
	uint64_t switches, migrations;
	void (*run)(struct task *t, void *arg);
	void *arg;
	const char *name; /* for messages; owned by the caller, alive as long as the task */
	void *owner;      /* the model's: what this task belongs to */
	void *account;    /* the model's: what sched.on_state keeps of it */
	uint32_t marks;   /* the model's: what it is in the middle of */
	void (*on_exit)(struct task *t);
};

struct task_attr {
	const char *name;
	void (*run)(struct task *t, void *arg);
	void *arg;
	void *owner;
	void (*on_exit)(struct task *t); /* NULL, or called when run() has returned */
	uint32_t weight;                 /* 0: 1024 */
	int32_t cpu;                     /* pinned there; -1: placed by the scheduler */
	struct bandwidth *bandwidth;
	sim_time_t start; /* when it becomes runnable, absolute; 0: now */
	bool slept;       /* stands for one that has slept so far: has a sleeper's credit, as if woken */
};

/* A new runnable task. Callable from anywhere; a task synchronises first. */
struct task *task_spawn(struct sim *sim, const struct task_attr *attr);

/* Waits until every other runnable CPU and timer is later. The start of a step. */
void task_sync_slow(struct task *t);

/* Private work was done at full speed: adds what it took beside other threads of the core that work. */
void task_share_core(struct task *t);

/* Private kernel work. */
void cpu_work_naive(struct task *t, sim_time_t d);

/* Private work in user mode, preemptible in every model. */
void user_work(struct task *t, sim_time_t d);

/* A place where the kernel gives way if somebody with more right to the CPU waits. Synchronises. */
void cond_resched(struct task *t);
/*
 * What the kernel does before it takes a lock that may sleep: with PREEMPT_VOLUNTARY, gives way if asked
 * to.
 */
void might_sleep(struct task *t);
bool need_resched(const struct task *t);

/*
 * Puts the task to sleep until task_wake() or, with a deadline, until then. Returns true if woken. Looking at
 * a condition and going to sleep is one step as long as the step has woken nobody and deferred no cost.
 */
bool task_block(struct task *t);
bool task_block_until(struct task *t, sim_time_t deadline);
void task_sleep(struct task *t, sim_time_t d); /* whatever happens, sleeps for d */

/*
 * Makes a sleeping task runnable; false if it was not asleep. `waker` NULL: from a timer. Part of the waker's
 * step: if it is to be preempted for it, that happens when the step ends.
 */
bool task_wake(struct sim *sim, struct task *waker, struct task *sleeper);

/* sched_yield(): behind the first that waits. */
void task_yield(struct task *t);

/* Moves the running task to another CPU and pins it there (sched_setaffinity). */
void task_pin(struct task *t, uint32_t cpu);

/*
 * Spinning: the task stays on its CPU and burns it until task_grant(). Returns false if it was preempted
 * (possible only where preemption is) and so has to give up the spin.
 */
bool task_spin(struct task *t);
/* The same, for a lock whose `owner` runs: also broken when the owner leaves its CPU. */
bool task_watch(struct task *t, struct task *owner);
/* Ends the spin of `spinner` at time `at` (not in the past). */
void task_grant(struct sim *sim, struct task *spinner, sim_time_t at);

/* Sections; their lengths are recorded in struct sched. Nestable. Synchronise. */
void preempt_disable(struct task *t);
void preempt_enable(struct task *t); /* and gives way if asked to meanwhile */
void local_irq_disable(struct task *t);
void local_irq_enable(struct task *t);

struct cpu {
	struct slot slot;     /* pending: when its running task goes on */
	struct task *current; /* NULL: idle */
	uint32_t id, core, socket, node;
	uint64_t *streamed;  /* bytes that have gone through the caches of its core; line.h */
	bool caches;         /* these have sizes */
	struct task *queue;  /* root of the heap of waiting tasks, by vruntime */
	uint32_t nr_queued;  /* waiting, not counting current */
	uint32_t nr_movable; /* of those, not pinned */
	bool need_resched;
	uint64_t min_vruntime;
	sim_time_t slice_start; /* when current was switched in */
	sim_time_t since;       /* when it last went idle, or left idleness */
	sim_time_t busy;        /* total time not idle */
	struct slot tick;       /* end of slice, end of quota */
	uint64_t switches;
	const void *space; /* owner of the last task that had one: whose address space is loaded */
	struct ktimer *deferred; /* due, and wait for it to leave idleness: sim/hw/timer.c */
	sim_time_t stalled;      /* waiting for lines since threads of its core were last looked at */
};

/* True while the task is on a CPU, running or spinning. */
static inline bool task_on_cpu(const struct task *t)
{
	return t->cpu && t->cpu->current == t;
}

enum preempt_model { PREEMPT_VOLUNTARY, PREEMPT_FULL, PREEMPT_NONE };

struct sched_config {
	const struct machine *machine; /* alive as long as the simulation */
	enum preempt_model preempt;
};

struct sched {
	const struct machine *machine;
	enum preempt_model preempt;
	uint32_t nr_cpus, nr_nodes, nr_sockets;
	struct cpu *cpus;
	uint64_t *streamed;   /* by core */
	uint64_t shared_core; /* time that work takes longer on a core that is shared, in 1/65,536; 0: none */
	uint64_t *idle;       /* bitmap of idle CPUs */
	uint64_t *loaded;     /* bitmap of CPUs with waiting tasks that may move */
	struct task *tasks;   /* all that live */
	struct task *zombies; /* ended; their stacks wait to be freed by somebody else */
	uint32_t nr_tasks;    /* alive */
	uint32_t next_task;
	/*
	 * NULL, or told whenever a task becomes runnable, on which CPU, and with cpu NULL when it goes to
	 * sleep or ends (t->state says which). Part of the step or event at hand, which it must not end.
	 */
	void (*on_state)(struct sim *sim, struct task *t, const struct cpu *cpu);
	struct histogram *irq_off;        /* lengths, ns */
	struct histogram *preempt_off;    /* lengths, ns */
	sim_time_t total[NR_TASK_CLOCKS]; /* CPU time of tasks that have ended */
};

/* Gives a simulation its CPUs. Once, before the first task. */
void sched_init(struct sim *sim, const struct sched_config *config);
struct sched *sim_sched(const struct sim *sim);

/* CPU time of all tasks, dead ones included, up to now. */
void sched_clocks(const struct sim *sim, sim_time_t clocks[NR_TASK_CLOCKS]);
sim_time_t cpu_busy(const struct sim *sim, const struct cpu *cpu);

/* cpu.max: `quota` of CPU time in each `period`, shared by all tasks that carry it. See bandwidth.c. */
struct bandwidth *bandwidth_create(struct sim *sim, sim_time_t quota, sim_time_t period,
				   struct bandwidth *parent);
uint64_t bandwidth_nr_throttled(const struct bandwidth *b);
sim_time_t bandwidth_throttled_time(const struct sim *sim, const struct bandwidth *b);

/* ---- the fast paths ---- */

#include "sim/engine/pending.h"

static inline void shared_step(const struct task *t)
{
	assert(t->stepping);
	(void)t;
}

static inline void cpu_work(struct task *t, sim_time_t d)
{
	t->clock += d;
	if (__builtin_expect(pending_naive(t->sim), 0))
		cpu_work_naive(t, 0);
#ifndef NDEBUG
	t->stepping = false;
#endif
}

/* A cost of the step at hand, paid before the next synchronisation; does not end the step. */
static inline void cpu_defer(struct task *t, sim_time_t d)
{
	t->clock += d;
}

/* The same for a wait for a line that another CPU has: no other thread of the core makes that longer. */
static inline void cpu_stall(struct task *t, sim_time_t d)
{
	cpu_defer(t, d);
	t->cpu->stalled += d;
}

/*
 * How many pieces of private work of length d the task can do before anything else happens: nobody could see
 * in between what it does meanwhile, nor ask for its CPU. So who does the same again and again may do
 * so many at once. 0: cannot be said. In a step.
 */
static inline uint64_t task_alone_for(const struct task *t, sim_time_t d)
{
	sim_time_t next = t->sim->next.when; /* not after the end of the run */

	shared_step(t);
	if (pending_naive(t->sim) || t->shares_core || t->cpu->need_resched || next <= t->clock)
		return 0;
	return (next - t->clock - 1) / d;
}

static inline void task_sync(struct task *t)
{
	if (__builtin_expect(t->shares_core, 0))
		task_share_core(t);
	if (!pending_advance(t->sim, t->clock, &t->cpu->slot))
		task_sync_slow(t);
#ifndef NDEBUG
	t->stepping = true;
#endif
}

#endif
