/*
 * memcg_ratelimited.c - flush: as memcg_threshold, and reclaim too flushes only when the worker is late.
 *
 * About Linux 6.12 and later ("memcg: use ratelimited stats flush in the reclaim"). While the worker keeps
 * its two seconds no caller in the kernel flushes at all; when a whole cycle is missing all of them do at
 * once.
 */
#include "models/stat/stat_impl.h"

static void flush(struct task *t, struct flush *f)
{
	memcg_flush(t, f, true);
}

static const struct flush_ops ops = { .flush = flush };

MODULE(flush_memcg_ratelimited) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "flush",
	.name = "memcg_ratelimited",
	.help = "as memcg_threshold; in the kernel only when the periodic flush is late",
	.source = "Linux 6.12+, mem_cgroup_flush_stats_ratelimited()",
	.ops = &ops,
};
