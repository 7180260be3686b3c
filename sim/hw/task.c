/*
 * task.c - tasks: birth, synchronising, sleeping, spinning, sections, death. See task.h.
 *
 * A suspended task is in one of three places: at an armed CPU slot (its private work ends at slot.when), in a
 * queue or asleep (no event), or spinning (its CPU busy without an event). Whatever brings it back sets its
 * clock to the time at which it goes on, and that time is then the present.
 */
#include <stddef.h>
#include <string.h>

#include "sim/hw/rcu.h"
#include "sim/hw/section.h"

static inline struct sched *sched_of(const struct sim *sim)
{
	return sim->state[SIM_STATE_SCHED];
}

struct sched *sim_sched(const struct sim *sim)
{
	return sched_of(sim);
}

/* ---- switching ---- */

/* Goes to whatever is next: straight to the task of another CPU, or to the main loop for anything else. */
static void switch_from(struct task *t)
{
	struct sim *sim = t->sim;

	if (t->state == TASK_DEAD) /* its stack is nobody's place to run timers on */
		coroutine_leave(&t->co, &sim->main);
	struct slot *slot = pending_take(sim);

	while (slot && slot->class != SIM_CLASS_CPU) {
		/* Timers run here, on this stack: they are short and never switch. */
		slot->fire(sim, slot);
		slot = pending_take(sim);
	}
	struct coroutine *to = slot ? slot->co : &sim->main;

	if (to != &t->co)
		coroutine_switch(&t->co, to);
}

static void resume_cpu(struct sim *sim, struct slot *slot)
{
	coroutine_switch(&sim->main, slot->co);
}

void sched_away(struct task *t)
{
	switch_from(t);
}

static bool core_works(const struct sched *s, const struct cpu *cpu)
{
	uint32_t first = cpu->core * s->machine->threads_per_core;

	for (uint32_t i = first; i < first + s->machine->threads_per_core && i < s->nr_cpus; i++) {
		const struct task *other = s->cpus[i].current;

		if (i != cpu->id && other && other->state == TASK_RUNNABLE)
			return true;
	}
	return false;
}

void task_share_core(struct task *t)
{
	const struct sched *s = sched_of(t->sim);
	sim_time_t work = t->clock - t->sim->now, stalled = t->cpu->stalled;

	t->cpu->stalled = 0;
	if (work > stalled && core_works(s, t->cpu))
		t->clock += (work - stalled) * s->shared_core >> 16;
}

void task_sync_slow(struct task *t)
{
	t->cpu->slot.when = t->clock; /* it is the running slot: pending_take() files it */
	switch_from(t);
}

void cpu_work_naive(struct task *t, sim_time_t d)
{
	t->clock += d;
	task_sync(t);
}

/* Gives the CPU to the next in line; the task stays runnable. */
static void schedule(struct task *t)
{
	sched_rotate(t->sim, t->cpu);
	sched_away(t);
}

bool need_resched(const struct task *t)
{
	return t->cpu->need_resched;
}

static void resched_if_asked(struct task *t)
{
	if (t->cpu->need_resched)
		schedule(t);
}

void cond_resched(struct task *t)
{
	task_sync(t);
	if (!t->preempt_count && !t->irq_count)
		resched_if_asked(t);
}

void might_sleep(struct task *t)
{
	if (sched_of(t->sim)->preempt == PREEMPT_VOLUNTARY)
		cond_resched(t);
}

void user_work(struct task *t, sim_time_t d)
{
	task_sync(t);
	assert(!t->preempt_count && !t->irq_count);
	sched_account(t);
	while (need_resched(t)) { /* return to user mode is a scheduling point */
		schedule(t);
		sched_account(t);
	}
	t->in_user = true;
	cpu_work(t, d);
	task_sync(t);
	sched_account(t);
	t->in_user = false;
	resched_if_asked(t);
}

void task_yield(struct task *t)
{
	task_sync(t);
	sched_account(t);
	if (t->cpu->queue && t->cpu->queue->vruntime >= t->vruntime)
		t->vruntime = t->cpu->queue->vruntime + 1;
	if (t->cpu->queue || need_resched(t))
		schedule(t);
}

/* The running task, whose state says that it does not go on, leaves its CPU to the next in line. */
static void leave(struct task *t, const char *what)
{
	struct cpu *cpu = t->cpu;

	if (t->preempt_count || t->irq_count || t->rcu_nesting)
		sim_fail(t->sim, "task %s %s in a section with preemption off", t->name, what);
	sched_account(t);
	cpu->current = NULL;
	sched_break_watchers(t->sim, t);
	if (t->bandwidth)
		bandwidth_return(t->sim, t);
	sched_next(t->sim, cpu);
}

static void tell_model(struct sim *sim, struct task *t, const struct cpu *cpu)
{
	if (sched_of(sim)->on_state)
		sched_of(sim)->on_state(sim, t, cpu);
}

/* ---- birth and death ---- */

static void reap(struct sim *sim)
{
	struct sched *s = sched_of(sim);

	while (s->zombies) {
		struct task *t = s->zombies;

		s->zombies = t->next;
		coroutine_release(&t->co, sim->arena);
		arena_free(sim->arena, t, sizeof *t);
	}
}

static void task_exit(struct task *t)
{
	struct sim *sim = t->sim;
	struct sched *s = sched_of(sim);

	task_sync(t);
	sched_account(t);
	if (t->on_exit)
		t->on_exit(t);
	for (int i = 0; i < NR_TASK_CLOCKS; i++)
		s->total[i] += t->clocks[i];
	s->nr_tasks--;
	*t->all_prev = t->all_next;
	if (t->all_next)
		t->all_next->all_prev = t->all_prev;
	slot_release(sim, &t->sleep_timer);
	t->state = TASK_DEAD;
	tell_model(sim, t, NULL);
	leave(t, "ends");
	t->next = s->zombies;
	s->zombies = t;
	sched_away(t);
}

static void task_main(void *arg)
{
	struct task *t = arg;

#ifndef NDEBUG
	t->stepping = true; /* it was switched to as the earliest of all */
#endif
	t->run(t, t->arg);
	task_exit(t);
}

static void wake_in_time(struct sim *sim, struct slot *slot)
{
	struct task *t = (struct task *)(void *)((char *)slot - offsetof(struct task, sleep_timer));

	t->timed_out = task_wake(sim, NULL, t);
}

struct task *task_spawn(struct sim *sim, const struct task_attr *attr)
{
	struct sched *s = sched_of(sim);

	reap(sim);
	struct task *t = arena_alloc(sim->arena, sizeof *t);

	t->sim = sim;
	t->id = s->next_task++;
	t->name = attr->name;
	t->run = attr->run;
	t->arg = attr->arg;
	t->owner = attr->owner;
	t->on_exit = attr->on_exit;
	t->weight = attr->weight ? attr->weight : 1024;
	t->bandwidth = attr->bandwidth;
	t->shares_core = s->shared_core > 0;
	t->slept = attr->slept;
	if (attr->cpu >= 0) {
		t->pinned = true;
		t->cpu = &s->cpus[attr->cpu];
	}
	t->all_next = s->tasks;
	t->all_prev = &s->tasks;
	if (s->tasks)
		s->tasks->all_prev = &t->all_next;
	s->tasks = t;
	s->nr_tasks++;
	coroutine_init(&t->co, sim->arena, t->name, task_main, t);
	slot_init(sim, &t->sleep_timer, SIM_CLASS_TIMER, wake_in_time);
	t->state = TASK_SLEEPING;
	if (attr->start > sim->now)
		slot_arm(sim, &t->sleep_timer, attr->start);
	else
		task_wake(sim, NULL, t);
	return t;
}

/* ---- sleeping ---- */

bool task_block_until(struct task *t, sim_time_t deadline)
{
	struct sim *sim = t->sim;

	task_sync(t);
	t->timed_out = false;
	if (deadline != SIM_NEVER)
		slot_arm(sim, &t->sleep_timer, deadline > sim->now ? deadline : sim->now);
	t->state = TASK_SLEEPING; /* in the same step: a deadline that is now must find it asleep */
	tell_model(sim, t, NULL);
	leave(t, "sleeps");
	sched_away(t);
	return !t->timed_out;
}

bool task_block(struct task *t)
{
	return task_block_until(t, SIM_NEVER);
}

void task_sleep(struct task *t, sim_time_t d)
{
	task_sync(t);
	sim_time_t now = t->sim->now;
	sim_time_t until = d < SIM_NEVER - now ? now + d : SIM_NEVER;

	while (task_block_until(t, until) && t->sim->now < until)
		;
}

bool task_wake(struct sim *sim, struct task *waker, struct task *sleeper)
{
	struct sched *s = sched_of(sim);

	if (waker)
		task_sync(waker);
	if (sleeper->state != TASK_SLEEPING)
		return false;
	sleeper->state = TASK_RUNNABLE;
	slot_cancel(sim, &sleeper->sleep_timer); /* it was woken first, however long it now waits for a CPU */
	if (waker)
		cpu_defer(waker, s->machine->wakeup);
	struct cpu *cpu = sched_select_cpu(s, sleeper, waker ? waker->cpu : NULL);

	tell_model(sim, sleeper, cpu);
	sched_place(sim, sleeper, cpu);
	return true;
}

void task_pin(struct task *t, uint32_t cpu)
{
	struct cpu *to = &sched_of(t->sim)->cpus[cpu];

	task_sync(t);
	t->pinned = true;
	if (t->cpu == to)
		return;
	leave(t, "moves");
	sched_place(t->sim, t, to);
	sched_away(t);
}

/* ---- spinning ---- */

bool task_watch(struct task *t, struct task *owner)
{
	task_sync(t);
	if (t->cpu->need_resched && !t->preempt_count && !t->irq_count)
		return false;
	if (owner) {
		t->watching = owner;
		t->watch_next = owner->watchers;
		owner->watchers = t;
	}
	sched_account(t);
	t->spin_broken = false;
	t->spin_until = SIM_NEVER;
	t->wait_since = t->sim->now;
	t->state = TASK_SPINNING;
	sched_away(t);
	return !t->spin_broken;
}

bool task_spin(struct task *t)
{
	return task_watch(t, NULL);
}

static void stop_watching(struct task *t)
{
	if (!t->watching)
		return;
	for (struct task **p = &t->watching->watchers; *p; p = &(*p)->watch_next)
		if (*p == t) {
			*p = t->watch_next;
			break;
		}
	t->watching = NULL;
}

void task_grant(struct sim *sim, struct task *spinner, sim_time_t at)
{
	stop_watching(spinner);
	spinner->spin_until = at;
	spinner->state = TASK_RUNNABLE;
	spinner->clock = at;
	slot_arm(sim, &spinner->cpu->slot, at);
}

/* ---- sections ---- */

void section_ended(struct task *t)
{
	if (sched_preemptible(sched_of(t->sim), t))
		schedule(t);
}

void preempt_disable(struct task *t)
{
	section_preempt_off(t);
}

void preempt_enable(struct task *t)
{
	section_preempt_on(t);
}

void local_irq_disable(struct task *t)
{
	section_irq_off(t);
}

void local_irq_enable(struct task *t)
{
	section_irq_on(t);
}

/* ---- the machine ---- */

void sched_init(struct sim *sim, const struct sched_config *config)
{
	const struct machine *m = config->machine;
	struct sched *s = sim_alloc(sim, sizeof *s);
	uint32_t words = (m->cpus + 63) / 64;

	s->machine = m;
	s->preempt = config->preempt;
	s->nr_cpus = m->cpus;
	s->nr_nodes = m->nodes;
	s->nr_sockets = machine_socket(m, m->cpus - 1) + 1;
	s->cpus = arena_array(sim->arena, m->cpus, sizeof(struct cpu));
	s->streamed = arena_array(sim->arena, machine_core(m, m->cpus - 1) + 1, sizeof(uint64_t));
	if (m->threads_per_core > 1 && m->smt_share > 0)
		s->shared_core = (uint64_t)((1 / m->smt_share - 1) * 65536);
	s->idle = arena_array(sim->arena, words, sizeof(uint64_t));
	s->loaded = arena_array(sim->arena, words, sizeof(uint64_t));
	s->irq_off = histogram_create(sim->arena);
	s->preempt_off = histogram_create(sim->arena);
	sim_state_set(sim, SIM_STATE_SCHED, s);
	for (uint32_t i = 0; i < m->cpus; i++) {
		struct cpu *cpu = &s->cpus[i];

		cpu->id = i;
		cpu->core = machine_core(m, i);
		cpu->socket = machine_socket(m, i);
		cpu->node = machine_node(m, i);
		cpu->streamed = &s->streamed[cpu->core];
		*cpu->streamed = m->cache_l1 + m->cache_l2 + m->cache_l3; /* what was never touched is far */
		cpu->caches = m->cache_l1 > 0;
		sched_init_cpu(sim, cpu, resume_cpu);
	}
	rcu_init(sim);
}

sim_time_t cpu_busy(const struct sim *sim, const struct cpu *cpu)
{
	return cpu->busy + (cpu->current ? sim->now - cpu->since : 0);
}

void sched_clocks(const struct sim *sim, sim_time_t clocks[NR_TASK_CLOCKS])
{
	const struct sched *s = sched_of(sim);

	memcpy(clocks, s->total, sizeof s->total);
	for (struct task *t = s->tasks; t; t = t->all_next) {
		for (int i = 0; i < NR_TASK_CLOCKS; i++)
			clocks[i] += t->clocks[i];
		if (task_on_cpu(t))
			sched_unbooked(t, clocks);
	}
}
