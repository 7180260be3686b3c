/*
 * per_subsystem.c - rstat_lock: a lock for each subsystem, taken anew for every CPU.
 *
 * css_rstat_flush() of Linux 6.16 and later (5da3bfa029d6, 748922dcfabd). A flush of memory statistics no
 * longer flushes other controllers (stat.c leaves out their part of the cost), and a reader of cpu.stat
 * takes the lock of the base statistics and goes through the CPUs without meeting a memory flusher, nor
 * making memory.stat any fresher. CPU time itself is not counted by cgroup here, so that walk finds nothing
 * to take in.
 */
#include "models/stat/stat_impl.h"

struct per_subsystem {
	struct spinlock memory, base;
};

static void init(struct host *host)
{
	struct per_subsystem *s = stat_of(host)->policy[AXIS_LOCK].state;

	spin_lock_init(&s->memory, lock_class(host->sim, "rstat_ss_lock"));
	spin_lock_init(&s->base, lock_class(host->sim, "rstat_base_lock"));
}

static bool flush(struct task *t, struct flush *f, struct memcg *root, bool may_sleep)
{
	const struct host *host = root->host;
	struct per_subsystem *s = stat_of(host)->policy[AXIS_LOCK].state;
	bool base = f->caller == FLUSH_CPU_STAT;
	struct spinlock *lock = base ? &s->base : &s->memory;

	for (uint32_t cpu = 0; cpu < host->nr_possible; cpu++) {
		spin_lock_irq(t, lock);
		if (base)
			cpu_work(t, host->costs->flush_cpu);
		else
			rstat_flush_cpu_listed(t, f, root, cpu);
		spin_unlock_irq(t, lock);
		if (may_sleep)
			cond_resched(t);
	}
	return !base;
}

static const struct rstat_lock_ops ops = { .init = init, .flush = flush };

MODULE(rstat_per_subsystem) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "rstat_lock",
	.name = "per_subsystem",
	.help = "a spinlock for memory and one for base statistics, released after each CPU",
	.source = "Linux 6.16+, css_rstat_flush(), 748922dcfabd",
	.ops = &ops,
	.state_size = sizeof(struct per_subsystem),
};
