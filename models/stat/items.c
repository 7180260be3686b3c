/*
 * items.c - the counters of memory.stat: their names and units, and how many there are in a kernel.
 *
 * The models change the items of enum stat_item; a flush of one (memcg, CPU) pair walks all counters that
 * the kernel has, changed or not, and that walk is most of what it costs. So the number of counters is data
 * of the kernel version and not of this program. Sources: struct memcg_vmstats_percpu, struct
 * lruvec_stats_percpu, memcg_vm_event_stat and memcg_node_stat_items of the versions named, with SWAP,
 * ZSWAP, THP, NUMA_BALANCING, HUGETLB and MEMCG_V1 configured. The sizes that were measured agree: a memcg
 * costs 1,096 + 688 x nodes bytes a CPU in 6.1, which is 24 + 16 x (50 + 17) and 16 x 43.
 */
#include "models/stat/stat_impl.h"

static const struct stat_inventory inventories[] = {
	{ .since = 501,
	  .state = 36,
	  .events = 79, /* fitted to: 1,192 bytes a CPU of seed 4; 76 to 85, by what is configured */
	  .node = 30 },
	{ .since = 513,
	  .state = 48,
	  .events = 109,
	  .node = 41 }, /* as counted in 5.19: all events of the machine */
	{ .since = 601,
	  .state = 50,
	  .events = 17,
	  .node = 43 }, /* only events that memory.stat shows (f9d911ca49aa) */
	{ .since = 610,
	  .state = 38,
	  .events = 27,
	  .node = 31 }, /* only items that memory.stat shows (ff48c71c26aa) */
	{ .since = 618, .state = 40, .events = 31, .node = 33 },
};

const struct stat_inventory *stat_inventory(uint32_t version)
{
	const struct stat_inventory *found = &inventories[0];

	for (size_t i = 0; i < sizeof inventories / sizeof inventories[0]; i++)
		if (inventories[i].since <= version)
			found = &inventories[i];
	return found;
}

static const char *const names[NR_STAT_ITEMS] = {
	[NR_INACTIVE_ANON] = "inactive_anon",
	[NR_ACTIVE_ANON] = "active_anon",
	[NR_INACTIVE_FILE] = "inactive_file",
	[NR_ACTIVE_FILE] = "active_file",
	[NR_UNEVICTABLE] = "unevictable",
	[NR_SLAB_RECLAIMABLE_B] = "slab_reclaimable",
	[NR_SLAB_UNRECLAIMABLE_B] = "slab_unreclaimable",
	[WORKINGSET_REFAULT_ANON] = "workingset_refault_anon",
	[WORKINGSET_REFAULT_FILE] = "workingset_refault_file",
	[WORKINGSET_ACTIVATE_ANON] = "workingset_activate_anon",
	[WORKINGSET_ACTIVATE_FILE] = "workingset_activate_file",
	[WORKINGSET_RESTORE_ANON] = "workingset_restore_anon",
	[WORKINGSET_RESTORE_FILE] = "workingset_restore_file",
	[WORKINGSET_NODERECLAIM] = "workingset_nodereclaim",
	[NR_ANON_MAPPED] = "anon",
	[NR_FILE_MAPPED] = "file_mapped",
	[NR_FILE_PAGES] = "file",
	[NR_FILE_DIRTY] = "file_dirty",
	[NR_WRITEBACK] = "file_writeback",
	[NR_SHMEM] = "shmem",
	[NR_KERNEL_STACK_KB] = "kernel_stack",
	[NR_PAGETABLE] = "pagetables",
	[NR_SWAPCACHE] = "swapcached",
	[WORKINGSET_NODES] = "workingset_nodes",
	[MEMCG_SWAP] = "swap",
	[MEMCG_SOCK] = "sock",
	[MEMCG_PERCPU_B] = "percpu",
	[MEMCG_VMALLOC] = "vmalloc",
	[MEMCG_KMEM] = "kernel",
	[PGPGIN] = "pgpgin",
	[PGPGOUT] = "pgpgout",
	[PGSCAN_KSWAPD] = "pgscan_kswapd",
	[PGSCAN_DIRECT] = "pgscan_direct",
	[PGSTEAL_KSWAPD] = "pgsteal_kswapd",
	[PGSTEAL_DIRECT] = "pgsteal_direct",
	[PGFAULT] = "pgfault",
	[PGMAJFAULT] = "pgmajfault",
	[PGREFILL] = "pgrefill",
	[PGACTIVATE] = "pgactivate",
	[PGDEACTIVATE] = "pgdeactivate",
	[PGLAZYFREE] = "pglazyfree",
	[PGLAZYFREED] = "pglazyfreed",
};

const char *stat_item_name(enum stat_item item)
{
	return names[item];
}

bool stat_event_is_v1(enum stat_item event)
{
	return event == PGPGIN || event == PGPGOUT;
}

bool stat_item_is_size(enum stat_item item)
{
	return item < WORKINGSET_REFAULT_ANON || (item > WORKINGSET_NODERECLAIM && item < NR_STATE_ITEMS);
}
