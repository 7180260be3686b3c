/*
 * untracked.c - rstat_updated: memory statistics are not on rstat, so that no list says who was updated.
 *
 * Before Linux 5.13.
 */
#include "models/stat/stat_impl.h"

static void updated(struct task *t, struct stat_pair *pair)
{
	(void)t;
	(void)pair;
}

static void nothing(struct task *t, struct stat_cpu *c)
{
	(void)t;
	(void)c;
}

static const struct rstat_updated_ops ops = {
	.updated = updated,
	.begin = nothing,
	.end = nothing,
	.untracked = true,
};

MODULE(rstat_untracked) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "rstat_updated",
	.name = "untracked",
	.help = "memory statistics are not on rstat",
	.source = "before Linux 5.13",
	.ops = &ops,
};
