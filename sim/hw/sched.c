/*
 * sched.c - run queues: who runs where, and when he has to give way.
 *
 * After the completely fair scheduler of Linux 6.1 (kernel/sched/fair.c), as far as contention depends on
 * it: the waiting task with the least weighted run time runs next; a waiting task may preempt once the
 * running one has had its slice (max(min_granularity, latency / number running)); a woken task preempts if
 * it is behind by more than the wake-up granularity (check_preempt_wakeup); a sleeper comes back at most
 * half a latency behind the queue (place_entity). A woken task goes to its last CPU if that is idle, else
 * to an idle one of its socket, else to any idle one, else to its last CPU (select_idle_sibling). A CPU
 * that runs out of work pulls a waiting task, from its own socket first (newidle_balance). Unlike the
 * kernel, the search for an idle CPU goes on beyond the socket at once instead of waiting for the periodic
 * balancer; there is none here.
 *
 * An idle CPU has no event. A tick is armed only while somebody waits or a quota runs.
 */
#include "sim/hw/sched.h"
#include "sim/hw/bitmap.h"
#include "sim/hw/work.h"

static inline struct sched *sched_of(const struct sim *sim)
{
	return sim->state[SIM_STATE_SCHED];
}

/* The run of CPU numbers that share a socket with `cpu`. */
static void socket_range(const struct sched *s, const struct cpu *cpu, uint32_t *from, uint32_t *to)
{
	*from = machine_socket_first(s->machine, cpu->socket);
	*to = machine_socket_first(s->machine, cpu->socket + 1);
}

/* The idle CPU that is nearest: itself, of its socket, any; nr_cpus if there is none. */
static uint32_t find_idle(const struct sched *s, const struct cpu *near)
{
	uint32_t from, to, found;

	if (bit_test(s->idle, near->id))
		return near->id;
	socket_range(s, near, &from, &to);
	found = bit_find_round(s->idle, from, to, near->id);
	return found < to ? found : bit_find_round(s->idle, 0, s->nr_cpus, near->id);
}

/* ---- accounting ---- */

static void update_min_vruntime(struct cpu *cpu)
{
	uint64_t v = cpu->current ? cpu->current->vruntime : UINT64_MAX;

	if (cpu->queue && cpu->queue->vruntime < v)
		v = cpu->queue->vruntime;
	if (v != UINT64_MAX && v > cpu->min_vruntime)
		cpu->min_vruntime = v;
}

void sched_unbooked(const struct task *t, sim_time_t clocks[NR_TASK_CLOCKS])
{
	sim_time_t now = t->sim->now, from = t->accounted;

	if (t->spin_until > from) {
		sim_time_t spun = t->spin_until < now ? t->spin_until : now;

		clocks[CLOCK_SPIN] += spun - from;
		from = spun;
	}
	clocks[t->in_user ? CLOCK_USER : CLOCK_SYS] += now - from;
}

/* Asks for a reschedule as soon as the step at hand is over. */
static void resched_soon(struct sim *sim, struct cpu *cpu)
{
	cpu->need_resched = true;
	slot_arm(sim, &cpu->tick, sim->now);
}

void sched_account(struct task *t)
{
	if (t->sim->now == t->accounted)
		return;
	sim_time_t used = t->sim->now - t->accounted;

	sched_unbooked(t, t->clocks);
	t->accounted += used;
	t->vruntime += t->weight == 1024 ? used : (uint64_t)((unsigned __int128)used * 1024 / t->weight);
	update_min_vruntime(t->cpu);
	if (t->bandwidth && !bandwidth_consume(t->sim, t, used))
		resched_soon(t->sim, t->cpu);
}

/* ---- preemption ---- */

bool sched_preemptible(const struct sched *s, const struct task *t)
{
	if (t->preempt_count || t->irq_count || t->rcu_nesting)
		return false;
	return t->in_user || s->preempt == PREEMPT_FULL;
}

void sched_resched(struct sim *sim, struct cpu *cpu)
{
	struct task *t = cpu->current;

	cpu->need_resched = true;
	if (t->state == TASK_SPINNING) {
		if (!t->preempt_count && !t->irq_count) {
			t->spin_broken = true;
			task_grant(sim, t, sim->now);
		}
	} else if (sched_preemptible(sched_of(sim), t)) {
		if (slot_pending(&cpu->slot))
			sched_rotate(sim, cpu);
		else /* it is in the middle of a step */
			resched_soon(sim, cpu);
	}
}

static sim_time_t slice_of(const struct sched *s, const struct cpu *cpu)
{
	sim_time_t share = s->machine->latency / (cpu->nr_queued + 1);

	return share > s->machine->slice ? share : s->machine->slice;
}

void sched_tick_arm(struct sim *sim, struct cpu *cpu)
{
	const struct sched *s = sched_of(sim);
	sim_time_t at = SIM_NEVER;

	if (cpu->need_resched)
		return;
	if (cpu->nr_queued) {
		at = cpu->slice_start + slice_of(s, cpu);
		if (at <= sim->now)
			at = sim->now + s->machine->slice;
	}
	if (cpu->current->bandwidth) {
		sim_time_t left = bandwidth_left(cpu->current);

		if (left != SIM_NEVER && sim->now + left < at)
			at = sim->now + left;
	}
	if (at == SIM_NEVER)
		slot_cancel(sim, &cpu->tick);
	else if (at < cpu->tick.when)
		slot_arm(sim, &cpu->tick, at);
}

/* End of a slice or of a quota: whoever is behind gets the CPU. */
static void tick(struct sim *sim, struct slot *slot)
{
	struct cpu *cpu = (struct cpu *)(void *)((char *)slot - offsetof(struct cpu, tick));
	struct task *t = cpu->current;

	if (!t)
		return;
	sched_account(t);
	bool slice_over = cpu->nr_queued && sim->now >= cpu->slice_start + slice_of(sched_of(sim), cpu) &&
			  cpu->queue->vruntime <= t->vruntime; /* of equals the waiting one */

	if (!slice_over && !cpu->need_resched) {
		sched_tick_arm(sim, cpu);
		return;
	}
	sched_resched(sim, cpu);
	/*
	 * Where it cannot be stopped it runs up a debt; what later periods pay of it has to be booked in
	 * them.
	 */
	if (cpu->current == t && t->bandwidth && !slot_pending(&cpu->tick))
		slot_arm(sim, &cpu->tick, sim->now + sched_of(sim)->machine->bandwidth_slice);
}

void sched_break_watchers(struct sim *sim, struct task *t)
{
	while (t->watchers) {
		struct task *w = t->watchers;

		w->spin_broken = true;
		task_grant(sim, w, sim->now); /* takes it off the list */
	}
}

/* ---- choosing ---- */

/* A task comes to a CPU: its lead or lag in vruntime is kept, the cost of moving is paid when it runs. */
static void move_to(const struct sched *s, struct task *t, struct cpu *cpu)
{
	const struct cpu *from = t->cpu;

	t->cpu = cpu;
	if (!from || from == cpu)
		return;
	t->vruntime = cpu->min_vruntime +
		      (t->vruntime > from->min_vruntime ? t->vruntime - from->min_vruntime : 0);
	t->remaining += s->machine->migration;
	t->migrations++;
}

static void switch_in(struct sim *sim, struct cpu *cpu, struct task *t)
{
	struct sched *s = sched_of(sim);

	move_to(s, t, cpu);
	cpu->current = t;
	cpu->slot.co = &t->co;
	cpu->need_resched = false;
	cpu->slice_start = sim->now;
	cpu->switches++;
	t->switches++;
	t->runq_wait += sim->now - t->wait_since;
	t->accounted = sim->now;
	t->spin_until = 0;
	t->clock = sim->now + s->machine->context_switch + t->remaining;
	if (t->owner && t->owner != cpu->space) { /* switch_mm(); kernel threads borrow (enter_lazy_tlb()) */
		t->clock += s->machine->space_switch;
		cpu->space = t->owner;
	}
	t->remaining = 0;
	slot_arm(sim, &cpu->slot, t->clock);
	sched_tick_arm(sim, cpu);
}

/* A waiting task of another CPU, for one that has nothing to do. */
static struct task *pull(struct sched *s, struct cpu *cpu)
{
	uint32_t from, to;

	socket_range(s, cpu, &from, &to);
	uint32_t victim = bit_find_round(s->loaded, from, to, cpu->id);

	if (victim == to) {
		victim = bit_find_round(s->loaded, 0, s->nr_cpus, cpu->id);
		if (victim == s->nr_cpus)
			return NULL;
	}
	struct cpu *busy = &s->cpus[victim];
	struct task *t = runqueue_movable(busy);

	runqueue_remove(s, busy, t);
	return t;
}

void sched_next(struct sim *sim, struct cpu *cpu)
{
	struct sched *s = sched_of(sim);
	struct task *t;

	do {
		t = cpu->queue;
		if (t)
			runqueue_remove(s, cpu, t);
		else
			t = pull(s, cpu);
	} while (t && t->bandwidth && !bandwidth_admit(t, cpu));
	if (t) {
		switch_in(sim, cpu, t);
		return;
	}
	cpu->need_resched = false;
	slot_cancel(sim, &cpu->tick);
	if (!bit_test(s->idle, cpu->id)) {
		bit_set(s->idle, cpu->id);
		cpu->busy += sim->now - cpu->since;
		cpu->since = sim->now;
	}
}

static void leave_idleness(struct sim *sim, struct cpu *cpu)
{
	bit_clear(sched_of(sim)->idle, cpu->id);
	cpu->since = sim->now;
	if (cpu->deferred)
		ktimer_cpu_busy(sim, cpu);
}

void sched_rotate(struct sim *sim, struct cpu *cpu)
{
	struct sched *s = sched_of(sim);
	struct task *t = cpu->current;

	sched_account(t);
	t->remaining = t->clock > sim->now ? t->clock - sim->now : 0;
	slot_cancel(sim, &cpu->slot);
	cpu->current = NULL;
	t->wait_since = sim->now;
	sched_break_watchers(sim, t);
	if (!t->bandwidth || bandwidth_admit(t, cpu))
		runqueue_add(s, cpu, t);
	sched_next(sim, cpu);
	/* Only behind a pinned task can it have to wait while a CPU is idle. */
	if (t->on_queue && !t->pinned && cpu->current->pinned) {
		uint32_t idle = find_idle(s, cpu);

		if (idle < s->nr_cpus) {
			leave_idleness(sim, &s->cpus[idle]);
			sched_next(sim, &s->cpus[idle]);
		}
	}
}

struct cpu *sched_select_cpu(struct sched *s, const struct task *t, const struct cpu *waker_cpu)
{
	struct cpu *prev = t->cpu;

	if (t->pinned)
		return prev;
	const struct cpu *near = prev ? prev : waker_cpu ? waker_cpu : &s->cpus[0];
	uint32_t idle = find_idle(s, near);

	if (idle < s->nr_cpus)
		return &s->cpus[idle];
	if (prev)
		return prev;
	/* A new task on a busy machine: the shortest queue. */
	uint32_t best = near->id;

	for (uint32_t i = 0; i < s->nr_cpus && s->cpus[best].nr_queued; i++)
		if (s->cpus[i].nr_queued < s->cpus[best].nr_queued)
			best = i;
	return &s->cpus[best];
}

/* A sleeper has at most half a latency of credit (place_entity); a new task starts a slice behind. */
static void set_vruntime(const struct sched *s, struct task *t, const struct cpu *cpu)
{
	uint64_t credit = s->machine->latency / 2;

	if (!t->switches && !t->slept)
		t->vruntime = cpu->min_vruntime + s->machine->slice;
	else if (t->vruntime + credit < cpu->min_vruntime)
		t->vruntime = cpu->min_vruntime - credit;
}

void sched_place(struct sim *sim, struct task *t, struct cpu *cpu)
{
	struct sched *s = sched_of(sim);

	t->wait_since = sim->now;
	if (t->bandwidth && !bandwidth_admit(t, cpu))
		return;
	if (cpu->current)
		sched_account(cpu->current);
	move_to(s, t, cpu);
	set_vruntime(s, t, cpu);
	if (bit_test(s->idle, cpu->id)) {
		leave_idleness(sim, cpu);
		t->remaining += s->machine->wakeup_remote;
		switch_in(sim, cpu, t);
		return;
	}
	runqueue_add(s, cpu, t);
	struct task *current = cpu->current;

	if (!current)
		return; /* between two tasks: the choice is being made */
	if (cpu->need_resched || current->vruntime > t->vruntime + s->machine->wakeup_granularity)
		sched_resched(sim, cpu);
	else
		sched_tick_arm(sim, cpu);
}

void sched_init_cpu(struct sim *sim, struct cpu *cpu, void (*resume)(struct sim *sim, struct slot *slot))
{
	slot_init(sim, &cpu->slot, SIM_CLASS_CPU, resume);
	slot_init(sim, &cpu->tick, SIM_CLASS_TIMER, tick);
	bit_set(sched_of(sim)->idle, cpu->id);
	/* It has run before: who sleeps in the first instants of a run gets its credit as later on. */
	cpu->min_vruntime = sched_of(sim)->machine->latency;
}
