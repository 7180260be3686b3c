/*
 * spin_yield.c - rstat_lock: one spinlock for everybody, let go between two CPUs if somebody wants it.
 *
 * cgroup_rstat_flush_locked() of Linux 4.18 to 6.14 (0fa294fb1985). The lock is taken with interrupts off.
 * After each CPU a flusher that may sleep looks whether its own CPU is wanted or somebody waits for the
 * lock; then it unlocks, gives way, and queues again behind all who wait. So no waiter waits longer than
 * one CPU's step, but a flush may lose the lock as often as there are CPUs, each time to a whole queue: its
 * own worst case has no bound in the number of CPUs.
 *
 * Whether waiters are seen at all depends on the build. spin_needbreak() is 0 without CONFIG_PREEMPTION,
 * which full preemption has, and from 5.16 on (c597bfddc9e9) every kernel with PREEMPT_DYNAMIC, whatever it
 * was told at boot; from 6.12 on (c793a62823d1) it is 0 unless preemption is full. Where it is 0 only a
 * task that wants the flusher's CPU ends the hold: as good as spin_hold.
 */
#include "models/stat/stat_impl.h"

static void init(struct host *host)
{
	spin_lock_init(stat_of(host)->policy[AXIS_LOCK].state, lock_class(host->sim, "cgroup_rstat_lock"));
}

static bool sees_waiters(const struct task *t, const struct host *host)
{
	if (sim_sched(t->sim)->preempt == PREEMPT_FULL)
		return true;
	return host->preempt_dynamic && host->kernel_version >= 516 && host->kernel_version < 612;
}

static bool flush(struct task *t, struct flush *f, struct memcg *root, bool may_sleep)
{
	const struct host *host = root->host;
	struct spinlock *lock = stat_of(host)->policy[AXIS_LOCK].state;
	bool yields = sees_waiters(t, host);

	spin_lock_irq(t, lock);
	for (uint32_t cpu = 0; cpu < host->nr_possible; cpu++) {
		rstat_flush_cpu(t, f, root, cpu);
		if (may_sleep && (need_resched(t) || (yields && spin_is_contended(lock)))) {
			spin_unlock_irq(t, lock);
			cond_resched(t);
			spin_lock_irq(t, lock);
		}
	}
	spin_unlock_irq(t, lock);
	return true;
}

static const struct rstat_lock_ops ops = { .init = init, .flush = flush };

MODULE(rstat_spin_yield) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "rstat_lock",
	.name = "spin_yield",
	.help = "one spinlock, interrupts off, dropped between CPUs when somebody waits",
	.source = "Linux 4.18-6.14, 0fa294fb1985",
	.ops = &ops,
	.state_size = sizeof(struct spinlock),
};
