/*
 * mglru_memcg_lru.h - the lruvecs of a node in order of use, for reclaim on behalf of the machine (6.12 on).
 *
 * Three generations of eight bins. kswapd evicts from the bins of the oldest; an lruvec that gave something
 * moves to the youngest, one that must be left alone for now to the tail of its generation, a dying one to
 * the head of the oldest. So not all cgroups have to be walked to find pages, and none is evicted twice
 * before the others had their turn. Kernel: struct lru_gen_memcg, include/linux/mmzone.h.
 */
#ifndef MODELS_RECLAIM_MGLRU_MEMCG_LRU_H
#define MODELS_RECLAIM_MGLRU_MEMCG_LRU_H

#include "models/reclaim/mglru.h"
#include "sim/engine/random.h"

#define MEMCG_LRU_GENS 3u
#define MEMCG_LRU_BINS 8u

enum memcg_lru_segment { SEGMENT_DEFAULT, SEGMENT_HEAD, SEGMENT_TAIL };

struct memcg_lru_bin {
	struct lruvec *head, *tail;
};

struct mglru_node {
	struct spinlock lock; /* pgdat->memcg_lru.lock */
	uint64_t seq;
	uint32_t nr[MEMCG_LRU_GENS];
	struct memcg_lru_bin bins[MEMCG_LRU_GENS][MEMCG_LRU_BINS];
	struct stream random;
};

struct mglru_machine { /* the policy's state */
	struct mglru_node *nodes;
};

struct mglru_node *mglru_node(struct host *host, uint32_t node);

enum memcg_lru_move { MOVE_NONE, MOVE_HEAD, MOVE_TAIL, MOVE_OLD, MOVE_YOUNG };

/* lru_gen_online_memcg(): the lruvec comes to be. Outside of tasks, or in a step. */
void memcg_lru_online(struct lruvec *lruvec);
void memcg_lru_offline(struct task *t, struct lruvec *lruvec); /* it is next to be reclaimed */
void memcg_lru_release(struct task *t, struct lruvec *lruvec);
/* lru_gen_rotate_memcg(). Takes the lock. */
void memcg_lru_rotate(struct task *t, struct lruvec *lruvec, enum memcg_lru_move move);
/* lru_gen_shrink_node(): a pass for the machine; false: this kernel walks all memcgs. */
bool mglru_shrink_node(struct task *t, uint32_t node, struct scan_control *sc);
/* Every lruvec stands where it says, and the counts agree. */
void memcg_lru_check(struct host *host, struct record *record);

#endif
