/*
 * summed.h - what the update rules from before rstat share: stat_update walk, batch_local, batch_hier.
 *
 * They have no updated tree and no flush. Values move only when a batch spills, and when a reader adds up.
 */
#ifndef MODELS_STAT_SUMMED_H
#define MODELS_STAT_SUMMED_H

#include "models/stat/stat_impl.h"

/* The line of a memcg's atomic counter of the item. */
struct line *summed_line(struct memcg *m, enum stat_item item);
void summed_release(struct memcg *m);

/* |the CPU's part| > MEMCG_CHARGE_BATCH */
static inline bool summed_batch_full(const struct stat_pair *pair, enum stat_item item)
{
	int64_t delta = pair->delta[item];

	return delta > (int64_t)pair->memcg->host->charge_batch ||
	       delta < -(int64_t)pair->memcg->host->charge_batch;
}

/* The subtree of `root`, children before parents, starting from NULL. */
static inline struct memcg *summed_next(struct memcg *root, struct memcg *m)
{
	if (m == root)
		return NULL;
	if (m && m->next_sibling)
		m = m->next_sibling;
	else if (m)
		return m->parent;
	else
		m = root;
	while (m->first_child)
		m = m->first_child;
	return m;
}

#endif
