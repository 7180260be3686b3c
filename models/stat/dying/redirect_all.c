/*
 * redirect_all.c - dying_stats: each update looks, in an RCU read section, for the nearest cgroup that is not
 * dying. Seed 1, patch 2: before it only cgroup v1 did so.
 *
 * As long as nothing is removed the section is all the difference: one rcu_read_lock() and its end for each
 * update of an item, six to eight for a page that is faulted in and given back.
 */
#include "models/stat/dying/dying.h"
#include "sim/module.h"

static sim_time_t cost(const struct host *host)
{
	return host->machine->rcu_read;
}

static struct memcg *target(struct task *t, struct memcg *m)
{
	(void)t;
	return non_dying(m);
}

static const struct dying_stats_ops ops = { .cost = cost, .target = target, .in_section = true };

MODULE(dying_stats_redirect_all) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "dying_stats",
	.name = "redirect_all",
	.help = "an RCU read section for each update, to find who is not dying",
	.source = "seed 1, patch 2: memcg: redirect stats updates of dying memcgs for all hierarchies",
	.ops = &ops,
};
