/*
 * memcg_threshold.c - flush: the subtree of the memcg that is asked for, if enough of it is pending.
 *
 * Linux 6.8 to 6.11 (7d7ef0a4686a). Nobody is skipped: flushers of different subtrees and of the same one
 * wait for the rstat lock. Refaults, the shadow shrinker and writeback flush only when the worker is late;
 * reclaim and readers go by the threshold alone. See models/stat/threshold.c.
 */
#include "models/stat/stat_impl.h"

static void flush(struct task *t, struct flush *f)
{
	memcg_flush(t, f, false);
}

static const struct flush_ops ops = { .flush = flush };

MODULE(flush_memcg_threshold) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "flush",
	.name = "memcg_threshold",
	.help = "the subtree asked for, if its own pending updates pass a threshold; waits for the lock",
	.source = "Linux 6.8-6.11, 7d7ef0a4686a",
	.ops = &ops,
};
