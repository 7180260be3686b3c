/*
 * object.c - memory of the kernel's own that is charged to cgroups, after mm/memcontrol.c of Linux 6.1
 * (obj_cgroup_charge, refill_obj_stock, drain_obj_stock, mod_objcg_state, obj_cgroup_charge_pages).
 *
 * Objects are charged in bytes. A CPU keeps one memcg's bytes in stock: what it lacks it charges as whole
 * pages, and when another memcg takes the stock over, whole pages go to the stock of pages and the rest stays
 * with its memcg. Slab statistics are kept back in the same place until they pass a page, which is why they
 * arrive in lumps (seven page-cache nodes at a time).
 *
 * What is freed by RCU is uncharged when its grace period is over, on the CPU that freed it. The kernel does
 * that in softirq context; here a worker of that CPU does it, since statistics are updated by tasks alone.
 *
 * Objects of the root are not charged (get_obj_cgroup_from_current() has none for it).
 */
#include "models/cgroup/stock.h"

#include "sim/hw/rcu.h"

struct deferred_free {
	struct rcu_head rcu;
	struct deferred_free *next;
	struct memcg *memcg;
	uint32_t cpu, node, bytes;
	enum stat_item item;
};

bool kmem_charge_pages(struct task *t, struct memcg *m, uint32_t nr, struct memcg **failed)
{
	if (memcg_is_root(m))
		return true;
	if (!memcg_charge(t, m, nr, failed))
		return false;
	m->nr_kmem += nr;
	m->object_bytes += (uint64_t)nr * PAGE_SIZE;
	mod_memcg_state(t, m, MEMCG_KMEM, nr);
	return true;
}

void kmem_uncharge_pages(struct task *t, struct memcg *m, uint32_t nr)
{
	if (memcg_is_root(m))
		return;
	m->nr_kmem -= nr;
	m->object_bytes -= (uint64_t)nr * PAGE_SIZE;
	memcg_uncharge(t, m, nr);
	mod_memcg_state(t, m, MEMCG_KMEM, -(int64_t)nr);
}

/* obj_cgroup_uncharge_pages(): whole pages of the stock of bytes leave it, and go to the stock of pages. */
static void pages_leave(struct memcg *m, uint32_t nr)
{
	m->nr_kmem -= nr;
	m->nr_charged -= nr;
	m->memory.in_flight += nr;
	m->host->cgroups->walks++;
}

static void pages_arrive(struct task *t, struct memcg *m, uint32_t nr)
{
	mod_memcg_state(t, m, MEMCG_KMEM, -(int64_t)nr);
	stock_refill(t, m, nr);
	m->host->cgroups->walks--;
}

static void flush_slab(struct task *t, const struct object_stock *old)
{
	if (old->reclaimable)
		mod_lruvec_state(t, old->memcg, old->node, NR_SLAB_RECLAIMABLE_B, old->reclaimable);
	if (old->unreclaimable)
		mod_lruvec_state(t, old->memcg, old->node, NR_SLAB_UNRECLAIMABLE_B, old->unreclaimable);
}

/* What was in a stock until this step: whole pages to the stock of pages, the rest to its memcg. */
static void put_back(struct task *t, const struct object_stock *old)
{
	if (!old->memcg)
		return;
	uint32_t pages = old->bytes / PAGE_SIZE;

	old->memcg->spare_bytes += old->bytes % PAGE_SIZE;
	if (pages) {
		pages_leave(old->memcg, pages);
		pages_arrive(t, old->memcg, pages);
	}
	flush_slab(t, old);
}

void objects_drain(struct task *t, struct memcg_stock *stock)
{
	struct object_stock old = stock->objects;

	stock->objects = (struct object_stock){ 0 };
	put_back(t, &old);
}

/* Makes the running CPU's stock m's own. What it displaces has to be put back in the same step. */
static struct object_stock take_over(struct object_stock *objects, struct memcg *m, uint32_t node)
{
	struct object_stock old = { 0 };

	if (objects->memcg != m) {
		old = *objects;
		*objects = (struct object_stock){ .memcg = m,
						  .bytes = (uint32_t)m->spare_bytes,
						  .node = node };
		m->spare_bytes = 0;
	}
	return old;
}

/* refill_obj_stock(): bytes that are charged and that no object uses. */
static void refill(struct task *t, struct memcg *m, uint32_t node, uint32_t bytes)
{
	struct object_stock *objects = &stock_of(t, m)->objects;
	struct object_stock old = take_over(objects, m, node);
	uint32_t pages = 0;

	objects->bytes += bytes;
	if (objects->bytes > PAGE_SIZE) {
		pages = objects->bytes / PAGE_SIZE;
		objects->bytes %= PAGE_SIZE;
		pages_leave(m, pages);
	}
	put_back(t, &old);
	if (pages)
		pages_arrive(t, m, pages);
}

/* mod_objcg_state(): passes statistics on when they exceed a page, or are of another node. */
static void mod_slab(struct task *t, struct memcg *m, uint32_t node, enum stat_item item, int64_t bytes)
{
	struct object_stock *objects = &stock_of(t, m)->objects;
	struct object_stock old = take_over(objects, m, node);
	struct object_stock other_node = { 0 };

	if (objects->node != node) {
		other_node = *objects;
		objects->node = node;
		objects->reclaimable = objects->unreclaimable = 0;
	}
	int64_t *kept = item == NR_SLAB_RECLAIMABLE_B ? &objects->reclaimable : &objects->unreclaimable;
	int64_t pass = 0;

	if (!*kept) {
		*kept = bytes; /* even where it exceeds a page: at least once it is kept */
	} else {
		*kept += bytes;
		if (*kept > PAGE_SIZE || *kept < -(int64_t)PAGE_SIZE) {
			pass = *kept;
			*kept = 0;
		}
	}
	put_back(t, &old);
	flush_slab(t, &other_node);
	if (pass)
		mod_lruvec_state(t, m, node, item, pass);
}

/* obj_cgroup_charge() where the stock does not suffice: whole pages, of which the rest is stock. */
static bool charge_pages(struct task *t, struct memcg *m, uint32_t node, uint32_t bytes,
			 struct memcg **failed)
{
	uint32_t pages = (bytes + PAGE_SIZE - 1) / PAGE_SIZE;

	if (!memcg_charge(t, m, pages, failed))
		return false;
	struct object_stock *objects = &stock_of(t, m)->objects;
	struct object_stock old = take_over(objects, m, node);

	m->nr_kmem += pages;
	m->object_bytes += bytes;
	objects->bytes += pages * PAGE_SIZE - bytes;
	put_back(t, &old);
	mod_memcg_state(t, m, MEMCG_KMEM, pages);
	return true;
}

bool object_charge(struct task *t, struct memcg *m, uint32_t node, enum stat_item item, uint32_t bytes,
		   struct memcg **failed)
{
	if (memcg_is_root(m))
		return true;
	struct object_stock *objects = &stock_of(t, m)->objects;

	shared_step(t);
	cpu_defer(t, m->host->costs->stock_object);
	if (objects->memcg == m && objects->bytes >= bytes) {
		objects->bytes -= bytes;
		m->object_bytes += bytes;
	} else if (!charge_pages(t, m, node, bytes, failed)) {
		return false;
	}
	mod_slab(t, m, node, item, bytes);
	return true;
}

void object_uncharge(struct task *t, struct memcg *m, uint32_t node, enum stat_item item, uint32_t bytes)
{
	if (memcg_is_root(m))
		return;
	shared_step(t);
	cpu_defer(t, m->host->costs->stock_object);
	m->object_bytes -= bytes;
	refill(t, m, node, bytes);
	mod_slab(t, m, node, item, -(int64_t)bytes);
}

/* ---- after a grace period ---- */

static void grace_over(struct sim *sim, struct rcu_head *head)
{
	struct deferred_free *d = (struct deferred_free *)(void *)head;
	struct cgroup_state *cgroups = d->memcg->host->cgroups;
	struct memcg_stock *stock = &cgroups->stocks[d->cpu];

	d->next = stock->dead;
	stock->dead = d;
	queue_work_on(sim, NULL, d->cpu, cgroups->queue, &stock->free_work);
}

static void free_work(struct task *t, struct work *work)
{
	struct memcg_stock *stock = (struct memcg_stock *)(void *)((char *)work -
								   offsetof(struct memcg_stock, free_work));
	struct deferred_free *d;

	task_sync(t);
	while ((d = stock->dead)) {
		stock->dead = d->next;
		if (d->item == NR_PAGETABLE)
			kmem_uncharge_pages(t, d->memcg, 1);
		else
			object_uncharge(t, d->memcg, d->node, d->item, d->bytes);
		sim_free(t->sim, d, sizeof *d);
	}
}

void object_uncharge_rcu(struct task *t, struct memcg *m, uint32_t node, enum stat_item item, uint32_t bytes)
{
	if (memcg_is_root(m))
		return;
	struct deferred_free *d = sim_alloc(t->sim, sizeof *d);

	d->memcg = m;
	d->cpu = t->cpu->id;
	d->node = node;
	d->item = item;
	d->bytes = bytes;
	call_rcu(t->sim, &d->rcu, grace_over);
}

void objects_build(struct host *host)
{
	for (uint32_t i = 0; i < host->nr_cpus; i++)
		work_init(&host->cgroups->stocks[i].free_work, free_work);
}
