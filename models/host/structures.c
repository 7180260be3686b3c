/*
 * structures.c - what a memory cgroup consists of, by kernel version: the sizes of the C structures on
 * x86-64, with the configuration that distributions have (SWAP, ZSWAP, THP, NUMA_BALANCING, PSI, LRU_GEN,
 * CGROUP_PERF, CGROUP_BPF), without debugging.
 *
 * Those of 6.1 and 6.12 are what two Debian kernels ask for in mkdir, traced in a guest (kmem:kmalloc,
 * percpu:percpu_alloc_percpu) and the same as in their type information; 6.12 is without MEMCG_V1. Those of
 * 5.1 are added up from the definitions there, and matter as far as the kmalloc class they fall into. A
 * kernel in between has those of the one before it where no change is known.
 *
 * Statistics follow from how many counters a kernel keeps (models/stat/items.c): per CPU a running value and
 * the one last flushed, in the memcg two or three values of each. They are the reason why a cgroup on a large
 * machine costs hundreds of kilobytes.
 *
 * 5.1 keeps one value for each counter and CPU, and in the memcg itself, and up to 5.8 (10befea91b61) there
 * is a kmem cache for every kind of object that a cgroup has: struct kmem_cache, one of a node, and per CPU
 * a struct kmem_cache_cpu. They are made by a worker at the first object of a kind, which itself is still
 * of the machine's cache, so that what a short-lived cgroup leaves has no slabs there; empty ones go with
 * offlining. How many kinds that are is not in the kernel but in what the cgroup did; here it is what a
 * shell and dd need. Left out is that 5.2 to 5.14 keep local copies of per-CPU statistics beside the
 * hierarchical ones.
 *
 * In 7.1 a cgroup has a struct obj_cgroup with its reference count on each node; the rest there is 6.18's.
 *
 * What of it goes early: files with the directory, perf_event's state and bpf's reference at offline.
 */
#include "models/host/ledger.h"
#include "models/host/slab.h"
#include "models/stat/stat_impl.h"

/* fitted to: Percpu of seed 4, 639 bytes a CPU that stay with early release (here 628); 12 are plausible */
#define KMEM_CACHES 12

#define FILES     34
#define FILES_610 37

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
	ROW(501, 600, "mem_cgroup", CLASS_MEMCG, 1, 2488),
	ROW(601, 609, "mem_cgroup", CLASS_MEMCG, 1, 2248),
	ROW(610, 0, "mem_cgroup", CLASS_MEMCG, 1, 1736),
	ROW(601, 609, "memcg_vmstats", CLASS_MEMCG, 1, 0, .stat = SIZE_MEMCG),
	ROW(610, 0, "memcg_vmstats", CLASS_MEMCG, 1, 0, .stat = SIZE_MEMCG, .accounted = true),
	ROW(501, 512, "memcg_shrinker_map", CLASS_MEMCG, 1, 24, .per_node = true),
	ROW(513, 606, "shrinker_info", CLASS_MEMCG, 1, 552, .per_node = true), /* for 64 shrinkers */
	ROW(607, 0, "shrinker_info", CLASS_MEMCG, 1, 32, .per_node = true),
	ROW(607, 0, "shrinker_info_unit", CLASS_MEMCG, 1, 520, .per_node = true),
	ROW(501, 512, "mem_cgroup_per_node", CLASS_LRUVEC, 1, 848, .per_node = true),
	ROW(513, 600, "mem_cgroup_per_node", CLASS_LRUVEC, 1, 1300, .per_node = true),
	ROW(601, 609, "mem_cgroup_per_node", CLASS_LRUVEC, 1, 2560, .per_node = true),
	ROW(610, 0, "mem_cgroup_per_node", CLASS_LRUVEC, 1, 1920, .per_node = true),
	ROW(610, 0, "lruvec_stats", CLASS_LRUVEC, 1, 0, .per_node = true, .stat = SIZE_LRUVEC,
	    .accounted = true),
	ROW(501, 0, "memcg_vmstats_percpu", CLASS_PERCPU_STAT, 1, 0, .stat = SIZE_MEMCG_PERCPU,
	    .percpu = true, .accounted = true),
	ROW(501, 0, "lruvec_stats_percpu", CLASS_PERCPU_STAT, 1, 0, .stat = SIZE_LRUVEC_PERCPU,
	    .per_node = true, .percpu = true, .accounted = true),
	ROW(501, 0, "psi_group_cpu", CLASS_PERCPU_BASE, 1, 128, .percpu = true),
	ROW(501, 605, "cgroup_rstat_cpu", CLASS_PERCPU_BASE, 1, 64, .percpu = true),
	ROW(606, 609, "cgroup_rstat_cpu", CLASS_PERCPU_BASE, 1, 112, .percpu = true), /* 0437719c1a97 */
	ROW(610, 0, "cgroup_rstat_cpu", CLASS_PERCPU_BASE, 1, 144, .percpu = true),
	ROW(501, 508, "percpu_ref", CLASS_PERCPU_BASE, 2, 8, .percpu = true), /* the cgroup's, the memcg's */
	ROW(509, 700, "percpu_ref", CLASS_PERCPU_BASE, 3, 8, .percpu = true), /* and the objcg's */
	ROW(701, 0, "percpu_ref", CLASS_PERCPU_BASE, 2, 8, .percpu = true),
	ROW(701, 0, "percpu_ref of obj_cgroup", CLASS_PERCPU_BASE, 1, 8, .per_node = true, .percpu = true),
	ROW(501, 502, "percpu_ref of perf", CLASS_PERCPU_BASE, 1, 8, .percpu = true, .goes = AT_OFFLINE),
	ROW(503, 0, "percpu_ref of perf and bpf", CLASS_PERCPU_BASE, 2, 8, .percpu = true,
	    .goes = AT_OFFLINE), /* bpf: 4bfc0bb2c60e */
	ROW(501, 517, "perf_cgroup_info", CLASS_PERCPU_BASE, 1, 16, .percpu = true, .goes = AT_OFFLINE),
	ROW(518, 0, "perf_cgroup_info", CLASS_PERCPU_BASE, 1, 32, .percpu = true, .goes = AT_OFFLINE),
	ROW(501, 0, "percpu_counter of cgwb_domain", CLASS_PERCPU_BASE, 1, 4, .percpu = true),
	ROW(501, 508, "kmem_cache_cpu", CLASS_PERCPU_BASE, KMEM_CACHES, 32, .percpu = true),
	ROW(501, 508, "kmem_cache", CLASS_MEMCG, KMEM_CACHES, KMEM_CACHE_BYTES),
	ROW(501, 508, "kmem_cache_node", CLASS_MEMCG, KMEM_CACHES, 64, .per_node = true),
	ROW(501, 508, "name of a kmem_cache", CLASS_MEMCG, KMEM_CACHES, 32),
	ROW(501, 599, "cgroup", CLASS_CGROUP, 1, 1872), /* psi_group is part of it */
	ROW(600, 609, "cgroup", CLASS_CGROUP, 1, 1816),
	ROW(610, 0, "cgroup", CLASS_CGROUP, 1, 2328),
	ROW(600, 0, "psi_group", CLASS_CGROUP, 1, 720), /* 5f69a6577bc3 */
	ROW(510, 700, "percpu_ref_data", CLASS_CGROUP, 3, 56),
	ROW(701, 0, "percpu_ref_data", CLASS_CGROUP, 2, 56),
	ROW(701, 0, "percpu_ref_data of obj_cgroup", CLASS_CGROUP, 1, 56, .per_node = true),
	ROW(510, 0, "percpu_ref_data of perf and bpf", CLASS_CGROUP, 2, 56, .goes = AT_OFFLINE),
	ROW(501, 0, "perf_cgroup", CLASS_CGROUP, 1, 216, .goes = AT_OFFLINE),
	ROW(501, 608, "kernfs_node", CLASS_KERNFS, 1, 128),
	ROW(609, 0, "kernfs_node", CLASS_KERNFS, 1, KERNFS_NODE_BYTES), /* 4207b556e62f: an rcu_head */
	ROW(501, 0, "name of it", CLASS_KERNFS, 1, 8),
	ROW(501, 0, "dentry of it", CLASS_KERNFS, 1, 192, .goes = AT_RMDIR),
	ROW(501, 608, "kernfs_node of a file", CLASS_KERNFS, FILES, 128, .goes = AT_RMDIR),
	ROW(609, 609, "kernfs_node of a file", CLASS_KERNFS, FILES, KERNFS_NODE_BYTES, .goes = AT_RMDIR),
	ROW(610, 0, "kernfs_node of a file", CLASS_KERNFS, FILES_610, KERNFS_NODE_BYTES, .goes = AT_RMDIR),
	ROW(501, 609, "short name of a file", CLASS_KERNFS, 22, 16, .goes = AT_RMDIR),
	ROW(610, 0, "short name of a file", CLASS_KERNFS, 23, 16, .goes = AT_RMDIR),
	ROW(501, 609, "long name of a file", CLASS_KERNFS, 12, 32, .goes = AT_RMDIR),
	ROW(610, 0, "long name of a file", CLASS_KERNFS, 14, 32, .goes = AT_RMDIR),
	ROW(509, 700, "obj_cgroup", CLASS_OBJCG, 1, 48),
	ROW(701, 0, "obj_cgroup", CLASS_OBJCG, 1, 48, .per_node = true), /* 01b9da291c49 */
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
		return local ? items * 24 + 8 : items * 16;
	case SIZE_LRUVEC:
		return i->node * (local ? 24 : 16);
	case SIZE_NONE:
		break;
	}
	return 0;
}

uint32_t kernfs_ids(const struct host *host)
{
	return 1 + (host->kernel_version < 610 ? FILES : FILES_610);
}

uint32_t structure_bytes(const struct host *host, const struct structure *s)
{
	uint32_t version = host->kernel_version;

	if (version < s->since || (s->until && version > s->until))
		return 0;
	return s->stat ? stat_bytes(host, (enum structure_stat)s->stat) : s->bytes;
}
