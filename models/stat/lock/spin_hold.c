/*
 * spin_hold.c - rstat_lock: one spinlock, held from the first CPU to the last.
 *
 * What spin_yield would be without yielding: interrupts are off for a whole flush, and waiters are served
 * in order, each after the complete flushes of those before it.
 */
#include "models/stat/stat_impl.h"

static void init(struct host *host)
{
	spin_lock_init(stat_of(host)->policy[AXIS_LOCK].state, lock_class(host->sim, "cgroup_rstat_lock"));
}

static bool flush(struct task *t, struct flush *f, struct memcg *root, bool may_sleep)
{
	struct spinlock *lock = stat_of(root->host)->policy[AXIS_LOCK].state;

	(void)may_sleep;
	spin_lock_irq(t, lock);
	for (uint32_t cpu = 0; cpu < root->host->nr_possible; cpu++)
		rstat_flush_cpu(t, f, root, cpu);
	spin_unlock_irq(t, lock);
	return true;
}

static const struct rstat_lock_ops ops = { .init = init, .flush = flush };

MODULE(rstat_spin_hold) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "rstat_lock",
	.name = "spin_hold",
	.help = "one spinlock, interrupts off for the whole flush",
	.source = "spin_yield without yielding; not in any kernel",
	.ops = &ops,
	.state_size = sizeof(struct spinlock),
};
