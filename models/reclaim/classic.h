/*
 * classic.h - what the classic LRU keeps of an lruvec: an active and an inactive list for anonymous and for
 * file pages, and the age by which it judges refaults.
 */
#ifndef MODELS_RECLAIM_CLASSIC_H
#define MODELS_RECLAIM_CLASSIC_H

#include "models/reclaim/reclaim_impl.h"

struct classic {
	struct page_list lists[NR_LRU_LISTS];
	uint64_t nonresident_age; /* of the memcg and everything below it */
	uint64_t own_age;         /* of that, what happened in the memcg itself, and in any that are gone */
	uint64_t cost[2];         /* anon_cost, file_cost */
	int64_t true_refaults[2]; /* the same, had everything been flushed */
	int64_t refaults[2];      /* WORKINGSET_ACTIVATE_* as seen at the end of the last call */
};

static inline struct classic *classic_of(const struct lruvec *lruvec)
{
	return lruvec->policy;
}

static inline enum lru_type classic_type(enum lru_list lru)
{
	return lru >= LRU_INACTIVE_FILE ? LRU_FILE : LRU_ANON;
}
static inline bool classic_is_active(enum lru_list lru)
{
	return lru == LRU_ACTIVE_ANON || lru == LRU_ACTIVE_FILE;
}

/* ---- classic_lists.c ---- */

enum lru_list classic_list(const struct page *page);
/* Onto the head of the list that its flags name, and off it: with the statistics. Under the lock. */
void classic_list_add(struct task *t, struct lruvec *lruvec, frame_t frame);
void classic_list_del(struct task *t, struct lruvec *lruvec, frame_t frame);
void classic_add(struct task *t, struct lruvec *lruvec, frame_t frame);
void classic_del(struct task *t, struct lruvec *lruvec, frame_t frame);
void classic_activate(struct task *t, struct lruvec *lruvec, frame_t frame);
void classic_rotate(struct task *t, struct lruvec *lruvec, frame_t frame);
void classic_mark_accessed(struct task *t, struct host *host, frame_t frame);
uint64_t classic_size(const struct lruvec *lruvec, enum lru_list lru);
void classic_check(const struct lruvec *lruvec, struct record *record);
/* workingset_age_nonresident(): the lruvec and those of all ancestors. In a step. */
void classic_age(struct lruvec *lruvec, uint64_t nr);
void classic_reparent(struct task *t, struct lruvec *from, struct lruvec *to, struct lru_turned *turned);
void classic_release(struct task *t, struct lruvec *lruvec);

/* ---- classic_scan.c ---- */

void classic_begin_pass(struct task *t, struct lruvec *target, struct scan_control *sc);
void classic_age_node(struct task *t, uint32_t node, struct scan_control *sc);
void classic_end_call(struct task *t, struct lruvec *target, struct scan_control *sc);
void classic_shrink_lruvec(struct task *t, struct lruvec *lruvec, struct scan_control *sc);

/* ---- classic_shrink.c: nr pages of a list, at most SWAP_CLUSTER_MAX ---- */

uint64_t classic_shrink_inactive(struct task *t, struct lruvec *lruvec, enum lru_list lru, uint32_t nr,
				 struct scan_control *sc);
void classic_shrink_active(struct task *t, struct lruvec *lruvec, enum lru_list lru, uint32_t nr,
			   struct scan_control *sc);
/* lru_note_cost(): pages written or read again, and pages that were scanned in vain. */
void classic_note_cost(struct task *t, struct lruvec *lruvec, enum lru_type type, uint64_t io,
		       uint64_t rotated);

/* ---- classic_refault.c ---- */

shadow_t classic_eviction(struct task *t, frame_t frame, struct memcg *target);
void classic_refault(struct task *t, frame_t frame, shadow_t shadow, bool in_fault);

#endif
