/*
 * stock.c - a CPU's pages charged in advance, after mm/memcontrol.c (refill_stock, drain_stock,
 * drain_all_stock, drain_local_stock): one slot as in Linux 6.1, or seven as in 6.18.
 *
 * The kernel switches interrupts off while it drains a slot. Here the slot changes in one step, before the
 * walk up the counters begins, so whatever runs on the CPU during the walk finds the stock in order.
 */
#include "models/cgroup/stock.h"

#include "sim/engine/random.h"

/* Pages that no slot holds any more go back to the counters. */
static void give_back(struct task *t, struct memcg *m, uint32_t nr)
{
	if (!nr)
		return;
	struct cgroup_state *cgroups = m->host->cgroups;

	m->memory.in_flight += nr;
	cgroups->walks++;
	page_counter_uncharge(t, &m->memory, nr);
	cgroups->walks--;
}

/* Whoever takes a slot that has an owner gives back what was in it, and the reference. */
static struct stock_slot slot_take(struct stock_slot *slot)
{
	struct stock_slot old = *slot;

	*slot = (struct stock_slot){ 0 };
	return old;
}

static void slot_give_back(struct task *t, const struct stock_slot *old)
{
	give_back(t, old->memcg, old->nr);
	old->memcg->nr_stocks--;
	memcg_ref_gone(t, old->memcg);
}

/* The slot for m: its own, a free one, or that of a victim. */
static struct stock_slot *slot_for(struct host *host, struct memcg_stock *stock, const struct memcg *m)
{
	struct stock_slot *empty = NULL;

	for (uint32_t i = 0; i < host->nr_stock; i++) {
		if (stock->slots[i].memcg == m)
			return &stock->slots[i];
		if (!stock->slots[i].memcg && !empty)
			empty = &stock->slots[i];
	}
	if (empty)
		return empty;
	return &stock->slots[host->nr_stock == 1 ? 0 : stream_below(host->cgroups->victims, host->nr_stock)];
}

void stock_refill(struct task *t, struct memcg *m, uint32_t nr)
{
	struct host *host = m->host;
	struct stock_slot *slot = slot_for(host, stock_of(t, m), m);
	struct stock_slot old = { 0 }, whole = { 0 };

	shared_step(t);
	cpu_defer(t, host->costs->refill_stock);
	if (slot->memcg != m)
		old = slot_take(slot);
	m->memory.in_flight -= nr;
	m->nr_stocks += slot->memcg != m;
	slot->memcg = m;
	slot->nr += nr;
	if (slot->nr > host->charge_batch)
		whole = slot_take(slot);
	if (old.memcg)
		slot_give_back(t, &old);
	if (whole.memcg)
		slot_give_back(t, &whole);
}

/* drain_local_stock(): everything, whoever's. */
static void drain_local(struct task *t, struct memcg_stock *stock)
{
	task_sync(t);
	objects_drain(t, stock);
	for (uint32_t i = 0; i < stock->host->nr_stock; i++) {
		struct stock_slot old = slot_take(&stock->slots[i]);

		if (old.memcg)
			slot_give_back(t, &old);
	}
	stock->flushing = false;
}

static void drain_work(struct task *t, struct work *work)
{
	drain_local(t, (struct memcg_stock *)(void *)((char *)work - offsetof(struct memcg_stock, drain)));
}

static bool holds_of(const struct memcg_stock *stock, const struct memcg *root)
{
	if (stock->objects.objcg && memcg_is_descendant(stock->objects.objcg->memcg, root))
		return true;
	for (uint32_t i = 0; i < stock->host->nr_stock; i++)
		if (stock->slots[i].nr && memcg_is_descendant(stock->slots[i].memcg, root))
			return true;
	return false;
}

void memcg_drain_all_stock(struct task *t, struct memcg *root)
{
	struct host *host = root->host;
	struct cgroup_state *cgroups = host->cgroups;

	if (!mutex_trylock(t, &cgroups->drain_mutex))
		return; /* somebody is at it */
	for (uint32_t i = 0; i < host->nr_cpus; i++) {
		struct memcg_stock *stock = &cgroups->stocks[i];

		cpu_work(t, host->costs->stock_scan);
		task_sync(t);
		if (stock->flushing || !holds_of(stock, root))
			continue;
		stock->flushing = true;
		if (i == t->cpu->id)
			drain_local(t, stock);
		else
			queue_work_on(host->sim, t, i, cgroups->queue, &stock->drain);
	}
	mutex_unlock(t, &cgroups->drain_mutex);
}

uint64_t memcg_stocked(const struct host *host, const struct memcg *m)
{
	uint64_t nr = 0;

	for (uint32_t cpu = 0; cpu < host->nr_cpus; cpu++)
		for (uint32_t i = 0; i < host->nr_stock; i++)
			if (host->cgroups->stocks[cpu].slots[i].memcg == m)
				nr += host->cgroups->stocks[cpu].slots[i].nr;
	return nr;
}

void stocks_build(struct host *host)
{
	struct cgroup_state *cgroups = host->cgroups;

	cgroups->stocks = arena_array(sim_arena(host->sim), host->nr_cpus, sizeof *cgroups->stocks);
	cgroups->victims = stream_open(host->sim, "memcg_stock", "victim");
	cgroups->queue = workqueue_create(host->sim, "memcg_stock", false, 0);
	mutex_init(&cgroups->drain_mutex, lock_class(host->sim, "percpu_charge_mutex"));
	for (uint32_t i = 0; i < host->nr_cpus; i++) {
		cgroups->stocks[i].host = host;
		work_init(&cgroups->stocks[i].drain, drain_work);
	}
	objects_build(host);
}
