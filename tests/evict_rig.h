/*
 * evict_rig.h - a host whose LRU is a plain list, and a hand that evicts what the test names: for tests of
 * where evicted pages go and how they come back, without reclaim.
 *
 * The list's age is a count of evictions; a page that comes back within `reach` of them is of the workingset.
 */
#ifndef TESTS_EVICT_RIG_H
#define TESTS_EVICT_RIG_H

#include "models/backing/backing.h"
#include "models/page/evict.h"
#include "models/page/page_impl.h"
#include "models/page/page_list.h"
#include "models/reclaim/reclaim.h"
#include "models/workingset/workingset.h"
#include "tests/host_fixture.h"

#define RIG_POLICIES                                                                                 \
	"policies: { stat_update: rstat_global_threshold, flush: unified, rstat_lock: spin_yield,\n" \
	"  rstat_updated: cpu_lock, charge_batch: 64, charge_stock: 1, reclaim: test_fifo"
#define RIG_HEAD "schema: 1\nscenario: test\nhost: { cpus: 2, nodes: 1, memory: 64MiB }\n"

struct fifo {
	struct page_list list;
	uint64_t size[2];
};

/* What the test's LRU was asked, most recent last; one test at a time. */
static struct rig_seen {
	uint64_t evictions, refaults, accesses;
	struct shadow_fields refaulted;
	bool in_fault, workingset; /* workingset: what a refault answers */
} rig_seen;

static inline struct fifo *fifo_of(const struct lruvec *lruvec)
{
	return lruvec->policy;
}

static enum lru_list fifo_list(const struct page *page)
{
	return page->flags & PG_SWAPBACKED ? LRU_INACTIVE_ANON : LRU_INACTIVE_FILE;
}

static void fifo_resize(struct task *t, struct lruvec *lruvec, const struct page *page, int nr)
{
	enum lru_list lru = fifo_list(page);

	fifo_of(lruvec)->size[lru != LRU_INACTIVE_ANON] += (uint64_t)(int64_t)nr;
	lruvec->lru_zone_size[lru] += (uint64_t)(int64_t)nr;
	mod_lruvec_state(t, lruvec->memcg, lruvec->node, NR_INACTIVE_ANON + lru, nr);
}

static void fifo_add(struct task *t, struct lruvec *lruvec, frame_t frame)
{
	struct page *pages = lruvec->memcg->host->pages->pages;

	page_list_add(pages, &fifo_of(lruvec)->list, frame);
	pages[frame].flags |= PG_LRU;
	fifo_resize(t, lruvec, &pages[frame], 1);
}

static void fifo_del(struct task *t, struct lruvec *lruvec, frame_t frame)
{
	struct page *pages = lruvec->memcg->host->pages->pages;

	page_list_del(pages, &fifo_of(lruvec)->list, frame);
	pages[frame].flags &= (uint16_t)~PG_LRU;
	fifo_resize(t, lruvec, &pages[frame], -1);
}

static void fifo_activate(struct task *t, struct lruvec *lruvec, frame_t frame)
{
	(void)t;
	(void)lruvec;
	(void)frame;
}

static void fifo_accessed(struct task *t, struct host *host, frame_t frame)
{
	(void)t;
	page_of(host, frame)->flags |= PG_REFERENCED;
	rig_seen.accesses++;
}

static uint64_t fifo_size(const struct lruvec *lruvec, enum lru_list lru)
{
	return lru == LRU_INACTIVE_ANON || lru == LRU_INACTIVE_FILE ? lruvec->lru_zone_size[lru] : 0;
}

static shadow_t fifo_eviction(struct task *t, frame_t frame, struct memcg *target)
{
	struct host *host = host_of(t);
	const struct page *page = page_of(host, frame);

	return shadow_pack(host, (struct shadow_fields){ .workingset = page->flags & PG_WORKINGSET,
							 .node = page->node,
							 .css_id = target->css_id,
							 .stamp = rig_seen.evictions++ });
}

static void fifo_refault(struct task *t, frame_t frame, shadow_t shadow, bool in_fault)
{
	rig_seen.refaults++;
	rig_seen.refaulted = shadow_unpack(host_of(t), shadow);
	rig_seen.in_fault = in_fault;
	if (rig_seen.workingset)
		page_of(host_of(t), frame)->flags |= PG_WORKINGSET;
}

static const struct reclaim_ops fifo_ops = {
	.lruvec_size = sizeof(struct fifo),
	.add = fifo_add,
	.del = fifo_del,
	.activate = fifo_activate,
	.mark_accessed = fifo_accessed,
	.size = fifo_size,
	.eviction = fifo_eviction,
	.refault = fifo_refault,
};

PLUGIN;

MODULE(reclaim_test_fifo) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "reclaim",
	.name = "test_fifo",
	.help = "a list, for tests",
	.ops = &fifo_ops,
};

/* Isolates the page and asks for its eviction for `target`; uncharged and freed if it went, else put back. */
static inline enum evict_result rig_evict(struct task *t, struct host *host, frame_t frame,
					  struct memcg *target)
{
	struct page *page = page_of(host, frame);
	struct lruvec *lruvec = lruvec_relock_irq(t, host, page, NULL);
	struct pageout out = { 0 };

	assert_true(page->flags & PG_LRU);
	fifo_del(t, lruvec, frame);
	page->batched++;
	spin_unlock_irq(t, lruvec->lock);
	enum evict_result result = object_evict(t, host, frame, target, &out);

	swap_unplug(t, &out.plug);

	task_sync(t);
	page->batched--;
	if (result != EVICT_GONE && !(page->flags & PG_ORPHAN)) {
		lruvec = lruvec_relock_irq(t, host, page, NULL);
		fifo_add(t, lruvec, frame);
		spin_unlock_irq(t, lruvec->lock);
	} else if (!page->batched) {
		pages_release(t, host, &frame, 1);
	}
	return result;
}

/* The frame that an object has at an index. */
static inline frame_t rig_frame(const struct page_object *object, uint64_t index)
{
	return slot_frame(object->slots[index]);
}

struct rig {
	struct fixture f;
	struct host *host;
	struct memcg *c;
};

/* Runs one task of the root on CPU 0, then checks all invariants of the host. */
static inline void rig_run_on(const char *text, uint32_t nr, void (*run)(struct task *t, void *arg))
{
	struct rig r;

	rig_seen = (struct rig_seen){ 0 };
	fixture_open(&r.f, text);
	r.host = r.f.host;
	r.c = memcg_find(r.host, "/c");
	for (uint32_t i = 0; i < nr; i++)
		fixture_spawn(&r.f, i, run, &r);
	fixture_run(&r.f);
	assert_true(fixture_holds(&r.f));
	fixture_close(&r.f);
}

#endif
