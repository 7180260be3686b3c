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
 * Objects of the root are not charged (get_obj_cgroup_from_current() has none for it); but those of a cgroup
 * that is removed are its parent's from then on (struct obj_cgroup), and so may become the root's.
 */
#include "models/cgroup/stock.h"
#include "models/host/slab.h"
#include "models/page/page_impl.h"

#include "sim/hw/rcu.h"

struct deferred_free {
	struct rcu_head rcu;
	struct deferred_free *next;
	uint32_t objcg, cpu, node, bytes, slab;
	enum stat_item item;
};

/* What `from` has in kernel memory is its ancestor's: charged and accounted. */
static void objects_move(struct memcg *from, struct memcg *to)
{
	for (struct memcg *m = from; m != to; m = m->parent)
		page_counter_forget(&m->memory, from->nr_kmem);
	to->nr_charged += from->nr_kmem;
	to->nr_kmem += from->nr_kmem;
	to->object_bytes += from->object_bytes;
	from->nr_charged -= from->nr_kmem;
	from->nr_kmem = from->object_bytes = 0;
}

/*
 * Pages on m's counters become kernel memory of the owner. m paid for it when the charge began; if it was
 * removed meanwhile, its parent does now.
 */
static struct memcg *own_pages(struct obj_cgroup *objcg, struct memcg *m, uint32_t nr, uint64_t bytes)
{
	m->nr_kmem += nr;
	m->object_bytes += bytes;
	if (objcg->memcg != m)
		objects_move(m, objcg->memcg);
	return objcg->memcg;
}

bool kmem_charge_pages(struct task *t, struct memcg *m, uint32_t nr, struct memcg **failed)
{
	struct obj_cgroup *objcg = m->objcg;

	if (memcg_is_root(m))
		return true;
	m = objcg->memcg;
	if (!memcg_charge(t, m, nr, failed))
		return false;
	m = own_pages(objcg, m, nr, (uint64_t)nr * PAGE_SIZE);
	objcg->refs += nr;
	mod_memcg_state(t, m, MEMCG_KMEM, nr);
	return true;
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

/* ---- owners ---- */

void objcg_init(struct host *host, struct memcg *m)
{
	struct obj_cgroup *objcg = sim_alloc(host->sim, sizeof *objcg);

	*objcg = (struct obj_cgroup){ .memcg = m, .refs = 1, .id = m->id, .prev = &m->objcgs };
	m->objcg = m->objcgs = objcg;
	host->cgroups->objcgs[m->id] = objcg;
}

/* obj_cgroup_release(): without objects, what is left over is whole pages. */
void objcg_put_many(struct task *t, struct obj_cgroup *objcg, uint32_t nr)
{
	struct memcg *m = objcg->memcg;
	struct cgroup_state *cgroups = m->host->cgroups;
	uint32_t pages = (uint32_t)(objcg->spare_bytes / PAGE_SIZE);

	objcg->refs -= nr;
	if (objcg->refs)
		return;
	*objcg->prev = objcg->next;
	if (objcg->next)
		objcg->next->prev = objcg->prev;
	cgroups->objcgs[objcg->id] = NULL;
	cgroups->free[cgroups->nr_free++] = objcg->id;
	sim_free(m->host->sim, objcg, sizeof *objcg);
	if (pages) {
		pages_leave(m, pages);
		pages_arrive(t, m, pages);
	}
}

void objcgs_reparent(struct memcg *m)
{
	struct obj_cgroup *first = m->objcgs, *last = NULL;

	for (struct obj_cgroup *o = first; o; o = o->next) {
		o->memcg = m->parent;
		last = o;
	}
	objects_move(m, m->parent);
	m->objcgs = NULL;
	last->next = m->parent->objcgs;
	if (last->next)
		last->next->prev = &last->next;
	first->prev = &m->parent->objcgs;
	m->parent->objcgs = first;
}

/* The root's own objects are not charged. */
static bool is_charged(const struct host *host, uint32_t objcg)
{
	return objcg != host->cgroups->root->objcg->id;
}

void kmem_uncharge_pages(struct task *t, uint32_t id, uint32_t nr)
{
	struct obj_cgroup *objcg = objcg_by_id(host_of(t), id);
	struct memcg *m = objcg->memcg;

	if (!is_charged(m->host, id))
		return;
	m->object_bytes -= (uint64_t)nr * PAGE_SIZE;
	if (memcg_is_root(m)) {
		pages_leave(m, nr);
		pages_arrive(t, m, nr);
	} else {
		m->nr_kmem -= nr;
		m->nr_pins++;
		memcg_uncharge(t, m, nr);
		mod_memcg_state(t, m, MEMCG_KMEM, -(int64_t)nr);
		memcg_put(t, m);
	}
	objcg_put_many(t, objcg, nr);
}

/* ---- stocks of bytes ---- */

static void flush_slab(struct task *t, const struct object_stock *old)
{
	struct memcg *m = old->objcg->memcg;

	if (old->reclaimable)
		mod_lruvec_state(t, m, old->node, NR_SLAB_RECLAIMABLE_B, old->reclaimable);
	if (old->unreclaimable)
		mod_lruvec_state(t, m, old->node, NR_SLAB_UNRECLAIMABLE_B, old->unreclaimable);
}

/* What was in a stock until this step: whole pages to the stock of pages, the rest to its owner. */
static void put_back(struct task *t, const struct object_stock *old)
{
	if (!old->objcg)
		return;
	struct memcg *m = old->objcg->memcg;
	uint32_t pages = old->bytes / PAGE_SIZE;

	old->objcg->spare_bytes += old->bytes % PAGE_SIZE;
	if (pages) {
		pages_leave(m, pages);
		pages_arrive(t, m, pages);
	}
	flush_slab(t, old);
	objcg_put(t, old->objcg);
}

void objects_drain(struct task *t, struct memcg_stock *stock)
{
	struct object_stock old = stock->objects;

	stock->objects = (struct object_stock){ 0 };
	put_back(t, &old);
}

/* Makes the running CPU's stock the owner's. What it displaces has to be put back in the same step. */
static struct object_stock take_over(struct object_stock *objects, struct obj_cgroup *objcg, uint32_t node)
{
	struct object_stock old = { 0 };

	if (objects->objcg != objcg) {
		old = *objects;
		*objects = (struct object_stock){ .objcg = objcg,
						  .bytes = (uint32_t)objcg->spare_bytes,
						  .node = node };
		objcg->spare_bytes = 0;
		objcg->refs++;
	}
	return old;
}

/* Whole pages of more than one that a stock has. In a step; they are to arrive after it. */
static uint32_t surplus_leaves(struct memcg *m, struct object_stock *objects)
{
	uint32_t pages = objects->bytes > PAGE_SIZE ? objects->bytes / PAGE_SIZE : 0;

	objects->bytes -= pages * PAGE_SIZE;
	if (pages)
		pages_leave(m, pages);
	return pages;
}

/* refill_obj_stock(): bytes that are charged and that no object uses. */
static void refill(struct task *t, struct obj_cgroup *objcg, uint32_t node, uint32_t bytes)
{
	struct memcg *m = objcg->memcg;
	struct object_stock *objects = &stock_of(t, m)->objects;
	struct object_stock old = take_over(objects, objcg, node);

	objects->bytes += bytes;
	uint32_t pages = surplus_leaves(m, objects);

	put_back(t, &old);
	if (pages)
		pages_arrive(t, m, pages);
}

/* mod_objcg_state(): passes statistics on when they exceed a page, or are of another node. */
static void mod_slab(struct task *t, struct obj_cgroup *objcg, uint32_t node, enum stat_item item,
		     int64_t bytes)
{
	struct memcg *m = objcg->memcg;
	struct object_stock *objects = &stock_of(t, m)->objects;
	struct object_stock old = take_over(objects, objcg, node);
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
	if (other_node.objcg)
		flush_slab(t, &other_node);
	if (pass)
		mod_lruvec_state(t, objcg->memcg, node, item, pass);
}

/*
 * obj_cgroup_charge() where the stock does not suffice: whole pages, of which the rest is stock. An owner who
 * comes back to a stock brings what was left over the last time; both together may be more than a page, which
 * then goes back, but only then (allow_uncharge, 5.14).
 */
static bool charge_pages(struct task *t, struct obj_cgroup *objcg, uint32_t node, uint32_t bytes,
			 struct memcg **failed)
{
	uint32_t pages = (bytes + PAGE_SIZE - 1) / PAGE_SIZE, surplus;
	struct memcg *m = objcg->memcg;

	if (!memcg_charge(t, m, pages, failed))
		return false;
	struct object_stock *objects = &stock_of(t, m)->objects;
	bool comes_back = objects->objcg != objcg;
	struct object_stock old = take_over(objects, objcg, node);

	m = own_pages(objcg, m, pages, bytes);
	objects->bytes += pages * PAGE_SIZE - bytes;
	surplus = comes_back ? surplus_leaves(m, objects) : 0;
	put_back(t, &old);
	mod_memcg_state(t, m, MEMCG_KMEM, pages);
	if (surplus)
		pages_arrive(t, m, surplus);
	return true;
}

/* Bytes of the stock, or of new pages, are an object's. */
static bool charge_bytes(struct task *t, struct obj_cgroup *objcg, uint32_t node, uint32_t bytes,
			 struct memcg **failed)
{
	const struct host *host = objcg->memcg->host;
	struct object_stock *objects = &stock_of(t, objcg->memcg)->objects;

	shared_step(t);
	cpu_defer(t, host->costs->stock_object);
	if (objects->objcg == objcg && objects->bytes >= bytes) {
		objects->bytes -= bytes;
		objcg->memcg->object_bytes += bytes;
	} else if (!charge_pages(t, objcg, node, bytes, failed)) {
		return false;
	}
	objcg->refs++;
	return true;
}

static bool is_slab(enum stat_item item)
{
	return item == NR_SLAB_RECLAIMABLE_B || item == NR_SLAB_UNRECLAIMABLE_B;
}

bool object_charge(struct task *t, struct memcg *m, uint32_t node, enum stat_item item, uint32_t bytes,
		   struct memcg **failed)
{
	struct obj_cgroup *objcg = m->objcg;

	if (memcg_is_root(m))
		return true;
	if (!charge_bytes(t, objcg, node, bytes, failed))
		return false;
	if (is_slab(item))
		mod_slab(t, objcg, node, item, bytes);
	else
		mod_memcg_state(t, objcg->memcg, item, bytes);
	return true;
}

void object_uncharge(struct task *t, uint32_t id, uint32_t node, enum stat_item item, uint32_t bytes)
{
	struct host *host = host_of(t);
	struct obj_cgroup *objcg = objcg_by_id(host, id);

	if (!is_charged(host, id))
		return;
	shared_step(t);
	cpu_defer(t, host->costs->stock_object);
	objcg->memcg->object_bytes -= bytes;
	refill(t, objcg, node, bytes);
	if (is_slab(item))
		mod_slab(t, objcg, node, item, -(int64_t)bytes);
	else
		mod_memcg_state(t, objcg->memcg, item, -(int64_t)bytes);
	objcg_put(t, objcg);
}

/* ---- after a grace period ---- */

static void grace_over(struct sim *sim, struct rcu_head *head)
{
	struct deferred_free *d = (struct deferred_free *)(void *)head;
	struct host *host = sim_state_get(sim, SIM_STATE_MODEL);
	struct cgroup_state *cgroups = host->cgroups;
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

	for (task_sync(t); (d = stock->dead); task_sync(t)) {
		stock->dead = d->next;
		if (d->slab)
			slab_put(stock->host, d->node, d->slab);
		if (d->item == NR_PAGETABLE) {
			kernel_frames_put(stock->host, d->node, 1);
			kmem_uncharge_pages(t, d->objcg, 1);
		} else {
			object_uncharge(t, d->objcg, d->node, d->item, d->bytes);
		}
		sim_free(t->sim, d, sizeof *d);
	}
}

void object_free_rcu(struct task *t, uint32_t objcg, uint32_t node, enum stat_item item, uint32_t bytes,
		     uint32_t slab)
{
	if (!is_charged(host_of(t), objcg))
		return;
	struct deferred_free *d = sim_alloc(t->sim, sizeof *d);

	d->objcg = objcg;
	d->cpu = t->cpu->id;
	d->node = node;
	d->item = item;
	d->bytes = bytes;
	d->slab = slab;
	call_rcu(t->sim, &d->rcu, grace_over);
}

/* What the root pays for is not charged, and its page is free at once. */
void table_free_rcu(struct task *t, uint32_t objcg, uint32_t node)
{
	if (is_charged(host_of(t), objcg))
		object_free_rcu(t, objcg, node, NR_PAGETABLE, PAGE_SIZE, 0);
	else
		kernel_frames_put(host_of(t), node, 1);
}

void objects_build(struct host *host)
{
	for (uint32_t i = 0; i < host->nr_cpus; i++)
		work_init(&host->cgroups->stocks[i].free_work, free_work);
}
