/*
 * timer.c - timers of the timer wheel, after kernel/time/timer.c of Linux 4.8 and later. See work.h.
 *
 * The wheel has levels of 64 buckets, each level eight times coarser than the one below. A timer goes into
 * the lowest level that reaches its time and into the bucket after that time, never the one before it
 * (calc_index), and stays there: nothing is moved to a finer level as the time comes near. So its lateness is
 * known when it is set, and a simulated timer needs no wheel: it is one pending event at the time at which
 * the wheel would have run it.
 *
 * Example, HZ 250: 2 s are 500 ticks, the second level, 8 ticks a bucket: it fires 2.000 to 2.032 s later,
 * on a multiple of 32 ms.
 *
 * A deferrable timer (BASE_DEF) that is due on an idle CPU joins a list of that CPU; when the CPU leaves
 * idleness the list is set to its next tick, and whoever finds the CPU idle again then goes back to the list.
 * An idle CPU with RCU callbacks keeps its tick and so runs them: on a CPU that is hardly ever busy at a tick
 * it is this that makes them happen, for whoever closes a file leaves a callback.
 */
#include "sim/hw/rcu.h"
#include "sim/hw/work.h"

#define LEVELS        9 /* LVL_DEPTH for HZ above 100 */
#define LEVEL_SHIFT   3 /* LVL_CLK_SHIFT */
#define LEVEL_BUCKETS 64

/* Beyond this many ticks a timer no longer fits the level below n (LVL_START). */
static uint64_t level_start(unsigned int n)
{
	return (uint64_t)(LEVEL_BUCKETS - 1) << (n - 1) * LEVEL_SHIFT;
}

uint64_t ktimer_wheel(uint64_t now, uint64_t expires)
{
	unsigned int level = 0;

	if (expires < now)
		return now;
	if (expires - now >= level_start(LEVELS)) /* as far as the wheel reaches (WHEEL_TIMEOUT_MAX) */
		expires = now + level_start(LEVELS) - ((uint64_t)1 << (LEVELS - 1) * LEVEL_SHIFT);
	while (level < LEVELS - 1 && expires - now >= level_start(level + 1))
		level++;
	return ((expires >> level * LEVEL_SHIFT) + 1) << level * LEVEL_SHIFT;
}

/* ---- ticks: number k happens at k/HZ seconds, rounded up to a picosecond ---- */

static uint64_t tick_at(uint32_t hz, sim_time_t when)
{
	return when / SIM_SEC * hz + when % SIM_SEC * hz / SIM_SEC;
}

static sim_time_t tick_time(uint32_t hz, uint64_t tick)
{
	return tick / hz * SIM_SEC + (tick % hz * SIM_SEC + hz - 1) / hz;
}

static uint32_t hz_of(const struct sim *sim)
{
	return sim_sched(sim)->machine->hz;
}

/* ---- waiting for a CPU to leave idleness ---- */

static void defer(struct ktimer *timer, struct cpu *cpu)
{
	timer->next = cpu->deferred;
	timer->prev = &cpu->deferred;
	if (timer->next)
		timer->next->prev = &timer->next;
	cpu->deferred = timer;
}

static void undefer(struct ktimer *timer)
{
	*timer->prev = timer->next;
	if (timer->next)
		timer->next->prev = timer->prev;
	timer->prev = NULL;
}

void ktimer_cpu_busy(struct sim *sim, struct cpu *cpu)
{
	sim_time_t next = tick_time(hz_of(sim), tick_at(hz_of(sim), sim_now(sim)) + 1);

	while (cpu->deferred) {
		struct ktimer *timer = cpu->deferred;

		undefer(timer);
		slot_arm(sim, &timer->slot, next);
	}
}

static void expire(struct sim *sim, struct slot *slot)
{
	struct ktimer *timer = (struct ktimer *)(void *)slot; /* its first member */
	struct cpu *cpu = &sim_sched(sim)->cpus[timer->cpu];

	if (timer->deferrable && !cpu->current && !rcu_needs_cpu(sim, timer->cpu))
		defer(timer, cpu);
	else
		timer->func(sim, timer);
}

/* ---- the interface ---- */

void ktimer_init(struct sim *sim, struct ktimer *timer, void (*func)(struct sim *sim, struct ktimer *timer))
{
	*timer = (struct ktimer){ .sim = sim, .func = func };
	slot_init(sim, &timer->slot, SIM_CLASS_TIMER, expire);
}

void ktimer_release(struct ktimer *timer)
{
	ktimer_cancel(timer);
	slot_release(timer->sim, &timer->slot);
}

void ktimer_arm(struct ktimer *timer, uint32_t cpu, uint64_t ticks)
{
	uint32_t hz = hz_of(timer->sim);
	uint64_t now = tick_at(hz, sim_now(timer->sim));

	ktimer_cancel(timer);
	timer->cpu = cpu;
	slot_arm(timer->sim, &timer->slot, tick_time(hz, ktimer_wheel(now, now + ticks)));
}

bool ktimer_pending(const struct ktimer *timer)
{
	return timer->prev || slot_pending(&timer->slot);
}

void ktimer_cancel(struct ktimer *timer)
{
	if (timer->prev)
		undefer(timer);
	slot_cancel(timer->sim, &timer->slot);
}
