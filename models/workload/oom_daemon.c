/*
 * oom_daemon.c - an OOM daemon in user space, such as oomd or systemd-oomd.
 *
 * systemd-oomd's rule is the default: when a cgroup has stalled for memory for more than 60 % of the time,
 * the descendant that was scanned most since the last look is ended, and nobody else for 15 s. The scan rate
 * needs two readings, so the choice after a start is arbitrary. Other rules rank by usage or by pressure;
 * what each gets wrong, and how that depends on the age of the numbers, is killer.c.
 */
#include "models/workload/killer.h"

static const struct option rows[] = {
	KILLER_OPTIONS("pressure", "pgscan", "on_demand", "1s", "10s", "15s", "0s"),
};
static const struct option_table options = OPTION_TABLE("oom_daemon", struct killer_options, rows);

MODULE(oom_daemon) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "oom_daemon",
	.help = "ends the tasks of the worst cgroup when one is under pressure; task.ops counts kills",
	.source = "systemd-oomd 251, oomd: pressure-driven kill by pgscan",
	.options = &options,
	.ops = &killer_ops,
};
