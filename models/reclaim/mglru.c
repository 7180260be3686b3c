/*
 * mglru.c - reclaim: mglru, the multi-generational LRU: where a page joins, what is counted when it moves,
 * and the table of operations. After include/linux/mm_inline.h (lru_gen_add_folio, lru_gen_del_folio,
 * lru_gen_update_size, lru_gen_folio_seq) of Linux 6.1, 6.12 and 6.18.
 *
 * The two youngest generations are reported as active, the others as inactive, at every move. Nothing here
 * ever writes lru_zone_size: what reads that sees an lruvec without pages, and that is a fact of these
 * kernels which budgets trip over.
 *
 * A page that is mapped, or young, when it joins was made by a page fault, and joins the youngest.
 */
#include "models/reclaim/mglru.h"
#include "models/host/policies.h"
#include "models/reclaim/mglru_memcg_lru.h"
#include "sim/module.h"

const struct mglru_options *mglru_options(const struct host *host)
{
	return host_policy_options(host, "reclaim");
}

static void init(struct lruvec *lruvec)
{
	struct mglru *g = mglru_of(lruvec);

	g->max_seq = MGLRU_GENS - 1;
	if (mglru_era(lruvec_host(lruvec)) > ERA_6_1)
		memcg_lru_online(lruvec);
}

/* ---- counting ---- */

void mglru_count_pages(struct task *t, struct lruvec *lruvec, enum lru_type type, uint32_t gen, int64_t nr)
{
	struct mglru *g = mglru_of(lruvec);
	enum stat_item inactive = type == LRU_ANON ? NR_INACTIVE_ANON : NR_INACTIVE_FILE;

	g->nr_pages[gen][type] += nr;
	if (nr)
		mod_lruvec_state(t, lruvec->memcg, lruvec->node, inactive + mglru_is_active(g, gen), nr);
}

void mglru_count_move(struct task *t, struct lruvec *lruvec, enum lru_type type, uint32_t from, uint32_t to)
{
	struct mglru *g = mglru_of(lruvec);
	enum stat_item inactive = type == LRU_ANON ? NR_INACTIVE_ANON : NR_INACTIVE_FILE;
	bool was = mglru_is_active(g, from), is = mglru_is_active(g, to);
	uint32_t *turning = &lruvec_host(lruvec)->pages->turning;

	g->nr_pages[from][type]--;
	g->nr_pages[to][type]++;
	if (was == is)
		return;
	++*turning;
	mod_lruvec_state(t, lruvec->memcg, lruvec->node, inactive + was, -1);
	mod_lruvec_state(t, lruvec->memcg, lruvec->node, inactive + is, 1);
	--*turning;
}

uint64_t mglru_total(const struct mglru *g, enum lru_type type)
{
	int64_t total = 0;

	for (uint64_t seq = g->min_seq[type]; seq <= g->max_seq; seq++)
		total += g->nr_pages[mglru_gen(seq)][type];
	return (uint64_t)total;
}

uint64_t mglru_size(const struct lruvec *lruvec, enum lru_list lru)
{
	const struct mglru *g = mglru_of(lruvec);
	enum lru_type type = lru == LRU_INACTIVE_FILE || lru == LRU_ACTIVE_FILE ? LRU_FILE : LRU_ANON;
	bool active = lru == LRU_ACTIVE_ANON || lru == LRU_ACTIVE_FILE;
	int64_t nr = 0;

	if (lru == LRU_UNEVICTABLE)
		return 0;
	for (uint32_t gen = 0; gen < MGLRU_GENS; gen++)
		if (mglru_is_active(g, gen) == active)
			nr += g->nr_pages[gen][type];
	return (uint64_t)nr;
}

/* ---- joining and leaving ---- */

static uint64_t older_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Neither to be evicted first nor fresh: anonymous pages outside the swap cache, file pages to be written. */
static bool is_in_between(const struct page *page, enum lru_type type)
{
	return (type == LRU_ANON && !(page->flags & PG_SWAPCACHE)) ||
	       (page->flags & PG_RECLAIM && page->flags & (PG_DIRTY | PG_WRITEBACK));
}

/* 6.1 and 6.12: what was only read goes to the second oldest of four, the oldest of fewer. */
static uint64_t seq_to_join(const struct mglru *g, const struct page *page, enum lru_type type, bool active,
			    bool rotated)
{
	if (active)
		return g->max_seq;
	if (is_in_between(page, type))
		return g->max_seq - 1;
	if (rotated)
		return g->min_seq[type];
	return g->min_seq[type] + 2 >= g->max_seq ? g->min_seq[type] : g->min_seq[type] + 1;
}

/* 6.18: so far from the youngest, one nearer when the page belongs to the working set. */
static uint64_t seq_to_join_6_18(const struct mglru *g, const struct page *page, enum lru_type type,
				 bool active, bool rotated)
{
	uint64_t nearer = page->flags & PG_WORKINGSET ? 1 : 0;
	uint64_t distance = active ? 1 - nearer : rotated ? 3 : is_in_between(page, type) ? 1 : 3 - nearer;
	uint64_t oldest = g->min_seq[type];

	return g->max_seq - older_of(distance, g->max_seq - oldest);
}

/* lru_gen_add_folio(); rotated: its `reclaiming`, to the old end of what is looked at next. */
static inline void join(struct task *t, struct lruvec *lruvec, frame_t frame, bool active, bool rotated)
{
	struct host *host = lruvec_host(lruvec);
	struct mglru *g = mglru_of(lruvec);
	struct page *page = page_of(host, frame);
	enum lru_type type = page_type(page);
	enum mglru_era era = mglru_era(host);
	uint32_t gen = mglru_gen(era < ERA_6_18 ? seq_to_join(g, page, type, active, rotated)
						: seq_to_join_6_18(g, page, type, active, rotated));
	struct page_list *list = mglru_list(host, g, gen, type, frame);

	cpu_defer(t, host->costs->lru_add);
	page->flags &= (uint16_t)~PG_ACTIVE;
	if (active && era == ERA_6_12) {
		page->flags &= (uint16_t)~PG_REFERENCED;
		page->refs = 0;
	}
	page->flags |= PG_LRU;
	page_set_place(page, gen);
	if (rotated)
		page_list_add_tail(host->pages->pages, list, frame);
	else
		page_list_add(host->pages->pages, list, frame);
	lru_touch(t, lruvec, host->pages->pages, frame);
	mglru_count_pages(t, lruvec, type, gen, 1);
}

void mglru_add(struct task *t, struct lruvec *lruvec, frame_t frame)
{
	const struct page *page = page_of(lruvec_host(lruvec), frame);

	join(t, lruvec, frame, page->flags & (PG_ACTIVE | PG_MAPPED | PG_YOUNG), false);
}

void mglru_del(struct task *t, struct lruvec *lruvec, frame_t frame)
{
	struct host *host = lruvec_host(lruvec);
	struct page *page = page_of(host, frame);
	enum lru_type type = page_type(page);
	uint32_t gen = (uint32_t)page_gen(page);

	cpu_defer(t, host->costs->lru_del);
	lru_touch(t, lruvec, host->pages->pages, frame);
	page_list_del(host->pages->pages, mglru_list(host, mglru_of(lruvec), page_on_list(page), type, frame),
		      frame);
	page->flags &= (uint16_t)~PG_LRU;
	page->gen = 0;
	mglru_count_pages(t, lruvec, type, gen, -1);
}

/* folio_activate_fn() */
static void activate(struct task *t, struct lruvec *lruvec, frame_t frame)
{
	struct page *page = page_of(lruvec_host(lruvec), frame);

	if (!(page->flags & PG_LRU))
		return;
	mglru_del(t, lruvec, frame);
	page->flags |= PG_ACTIVE;
	mglru_add(t, lruvec, frame);
	count_memcg_events(t, lruvec->memcg, PGACTIVATE, 1);
}

/* lru_move_tail_fn() */
static void rotate(struct task *t, struct lruvec *lruvec, frame_t frame)
{
	mglru_del(t, lruvec, frame);
	join(t, lruvec, frame, false, true);
}

/* ---- the module ---- */

static const struct enum_name ran_names[] = {
	{ "touched", MGLRU_RAN_TOUCHED,
	  "it touched its memory since: a second aging in one call walks nothing" },
	{ "switched", MGLRU_RAN_SWITCHED, "the scheduler switched to it since, as in the kernel" },
	{ 0 },
};
static const struct option rows[] = {
	OPTION(struct mglru_options, process_ran, OPT_ENUM, .fallback = "touched", .names = ran_names,
	       .help = "when a process counts as having run since its page tables were last walked",
	       .source = "lru_gen_use_mm(); a real CPU is never left to one task for as long as a simulated "
			 "one"),
	OPTION(struct mglru_options, switch_at, OPT_U32, .fallback = "0",
	       .help = "the aging of each lruvec, from 1, before which its processes are switched in "
		       "whatever "
		       "process_ran says; 0: none. Cyclic loads take another course from there",
	       .source = "chance: which aging it is differs between runs of one kernel"),
};
static const struct option_table options = OPTION_TABLE("mglru", struct mglru_options, rows);

static const struct reclaim_ops ops = {
	.lruvec_size = sizeof(struct mglru),
	.lruvec_init = init,
	.lruvec_offline = memcg_lru_offline,
	.lruvec_release = memcg_lru_release,
	.reparent = mglru_reparent,
	.reparent_prepare = mglru_reparent_prepare,
	.reparent_ready = mglru_reparent_ready,
	.add = mglru_add,
	.del = mglru_del,
	.activate = activate,
	.rotate = rotate,
	.mark_accessed = mglru_mark_accessed,
	.shrink_lruvec = mglru_shrink_lruvec,
	.age_node = mglru_age_node,
	.shrink_node_global = mglru_shrink_node,
	.eviction = mglru_eviction,
	.refault = mglru_refault,
	.size = mglru_size,
	.check = mglru_check,
};

MODULE(reclaim_mglru) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "reclaim",
	.name = "mglru",
	.help = "generations of pages by age, walks over page tables, tiers balanced by refaults",
	.source = "Linux 6.1, ac35a4902374; rules of 6.1, 6.12 and 6.18 by the kernel's version",
	.options = &options,
	.ops = &ops,
	.state_size = sizeof(struct mglru_machine),
};
