/*
 * invariants.c - what must hold of pages at any instant, looked at when a run ends.
 *
 *	I5      over a cgroup's subtree, the lengths of its LRU lists and its pages that are mapped, cached,
 *	        dirty, written = the true counters; the lists themselves are checked by the LRU.
 *	I4      what a cgroup counts of pages for itself, without children, is what it has; with some
 *	        policies it is known not to be (stat_local_defect()), and then by how much is a result.
 *	charge  pages that a cgroup owns = pages charged to it, less those of kernel memory.
 *	object  the page that an object has at an index names that object and index.
 *	frames  frames with an owner are not free, and the other way round.
 */
#include "models/page/page_impl.h"
#include "models/reclaim/reclaim.h"
#include "sim/module.h"

enum {
	COUNT_ANON_MAPPED = NR_LRU_LISTS,
	COUNT_FILE_MAPPED,
	COUNT_FILE,
	COUNT_SHMEM,
	COUNT_DIRTY,
	COUNT_WRITEBACK,
	COUNT_SWAPCACHE,
	COUNT_OWNED,
	NR_COUNTS
};

struct page_counts {
	uint64_t of[NR_COUNTS];
};

/* By what a page says of itself. */
static void count_page(const struct page *page, uint64_t *of)
{
	bool cached = page->flags & PG_CACHED, mapped = page->flags & PG_MAPPED;

	of[COUNT_OWNED]++;
	of[COUNT_ANON_MAPPED] += mapped && page->flags & PG_ANON;
	of[COUNT_FILE_MAPPED] += mapped && !(page->flags & PG_ANON);
	of[COUNT_FILE] += cached;
	of[COUNT_SHMEM] += cached && page->flags & PG_SWAPBACKED;
	of[COUNT_DIRTY] += !!(page->flags & PG_DIRTY);
	of[COUNT_WRITEBACK] += !!(page->flags & PG_WRITEBACK);
	of[COUNT_SWAPCACHE] += !!(page->flags & PG_SWAPCACHE);
}

static void count_pages(const struct host *host, struct page_counts *own, uint64_t *owned)
{
	const struct page_state *ps = host->pages;

	for (uint32_t i = 0; i < ps->nr_zones; i++)
		for (frame_t frame = ps->zones[i].first; frame < ps->zones[i].fresh; frame++) {
			const struct page *page = &ps->pages[frame];

			if (!(page->flags & PG_CHARGED))
				continue;
			++*owned;
			count_page(page, own[page_memcg(host, page)->id].of);
		}
}

static void check_lists(const struct memcg *m, struct page_counts *own, struct record *record)
{
	const struct reclaim_ops *ops = reclaim_ops(m->host);

	for (uint32_t nid = 0; m->lruvecs && nid < m->host->nr_nodes; nid++) {
		const struct lruvec *lruvec = m->lruvecs[nid];

		for (enum lru_list lru = 0; lruvec && lru < NR_LRU_LISTS; lru++)
			own[m->id].of[lru] += ops->size(lruvec, lru);
		if (lruvec && ops->check)
			ops->check(lruvec, record);
	}
}

/* By so much a counter may differ, of what is counted in two updates between which others come by. */
static int64_t may_be_off(const struct page_state *ps, enum stat_item item)
{
	if (item == NR_SHMEM)
		return ps->shmem_under_way;
	return item <= NR_ACTIVE_FILE ? ps->turning : 0;
}

static const struct counter {
	const char *name;
	enum stat_item item;
} counters[] = {
	{ "inactive_anon", NR_INACTIVE_ANON },
	{ "active_anon", NR_ACTIVE_ANON },
	{ "inactive_file", NR_INACTIVE_FILE },
	{ "active_file", NR_ACTIVE_FILE },
	{ "unevictable", NR_UNEVICTABLE },
	{ "anon", NR_ANON_MAPPED },
	{ "file_mapped", NR_FILE_MAPPED },
	{ "file", NR_FILE_PAGES },
	{ "shmem", NR_SHMEM },
	{ "file_dirty", NR_FILE_DIRTY },
	{ "file_writeback", NR_WRITEBACK },
	{ "swapcached", NR_SWAPCACHE },
};
#define NR_COUNTERS (sizeof counters / sizeof *counters)

static void check_counters(const struct memcg *m, const struct page_counts *subtree, struct record *record)
{
	for (size_t i = 0; i < NR_COUNTERS; i++) {
		int64_t counter = stat_truth(m, counters[i].item);
		int64_t off = counter - (int64_t)subtree->of[i];
		int64_t may = may_be_off(m->host->pages, counters[i].item);

		record_invariant(record, "I5", -may <= off && off <= may,
				 "%s: %s counts %lld, there are %lld pages", m->path, counters[i].name,
				 (long long)counter, (long long)subtree->of[i]);
	}
}

static const struct metric local_error = {
	"stat.local_error",
	"pages",
	METRIC_GAUGE,
	"pages on LRU lists that a cgroup counts for itself beyond those it has; below 0: too few",
};
static const struct metric_table table = { &local_error, 1 };

MODULE(page_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "pages",
	.help = "counters of pages against the pages",
	.ops = &table,
};

static void check_local(const struct memcg *m, const struct page_counts *own, struct record *record)
{
	const struct cgroup_state *cgroups = m->host->cgroups;
	const char *defect = stat_local_defect(m->host);
	int64_t lru_off = 0;

	/* What a removed one is left with nobody reads; above it, its pages are counted before they come. */
	if ((m->life != MEMCG_ONLINE || cgroups->nr_dying) && (defect || cgroups->lru_reparent))
		return;
	for (size_t i = 0; i < NR_COUNTERS; i++) {
		int64_t counter = stat_local_exact(m, counters[i].item);
		int64_t off = counter - (int64_t)own->of[i],
			may = may_be_off(m->host->pages, counters[i].item);

		if (i < NR_LRU_LISTS)
			lru_off += off;
		record_invariant_known(record, "I4", defect, -may <= off && off <= may,
				       "%s: %s counts %lld for itself, has %lld pages", m->path,
				       counters[i].name, (long long)counter, (long long)own->of[i]);
	}
	if (defect && !m->transient)
		record_summary(record, &local_error, m->path, (double)lru_off);
}

static void check_object(const struct host *host, const struct page_object *object, struct record *record)
{
	uint64_t present = 0, strange = 0;

	for (uint64_t i = 0; i < object->nr_pages && present < object->present; i++) {
		frame_t frame = slot_frame(object->slots[i]);

		if (!frame)
			continue;
		present++;
		strange += page_of(host, frame)->object != object->id || page_of(host, frame)->index != i;
	}
	record_invariant(record, "pages of objects", !strange && present == object->present,
			 "object %u has %lld pages, should have %lld; %lld say otherwise", object->id,
			 (long long)present, (long long)object->present, (long long)strange);
}

void pages_check(struct host *host, struct record *record)
{
	const struct cgroup_state *cgroups = host->cgroups;
	struct page_counts *own = sim_alloc(host->sim, cgroups->nr * sizeof(*own));
	uint64_t owned = 0;

	count_pages(host, own, &owned);
	record_invariant(record, "frames", owned <= frames_used(host),
			 "%lld frames have owners, %lld are in use", (long long)owned,
			 (long long)frames_used(host));
	uint32_t nr;
	struct memcg **order = memcg_order(host, &nr);

	for (uint32_t k = 0; k < nr; k++) {
		const struct memcg *m = order[k];
		uint64_t charged = m->nr_charged - m->nr_kmem;
		uint32_t i = m->id;

		check_lists(m, own, record);
		record_invariant(record, "pages charged",
				 cgroups->reparenting || own[i].of[COUNT_OWNED] == charged,
				 "%s: owns %lld pages, charged %lld", m->path,
				 (long long)own[i].of[COUNT_OWNED], (long long)charged);
		check_local(m, &own[i], record);
	}
	/* Children come after their parents, so from the last on every one hands up a whole subtree. */
	while (nr--) {
		const struct memcg *m = order[nr];

		check_counters(m, &own[m->id], record);
		for (int k = 0; m->parent && k < NR_COUNTS; k++)
			own[m->parent->id].of[k] += own[m->id].of[k];
	}
	sim_free(host->sim, order, cgroups->nr * sizeof(*order));
	for (uint32_t i = 0; i < host->pages->nr_objects; i++)
		if (!host->pages->objects[i]->tree) /* those are walked for their shadows anyway: I12 */
			check_object(host, host->pages->objects[i], record);
	sim_free(host->sim, own, cgroups->nr * sizeof(*own));
}

/* What a cgroup counts without its children: I5 of it and of them says that it has as many. */
static int64_t counts_itself(const struct memcg *m, enum stat_item item)
{
	int64_t count = stat_truth(m, item);

	for (const struct memcg *child = m->first_child; child; child = child->next_sibling)
		count -= stat_truth(child, item);
	return count;
}

static void check_some(const struct memcg *m, uint64_t most, struct record *record)
{
	const struct reclaim_ops *ops = reclaim_ops(m->host);
	uint64_t size[NR_LRU_LISTS] = { 0 }, all = 0;

	for (uint32_t nid = 0; m->lruvecs && nid < m->host->nr_nodes; nid++)
		for (enum lru_list lru = 0; m->lruvecs[nid] && lru < NR_LRU_LISTS; lru++) {
			size[lru] += ops->size(m->lruvecs[nid], lru);
			all += ops->size(m->lruvecs[nid], lru);
		}
	for (enum lru_list lru = 0; lru < NR_LRU_LISTS; lru++) {
		int64_t off = counts_itself(m, counters[lru].item) - (int64_t)size[lru];
		int64_t may = 2 * may_be_off(m->host->pages, counters[lru].item); /* it, and a child */

		record_invariant(record, "I5", -may <= off && off <= may,
				 "%s: %s counts %lld beyond its children, its lists have %lld pages", m->path,
				 counters[lru].name, (long long)(off + (int64_t)size[lru]),
				 (long long)size[lru]);
	}
	record_invariant(record, "pages charged",
			 m->host->cgroups->reparenting || all <= m->nr_charged - m->nr_kmem,
			 "%s: has %lld pages on lists, charged %lld", m->path, (long long)all,
			 (long long)(m->nr_charged - m->nr_kmem));
	for (uint32_t nid = 0; ops->check && all <= most && m->lruvecs && nid < m->host->nr_nodes; nid++)
		if (m->lruvecs[nid])
			ops->check(m->lruvecs[nid], record);
}

void pages_check_some(struct host *host, const uint32_t *ids, uint32_t nr, uint64_t most,
		      struct record *record)
{
	for (uint32_t k = 0; k < nr; k++) {
		uint32_t i = ids[k];
		const struct memcg *m = memcg_at(host->cgroups, &i);

		if (m && i == ids[k] && m->life != MEMCG_GONE)
			check_some(m, most, record);
	}
}
