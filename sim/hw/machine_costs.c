/*
 * machine_costs.c - `costs: hw:`, the costs of struct machine as options. See machine.h.
 *
 * The defaults are those of a two-socket Skylake server and, where the kernel sets the value, of Linux 6.1
 * with HZ 250 on eight CPUs or more. Machine files give what is measured on other hardware. What nobody has
 * published is an estimate and says so.
 */
#include "sim/hw/machine.h"
#include "sim/module.h"

#define COST(field, ...) OPTION(struct machine, field, OPT_DURATION, __VA_ARGS__)
#define SIZE(field, fallback_, help_) \
	OPTION(struct machine, field, OPT_BYTES, .fallback = (fallback_), .max = "1GiB", .help = (help_))

static const struct option rows[] = {
	COST(line_hit, .fallback = "1.3ns", .min = "0s", .max = "1us",
	     .help = "access to a cache line that this CPU has as it needs it",
	     .source = "level-1 hit, 4 cycles at 3.1 GHz (Xeon 8280, AnandTech, 2019)"),
	COST(line_core, .fallback = "7.5ns", .min = "0s", .max = "10us",
	     .help = "time until a CPU has a line that the other thread of its core has",
	     .source = "core-to-core-latency by N. Viennot: 7.4 ns (Xeon 6242), 7.6 ns (8275CL)"),
	COST(line_socket, .fallback = "50ns", .min = "1ps", .max = "10us",
	     .help = "time until a CPU has a line that another core of its socket has",
	     .source = "Intel MLC 3.5, L2 to L2, modified: 50.3 ns (Skylake test bed of FD.io CSIT)"),
	COST(line_remote, .fallback = "140ns", .min = "0s", .max = "10us",
	     .help = "time until a CPU has a line that another socket has",
	     .source = "Intel MLC 3.5, same test bed: 109 ns homed with the writer, 172 ns with the reader"),
	COST(line_memory, .fallback = "80ns", .min = "0s", .max = "10us",
	     .help = "time until a CPU has a line that no cache has",
	     .source = "Intel MLC 3.9, idle latency of the local node: 78 ns (Xeon 8269CY)"),
	COST(atomic, .fallback = "5ns", .min = "0s", .max = "1us",
	     .help = "added to an access that is a locked read-modify-write",
	     .source = "uncontended increment 6.2 ns (Stack Overflow 46919032), less the hit"),

	SIZE(cache_l1, "0", "data cache of a core, level 1; 0: a line stays as near as it was last"),
	SIZE(cache_l2, "0", "cache of a core, level 2"),
	SIZE(cache_l3, "0", "a core's share of the last level, beyond what level 2 holds"),
	COST(line_l2, .fallback = "4.5ns", .min = "0s", .max = "1us",
	     .help = "access to a line that what streamed through has pushed out of level 1",
	     .source = "14 cycles at 3.1 GHz (Skylake-SP: 13 and more, AnandTech, 2017)"),
	COST(line_l3, .fallback = "25ns", .min = "0s", .max = "1us",
	     .help = "access to a line that has been pushed out of level 2",
	     .source = "77 cycles at 3.1 GHz (Skylake-SP, AnandTech, 2017)"),
	OPTION(struct machine, smt_share, OPT_RATIO, .fallback = "100%", .min = "0", .above_min = true,
	       .max = "1", .help = "of its speed that a CPU keeps while another thread of its core works",
	       .source = "100%: threads of a core do not slow each other down"),

	COST(context_switch, .fallback = "1us", .min = "0s", .max = "1ms",
	     .help = "of a CPU from one task to another",
	     .source = "estimate: half of a futex or pipe hand-over between threads of 1 to 2 us"),
	COST(space_switch, .fallback = "0s", .min = "0s", .max = "1ms",
	     .help = "added where the task has another address space than the CPU had last; kernel threads "
		     "use what is there",
	     .source = "0s: entries of the TLB are tagged by address space and stay"),
	COST(wakeup, .fallback = "700ns", .min = "0s", .max = "1ms",
	     .help = "spent by a task that wakes another",
	     .source = "estimate: try_to_wake_up() with a remote run queue"),
	COST(wakeup_remote, .fallback = "3us", .min = "0s", .max = "10ms",
	     .help = "from a wake-up until an idle CPU begins to switch to the task",
	     .source = "estimate: interrupt 1 us and the exit from C1, 2 us (drivers/idle/intel_idle.c, "
		       "skx_cstates)"),
	COST(migration, .fallback = "5us", .min = "0s", .max = "10ms",
	     .help = "added when a task runs on another CPU than before: its caches are cold",
	     .source = "estimate: some 250 lines from the last-level cache at 20 ns"),
	COST(slice, .fallback = "3ms", .min = "0s", .above_min = true, .max = "10s",
	     .help = "least time that a task runs before an equal may preempt it",
	     .source = "sysctl_sched_min_granularity 0.75 ms times 1 + log2(8 CPUs), Linux 6.1"),
	COST(latency, .fallback = "24ms", .min = "0s", .above_min = true, .max = "10s",
	     .help = "time in which every task of a run queue should have run; a sleeper's credit is half of "
		     "it",
	     .source = "sysctl_sched_latency 6 ms times 1 + log2(8 CPUs), Linux 6.1"),
	COST(wakeup_granularity, .fallback = "4ms", .min = "0s", .max = "10s",
	     .help = "lead in run time that a woken task needs to preempt",
	     .source = "sysctl_sched_wakeup_granularity 1 ms times 1 + log2(8 CPUs), Linux 6.1"),
	COST(bandwidth_slice, .fallback = "5ms", .min = "0s", .above_min = true, .max = "1s",
	     .help = "CPU time that a CPU takes at a time from the quota of cpu.max",
	     .source = "sysctl_sched_cfs_bandwidth_slice, Linux 6.1"),

	COST(rcu_read, .fallback = "0.2ns", .min = "0s", .max = "1us",
	     .help = "one read section of RCU: entering and leaving",
	     .source = "1.3 ns a page for 6 to 8 pairs, anon fault loop under MGLRU (H. Zhu, shadow node "
		       "budget, v2)"),
	COST(rcu_gp_start, .fallback = "2ms", .min = "0s", .max = "10s",
	     .help = "from a request for an RCU grace period to its start",
	     .source = "half a tick of HZ 250: a CPU announces new callbacks at its next tick (rcu_core), "
		       "Linux 6.1"),
	COST(rcu_gp_poll, .fallback = "4ms", .min = "0s", .above_min = true, .max = "10s",
	     .help = "between two looks for CPUs that a grace period waits for",
	     .source = "jiffies_till_first_fqs: one tick up to HZ 250 and 256 CPUs, Linux 6.1"),
	COST(work_dispatch, .fallback = "1us", .min = "0s", .max = "10ms",
	     .help = "from a worker's taking a work item to the first instruction of its function",
	     .source = "estimate: worker_thread() and process_one_work() without the wake-up"),
	COST(mutex_slowpath, .fallback = "500ns", .min = "0s", .max = "1ms",
	     .help = "entering and leaving the sleeping path of a mutex or rwsem, beside sleeping",
	     .source = "estimate: two sections under the wait_lock, each with a line or two from elsewhere"),
};

static const struct option_table table = OPTION_TABLE("hw", struct machine, rows);

MODULE(hw) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_COSTS,
	.name = "hw",
	.help = "cache lines, scheduling, RCU and deferred work",
	.options = &table,
};
