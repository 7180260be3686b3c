/*
 * policies.c - the axes of reclaim (which LRU, and what a lock of its lists covers), and `vm:`, the settings
 * of the machine that it obeys.
 */
#include "models/host/policies.h"
#include "models/reclaim/reclaim_impl.h"
#include "sim/module.h"

static const struct axis reclaim_axis = { .fallback = "classic" },
			 lru_lock_axis = { .fallback = "per_memcg" };

MODULE(axis_reclaim) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_AXIS,
	.name = "reclaim",
	.help = "how pages are kept in order of use, and which are taken back",
	.source = "mm/vmscan.c; /sys/kernel/mm/lru_gen/enabled",
	.ops = &reclaim_axis,
};

MODULE(axis_lru_lock) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_AXIS,
	.name = "lru_lock",
	.help = "what one lock of LRU lists covers",
	.source = "mm/swap.c, include/linux/mmzone.h",
	.ops = &lru_lock_axis,
};

static const struct charge_constant per_memcg = { false }, per_node = { true };

MODULE(lru_lock_per_memcg) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "lru_lock",
	.name = "per_memcg",
	.help = "the lists of one cgroup on one node",
	.source = "Linux 5.11, 6168d0da2b47",
	.ops = &per_memcg,
};

MODULE(lru_lock_per_node) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "lru_lock",
	.name = "per_node",
	.help = "the lists of all cgroups on one node",
	.source = "Linux up to 5.10",
	.ops = &per_node,
};

static const struct option vm_rows[] = {
	OPTION(struct vm_options, swappiness, OPT_U32, .fallback = "60", .max = "200",
	       .help = "weight of anonymous pages against file pages in reclaim", .source = "vm.swappiness"),
	OPTION(struct vm_options, memory_recursiveprot, OPT_BOOL, .fallback = "false",
	       .help = "protection that no child claims is shared by all children",
	       .source = "mount option of cgroup2; off unless asked for, as systemd does"),
	OPTION(struct vm_options, fault_around, OPT_BYTES, .fallback = "64KiB", .min = "4KiB", .max = "2MiB",
	       .help = "a fault on a mapping of a file maps what is cached within so much around it, rounded "
		       "down to a power of two",
	       .source = "fault_around_bytes of mm/memory.c, in debugfs"),
};
static const struct option_table vm_table = OPTION_TABLE("vm", struct vm_options, vm_rows);

MODULE(vm_section) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_SECTION,
	.name = "vm",
	.help = "settings of the machine that reclaim obeys",
	.options = &vm_table,
	.order = 60,
};

bool lru_lock_is_per_node(const struct scenario *s)
{
	return scenario_policy(s, "lru_lock")->module->ops == &per_node;
}

void reclaim_build(struct host *host)
{
	const struct charge_constant *node_lock = host_policy_ops(host, "lru_lock");

	host->reclaim = sim_alloc(host->sim, sizeof *host->reclaim);
	host->reclaim->ops = host_policy_ops(host, "reclaim");
	host->reclaim->node_lock = node_lock->value;
	host->reclaim->vm = scenario_section(host->scenario, "vm");
}
