/*
 * mglru.h - what the multi-generational LRU keeps of an lruvec, and which kernel's rules it follows.
 *
 * Pages of an lruvec stand in generations, numbered by a sequence from min_seq (oldest, by type) to max_seq
 * (youngest); generation `seq` is list seq modulo 4. Within a generation pages differ by tier, the logarithm
 * of how often they were read through file descriptors. Two things of a page are apart on purpose: the
 * generation it belongs to (sizes follow that) and the list it stands on (whether a list is empty follows
 * that). A walk of page tables changes the first and leaves the second to the next eviction that comes by.
 *
 * The lists are also by zone, and eviction looks at the next lower zone only when the list of the higher one
 * is empty: the few pages in ZONE_DMA stay for as long as there are others as old.
 *
 * Three eras: 6.1, 6.12 and 6.18 (mglru_era()). docs/model-mglru.md says which rule is where.
 */
#ifndef MODELS_RECLAIM_MGLRU_H
#define MODELS_RECLAIM_MGLRU_H

#include "models/page/mapping.h"
#include "models/reclaim/reclaim_impl.h"

#define MGLRU_GENS       4u
#define MGLRU_MIN_GENS   2u
#define MGLRU_TIERS      4u
#define MGLRU_BATCH      SHRINK_MOST /* 64: pages isolated in one batch, at most */
#define MGLRU_LOOKED_AT  4096u       /* and looked at */
#define MGLRU_FIELD_MOST 3u          /* of page.refs, two bits */
#define MGLRU_ZONES      2u          /* ordinary pages, ZONE_DMA's */
#define NO_GEN           (-1)

enum mglru_era { ERA_6_1, ERA_6_12, ERA_6_18 };

static inline enum mglru_era mglru_era(const struct host *host)
{
	return host->kernel_version < 603 ? ERA_6_1 : host->kernel_version < 618 ? ERA_6_12 : ERA_6_18;
}

enum mglru_ran { MGLRU_RAN_TOUCHED, MGLRU_RAN_SWITCHED };

struct mglru_options {
	int process_ran;    /* enum mglru_ran */
	uint32_t switch_at; /* the aging of an lruvec at which its processes were switched in; 0: none */
};

/* What the controller compares: refaults and pages that went or were spared, by type and tier. */
struct mglru_control {
	uint64_t avg_refaulted[2][MGLRU_TIERS], avg_total[2][MGLRU_TIERS];
	uint64_t refaulted[2][MGLRU_TIERS], evicted[2][MGLRU_TIERS], protected[2][MGLRU_TIERS];
};

/* Which page tables are worth a walk; NULL: not known, so all are. */
struct mglru_bloom {
	uint64_t *bits;
};

struct memcg_lru_place { /* among the lruvecs of its node; mglru_memcg_lru.c */
	struct lruvec *prev, *next;
	uint8_t gen, bin, segment;
	bool listed;
};

struct mglru {
	uint64_t max_seq, min_seq[2];
	struct page_list lists[MGLRU_GENS][2][MGLRU_ZONES];
	int64_t nr_pages[MGLRU_GENS][2];
	int64_t moving[MGLRU_GENS][2]; /* by walks that are under way: not in nr_pages yet */
	struct mglru_control control;
	struct mglru_bloom blooms[2];
	uint64_t walk_seq; /* the max_seq that page tables were last walked for */
	uint32_t agings;
	struct memcg_lru_place place;
};

static inline struct mglru *mglru_of(const struct lruvec *lruvec)
{
	return lruvec->policy;
}

static inline uint32_t mglru_gen(uint64_t seq)
{
	return seq % MGLRU_GENS;
}

static inline uint64_t mglru_nr_gens(const struct mglru *g, enum lru_type type)
{
	return g->max_seq - g->min_seq[type] + 1;
}

/* The oldest that has to be looked at: anon's, while it can be swapped. */
static inline enum lru_type mglru_first_type(uint32_t swappiness)
{
	return swappiness ? LRU_ANON : LRU_FILE;
}

/* ---- a page's place: page.gen holds its generation + 1, or 0, and the list above that ---- */

static inline int page_gen(const struct page *page)
{
	return (page->gen & 7) - 1;
}
static inline uint32_t page_on_list(const struct page *page)
{
	return page->gen >> 4;
}
static inline void page_set_gen(struct page *page, uint32_t gen)
{
	page->gen = (uint8_t)((page->gen & ~7u) | (gen + 1));
}
static inline void page_set_place(struct page *page, uint32_t gen)
{
	page->gen = (uint8_t)(gen << 4 | (gen + 1));
}

/* The list of a generation and type on which the frame stands. */
static inline struct page_list *mglru_list(const struct host *host, struct mglru *g, uint32_t gen,
					   enum lru_type type, frame_t frame)
{
	return &g->lists[gen][type][frame < host->pages->dma_end];
}
/* Is nothing left of a generation, to see by its lists? */
static inline bool mglru_lists_empty(const struct mglru *g, uint32_t gen, enum lru_type type)
{
	return !g->lists[gen][type][0].head && !g->lists[gen][type][1].head;
}

static inline void page_clear_refs(struct page *page)
{
	page->flags &= (uint16_t) ~(PG_REFERENCED | PG_WORKINGSET);
	page->refs = 0;
}

/* ---- mglru.c ---- */

const struct mglru_options *mglru_options(const struct host *host);
/* Sizes and statistics: nr pages more in a generation; one page from one to another. In a step. */
void mglru_count_pages(struct task *t, struct lruvec *lruvec, enum lru_type type, uint32_t gen, int64_t nr);
void mglru_count_move(struct task *t, struct lruvec *lruvec, enum lru_type type, uint32_t from, uint32_t to);
/* Onto the young end of the generation that its flags ask for; off its list. Under the lock. */
void mglru_add(struct task *t, struct lruvec *lruvec, frame_t frame);
void mglru_del(struct task *t, struct lruvec *lruvec, frame_t frame);
/* One of the two youngest, which count as active? */
static inline bool mglru_is_active(const struct mglru *g, uint32_t gen)
{
	return gen == mglru_gen(g->max_seq) || gen == mglru_gen(g->max_seq - 1);
}
uint64_t mglru_total(const struct mglru *g, enum lru_type type);
uint64_t mglru_size(const struct lruvec *lruvec, enum lru_list lru);

/* ---- mglru_check.c: I17 ---- */

void mglru_check(const struct lruvec *lruvec, struct record *record);

/* ---- mglru_access.c: reads through file descriptors ---- */

void mglru_mark_accessed(struct task *t, struct host *host, frame_t frame);
/* How often it was read, as eviction sees it, and its tier. */
uint32_t mglru_refs(enum mglru_era era, const struct page *page);
uint32_t mglru_tier(enum mglru_era era, uint32_t refs, bool workingset);

/* ---- mglru_control.c ---- */

/* Pages above this tier stay. */
uint32_t mglru_tier_limit(const struct mglru *g, enum mglru_era era, enum lru_type type);
/* Which type to evict from; *limit is the tier limit that goes with the choice. */
enum lru_type mglru_type_to_scan(const struct mglru *g, enum mglru_era era, uint32_t swappiness,
				 uint32_t *limit);
void mglru_carry_over(struct mglru_control *control, enum lru_type type);

/* ---- mglru_age.c ---- */

/* Moves `type`'s oldest page one generation on, flags cleared, to the old end of its new list. */
void mglru_push_on(struct task *t, struct lruvec *lruvec, enum lru_type type, frame_t frame);
/* try_to_inc_min_seq(): past empty generations. True if one moved. Under the lock. */
bool mglru_advance(struct lruvec *lruvec, uint32_t swappiness);
enum mglru_need { MGLRU_ENOUGH, MGLRU_SHOULD_AGE, MGLRU_MUST_AGE };
enum mglru_need mglru_need_aging(const struct mglru *g, enum mglru_era era, uint32_t swappiness);
/* inc_max_seq(): one more generation, with what is left of the oldest of four pushed on. */
void mglru_inc_max_seq(struct task *t, struct lruvec *lruvec, uint32_t swappiness);
/* try_to_inc_max_seq(): walks page tables, then opens a generation; false: somebody else is at it. */
bool mglru_age(struct task *t, struct lruvec *lruvec, uint32_t swappiness);

/* ---- mglru_walk.c, mglru_bloom.c ---- */

void mglru_walk(struct task *t, struct lruvec *lruvec, uint32_t swappiness);
/* The page at that place, if it is mapped, has its accessed bit set and is the lruvec's. */
frame_t mglru_young(const struct lruvec *lruvec, const struct page_object *object, uint64_t index);
/* 6.18: marks a page as used; false: for the first time, which says little. */
bool mglru_referenced_again(struct page *page);
/* folio_update_gen(): a page is seen to be young. The generation that it leaves for `gen`, or NO_GEN. */
int mglru_update_gen(enum mglru_era era, struct page *page, uint32_t gen);
void mglru_bloom_reset(struct host *host, struct mglru_bloom *bloom);
void mglru_bloom_add(struct mglru_bloom *bloom, uint32_t object, uint64_t table);
bool mglru_bloom_has(const struct mglru_bloom *bloom, uint32_t object, uint64_t table);

/* ---- mglru_look.c ---- */

/* What is to become of an isolated page; judge_fn. */
enum fate mglru_judge(struct task *t, struct lruvec *lruvec, frame_t frame, struct scan_control *sc);

/* ---- mglru_evict.c, mglru_shrink.c ---- */

/* One batch: how many pages were looked at, 0: nothing more to be had here. */
uint64_t mglru_evict(struct task *t, struct lruvec *lruvec, struct scan_control *sc, uint32_t swappiness,
		     bool *swapped);
uint32_t mglru_swappiness(const struct lruvec *lruvec, const struct scan_control *sc);
/* True: aged instead, and the memcg LRU should turn to others first. */
bool mglru_pass(struct task *t, struct lruvec *lruvec, struct scan_control *sc);
/* On behalf of the machine: is there enough by now? */
bool mglru_machine_has_enough(const struct lruvec *lruvec, const struct scan_control *sc);
void mglru_shrink_lruvec(struct task *t, struct lruvec *lruvec, struct scan_control *sc);
/* 6.1: kswapd ages every lruvec of its node that needs it before it evicts from any. */
void mglru_age_node(struct task *t, uint32_t node, struct scan_control *sc);

/* ---- mglru_reparent.c ---- */

void mglru_reparent(struct task *t, struct lruvec *from, struct lruvec *to, struct lru_turned *turned);
void mglru_reparent_prepare(struct task *t, struct lruvec *to);
bool mglru_reparent_ready(const struct lruvec *to);

/* ---- mglru_refault.c ---- */

shadow_t mglru_eviction(struct task *t, frame_t frame, struct memcg *target);
void mglru_refault(struct task *t, frame_t frame, shadow_t shadow, bool in_fault);

#endif
