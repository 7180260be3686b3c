/*
 * mglru_reparent.c - generations of a removed cgroup become its parent's, after max_lru_gen_memcg(),
 * recheck_lru_gen_max_memcg() and lru_gen_reparent_memcg() of mm/vmscan.c, Linux 7.1.
 *
 * Lists are matched by their number modulo 4 and not by age: the child's youngest may well be the parent's
 * oldest. That needs all four to exist at the parent, which is why it is aged until they do, without a
 * look at page tables: what it held in its oldest generation moves on, and its hot pages look colder than
 * they were. Where a list counts as active for one of the two and not for the other, its pages change the
 * counter.
 */
#include "models/reclaim/mglru.h"

bool mglru_reparent_ready(const struct lruvec *to)
{
	const struct mglru *g = mglru_of(to);

	return mglru_nr_gens(g, LRU_ANON) == MGLRU_GENS && mglru_nr_gens(g, LRU_FILE) == MGLRU_GENS;
}

void mglru_reparent_prepare(struct task *t, struct lruvec *to)
{
	task_sync(t);
	while (!mglru_reparent_ready(to)) {
		mglru_inc_max_seq(t, to, lruvec_host(to)->reclaim->vm->swappiness);
		task_sync(t);
	}
}

void mglru_reparent(struct task *t, struct lruvec *from, struct lruvec *to, struct lru_turned *turned)
{
	struct host *host = lruvec_host(from);
	struct mglru *child = mglru_of(from), *parent = mglru_of(to);

	for (uint32_t gen = 0; gen < MGLRU_GENS; gen++)
		for (enum lru_type type = LRU_ANON; type <= LRU_FILE; type++) {
			bool was = mglru_is_active(child, gen);
			int64_t nr = child->nr_pages[gen][type];

			for (uint32_t zone = 0; zone < MGLRU_ZONES; zone++)
				page_list_splice(host->pages->pages, &child->lists[gen][type][zone],
						 &parent->lists[gen][type][zone]);
			cpu_defer(t, MGLRU_ZONES * host->costs->lru_add);
			parent->nr_pages[gen][type] += nr;
			parent->moving[gen][type] += child->moving[gen][type];
			child->nr_pages[gen][type] = child->moving[gen][type] = 0;
			if (was != mglru_is_active(parent, gen))
				turned->from[2 * type + was] += (uint32_t)nr;
		}
}
