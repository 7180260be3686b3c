/*
 * siblings.h - where in a long row of siblings there is something to do.
 *
 * Reclaim comes by every cgroup below its target, and a row of tens of thousands that are removed and hold
 * nothing is most of what a full machine walks over. The simulated walk takes its time for each of them; the
 * simulator asks here how many there are up to the next that has something, and need not look at any.
 */
#ifndef MODELS_CGROUP_SIBLINGS_H
#define MODELS_CGROUP_SIBLINGS_H

#include "models/cgroup/memcg.h"

/*
 * Of those that follow m in its row, before the first that has pages charged or cgroups below it, up to
 * `most` that can be held: the last of them, and in *nr how many. NULL: none, or the row is short.
 */
struct memcg *siblings_empty_after(struct memcg *m, uint64_t most, uint64_t *nr);

/* What the row has to know of. */
void siblings_join(struct memcg *m);    /* it is now the last of its parent's children */
void siblings_leave(struct memcg *m);   /* it is none of them any more */
void siblings_changed(struct memcg *m); /* it can be held no more, or has got or lost its only child */

#endif
