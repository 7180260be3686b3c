/*
 * mapping.c - mappings come to be; see mapping.h.
 */
#include "models/page/mapping.h"

#include "models/cgroup/stock.h"
#include "models/page/anon_impl.h"

static void join(struct mapping *mapping)
{
	struct memcg *m = mapping->memcg;

	mapping->next = NULL;
	if (m->last_mapping)
		m->last_mapping->next = mapping;
	else
		m->mappings = mapping;
	m->last_mapping = mapping;
}

static void leave(struct mapping *mapping)
{
	struct memcg *m = mapping->memcg;
	struct mapping **link = &m->mappings, *before = NULL;

	for (; *link != mapping; link = &(*link)->next)
		before = *link;
	*link = mapping->next;
	if (m->last_mapping == mapping)
		m->last_mapping = before;
}

struct mapping *mapping_create(struct page_object *object, struct memcg *m)
{
	struct sim *sim = m->host->sim;
	struct mapping *mapping = sim_alloc(sim, sizeof *mapping);

	mapping->object = object;
	mapping->memcg = m;
	/* One more than the pages need, for an offset. */
	mapping->nr_tables = object->nr_pages / PAGES_PER_TABLE + 2;
	mapping->tables = arena_array(sim_arena(sim), mapping->nr_tables, sizeof *mapping->tables);
	mapping->payers = arena_array(sim_arena(sim), mapping->nr_tables, sizeof *mapping->payers);
	mapping->nodes = arena_array(sim_arena(sim), mapping->nr_tables, sizeof *mapping->nodes);
	object->mapping = mapping;
	join(mapping);
	return mapping;
}

void page_object_move(struct page_object *object, struct memcg *to)
{
	struct mapping *mapping = object->mapping;

	if (object->kind == OBJECT_ANON)
		((struct anon_object *)(void *)object)->memcg = to;
	if (!mapping || mapping->memcg == to)
		return;
	leave(mapping);
	mapping->memcg = to;
	join(mapping);
}

bool mapping_add_table(struct task *t, struct mapping *mapping, uint64_t table, struct memcg **failed)
{
	struct host *host = mapping->memcg->host;
	uint32_t node = t->cpu->node;

	cpu_defer(t, host->costs->page_alloc);
	page_clear(t, host);
	if (!kernel_frames_get(t, host, node, 1))
		return false;
	if (!kmem_charge_pages(t, mapping->memcg, 1, failed)) {
		task_sync(t);
		kernel_frames_put(host, node, 1);
		return false;
	}
	if (mapping->tables[table]) { /* pmd_install(): another task was faster */
		task_sync(t);
		kernel_frames_put(host, node, 1);
		kmem_uncharge_pages(t, mapping->memcg->objcg->id, 1);
		return true;
	}
	mapping->tables[table] = TABLE_PRESENT;
	mapping->payers[table] = mapping->memcg->objcg->id;
	mapping->nodes[table] = (uint16_t)node;
	mod_lruvec_state(t, mapping->memcg, node, NR_PAGETABLE, 1);
	return true;
}

static void drop_table(struct task *t, struct mapping *mapping, uint64_t table)
{
	struct host *host = mapping->memcg->host;
	uint32_t payer = mapping->payers[table], node = mapping->nodes[table];

	task_sync(t);
	mapping->tables[table] = 0;
	cpu_defer(t, host->costs->page_free);
	mod_lruvec_state(t, objcg_by_id(host, payer)->memcg, node, NR_PAGETABLE, -1);
	if (host->kernel_version < 614)
		kernel_frames_put(host, node, 1);
	else
		table_free_rcu(t, payer, node);
}

/*
 * tlb_remove_table(). On x86 tables go with the pages that are unmapped, and are uncharged with them in one
 * update (native_tlb_remove_table()); from 6.14 on they wait for a grace period (CONFIG_PT_RECLAIM).
 */
void mapping_drop_tables(struct task *t, struct mapping *mapping, uint64_t from, uint64_t nr)
{
	bool at_once = mapping->memcg->host->kernel_version < 614;
	uint32_t payer = 0, dropped = 0;

	for (uint64_t i = from; i < from + nr; i++) {
		if (!mapping->tables[i])
			continue;
		if (at_once && dropped && mapping->payers[i] != payer) {
			task_sync(t);
			kmem_uncharge_pages(t, payer, dropped);
			dropped = 0;
		}
		payer = mapping->payers[i];
		dropped++;
		drop_table(t, mapping, i);
	}
	if (at_once && dropped) {
		task_sync(t);
		kmem_uncharge_pages(t, payer, dropped);
	}
}

void mapping_place(struct mapping *mapping, uint32_t offset)
{
	assert(offset < PAGES_PER_TABLE && !mapping->object->present);
	mapping->offset = offset;
}
