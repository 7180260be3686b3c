/*
 * eviction_manager.c - the eviction manager of a node agent, after kubelet.
 *
 * Every 10 s it compares the working set of the node (memory.current less inactive_file) with a limit, and
 * ends the pod with the largest working set. Its numbers come from a monitoring library that keeps a copy for
 * 10 s and more (`cached`, the default), so on a bad day it acts on numbers that are 20 s old; it can also
 * read when it looks (`on_demand`), or be told by the kernel (`event`). What that makes of its decisions is
 * killer.c.
 */
#include "models/workload/killer.h"

static const struct option rows[] = {
	KILLER_OPTIONS("working_set", "working_set", "cached", "10s", "10s", "0s", "0s"),
};
static const struct option_table options = OPTION_TABLE("eviction_manager", struct killer_options, rows);

MODULE(eviction_manager) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "eviction_manager",
	.help = "ends the pod with the largest working set when the node has too little; task.ops counts "
		"them",
	.source = "kubelet: eviction manager, housekeeping interval 10 s",
	.options = &options,
	.ops = &killer_ops,
};
