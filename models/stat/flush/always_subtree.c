/*
 * always_subtree.c - flush: whoever reads statistics flushes their subtree, however little there is to
 * flush.
 *
 * Linux 5.13 to 5.15 (2d146aa3aa84). In 5.15 (aa48e47e3906) a worker flushes the root every 2 s, and so
 * does a refault in case the worker has not: whoever of these comes while another is at it goes on without.
 */
#include "models/stat/stat_impl.h"

static void flush(struct task *t, struct flush *f)
{
	if (f->caller == FLUSH_PERIODIC || f->caller == FLUSH_REFAULT)
		unified_try(t, f);
	else
		rstat_flush(t, f, f->memcg, true);
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
