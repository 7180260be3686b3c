/*
 * sections.c - `host:` and `run:`, the two sections that every scenario has whatever it simulates.
 */
#include "sim/hw/task.h"
#include "sim/module.h"
#include "sim/scenario/scenario.h"

static const struct enum_name preemptions[] = {
	{ "none", PREEMPT_NONE, "kernel work gives way only in loops that say so (cond_resched)" },
	{ "voluntary", PREEMPT_VOLUNTARY, "and before it takes a lock that may sleep (might_sleep)" },
	{ "full", PREEMPT_FULL, "kernel work gives way wherever no section forbids it" },
	{ NULL, 0, NULL },
};

static const struct option host_rows[] = {
	OPTION(struct host_options, cpus, OPT_U32, .required = true, .min = "1", .max = "65536",
	       .help = "CPUs that are online"),
	OPTION(struct host_options, possible_cpus, OPT_U32, .fallback = "0", .max = "65536",
	       .help = "CPUs that may come online, which per-CPU memory and flushes count; 0: as cpus"),
	OPTION(struct host_options, nodes, OPT_U32, .fallback = "1", .min = "1", .max = "1024",
	       .help = "NUMA nodes, equal in CPUs and memory"),
	OPTION(struct host_options, sockets, OPT_U32, .fallback = "0", .max = "1024",
	       .help = "sockets; each holds the same number of nodes; 0: one for each node"),
	OPTION(struct host_options, threads_per_core, OPT_U32, .fallback = "1", .min = "1", .max = "8",
	       .help = "CPUs that share a core"),
	OPTION(struct host_options, memory, OPT_BYTES, .fallback = "1TiB", .min = "1MiB", .max = "1024TiB",
	       .help = "memory of all nodes together"),
	OPTION(struct host_options, hz, OPT_U32, .fallback = "250", .min = "100", .max = "1000",
	       .help = "timer ticks a second", .source = "kernel/Kconfig.hz: HZ_250 is the default"),
	OPTION(struct host_options, preemption, OPT_ENUM, .names = preemptions, .fallback = "voluntary",
	       .help = "when a task in the kernel gives way",
	       .source = "kernel/Kconfig.preempt: what server distributions choose"),
	OPTION(struct host_options, preempt_dynamic, OPT_BOOL, .fallback = "true",
	       .help = "whether the kernel is built so that `preemption` can be chosen at boot; up to 6.11 "
		       "such a kernel gives up spinlocks that others wait for in any model",
	       .source = "CONFIG_PREEMPT_DYNAMIC, as in kernels of Debian 12, Fedora and RHEL 9 on x86; "
			 "'uname -v' "
			 "shows it"),
	OPTION(struct host_options, machine, OPT_STRING,
	       .help = "whose costs: scenarios/machines/NAME.yaml; none: the defaults of the costs"),
};
static const struct option_table host_table = OPTION_TABLE("host", struct host_options, host_rows);

MODULE(host) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_SECTION,
	.name = "host",
	.help = "the shape of the machine",
	.options = &host_table,
	.order = 10,
};

static const struct option run_rows[] = {
	OPTION(struct run_options, until, OPT_DURATION, .never = "done", .fallback = "done", .min = "0s",
	       .above_min = true, .help = "simulated time, warm-up included; done: until all work is done"),
	OPTION(struct run_options, warmup, OPT_DURATION, .fallback = "0s",
	       .help = "time at the start that no result counts"),
	OPTION(struct run_options, sample, OPT_DURATION, .fallback = "100ms",
	       .help = "time between two samples of what is drawn over time; 0: no samples"),
	OPTION(struct run_options, seed, OPT_U64, .fallback = "1",
	       .help = "of all random streams; replication r runs with seed + r"),
	OPTION(struct run_options, replications, OPT_U32, .fallback = "1", .min = "1", .max = "100K",
	       .help = "runs of each variant, with seeds of their own"),
	OPTION(struct run_options, rows, OPT_U32, .fallback = "1K", .min = "2", .max = "1M",
	       .help = "most rows kept of one metric of one entity; beyond, every second one is dropped"),
	OPTION(struct run_options, give_up, OPT_DURATION, .fallback = "1h", .min = "0s", .above_min = true,
	       .help = "with until: done, the simulated time at which a run counts as failed"),
};
static const struct option_table run_table = OPTION_TABLE("run", struct run_options, run_rows);

MODULE(run) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_SECTION,
	.name = "run",
	.help = "how long and how often is simulated",
	.options = &run_table,
	.order = 1000,
};
