/*
 * mutex_preempt_off.c - rstat_lock: a sleeping lock whose holder keeps its CPU.
 *
 * The answer to the convoy of `mutex`: preemption is off while the lock is held, so waiters wait for
 * flushes and never for a holder that was preempted (but for one that is handed the mutex while its CPU is
 * another's, until it runs). Interrupts stay on.
 */
#include "models/stat/stat_impl.h"

static void init(struct host *host)
{
	mutex_init(stat_of(host)->policy[AXIS_LOCK].state, lock_class(host->sim, "cgroup_rstat_lock"));
}

static bool flush(struct task *t, struct flush *f, struct memcg *root, bool may_sleep)
{
	struct mutex *lock = stat_of(root->host)->policy[AXIS_LOCK].state;

	(void)may_sleep;
	mutex_lock(t, lock);
	preempt_disable(t);
	for (uint32_t cpu = 0; cpu < root->host->nr_possible; cpu++)
		rstat_flush_cpu(t, f, root, cpu);
	mutex_unlock(t, lock);
	preempt_enable(t);
	return true;
}

static const struct rstat_lock_ops ops = { .init = init, .flush = flush };

MODULE(rstat_mutex_preempt_off) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "rstat_lock",
	.name = "mutex_preempt_off",
	.help = "a sleeping lock, held for the whole flush with preemption off",
	.source = "discussion of seed 5; not in any kernel",
	.ops = &ops,
	.state_size = sizeof(struct mutex),
};
