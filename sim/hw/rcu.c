/*
 * rcu.c - RCU, after kernel/rcu/tree.c of Linux 6.1 without preemptible readers. See rcu.h.
 *
 * One grace period at a time. At its start every CPU is asked for the section that it is in; those that are
 * in one are looked at again every rcu_gp_poll, as the grace-period kthread does in rcu_gp_fqs_loop, until
 * the last has left it. An idle CPU is in no section and costs nothing.
 *
 * Sections are private work, so when a grace period starts a CPU may have gone ahead through several of them.
 * Each CPU therefore keeps the times of the sections that may still lie in the future: the list begins anew
 * when the last one in it is over. A time at which timer and CPU meet belongs to the timer, as in the order
 * of events: a section that begins at the start of a grace period is a later one, and one that ends at the
 * instant of a look is still there.
 *
 * Simpler than the kernel: a CPU counts as quiescent as soon as it is out of its section, not at its next
 * context switch; callbacks are called at the end of the grace period, without batches or softirq.
 */
#include "sim/hw/rcu.h"

#include <string.h>

struct section {
	sim_time_t enter, leave;
};

struct rcu_cpu {
	struct section *ahead; /* those that may not be over yet, in order */
	uint32_t nr, room;
	bool awaited;       /* a grace period waits for the section at hand, whose end is not known yet */
	sim_time_t until;   /* the end of the section that a grace period waits for */
	uint32_t callbacks; /* queued here and not called yet */
};

#define NO_CPU UINT32_MAX

enum gp_state { GP_NONE, GP_STARTING, GP_WAITING };

struct rcu {
	struct slot slot;
	enum gp_state state;
	struct rcu_head *current;     /* wait for the grace period under way */
	struct rcu_head *next, **end; /* wait for the one after it */
	sim_time_t asked;             /* when the first of `next` came */
	uint64_t completed;
	struct rcu_cpu *cpus;
	uint32_t *holdouts, nr_holdouts; /* CPUs still in their section */
};

static void gp_event(struct sim *sim, struct slot *slot);

/* Readers come by here several times for each page: no calls on their way. */
static inline struct rcu *rcu_of(const struct sim *sim)
{
	return sim->state[SIM_STATE_RCU];
}

static inline const struct sched *sched_of(const struct sim *sim)
{
	return sim->state[SIM_STATE_SCHED];
}

void rcu_init(struct sim *sim)
{
	uint32_t nr_cpus = sim_sched(sim)->nr_cpus;
	struct rcu *rcu = sim_alloc(sim, sizeof *rcu);

	rcu->cpus = arena_array(sim_arena(sim), nr_cpus, sizeof *rcu->cpus);
	rcu->holdouts = arena_array(sim_arena(sim), nr_cpus, sizeof *rcu->holdouts);
	slot_init(sim, &rcu->slot, SIM_CLASS_TIMER, gp_event);
	rcu->end = &rcu->next;
	sim_state_set(sim, SIM_STATE_RCU, rcu);
}

/* ---- readers ---- */

void rcu_read_lock(struct task *t)
{
	const struct sched *s = sched_of(t->sim);

	if (s->preempt == PREEMPT_FULL)
		preempt_disable(t);
	if (!t->rcu_nesting++)
		t->rcu_since = t->clock;
	cpu_work(t, s->machine->rcu_read);
}

static void __attribute__((noinline)) grow(struct sim *sim, struct rcu_cpu *c)
{
	uint32_t room = c->room ? 2 * c->room : 4;
	struct section *ahead = sim_alloc(sim, room * sizeof *ahead);

	if (c->room) {
		memcpy(ahead, c->ahead, c->nr * sizeof *ahead);
		sim_free(sim, c->ahead, c->room * sizeof *ahead);
	}
	c->ahead = ahead;
	c->room = room;
}

void rcu_read_unlock(struct task *t)
{
	struct sim *sim = t->sim;

	assert(t->rcu_nesting);
	if (!--t->rcu_nesting) {
		struct rcu_cpu *c = &rcu_of(sim)->cpus[t->cpu->id];

		if (c->nr && c->ahead[c->nr - 1].leave <= sim->now)
			c->nr = 0; /* no look is early enough to see them */
		if (c->nr == c->room)
			grow(sim, c);
		c->ahead[c->nr++] = (struct section){ t->rcu_since, t->clock };
		if (c->awaited) {
			c->awaited = false;
			c->until = t->clock;
		}
	}
	if (sched_of(sim)->preempt == PREEMPT_FULL)
		preempt_enable(t);
}

/* ---- grace periods ---- */

/* Is the CPU in a section now? Then `until` becomes its end, as far as known. */
static bool in_section(const struct cpu *cpu, struct rcu_cpu *c, sim_time_t now)
{
	const struct task *t = cpu->current;

	for (uint32_t i = c->nr; i-- > 0 && c->ahead[i].leave >= now;) {
		if (c->ahead[i].enter < now) {
			c->until = c->ahead[i].leave;
			return true;
		}
	}
	if (!t || !t->rcu_nesting || t->rcu_since >= now)
		return false;
	c->awaited = true;
	c->until = SIM_NEVER;
	return true;
}

static void gp_start(struct sim *sim, struct rcu *rcu)
{
	const struct sched *s = sim_sched(sim);

	rcu->current = rcu->next;
	rcu->next = NULL;
	rcu->end = &rcu->next;
	rcu->nr_holdouts = 0;
	for (uint32_t i = 0; i < s->nr_cpus; i++)
		if (in_section(&s->cpus[i], &rcu->cpus[i], sim_now(sim)))
			rcu->holdouts[rcu->nr_holdouts++] = i;
	rcu->state = GP_WAITING;
	slot_arm(sim, &rcu->slot, sim_now(sim) + s->machine->rcu_gp_poll);
}

/* A grace period for `next`: rcu_gp_start after the first request, but not before the last one's end. */
static void gp_ask(struct sim *sim, struct rcu *rcu)
{
	sim_time_t start = rcu->asked + sim_sched(sim)->machine->rcu_gp_start;

	rcu->state = GP_STARTING;
	slot_arm(sim, &rcu->slot, start > sim_now(sim) ? start : sim_now(sim));
}

static void gp_end(struct sim *sim, struct rcu *rcu)
{
	struct rcu_head *head = rcu->current;

	rcu->completed++;
	rcu->state = GP_NONE;
	if (rcu->next)
		gp_ask(sim, rcu);
	while (head) {
		struct rcu_head *next = head->next; /* func may free or reuse it */

		if (head->cpu != NO_CPU)
			rcu->cpus[head->cpu].callbacks--;
		head->func(sim, head);
		head = next;
	}
}

static void gp_event(struct sim *sim, struct slot *slot)
{
	struct rcu *rcu = (struct rcu *)(void *)slot; /* its first member */
	uint32_t left = 0;

	if (rcu->state == GP_STARTING) {
		gp_start(sim, rcu);
		return;
	}
	for (uint32_t i = 0; i < rcu->nr_holdouts; i++)
		if (rcu->cpus[rcu->holdouts[i]].until >= sim_now(sim))
			rcu->holdouts[left++] = rcu->holdouts[i];
	rcu->nr_holdouts = left;
	if (left)
		slot_arm(sim, &rcu->slot, sim_now(sim) + sim_sched(sim)->machine->rcu_gp_poll);
	else
		gp_end(sim, rcu);
}

static void queue(struct sim *sim, uint32_t cpu, struct rcu_head *head,
		  void (*func)(struct sim *sim, struct rcu_head *head))
{
	struct rcu *rcu = rcu_of(sim);

	head->func = func;
	head->next = NULL;
	head->cpu = cpu;
	if (!rcu->next)
		rcu->asked = sim_now(sim);
	*rcu->end = head;
	rcu->end = &head->next;
	if (rcu->state == GP_NONE)
		gp_ask(sim, rcu);
}

void call_rcu(struct sim *sim, struct rcu_head *head, void (*func)(struct sim *sim, struct rcu_head *head))
{
	queue(sim, NO_CPU, head, func);
}

void call_rcu_on(struct sim *sim, uint32_t cpu, struct rcu_head *head,
		 void (*func)(struct sim *sim, struct rcu_head *head))
{
	rcu_of(sim)->cpus[cpu].callbacks++;
	queue(sim, cpu, head, func);
}

bool rcu_needs_cpu(const struct sim *sim, uint32_t cpu)
{
	return rcu_of(sim)->cpus[cpu].callbacks > 0;
}

struct rcu_waiter {
	struct rcu_head head;
	struct task *task;
	bool done;
};

static void wake_waiter(struct sim *sim, struct rcu_head *head)
{
	struct rcu_waiter *w = (struct rcu_waiter *)(void *)head; /* its first member */

	w->done = true;
	task_wake(sim, NULL, w->task);
}

void synchronize_rcu(struct task *t)
{
	struct rcu_waiter w = { .task = t };

	assert(!t->rcu_nesting);
	task_sync(t);
	call_rcu(t->sim, &w.head, wake_waiter);
	while (!w.done)
		task_block(t);
}

uint64_t rcu_grace_periods(const struct sim *sim)
{
	return rcu_of(sim)->completed;
}
