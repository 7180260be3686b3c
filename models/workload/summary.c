/*
 * summary.c - what is printed of workloads after a run: how much work each did in a second, by its name.
 */
#include "sim/results/summary.h"
#include "sim/module.h"

static const struct summary_row rows[] = {
	/* By name, and not once more by the cgroup that it is in. */
	{ NULL, "task.rate", "[^/]*", SUMMARY_EACH, 1, "1/s", 0 },
};
static const struct summary_table table = { "Work", rows, sizeof rows / sizeof rows[0] };

MODULE(work_summary) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_SUMMARY,
	.name = "work",
	.help = "work done by workloads",
	.ops = &table,
};
