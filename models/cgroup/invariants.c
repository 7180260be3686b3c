/*
 * invariants.c - what must hold of charges at any instant, looked at when a run ends.
 *
 *  I10     usage = pages charged to the cgroup itself + its pages in stocks + usage of its children, where
 *          a walk up the counters that is under way accounts for what it has done (page_counter.in_flight).
 *          The root's own pages are not in its counter.
 *  I9      usage minus charged pages of the subtree = stocked pages; a CPU holds at most a batch of a memcg.
 *  kernel  pages charged for kernel memory = bytes in objects + bytes in stocks + bytes left over.
 *  I11     usage is above max only as far as a forced charge or a lowered limit left it; a charge under way
 *          may be, for the instant until it is taken back.
 */
#include "models/cgroup/stock.h"

#include "models/cgroup/invariants.h"

/* Sums over all CPUs, by memcg id. */
struct stocked {
	uint64_t *pages, *bytes;
	uint64_t most; /* pages of one memcg in one slot */
};

static struct stocked count_stocks(const struct host *host)
{
	const struct cgroup_state *cgroups = host->cgroups;
	struct stocked s = { 0 };

	s.pages = sim_alloc(host->sim, cgroups->nr * sizeof *s.pages);
	s.bytes = sim_alloc(host->sim, cgroups->nr * sizeof *s.bytes);
	for (uint32_t cpu = 0; cpu < host->nr_cpus; cpu++) {
		const struct memcg_stock *stock = &cgroups->stocks[cpu];

		for (uint32_t i = 0; i < host->nr_stock; i++) {
			const struct stock_slot *slot = &stock->slots[i];

			if (!slot->memcg)
				continue;
			s.pages[slot->memcg->id] += slot->nr;
			if (slot->nr > s.most)
				s.most = slot->nr;
		}
		if (stock->objects.objcg)
			s.bytes[stock->objects.objcg->memcg->id] += stock->objects.bytes;
	}
	return s;
}

static void check_memcg(const struct memcg *m, const struct stocked *s, struct record *record)
{
	/* Of the root only what it has from cgroups that were removed. */
	uint64_t own = (memcg_is_root(m) ? m->nr_kmem + m->nr_inherited : m->nr_charged) + s->pages[m->id];
	uint64_t children = 0;
	bool walking = m->host->cgroups->walks > 0;
	int64_t in_flight = m->memory.in_flight;

	for (const struct memcg *child = m->first_child; child; child = child->next_sibling)
		children += child->memory.usage;
	record_invariant(record, "I10", m->memory.usage == own + children + (uint64_t)in_flight,
			 "%s: usage %lld, own %lld, children %lld, in flight %lld pages", m->path,
			 (long long)m->memory.usage, (long long)own, (long long)children,
			 (long long)in_flight);
	record_invariant(record, "I10 at rest", walking || !in_flight,
			 "%s: %lld pages in flight, but nobody charges", m->path, (long long)in_flight);
	record_invariant(record, "I11",
			 walking || m->memory.usage <= m->memory.max || m->memory.usage <= m->memory.forced,
			 "%s: usage %lld above max %lld pages", m->path, (long long)m->memory.usage,
			 (long long)m->memory.max);
	uint64_t kernel = m->object_bytes + s->bytes[m->id];

	for (const struct obj_cgroup *objcg = m->objcgs; objcg; objcg = objcg->next)
		kernel += objcg->spare_bytes;

	record_invariant(record, "kernel memory", m->nr_kmem * PAGE_SIZE == kernel,
			 "%s: %lld pages charged, %lld bytes accounted for", m->path, (long long)m->nr_kmem,
			 (long long)kernel);
}

static void end_count(struct host *host, const struct stocked *s, struct record *record)
{
	record_invariant(record, "I9", s->most <= host->charge_batch,
			 "a CPU holds %lld pages of one memcg, batch %u", (long long)s->most,
			 host->charge_batch);
	sim_free(host->sim, s->pages, host->cgroups->nr * sizeof *s->pages);
	sim_free(host->sim, s->bytes, host->cgroups->nr * sizeof *s->bytes);
}

void cgroups_check(struct host *host, struct record *record)
{
	struct stocked s = count_stocks(host);
	struct memcg *m;

	for (uint32_t i = 0; (m = memcg_at(host->cgroups, &i)); i++)
		if (m->life != MEMCG_GONE)
			check_memcg(m, &s, record);
	end_count(host, &s, record);
}

void cgroups_check_some(struct host *host, const uint32_t *ids, uint32_t nr, struct record *record)
{
	struct stocked s = count_stocks(host);

	for (uint32_t k = 0; k < nr; k++) {
		uint32_t i = ids[k];
		const struct memcg *m = memcg_at(host->cgroups, &i);

		for (; i == ids[k] && m && m->life != MEMCG_GONE; m = m->parent)
			check_memcg(m, &s, record);
	}
	end_count(host, &s, record);
}

void cgroups_finish(struct host *host)
{
	cgroups_check(host, host->run->record);
}
