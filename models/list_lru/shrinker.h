/*
 * shrinker.h - who gives memory of the kernel's own back when reclaim asks: struct shrinker, mm/shrinker.c.
 *
 * A memcg has a bit for each shrinker on each node, and reclaim calls only those whose bit is set; the first
 * item of a list_lru sets it, and a shrinker that says it has nothing at all clears it. The root has no bits:
 * there reclaim calls all.
 */
#ifndef MODELS_LIST_LRU_SHRINKER_H
#define MODELS_LIST_LRU_SHRINKER_H

#include "models/cgroup/memcg.h"

#define SHRINK_EMPTY UINT64_MAX /* count: there is nothing, not even something that is not freeable */
#define SHRINK_BATCH 128u

struct shrinker {
	const char *name;
	uint32_t id;           /* shrinker_register() */
	uint32_t seeks, batch; /* seeks 0: half of what is freeable, whatever the priority; batch 0: 128 */
	/* Freeable; 0: nothing to do now. */
	uint64_t (*count)(struct task *t, const struct shrinker *s, struct memcg *m, uint32_t node);
	/* Looks at nr objects and gives back what it can of them. */
	void (*scan)(struct task *t, const struct shrinker *s, struct memcg *m, uint32_t node, uint64_t nr);
	void *owner; /* the shrinker's own */
};

void shrinker_register(struct host *host, struct shrinker *s);
/* An item of m on that node is on a list of the shrinker's now. In a step. */
void set_shrinker_bit(struct memcg *m, uint32_t node, const struct shrinker *s);
bool shrinker_bit(const struct memcg *m, uint32_t node, const struct shrinker *s);

/* shrink_slab() of one (memcg, node) at a priority. */
void shrink_slab(struct task *t, struct memcg *m, uint32_t node, int priority);
/* The core of one shrinker; *deferred is its nr_deferred there. Returns SHRINK_EMPTY, or what was scanned. */
uint64_t do_shrink_slab(struct task *t, const struct shrinker *s, struct memcg *m, uint32_t node,
			int priority, uint64_t *deferred);

/* reparent_shrinker_deferred(): what m owes its parent owes now. m has no bits any more. In a step. */
void reparent_shrinker_deferred(struct memcg *m);

#endif
