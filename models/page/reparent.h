/*
 * reparent.h - lru_reparent: what becomes of the LRU pages of a cgroup that is removed.
 */
#ifndef MODELS_PAGE_REPARENT_H
#define MODELS_PAGE_REPARENT_H

#include "models/cgroup/memcg.h"

struct scenario;
struct complaints;

/*
 * memcg_reparent_objcgs(): all that m pays for is its parent's from now on, kernel objects always, pages with
 * lru_reparent: at_offline. In css_offline().
 */
void memcg_reparent_owners(struct task *t, struct memcg *m);
void reparent_check(const struct scenario *s, struct complaints *c);
void reparent_build(struct host *host); /* before the first cgroup */

#endif
