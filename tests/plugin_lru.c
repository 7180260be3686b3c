/*
 * plugin_lru.c - reclaim: a plain LRU of file pages, as a plug-in; for comparison with theory, and to show
 * what an LRU outside of the tree takes.
 *
 * One list a cgroup and node. The page that was read last is at its head, and reclaim takes from its tail: no
 * second list, no generations, no refault distance. Each page has a stamp, so that one that was read while it
 * waited in a folio batch still comes to its place. Anonymous pages are never reclaimed.
 */
#include "models/page/page_impl.h"
#include "models/page/page_list.h"
#include "models/reclaim/reclaim.h"
#include "sim/module.h"

PLUGIN;

struct plain {
	struct page_list list;
	uint64_t nr;
};

/* Of the machine: the policy's state. */
struct reads {
	uint64_t clock;
	uint64_t *stamps; /* by frame; made at the first read */
};

static struct plain *plain_of(const struct lruvec *lruvec)
{
	return lruvec->policy;
}

static struct reads *reads_of(struct host *host)
{
	struct reads *r = host_policy_state(host, "reclaim");

	if (!r->stamps)
		r->stamps = arena_array(sim_arena(host->sim), host->memory / PAGE_SIZE + 1,
					sizeof *r->stamps);
	return r;
}

static void count(struct task *t, struct lruvec *lruvec, int nr)
{
	plain_of(lruvec)->nr += (uint64_t)(int64_t)nr;
	lruvec->lru_zone_size[LRU_INACTIVE_FILE] += (uint64_t)(int64_t)nr;
	mod_lruvec_state(t, lruvec->memcg, lruvec->node, NR_INACTIVE_FILE, nr);
}

/* Behind those that were read later, of which there are few. */
static void put_in_order(struct host *host, struct plain *p, frame_t frame)
{
	const uint64_t *stamps = reads_of(host)->stamps;
	struct page *pages = host->pages->pages;
	frame_t later = NO_FRAME, next = p->list.head;

	while (next && stamps[next] > stamps[frame]) {
		later = next;
		next = pages[next].next;
	}
	if (!later) {
		page_list_add(pages, &p->list, frame);
	} else if (!next) {
		page_list_add_tail(pages, &p->list, frame);
	} else {
		pages[frame].prev = later;
		pages[frame].next = next;
		pages[later].next = pages[next].prev = frame;
	}
}

static void add(struct task *t, struct lruvec *lruvec, frame_t frame)
{
	struct host *host = lruvec->memcg->host;

	put_in_order(host, plain_of(lruvec), frame);
	page_of(host, frame)->flags |= PG_LRU;
	count(t, lruvec, 1);
}

static void take_off(struct task *t, struct lruvec *lruvec, frame_t frame)
{
	struct host *host = lruvec->memcg->host;

	page_list_del(host->pages->pages, &plain_of(lruvec)->list, frame);
	page_of(host, frame)->flags &= (uint16_t)~PG_LRU;
	count(t, lruvec, -1);
}

/* Nothing asks for it: no page is ever given to page_activate_later(). */
static void activate(struct task *t, struct lruvec *lruvec, frame_t frame)
{
	(void)t, (void)lruvec, (void)frame;
}

static void mark_accessed(struct task *t, struct host *host, frame_t frame)
{
	struct page *page = page_of(host, frame);
	struct lruvec *lruvec = memcg_lruvec(page_memcg(host, page), page->node);
	struct reads *r = reads_of(host);

	(void)t;
	r->stamps[frame] = ++r->clock;
	if (!(page->flags & PG_LRU))
		return;
	page_list_del(host->pages->pages, &plain_of(lruvec)->list, frame);
	page_list_add(host->pages->pages, &plain_of(lruvec)->list, frame);
}

static enum fate judge(struct task *t, struct lruvec *lruvec, frame_t frame, struct scan_control *sc)
{
	(void)t, (void)lruvec, (void)frame, (void)sc;
	return FATE_FREED;
}

static void shrink_lruvec(struct task *t, struct lruvec *lruvec, struct scan_control *sc)
{
	struct host *host = lruvec->memcg->host;
	frame_t frames[SWAP_CLUSTER_MAX];
	enum fate fates[SWAP_CLUSTER_MAX];
	struct shrink_result result;
	uint32_t taken = 0, kept;

	lru_add_drain(t);
	spin_lock_irq(t, lruvec->lock);
	while (taken < SWAP_CLUSTER_MAX && plain_of(lruvec)->list.tail) {
		frames[taken] = plain_of(lruvec)->list.tail;
		take_off(t, lruvec, frames[taken]);
		page_of(host, frames[taken++])->batched++;
	}
	count_scan(t, lruvec->memcg, sc, taken, 0);
	spin_unlock_irq(t, lruvec->lock);
	if (!taken)
		return;
	kept = shrink_folio_list(t, lruvec, frames, fates, taken, sc, judge, &result);
	task_sync(t);
	spin_lock_irq(t, lruvec->lock);
	for (uint32_t i = 0; i < kept; i++)
		if (isolated_put(page_of(host, frames[i])))
			add(t, lruvec, frames[i]);
	count_scan(t, lruvec->memcg, sc, 0, result.freed);
	spin_unlock_irq(t, lruvec->lock);
	sc->nr_scanned += taken;
	sc->nr_reclaimed += result.freed;
}

static shadow_t eviction(struct task *t, frame_t frame, struct memcg *target)
{
	struct host *host = host_of(t);

	return shadow_pack(
		host, (struct shadow_fields){ .node = page_of(host, frame)->node, .css_id = target->css_id });
}

static void refault(struct task *t, frame_t frame, shadow_t shadow, bool in_fault)
{
	(void)t, (void)frame, (void)shadow, (void)in_fault;
}

static uint64_t size(const struct lruvec *lruvec, enum lru_list list)
{
	return list == LRU_INACTIVE_FILE ? plain_of(lruvec)->nr : 0;
}

static const struct reclaim_ops ops = {
	.lruvec_size = sizeof(struct plain),
	.add = add,
	.del = take_off,
	.activate = activate,
	.mark_accessed = mark_accessed,
	.shrink_lruvec = shrink_lruvec,
	.eviction = eviction,
	.refault = refault,
	.size = size,
};

MODULE(reclaim_plain_lru) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "reclaim",
	.name = "plain_lru",
	.help = "the page read longest ago goes first; file pages only",
	.ops = &ops,
	.state_size = sizeof(struct reads),
};
