/*
 * redirect_all_fast.c - dying_stats: the dying test comes first, and only who is dying enters the RCU read
 * section. Seed 1, patch 3.
 */
#include "models/host/costs.h"
#include "models/stat/dying/dying.h"
#include "sim/module.h"

static sim_time_t cost(const struct host *host)
{
	return host->costs->dying_test;
}

static const struct dying_stats_ops ops = { .cost = cost };

MODULE(dying_stats_redirect_all_fast) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "dying_stats",
	.name = "redirect_all_fast",
	.help = "a test for each update; the RCU read section only for who is dying",
	.source = "seed 1, patch 3",
	.ops = &ops,
};
