/*
 * stock.h - what a CPU has charged in advance: pages by memcg, and bytes of one memcg for kernel objects.
 *
 * struct memcg_stock_pcp. A stock is touched in steps of tasks on its CPU, or in the drain work, which runs
 * there too; others only look at it, in steps of their own.
 */
#ifndef MODELS_CGROUP_STOCK_H
#define MODELS_CGROUP_STOCK_H

#include "models/cgroup/memcg.h"
#include "models/host/costs.h"
#include "models/stat/stat.h"
#include "sim/hw/work.h"

#define NR_MEMCG_STOCK 7u

struct stock_slot {
	struct memcg *memcg; /* NULL: free */
	uint32_t nr;
};

/* Bytes charged for objects that are yet to come, and slab statistics not yet passed on. */
struct object_stock {
	struct obj_cgroup *objcg; /* NULL: none */
	uint32_t bytes;
	uint32_t node;
	int64_t reclaimable, unreclaimable;
};

struct deferred_free; /* object.c */

struct memcg_stock {
	struct stock_slot slots[NR_MEMCG_STOCK]; /* as many as host->nr_stock */
	struct object_stock objects;
	struct work drain;
	bool flushing;              /* FLUSHING_CACHED_CHARGE: the drain work is queued or runs */
	struct deferred_free *dead; /* objects whose grace period is over */
	struct work free_work;
	struct host *host;
};

static inline struct memcg_stock *stock_of(const struct task *t, const struct memcg *m)
{
	return &m->host->cgroups->stocks[t->cpu->id];
}

/* consume_stock(). Belongs to the step of the caller. */
static inline bool stock_consume(struct task *t, struct memcg *m, uint32_t nr)
{
	const struct host *host = m->host;
	struct memcg_stock *stock = stock_of(t, m);

	shared_step(t);
	cpu_defer(t, host->costs->consume_stock);
	for (uint32_t i = 0; i < host->nr_stock; i++)
		if (stock->slots[i].memcg == m && stock->slots[i].nr >= nr) {
			stock->slots[i].nr -= nr;
			return true;
		}
	return false;
}

void stocks_build(struct host *host);
/*
 * refill_stock(): nr pages that are charged on the counters and accounted to nobody (in_flight of m's counter
 * holds them) go into the running CPU's stock. Begins in the step of the caller.
 */
void stock_refill(struct task *t, struct memcg *m, uint32_t nr);

/* ---- kernel memory; object.c ---- */

/* Pages of the kernel's own (page tables): __memcg_kmem_charge_page() and its way back. */
bool kmem_charge_pages(struct task *t, struct memcg *m, uint32_t nr, struct memcg **failed);
void kmem_uncharge_pages(struct task *t, uint32_t objcg, uint32_t nr);

/*
 * An object of a slab cache, or another whose bytes `item` counts (MEMCG_PERCPU_B): obj_cgroup_charge() and
 * mod_objcg_state(), and their way back. In the caller's step. What is charged to m is m->objcg->id's: the
 * object keeps that number, and gives it back when it is freed.
 */
bool object_charge(struct task *t, struct memcg *m, uint32_t node, enum stat_item item, uint32_t bytes,
		   struct memcg **failed);
void object_uncharge(struct task *t, uint32_t objcg, uint32_t node, enum stat_item item, uint32_t bytes);
/*
 * The same after an RCU grace period, and with it the slab object of `slab` bytes, if that is not 0, goes
 * (models/host/slab.h); or a page table on the node (kmem_uncharge_pages() of its page).
 */
void object_free_rcu(struct task *t, uint32_t objcg, uint32_t node, enum stat_item item, uint32_t bytes,
		     uint32_t slab);
void table_free_rcu(struct task *t, uint32_t objcg, uint32_t node);
static inline void object_uncharge_rcu(struct task *t, uint32_t objcg, uint32_t node, enum stat_item item,
				       uint32_t bytes)
{
	object_free_rcu(t, objcg, node, item, bytes, 0);
}

void objects_build(struct host *host);
/* drain_obj_stock(): of the running CPU. */
void objects_drain(struct task *t, struct memcg_stock *stock);

#endif
