/*
 * per_cpu_step.c - rstat_lock: one spinlock, taken anew for every CPU.
 *
 * cgroup_rstat_flush() of Linux 6.15 (0efc297a3c49): interrupts are off for one CPU's step and not for all.
 * The CPU's own lock is held only while its list is taken, not while it is worked off.
 */
#include "models/stat/stat_impl.h"

static void init(struct host *host)
{
	spin_lock_init(stat_of(host)->policy[AXIS_LOCK].state, lock_class(host->sim, "cgroup_rstat_lock"));
}

static bool flush(struct task *t, struct flush *f, struct memcg *root, bool may_sleep)
{
	const struct host *host = root->host;
	struct spinlock *lock = stat_of(host)->policy[AXIS_LOCK].state;

	for (uint32_t cpu = 0; cpu < host->nr_possible; cpu++) {
		spin_lock_irq(t, lock);
		rstat_flush_cpu_listed(t, f, root, cpu);
		spin_unlock_irq(t, lock);
		if (may_sleep)
			cond_resched(t);
	}
	return true;
}

static const struct rstat_lock_ops ops = { .init = init, .flush = flush };

MODULE(rstat_per_cpu_step) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "rstat_lock",
	.name = "per_cpu_step",
	.help = "one spinlock, released after each CPU",
	.source = "Linux 6.15, 0efc297a3c49",
	.ops = &ops,
	.state_size = sizeof(struct spinlock),
};
