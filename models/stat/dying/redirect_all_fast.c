/*
 * redirect_all_fast.c - dying_stats: the dying test comes first, and only who is dying enters the RCU read
 * section. Seed 1, patch 3.
 *
 * So the update of a cgroup that is not dying yet is outside of any section. Where the kernel is
 * preemptible its task can be preempted between the test and the addition, and a grace period that begins
 * meanwhile does not wait for it (dying.c).
 */
#include "models/host/costs.h"
#include "models/stat/dying/dying.h"
#include "sim/module.h"

static sim_time_t cost(const struct host *host)
{
	return host->costs->dying_test;
}

static struct memcg *target(struct task *t, struct memcg *m)
{
	cpu_defer(t, m->host->machine->rcu_read);
	return non_dying(m);
}

static const struct dying_stats_ops ops = { .cost = cost, .target = target };

MODULE(dying_stats_redirect_all_fast) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "dying_stats",
	.name = "redirect_all_fast",
	.help = "a test for each update; the RCU read section only for who is dying",
	.source = "seed 1, patch 3",
	.ops = &ops,
};
