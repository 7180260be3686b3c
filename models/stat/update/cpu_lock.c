/*
 * cpu_lock.c - rstat_updated: the updater puts its cgroup on the CPU's updated tree under that CPU's raw
 * lock.
 *
 * cgroup_rstat_updated() up to Linux 6.16. A look without the lock settles most calls: whoever is on the
 * list stays there until the next flush. Otherwise the cgroup and its ancestors are linked, as far as they
 * are not, with interrupts off. A flusher holds the same lock while it is at this CPU, so an updater that
 * was just flushed waits for it.
 */
#include "models/stat/stat_impl.h"

static void updated(struct task *t, struct stat_pair *pair)
{
	const struct host *host = pair->memcg->host;
	struct stat_cpu *c = &stat_of(host)->cpus[pair->cpu];

	cpu_defer(t, host->costs->rstat_check);
	if (pair->updated_next)
		return;
	pair->linking++;
	spin_lock_irq(t, &c->lock);
	pair->linking--;
	cpu_defer(t, rstat_link(pair) * host->costs->rstat_link);
	spin_unlock_irq(t, &c->lock);
}

static void begin(struct task *t, struct stat_cpu *c)
{
	spin_lock_irq(t, &c->lock);
}

static void end(struct task *t, struct stat_cpu *c)
{
	spin_unlock_irq(t, &c->lock);
}

static const struct rstat_updated_ops ops = { .updated = updated, .begin = begin, .end = end };

MODULE(rstat_cpu_lock) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "rstat_updated",
	.name = "cpu_lock",
	.help = "under a raw lock of the CPU, which a flusher takes too",
	.source = "up to Linux 6.16, cgroup_rstat_updated()",
	.ops = &ops,
};
