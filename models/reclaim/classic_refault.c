/*
 * classic_refault.c - what an evicted page leaves behind, and whether it belonged to the working set when it
 * comes back: workingset_eviction() and workingset_refault() of mm/workingset.c, Linux 6.1 and 6.12.
 *
 * The clock is the nonresident_age of an lruvec: it advances with every eviction from its subtree and with
 * every activation there. A shadow entry keeps the age of the lruvec whose limit made the page go (the
 * reclaim target's, not the owner's); at the refault the difference says how many further pages the page
 * would have needed to stay. It is activated if the active pages that it has to compete with are that many.
 * Their number comes from the statistics as last flushed, the age is exact.
 */
#include "models/reclaim/classic.h"
#include "models/stat/decision.h"

shadow_t classic_eviction(struct task *t, frame_t frame, struct memcg *target)
{
	struct host *host = target->host;
	const struct page *page = page_of(host, frame);
	struct lruvec *lruvec = memcg_lruvec(target, page->node);
	uint64_t age = classic_of(lruvec)->nonresident_age;

	shared_step(t);
	classic_age(lruvec, 1);
	return shadow_pack(host, (struct shadow_fields){
					 .workingset = page->flags & PG_WORKINGSET,
					 .node = page->node,
					 .css_id = target->css_id,
					 .stamp = age >> workingset_bucket_order(host),
				 });
}

static uint64_t distance(const struct host *host, const struct lruvec *lruvec, uint64_t stamp)
{
	uint64_t mask = ((uint64_t)1 << workingset_stamp_bits(host)) - 1;

	return (classic_of(lruvec)->nonresident_age - (stamp << workingset_bucket_order(host))) & mask;
}

/* The pages that a refault has to push out to stay: all but those of its own inactive list. */
static uint64_t workingset_size(int64_t (*view)(const struct memcg *, uint32_t, enum stat_item),
				const struct lruvec *lruvec, const struct memcg *swapper, enum lru_type type)
{
	const struct memcg *m = lruvec->memcg;
	int64_t size = view(m, lruvec->node, NR_ACTIVE_FILE);

	if (type == LRU_ANON)
		size += view(m, lruvec->node, NR_INACTIVE_FILE);
	if (memcg_swap_room(m->host, swapper)) {
		size += view(m, lruvec->node, NR_ACTIVE_ANON);
		if (type == LRU_FILE)
			size += view(m, lruvec->node, NR_INACTIVE_ANON);
	}
	return size > 0 ? (uint64_t)size : 0;
}

/* Does it fit, as the kernel sees it; and is that so? */
static bool fits(const struct lruvec *lruvec, const struct memcg *swapper, enum lru_type type, uint64_t far)
{
	uint64_t seen = workingset_size(stat_reported_node, lruvec, swapper, type);
	uint64_t truth = workingset_size(stat_truth_node, lruvec, swapper, type);

	decision_taken(lruvec_host(lruvec), DECISION_REFAULT, far <= seen, far <= truth,
		       seen > truth ? seen - truth : truth - seen);
	return far <= seen;
}

static void accept(struct task *t, struct lruvec *lruvec, struct page *page, bool workingset)
{
	enum lru_type type = page_type(page);

	page->flags |= PG_ACTIVE;
	classic_age(lruvec, 1);
	mod_lruvec_state(t, lruvec->memcg, lruvec->node, WORKINGSET_ACTIVATE_ANON + type, 1);
	if (!workingset)
		return;
	page->flags |= PG_WORKINGSET;
	classic_note_cost(t, lruvec, type, 1, 0);
	task_sync(t);
	mod_lruvec_state(t, lruvec->memcg, lruvec->node, WORKINGSET_RESTORE_ANON + type, 1);
}

void classic_refault(struct task *t, frame_t frame, shadow_t shadow, bool in_fault)
{
	struct host *host = host_of(t);
	struct page *page = page_of(host, frame);
	struct shadow_fields f = shadow_unpack(host, shadow);
	enum lru_type type = page_type(page);
	struct memcg *owner = page_memcg(host, page), *target = memcg_by_css_id(host, f.css_id);
	struct lruvec *lruvec = memcg_lruvec(owner, page->node), *evicted_by;
	uint64_t far;

	(void)in_fault;
	shared_step(t);
	mod_lruvec_state(t, owner, page->node, WORKINGSET_REFAULT_ANON + type, 1);
	if (!target || !memcg_tryget(target))
		return; /* removed since: what its limit was worth is not known any more */
	evicted_by = memcg_lruvec(target, f.node);
	far = distance(host, evicted_by, f.stamp); /* exact, and before the flush that may take its time */
	stat_flush(t, target, FLUSH_REFAULT);
	task_sync(t);
	/* 6.1 asks what swap the page's owner has left, later kernels ask for whom it was evicted. */
	if (fits(evicted_by, host->kernel_version < 602 ? owner : target, type, far))
		accept(t, lruvec, page, f.workingset);
	memcg_put(t, target);
}
