/*
 * summary.c - what is printed of memory after a run: what requests and reads paid for too little of it, what
 * reclaim did, whether somebody was killed, and whether what `events:` wrote was refused. Rows without a
 * value (nothing was read, there is no swap) are left out.
 */
#include "sim/results/summary.h"
#include "sim/module.h"

/* Workloads by name, and not once more by the cgroup they are in. */
#define WORKLOADS "[^/]*"

static const struct summary_row rows[] = {
	{ "request, p50", "service.latency.p50", "*", SUMMARY_MAX, 1e-6, "ms", 3 },
	{ "request, p99", "service.latency.p99", "*", SUMMARY_MAX, 1e-6, "ms", 3 },
	{ "request, longest", "service.latency.max", "*", SUMMARY_MAX, 1e-6, "ms", 3 },
	{ "file pages accessed", "task.file_reads", WORKLOADS, SUMMARY_SUM, 1, NULL, 0 },
	{ "of those, read from the device", "task.file_misses", WORKLOADS, SUMMARY_SUM, 1, NULL, 0 },
	{ "pages evicted with a shadow", "workingset.evictions", "all", SUMMARY_MEAN, 1, NULL, 0 },
	{ "of those, came back to it", "workingset.refault_tests", "all", SUMMARY_MEAN, 1, NULL, 0 },
	{ "shadow nodes reclaimed", "workingset.nodereclaim", "all", SUMMARY_MEAN, 1, NULL, 0 },
	{ "swapped out, pages", "swap.out", "all", SUMMARY_MEAN, 1, NULL, 0 },
	{ "swapped in, pages", "swap.in", "all", SUMMARY_MEAN, 1, NULL, 0 },
	{ "found no room in swap, pages", "swap.full", "all", SUMMARY_MEAN, 1, NULL, 0 },
	{ "tasks ended, disk full", "task.enospc", WORKLOADS, SUMMARY_SUM, 1, NULL, 0 },
	{ "memory.events max", "memory.events.max", "*", SUMMARY_MAX, 1, NULL, 0 },
	{ "memory.events high", "memory.events.high", "*", SUMMARY_MAX, 1, NULL, 0 },
	{ "memory.events oom_kill", "memory.events.oom_kill", "*", SUMMARY_MAX, 1, NULL, 0 },
	{ "writes by events refused", "cgroup_write.refused", "*", SUMMARY_SUM, 1, NULL, 0 },
	{ "stalled for memory, some", "memory.pressure.some.total", "/", SUMMARY_MEAN, 1e-9, "s", 3 },
};
static const struct summary_table table = { "Memory", rows, sizeof rows / sizeof rows[0] };

MODULE(memory_summary) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_SUMMARY,
	.name = "memory",
	.help = "requests, misses, refaults, swap, memory.events, pressure",
	.ops = &table,
};
