/*
 * slab.h - slab objects: charged to a cgroup, and of a slab, which is pages that the machine has less.
 *
 * Objects take their slab from the first instant of a run on, whoever they belong to: nodes of page cache
 * trees, inodes, dentries, arrays of list_lru, and what cgroups consist of (ledger.h); not those that a
 * workload merely charges for a time (struct file of a reader, a task's kernel_memory). A slab comes from
 * the node of the CPU that allocates, or the one that is asked for. What the machine had before the run is
 * whole pages (kernel_memory: slab), and objects in caches of some sizes, since caches are not empty when the
 * first cgroup is made, and how full a last slab of 32 KiB is makes a difference. Kernel: mm/slub.c,
 * mm/memcontrol.c.
 */
#ifndef MODELS_HOST_SLAB_H
#define MODELS_HOST_SLAB_H

#include "models/stat/stat.h"

#define OWNER_BYTES       8u         /* what obj_full_size() adds for the owner's pointer */
#define SLAB_CG           (1u << 31) /* with a size: of kmalloc-cg-*, for GFP_KERNEL_ACCOUNT since 5.14 */
#define KERNFS_NODE_BYTES 136u
#define XA_NODE_BYTES     584u /* struct xa_node and its free pointer: its cache has a constructor */
#define KMEM_CACHE_BYTES  384u

struct option_list;

/* What kmalloc() gives for so many bytes. */
uint32_t kmalloc_size(uint32_t bytes);

/*
 * An object of so many bytes on the node, of a cache of its own or of kmalloc(), charged to nobody. False:
 * its slab needs pages, and there are none, nor can any be made free; who may not sleep does not wait for
 * that. In a step, at the start and at the end.
 */
bool slab_get(struct task *t, struct host *host, uint32_t node, uint32_t bytes);
void slab_put(struct host *host, uint32_t node, uint32_t bytes);
/* Some of each kind, after a grace period; slab_rcu.c. */
struct late_objects {
	uint32_t node, bytes, nr;
};
void slab_put_rcu(struct host *host, const struct late_objects *objects, uint32_t nr_kinds);
/* kvfree_rcu(): when the CPU has a page full of them or after a while, and a grace period. In a step. */
void slab_kvfree_rcu(struct task *t, struct host *host, uint32_t node, uint32_t bytes);

/*
 * kmem_cache_alloc() with __GFP_ACCOUNT: the same, and charged to m (object_charge()). False with *failed
 * NULL: it is the machine that has no memory. What is charged is m->objcg->id's.
 */
bool slab_alloc(struct task *t, struct memcg *m, uint32_t node, enum stat_item item, uint32_t bytes,
		struct memcg **failed);
void slab_free(struct task *t, uint32_t objcg, uint32_t node, enum stat_item item, uint32_t bytes);
/* The same after an RCU grace period; what is the root's, and so not charged, at once. In a step. */
void slab_free_rcu(struct task *t, uint32_t objcg, uint32_t node, enum stat_item item, uint32_t bytes);

uint64_t slab_pages(const struct host *host);               /* meminfo.Slab, in pages */
extern const struct option_table slab_options;              /* an item of kernel_memory.caches */
uint64_t slab_boot_bytes(const struct option_list *caches); /* of objects, without what slabs have beside */
void slab_build(struct host *host, uint64_t boot_bytes, const struct option_list *caches);
struct slab_rcu *slab_rcu_new(struct host *host);
struct slab_rcu *slab_rcu(const struct host *host);
void slab_start(struct host *host); /* when there are frames: what the machine had at boot takes some */

#endif
