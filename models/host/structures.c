/*
 * structures.c - what a memory cgroup consists of, by kernel version: the sizes of the C structures on
 * x86-64, with the configuration that distributions have (SWAP, ZSWAP, THP, NUMA_BALANCING, MEMCG_V1, PSI,
 * LRU_GEN), without debugging.
 *
 * Statistics follow from how many counters a kernel keeps (models/stat/items.c): per CPU a running value and
 * the one last flushed, in the memcg two or three values of each. They are the reason why a cgroup on a large
 * machine costs hundreds of kilobytes.
 *
 * 5.1 keeps one value for each counter and CPU, and up to 5.8 (10befea91b61) there is a kmem cache for every
 * kind of object that a cgroup has: struct kmem_cache, and per CPU a struct kmem_cache_cpu. How many kinds
 * that are is not in the kernel but in what the cgroup did; here it is what a shell and dd need. Left out is
 * that 5.2 to 5.14 keep local copies of per-CPU statistics beside the hierarchical ones.
 *
 * Sizes of mem_cgroup, mem_cgroup_per_node, cgroup, psi_group and shrinker_info are estimates; the kmalloc
 * class that they fall into was chosen with the Slab rows of E4 and seed 4 in view.
 *
 * CLASS_PERCPU_BASE: cgroup_rstat_cpu (base statistics twice, from 6.6, 0437719c1a97, four times, and two
 * links), psi_group_cpu (two lines), and the per-CPU counts of both csses, of bpf (since 5.3, 4bfc0bb2c60e)
 * and of the objcg (5.9), 8 bytes each.
 */
#include "models/host/ledger.h"
#include "models/stat/stat_impl.h"

/* fitted to: Percpu of seed 4, 639 bytes a CPU that stay with early release (here 620); 12 are plausible */
#define KMEM_CACHES 12

const char *const structure_class_names[NR_STRUCTURE_CLASSES] = {
	[CLASS_MEMCG] = "memcg",
	[CLASS_LRUVEC] = "lruvec",
	[CLASS_PERCPU_STAT] = "percpu_stat",
	[CLASS_PERCPU_BASE] = "percpu_base",
	[CLASS_CGROUP] = "cgroup",
	[CLASS_KERNFS] = "kernfs",
	[CLASS_OBJCG] = "objcg",
};

/* clang-format off */
#define ROW(since_, until_, name_, class_, count_, bytes_, ...)                          \
	{ .since = since_, .until = until_, .name = name_, .class = class_, .count = count_, \
	  .bytes = bytes_, __VA_ARGS__ }

const struct structure structures[] = {
	/* since, until, name, class, how many, bytes of each */
	ROW(501, 0, "mem_cgroup", CLASS_MEMCG, 1, 2200),
	ROW(601, 609, "memcg_vmstats", CLASS_MEMCG, 1, 0, .stat = SIZE_MEMCG),
	ROW(610, 0, "memcg_vmstats", CLASS_MEMCG, 1, 0, .stat = SIZE_MEMCG, .accounted = true),
	ROW(501, 0, "shrinker_info", CLASS_MEMCG, 1, 600, .per_node = true),
	ROW(501, 600, "mem_cgroup_per_node", CLASS_LRUVEC, 1, 1300, .per_node = true),
	ROW(601, 609, "mem_cgroup_per_node", CLASS_LRUVEC, 1, 2500, .per_node = true),
	ROW(610, 0, "mem_cgroup_per_node", CLASS_LRUVEC, 1, 2000, .per_node = true),
	ROW(610, 0, "lruvec_stats", CLASS_LRUVEC, 1, 0, .per_node = true, .stat = SIZE_LRUVEC,
	    .accounted = true),
	ROW(501, 0, "memcg_vmstats_percpu", CLASS_PERCPU_STAT, 1, 0, .stat = SIZE_MEMCG_PERCPU,
	    .percpu = true, .accounted = true),
	ROW(501, 0, "lruvec_stats_percpu", CLASS_PERCPU_STAT, 1, 0, .stat = SIZE_LRUVEC_PERCPU,
	    .per_node = true, .percpu = true, .accounted = true),
	ROW(501, 0, "psi_group_cpu", CLASS_PERCPU_BASE, 1, 128, .percpu = true),
	ROW(501, 605, "cgroup_rstat_cpu", CLASS_PERCPU_BASE, 1, 64, .percpu = true),
	ROW(606, 0, "cgroup_rstat_cpu", CLASS_PERCPU_BASE, 1, 112, .percpu = true),
	ROW(501, 502, "percpu_ref", CLASS_PERCPU_BASE, 2, 8, .percpu = true),
	ROW(503, 508, "percpu_ref", CLASS_PERCPU_BASE, 3, 8, .percpu = true),
	ROW(509, 0, "percpu_ref", CLASS_PERCPU_BASE, 4, 8, .percpu = true),
	ROW(501, 508, "kmem_cache_cpu", CLASS_PERCPU_BASE, KMEM_CACHES, 32, .percpu = true),
	ROW(501, 502, "wb_stat and its ref", CLASS_PERCPU_BASE, 1, 28, .percpu = true),
	ROW(501, 508, "kmem_cache", CLASS_MEMCG, KMEM_CACHES, 256),
	ROW(501, 508, "a slab of its own", CLASS_MEMCG, 1, 4096),
	ROW(501, 0, "cgroup", CLASS_CGROUP, 1, 2040),
	ROW(501, 0, "psi_group", CLASS_CGROUP, 1, 900),
	ROW(510, 0, "percpu_ref_data", CLASS_CGROUP, 4, 64),
	ROW(501, 0, "kernfs_node", CLASS_KERNFS, 36, 128, .files = true),
	ROW(501, 0, "name of a kernfs_node", CLASS_KERNFS, 36, 32, .files = true),
	ROW(509, 0, "obj_cgroup", CLASS_OBJCG, 1, 64),
};
/* clang-format on */
const uint32_t nr_structures = sizeof structures / sizeof structures[0];

static uint32_t align(uint32_t bytes, uint32_t to)
{
	return (bytes + to - 1) / to * to;
}

static uint32_t stat_bytes(const struct host *host, enum structure_stat stat)
{
	const struct stat_inventory *i = stat_inventory(host->kernel_version);
	uint32_t items = i->state + i->events;
	bool rstat = host->kernel_version >= 513, local = host->kernel_version >= 606;

	switch (stat) {
	case SIZE_MEMCG_PERCPU: /* and counts of page events, with up to three targets */
		if (!rstat)
			return items * 8 + 32;
		return host->kernel_version < 608 ? 24 + items * 16 : align(24 + items * 16, 64);
	case SIZE_LRUVEC_PERCPU:
		return i->node * (rstat ? 16 : 8);
	case SIZE_MEMCG:
		return items * (local ? 24 : 16) + 8;
	case SIZE_LRUVEC:
		return i->node * (local ? 24 : 16);
	case SIZE_NONE:
		break;
	}
	return 0;
}

uint32_t structure_bytes(const struct host *host, const struct structure *s)
{
	uint32_t version = host->kernel_version;

	if (version < s->since || (s->until && version > s->until))
		return 0;
	return s->stat ? stat_bytes(host, (enum structure_stat)s->stat) : s->bytes;
}
