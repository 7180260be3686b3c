/*
 * mutex.c - rstat_lock: a sleeping lock in place of the spinlock, not dropped.
 *
 * Tried in the discussion of seed 5: "drop the resched/lock dropping condition". Interrupts stay on, waiters
 * sleep after some spinning, and nothing between two CPUs' steps gives way; the author expects warnings that
 * a reschedule was due. So only a preemptible kernel (`host: preemption: full`) takes the holder off its CPU
 * with the mutex in hand. Then everybody queues behind a task that does not run: the convoy.
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
	for (uint32_t cpu = 0; cpu < root->host->nr_possible; cpu++)
		rstat_flush_cpu(t, f, root, cpu);
	mutex_unlock(t, lock);
	return true;
}

static const struct rstat_lock_ops ops = { .init = init, .flush = flush };

MODULE(rstat_mutex) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "rstat_lock",
	.name = "mutex",
	.help = "a sleeping lock, held for the whole flush; its holder is preempted where the kernel is",
	.source = "discussion of seed 5; not in any kernel",
	.ops = &ops,
	.state_size = sizeof(struct mutex),
};
