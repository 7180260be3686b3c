/*
 * bandwidth.c - cpu.max: CPU time by quota and period.
 *
 * After kernel/sched/fair.c of Linux 6.1: the pool is filled with the quota at each period; a CPU takes
 * slices (sched_cfs_bandwidth_slice_us, 5 ms) from the pool for the tasks it runs and, when the pool is
 * empty, parks them until the next period (throttle_cfs_rq); a CPU that has no more of the group's tasks
 * gives all but 1 ms of its slice back. As in that kernel a task is parked where it can be scheduled out,
 * so with a kernel that preempts it may hold a mutex meanwhile. A group inside a group is limited by both.
 *
 * The period's timer runs only while the group uses time.
 */
#include <stddef.h>

#include "sim/hw/sched.h"

#define KEEP_ON_RETURN (1 * SIM_MS) /* min_cfs_rq_runtime */

struct bandwidth {
	struct sim *sim;
	struct bandwidth *parent;
	sim_time_t quota, period;
	int64_t pool;
	int64_t *local; /* by CPU, ps; may go below zero by what ran over */
	struct task *parked;
	struct slot refill;
	bool used; /* since the last refill */
	uint64_t nr_throttled;
	sim_time_t throttled_time, throttled_since;
};

static void refill(struct sim *sim, struct slot *slot);

struct bandwidth *bandwidth_create(struct sim *sim, sim_time_t quota, sim_time_t period,
				   struct bandwidth *parent)
{
	const struct sched *s = sim_sched(sim);
	struct bandwidth *b = sim_alloc(sim, sizeof *b);

	b->sim = sim;
	b->parent = parent;
	b->quota = quota;
	b->period = period;
	b->pool = (int64_t)quota;
	b->local = arena_array(sim_arena(sim), s->nr_cpus, sizeof *b->local);
	slot_init(sim, &b->refill, SIM_CLASS_TIMER, refill);
	return b;
}

uint64_t bandwidth_nr_throttled(const struct bandwidth *b)
{
	return b->nr_throttled;
}

sim_time_t bandwidth_throttled_time(const struct sim *sim, const struct bandwidth *b)
{
	return b->throttled_time + (b->parked ? sim_now(sim) - b->throttled_since : 0);
}

/* Fills the CPU's slice from the pool; false if nothing is left. */
static bool take_slice(struct bandwidth *b, uint32_t cpu)
{
	int64_t want = (int64_t)sim_sched(b->sim)->machine->bandwidth_slice - b->local[cpu];
	int64_t got = want < b->pool ? want : b->pool;

	if (!slot_pending(&b->refill))
		slot_arm(b->sim, &b->refill, sim_now(b->sim) + b->period);
	b->used = true;
	b->pool -= got;
	b->local[cpu] += got;
	return b->local[cpu] > 0;
}

static void park(struct bandwidth *b, struct task *t)
{
	if (!b->parked) {
		b->throttled_since = sim_now(b->sim);
		b->nr_throttled++;
	}
	t->heap_next = b->parked; /* t->next may link it in the queue of a lock */
	b->parked = t;
}

bool bandwidth_admit(struct task *t, const struct cpu *cpu)
{
	for (struct bandwidth *b = t->bandwidth; b; b = b->parent)
		if (b->local[cpu->id] <= 0 && !take_slice(b, cpu->id)) {
			park(b, t);
			return false;
		}
	return true;
}

bool bandwidth_consume(struct sim *sim, struct task *t, sim_time_t used)
{
	bool left = true;

	(void)sim;
	for (struct bandwidth *b = t->bandwidth; b; b = b->parent) {
		b->local[t->cpu->id] -= (int64_t)used;
		if (b->local[t->cpu->id] <= 0)
			left &= take_slice(b, t->cpu->id);
	}
	return left;
}

sim_time_t bandwidth_left(const struct task *t)
{
	int64_t least = INT64_MAX;

	for (const struct bandwidth *b = t->bandwidth; b; b = b->parent)
		if (b->local[t->cpu->id] < least)
			least = b->local[t->cpu->id];
	if (least == INT64_MAX)
		return SIM_NEVER;
	return least > 0 ? (sim_time_t)least : 0;
}

void bandwidth_return(struct sim *sim, struct task *t)
{
	(void)sim;
	for (struct bandwidth *b = t->bandwidth; b; b = b->parent) {
		int64_t *local = &b->local[t->cpu->id];

		if (*local > (int64_t)KEEP_ON_RETURN) {
			b->pool += *local - (int64_t)KEEP_ON_RETURN;
			*local = (int64_t)KEEP_ON_RETURN;
		}
	}
}

static void refill(struct sim *sim, struct slot *slot)
{
	struct bandwidth *b = (struct bandwidth *)(void *)((char *)slot - offsetof(struct bandwidth, refill));
	struct sched *s = sim_sched(sim);
	bool busy = b->used || b->parked;

	b->pool = (int64_t)b->quota;
	b->used = false;
	if (busy)
		slot_arm(sim, &b->refill, sim->now + b->period);
	/* Debts of CPUs that ran over are paid first, as distribute_cfs_runtime does. */
	struct task *parked = b->parked, *in_order = NULL;

	b->parked = NULL;
	if (parked)
		b->throttled_time += sim->now - b->throttled_since;
	while (parked) { /* first parked, first served */
		struct task *t = parked;

		parked = t->heap_next;
		t->heap_next = in_order;
		in_order = t;
	}
	while (in_order) {
		struct task *t = in_order;

		in_order = t->heap_next;
		t->heap_next = NULL;
		sched_place(sim, t, sched_select_cpu(s, t, NULL));
	}
}
