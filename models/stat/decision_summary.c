/*
 * decision_summary.c - decisions on stale counters, after a run: how many, and how many were wrong.
 *
 * Those of the kernel by what is decided; those of daemons together, as their names are the scenario's.
 */
#include "sim/module.h"
#include "sim/results/summary.h"

#define WRONG(label_, entity_)                                                        \
	{ label_, "decision.taken", entity_, SUMMARY_SUM, 1, NULL, 0 },               \
	{                                                                             \
		"  of them wrong", "decision.wrong", entity_, SUMMARY_SUM, 1, NULL, 0 \
	}

static const struct summary_row rows[] = {
	WRONG("deactivate anon or not", "deactivate:anon"),
	WRONG("deactivate file or not", "deactivate:file"),
	WRONG("cache_trim_mode or not", "cache_trim_mode"),
	WRONG("file_is_tiny or not", "file_is_tiny"),
	WRONG("refault active or not", "refault"),
	WRONG("over the dirty limit or not", "dirty_limit"),
	WRONG("too many shadow nodes or not", "shadow_budget"),
	{ "looks at a threshold", "decision.taken", "trigger:*", SUMMARY_SUM, 1, NULL, 0 },
	{ "  passed, and not seen", "decision.missed", "trigger:*", SUMMARY_SUM, 1, NULL, 0 },
	{ "  seen, and not passed", "decision.needless", "trigger:*", SUMMARY_SUM, 1, NULL, 0 },
	WRONG("victims chosen", "victim:*"),
	{ "  on numbers off by, mean", "decision.error.mean", "victim:*", SUMMARY_MEAN, 1, "pages", 0 },
	{ "  of an age of, mean", "decision.age.mean", "victim:*", SUMMARY_MEAN, 1e-6, "ms", 1 },
};
static const struct summary_table table = { "Decisions on what was seen", rows,
					    sizeof rows / sizeof rows[0] };

MODULE(decision_summary) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_SUMMARY,
	.name = "decision",
	.help = "decisions on stale counters, and how many were wrong",
	.ops = &table,
};
