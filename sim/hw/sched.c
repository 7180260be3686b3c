/*
 * sched.c - run queues: who runs where, and when he has to give way.
 *
 * After the completely fair scheduler of Linux 6.1 (kernel/sched/fair.c), as far as contention depends on it:
 * the waiting task with the least weighted run time runs next; a waiting task may preempt once the running one
 * has had its slice (max(min_granularity, latency / number running)); a woken task preempts if it is behind
 * by more than the wake-up granularity (check_preempt_wakeup); a sleeper comes back at most half a latency
 * behind the queue (place_entity). A woken task goes to its last CPU if that is idle, else to an idle one of
 * its socket, else to any idle one, else to its last CPU (select_idle_sibling). A CPU that runs out of work
 * pulls a waiting task, from its own socket first (newidle_balance). Unlike the kernel, the search for an idle
 * CPU goes on beyond the socket at once instead of waiting for the periodic balancer; there is none here.
 *
 * An idle CPU has no event. A tick is armed only while somebody waits or a quota runs.
 */
#include "sim/hw/sched.h"
#include "sim/hw/work.h"

static inline struct sched *sched_of(const struct sim *sim)
{
	return sim->state[SIM_STATE_SCHED];
}

static inline void bit_set(uint64_t *map, uint32_t i)
{
	map[i / 64] |= (uint64_t)1 << (i % 64);
}

static inline void bit_clear(uint64_t *map, uint32_t i)
{
	map[i / 64] &= ~((uint64_t)1 << (i % 64));
}

static inline bool bit_test(const uint64_t *map, uint32_t i)
{
	return map[i / 64] >> (i % 64) & 1;
}

/* The first set bit in [from, to), or `to`. */
static uint32_t bit_find(const uint64_t *map, uint32_t from, uint32_t to)
{
	while (from < to) {
		uint64_t word = map[from / 64] >> (from % 64);

		if (word) {
			uint32_t at = from + (uint32_t)__builtin_ctzll(word);

			return at < to ? at : to;
		}
		from = (from / 64 + 1) * 64;
	}
	return to;
}

/* The first set bit at or after `start`, going round in [from, to); `to` if there is none. */
static uint32_t bit_find_round(const uint64_t *map, uint32_t from, uint32_t to, uint32_t start)
{
	uint32_t at = bit_find(map, start, to);

	if (at == to) {
		at = bit_find(map, from, start);
		if (at == start)
			at = to;
	}
	return at;
}

/* The run of CPU numbers that share a socket with `cpu`. */
static void socket_range(const struct sched *s, const struct cpu *cpu, uint32_t *from, uint32_t *to)
{
	uint32_t per_socket = s->nr_cpus / s->nr_sockets;

	*from = cpu->socket * per_socket;
	*to = cpu->socket + 1 == s->nr_sockets ? s->nr_cpus : *from + per_socket;
}

/* ---- the run queue: a pairing heap by (vruntime, id) ---- */

static bool runs_before(const struct task *a, const struct task *b)
{
	return a->vruntime < b->vruntime || (a->vruntime == b->vruntime && a->id < b->id);
}

static struct task *queue_merge(struct task *a, struct task *b)
{
	if (!a || !b)
		return a ? a : b;
	if (runs_before(b, a)) {
		struct task *swap = a;

		a = b;
		b = swap;
	}
	b->heap_prev = a;
	b->heap_next = a->heap_child;
	if (a->heap_child)
		a->heap_child->heap_prev = b;
	a->heap_child = b;
	return a;
}

static struct task *queue_merge_children(struct task *t)
{
	struct task *first = t->heap_child, *pairs = NULL, *root = NULL;

	while (first) {
		struct task *a = first, *b = a->heap_next;

		first = b ? b->heap_next : NULL;
		a->heap_next = a->heap_prev = NULL;
		if (b)
			b->heap_next = b->heap_prev = NULL;
		a = queue_merge(a, b);
		a->heap_next = pairs;
		pairs = a;
	}
	while (pairs) {
		struct task *next = pairs->heap_next;

		pairs->heap_next = NULL;
		root = queue_merge(root, pairs);
		pairs = next;
	}
	t->heap_child = NULL;
	return root;
}

static void queue_add(struct sched *s, struct cpu *cpu, struct task *t)
{
	t->heap_child = t->heap_next = t->heap_prev = NULL;
	cpu->queue = queue_merge(cpu->queue, t);
	t->on_queue = true;
	cpu->nr_queued++;
	if (!t->pinned && ++cpu->nr_movable == 1)
		bit_set(s->loaded, cpu->id);
}

static void queue_remove(struct sched *s, struct cpu *cpu, struct task *t)
{
	if (t == cpu->queue) {
		cpu->queue = queue_merge_children(t);
	} else {
		if (t->heap_prev->heap_child == t)
			t->heap_prev->heap_child = t->heap_next;
		else
			t->heap_prev->heap_next = t->heap_next;
		if (t->heap_next)
			t->heap_next->heap_prev = t->heap_prev;
		cpu->queue = queue_merge(cpu->queue, queue_merge_children(t));
	}
	if (cpu->queue)
		cpu->queue->heap_prev = cpu->queue->heap_next = NULL;
	t->on_queue = false;
	cpu->nr_queued--;
	if (!t->pinned && --cpu->nr_movable == 0)
		bit_clear(s->loaded, cpu->id);
}

/* A task of the queue that may move: the first found, walking down the oldest branches. */
static struct task *queue_movable(struct cpu *cpu)
{
	struct task *t = cpu->queue;

	while (t && t->pinned) {
		if (t->heap_child) {
			t = t->heap_child;
			continue;
		}
		while (t && !t->heap_next) { /* up to the nearest ancestor with a younger sibling */
			while (t->heap_prev && t->heap_prev->heap_child != t)
				t = t->heap_prev;
			t = t->heap_prev;
		}
		t = t ? t->heap_next : NULL;
	}
	return t;
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

void sched_account(struct task *t)
{
	if (t->sim->now <= t->accounted)
		return; /* a granted spinner is booked ahead, up to its grant */
	sim_time_t used = t->sim->now - t->accounted;
	enum task_clock clock = t->state == TASK_SPINNING ? CLOCK_SPIN : t->in_user ? CLOCK_USER : CLOCK_SYS;

	t->clocks[clock] += used;
	t->accounted += used;
	t->vruntime += t->weight == 1024 ? used : (uint64_t)((unsigned __int128)used * 1024 / t->weight);
	update_min_vruntime(t->cpu);
	if (t->bandwidth && !bandwidth_consume(t->sim, t, used))
		t->cpu->need_resched = true;
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
	if (t->state == TASK_SPINNING && !t->preempt_count && !t->irq_count) {
		t->spin_broken = true;
		task_grant(sim, t, sim->now);
	} else if (slot_pending(&cpu->slot) && sched_preemptible(sched_of(sim), t)) {
		sched_put(sim, cpu);
		sched_next(sim, cpu);
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

	if (cpu->current && !cpu->need_resched) {
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
			  runs_before(cpu->queue, t);

	if (slice_over || cpu->need_resched)
		sched_resched(sim, cpu);
	else
		sched_tick_arm(sim, cpu);
}

void sched_break_watchers(struct sim *sim, struct task *t)
{
	while (t->watchers) {
		struct task *w = t->watchers;

		w->spin_broken = true;
		task_grant(sim, w, sim->now); /* takes it off the list */
	}
}

void sched_put(struct sim *sim, struct cpu *cpu)
{
	struct task *t = cpu->current;

	sched_account(t);
	t->remaining = t->clock > sim->now ? t->clock - sim->now : 0;
	slot_cancel(sim, &cpu->slot);
	cpu->current = NULL;
	t->wait_since = sim->now;
	sched_break_watchers(sim, t);
	if (!t->bandwidth || bandwidth_admit(sim, t))
		queue_add(sched_of(sim), cpu, t);
}

/* ---- choosing ---- */

static void switch_in(struct sim *sim, struct cpu *cpu, struct task *t)
{
	struct sched *s = sched_of(sim);

	cpu->current = t;
	cpu->need_resched = false;
	cpu->slice_start = sim->now;
	cpu->switches++;
	t->switches++;
	t->runq_wait += sim->now - t->wait_since;
	t->accounted = sim->now;
	t->clock = sim->now + s->machine->context_switch + t->remaining;
	t->remaining = 0;
	if (t->cpu != cpu) {
		if (t->cpu) {
			t->clock += s->machine->migration;
			t->migrations++;
		}
		t->cpu = cpu;
	}
	slot_arm(sim, &cpu->slot, t->clock);
	sched_tick_arm(sim, cpu);
}

/* The distance in vruntime between two CPUs' queues, taken along by a task that moves. */
static void rebase(struct task *t, const struct cpu *from, const struct cpu *to)
{
	if (!from || from == to)
		return;
	uint64_t ahead = t->vruntime > from->min_vruntime ? t->vruntime - from->min_vruntime : 0;

	t->vruntime = to->min_vruntime + ahead;
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
	struct task *t = queue_movable(busy);

	queue_remove(s, busy, t);
	rebase(t, busy, cpu);
	return t;
}

void sched_next(struct sim *sim, struct cpu *cpu)
{
	struct sched *s = sched_of(sim);
	struct task *t;

	do {
		t = cpu->queue;
		if (t)
			queue_remove(s, cpu, t);
		else
			t = pull(s, cpu);
	} while (t && t->bandwidth && !bandwidth_admit(sim, t));
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

struct cpu *sched_select_cpu(struct sched *s, const struct task *t, const struct cpu *waker_cpu)
{
	struct cpu *prev = t->cpu;
	uint32_t from, to, found;

	if (t->pinned)
		return prev;
	const struct cpu *near = prev ? prev : waker_cpu ? waker_cpu : &s->cpus[0];

	if (bit_test(s->idle, near->id))
		return &s->cpus[near->id];
	socket_range(s, near, &from, &to);
	found = bit_find_round(s->idle, from, to, near->id);
	if (found < to)
		return &s->cpus[found];
	found = bit_find_round(s->idle, 0, s->nr_cpus, near->id);
	if (found < s->nr_cpus)
		return &s->cpus[found];
	if (prev)
		return prev;
	/* A new task on a busy machine: the shortest queue. */
	struct cpu *best = &s->cpus[near->id];

	for (uint32_t i = 0; i < s->nr_cpus && best->nr_queued; i++)
		if (s->cpus[i].nr_queued < best->nr_queued)
			best = &s->cpus[i];
	return best;
}

void sched_place(struct sim *sim, struct task *t, struct cpu *cpu)
{
	struct sched *s = sched_of(sim);
	uint64_t credit = s->machine->latency / 2;
	uint64_t floor = cpu->min_vruntime > credit ? cpu->min_vruntime - credit : 0;

	rebase(t, t->cpu, cpu);
	if (t->vruntime < floor)
		t->vruntime = floor;
	t->wait_since = sim->now;
	if (t->bandwidth && !bandwidth_admit(sim, t))
		return;
	if (bit_test(s->idle, cpu->id)) {
		bit_clear(s->idle, cpu->id);
		cpu->since = sim->now;
		if (cpu->deferred)
			ktimer_cpu_busy(sim, cpu);
		t->remaining += s->machine->wakeup_remote;
		switch_in(sim, cpu, t);
		return;
	}
	t->cpu = t->cpu ? t->cpu : cpu;
	struct cpu *last = t->cpu;

	if (last != cpu) { /* queued elsewhere: the cost of moving is paid when it runs */
		t->remaining += s->machine->migration;
		t->migrations++;
		t->cpu = cpu;
	}
	queue_add(s, cpu, t);
	struct task *current = cpu->current;

	if (!current)
		return; /* between two tasks: the choice is being made */
	sched_account(current);
	if (current->vruntime > t->vruntime + s->machine->wakeup_granularity)
		sched_resched(sim, cpu);
	else
		sched_tick_arm(sim, cpu);
}

void sched_init_cpu(struct sim *sim, struct cpu *cpu, void (*resume)(struct sim *sim, struct slot *slot))
{
	slot_init(sim, &cpu->slot, SIM_CLASS_CPU, resume);
	slot_init(sim, &cpu->tick, SIM_CLASS_TIMER, tick);
	bit_set(sched_of(sim)->idle, cpu->id);
}
