/*
 * sublinear_threshold.c - flush: as memcg_ratelimited, with a threshold that grows slower than the CPUs.
 *
 * Posted for discussion in March 2026. B x online CPUs is 128 MiB of pending pages on 512 CPUs; the first
 * version takes B x (ilog2(CPUs) + 1), the second B x int_sqrt(possible CPUs + 2). The error that a reader
 * may see falls with it, but for what is hidden in the per-CPU counters; reads flush more often.
 */
#include "models/stat/stat_impl.h"

enum formula { FORMULA_LOG2, FORMULA_SQRT };

struct sublinear_options {
	int formula;
};

static uint32_t int_sqrt(uint32_t x)
{
	uint32_t root = 0;

	while ((uint64_t)(root + 1) * (root + 1) <= x)
		root++;
	return root;
}

static void init(struct host *host)
{
	struct stat_state *st = stat_of(host);
	const struct sublinear_options *options = st->policy[AXIS_FLUSH].options;
	uint32_t factor = options->formula == FORMULA_SQRT ? int_sqrt(host->nr_possible + 2)
							   : 32 - (uint32_t)__builtin_clz(host->nr_cpus);

	st->memcg_threshold = (uint64_t)host->charge_batch * factor;
}

static void flush(struct task *t, struct flush *f)
{
	memcg_flush(t, f, true);
}

static const struct enum_name formulas[] = {
	{ "log2", FORMULA_LOG2, "B x (ilog2(online CPUs) + 1), version 1" },
	{ "sqrt", FORMULA_SQRT, "B x int_sqrt(possible CPUs + 2), version 2" },
	{ NULL, 0, NULL },
};
static const struct option rows[] = {
	OPTION(struct sublinear_options, formula, OPT_ENUM, .fallback = "log2", .names = formulas,
	       .help = "how the threshold grows with the CPUs"),
};
static const struct option_table options = OPTION_TABLE("sublinear_threshold", struct sublinear_options,
							rows);

static const struct flush_ops ops = { .init = init, .flush = flush };

MODULE(flush_sublinear_threshold) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "flush",
	.name = "sublinear_threshold",
	.help = "as memcg_ratelimited, the threshold grows with the logarithm or root of the CPUs",
	.source = "proposal of March 2026, not in any kernel",
	.options = &options,
	.ops = &ops,
};
