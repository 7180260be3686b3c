/*
 * always_subtree.c - flush: whoever reads statistics flushes their subtree, however little there is to
 * flush.
 *
 * Linux 5.13 to 5.15 (2d146aa3aa84). In 5.15 (aa48e47e3906) a worker flushes the root every 2 s, and so do
 * reclaim and a refault in case the worker has not: whoever of these comes while another is at it goes on
 * without (mem_cgroup_flush_stats(), a trylock). Before 5.15 what reclaim and refaults look at was not on
 * rstat, so they flush nothing.
 */
#include "models/stat/stat_impl.h"

static void flush(struct task *t, struct flush *f)
{
	const struct host *host = f->memcg->host;
	bool in_kernel = f->caller == FLUSH_PERIODIC || f->caller == FLUSH_REFAULT ||
			 f->caller == FLUSH_RECLAIM;

	if (!in_kernel)
		rstat_flush(t, f, f->memcg, true);
	else if (host->kernel_version >= 515)
		unified_try(t, f);
	else
		stat_of(host)->count.skipped++;
}

static sim_time_t period(const struct host *host)
{
	return host->kernel_version < 515 ? SIM_NEVER : FLUSH_TIME;
}

static const struct flush_ops ops = { .flush = flush, .period = period };

MODULE(flush_always_subtree) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "flush",
	.name = "always_subtree",
	.help = "every reader flushes the subtree it reads",
	.source = "Linux 5.13-5.15, 2d146aa3aa84",
	.ops = &ops,
};
