/*
 * mglru_shrink.c - a pass over an lruvec: how much to look at, when to age instead, when to stop; after
 * lru_gen_shrink_lruvec(), get_nr_to_scan() and should_abort_scan() of mm/vmscan.c.
 *
 * The work of a pass is the number of all pages, shifted right by the priority. So at the first priority, 12,
 * a group of less than 4096 pages is not looked at, and in a larger one the first batch of 64 is the whole
 * pass, however large it is. Aging is never done at the first priority; where it is needed, 6.1 ages and then
 * goes on with what it meant to do, later kernels leave the lruvec alone.
 */
#include "models/backing/backing.h"
#include "models/reclaim/mglru.h"
#include "models/reclaim/mglru_memcg_lru.h"

uint32_t mglru_swappiness(const struct lruvec *lruvec, const struct scan_control *sc)
{
	const struct host *host = lruvec_host(lruvec);
	uint32_t swappiness = host->reclaim->vm->swappiness;

	if (!can_reclaim_anon(host, lruvec->memcg, sc) || memcg_swap_room(host, lruvec->memcg) < MGLRU_BATCH)
		return 0;
	if (sc->may_swap)
		return swappiness;
	return sc->global && swappiness ? 1 : 0;
}

struct work_of_pass {
	uint64_t nr;
	bool leave, need_aging;
};

static uint64_t all_pages(const struct mglru *g, uint32_t swappiness)
{
	return mglru_total(g, LRU_FILE) + (swappiness ? mglru_total(g, LRU_ANON) : 0);
}

/* mem_cgroup_protection() as apply_proportional_protection() has it (6.18). */
static uint64_t unprotected(const struct memcg *m, const struct scan_control *sc, uint64_t nr)
{
	uint64_t protection = sc->low_reclaim || sc->emin > sc->elow ? sc->emin : sc->elow;
	uint64_t size = memcg_current(m);

	if (!protection)
		return nr;
	if (protection > size)
		size = protection;
	nr -= nr * protection / (size + 1);
	return nr > SWAP_CLUSTER_MAX ? nr : SWAP_CLUSTER_MAX;
}

/* should_abort_scan() for the machine: what was asked for, or for kswapd a node with room again. */
bool mglru_machine_has_enough(const struct lruvec *lruvec, const struct scan_control *sc)
{
	const struct host *host = lruvec_host(lruvec);
	enum watermark mark = sc->kswapd ? WMARK_HIGH : WMARK_LOW;

	if (mglru_era(host) == ERA_6_1)
		return sc->nr_reclaimed >= sc->nr_to_reclaim && sc->priority <= DEF_PRIORITY - 2 &&
		       node_all_above(host, lruvec->node, mark, 0);
	if (sc->nr_reclaimed >= sc->nr_to_reclaim)
		return true;
	return sc->kswapd && node_all_above(host, lruvec->node, WMARK_HIGH, MGLRU_BATCH);
}

static bool age(struct task *t, struct lruvec *lruvec, struct scan_control *sc, uint32_t swappiness)
{
	if (!mglru_age(t, lruvec, swappiness))
		return false;
	sc->walked = true;
	return true;
}

/* 6.1 */
static struct work_of_pass work_6_1(struct task *t, struct lruvec *lruvec, struct scan_control *sc,
				    uint32_t swappiness)
{
	const struct mglru *g = mglru_of(lruvec);
	enum mglru_need need = mglru_need_aging(g, ERA_6_1, swappiness);
	uint64_t all = all_pages(g, swappiness);
	/* What a removed cgroup has goes at once. */
	struct work_of_pass work = { .nr = memcg_online(lruvec->memcg) ? all >> sc->priority : all,
				     .need_aging = need != MGLRU_ENOUGH };

	if (need == MGLRU_ENOUGH)
		return work;
	if (sc->priority < DEF_PRIORITY) {
		if (sc->kswapd) /* that ages all lruvecs of the node before its passes */
			work.nr = 0;
		else if (age(t, lruvec, sc, swappiness))
			return work;
	}
	if (need == MGLRU_MUST_AGE)
		work.nr = 0;
	return work;
}

/* 6.12 and 6.18 */
static struct work_of_pass work_6_12(struct task *t, struct lruvec *lruvec, struct scan_control *sc,
				     uint32_t swappiness)
{
	const struct mglru *g = mglru_of(lruvec);
	enum mglru_era era = mglru_era(lruvec_host(lruvec));
	enum mglru_need need = mglru_need_aging(g, era, swappiness);
	uint64_t nr = need == MGLRU_MUST_AGE ? 0 : all_pages(g, swappiness);

	if (era == ERA_6_18)
		nr = unprotected(lruvec->memcg, sc, nr);
	if (nr && !memcg_online(lruvec->memcg))
		return (struct work_of_pass){ .nr = nr, .need_aging = need != MGLRU_ENOUGH };
	if (need == MGLRU_ENOUGH || sc->priority == DEF_PRIORITY)
		return (struct work_of_pass){ .nr = nr >> sc->priority, .need_aging = need != MGLRU_ENOUGH };
	return (struct work_of_pass){ .leave = age(t, lruvec, sc, swappiness), .need_aging = true };
}

/* 6.1: no second aging in a pass; what is swapped more than asked for makes the caller wait. */
static bool enough_6_1(const struct mglru *g, const struct scan_control *sc, uint64_t seq, bool swapped)
{
	return g->max_seq - seq > 1 || (swapped && sc->nr_reclaimed >= sc->nr_to_reclaim);
}

/*
 * All that eviction came to was dirty, and nobody writes it: 1bc542c6a0d1, 6.13 and 6.12.104. Before, nobody
 * was told, and a cgroup full of dirty pages is killed for it.
 */
static void wake_flusher(struct task *t, const struct scan_control *sc)
{
	if (mglru_era(sc->target->host) == ERA_6_1 || !sc->nr.unqueued_dirty ||
	    sc->nr.unqueued_dirty != sc->nr.file_taken)
		return;
	task_sync(t);
	writeback_wake(t);
}

bool mglru_pass(struct task *t, struct lruvec *lruvec, struct scan_control *sc)
{
	struct mglru *g = mglru_of(lruvec);
	bool is_6_1 = mglru_era(lruvec_host(lruvec)) == ERA_6_1, swapped = false;
	uint64_t seq = g->max_seq, reclaimed = sc->nr_reclaimed, scanned = 0;
	struct work_of_pass work;

	sc->walked = false;
	lru_add_drain(t);
	for (;;) {
		uint32_t swappiness = mglru_swappiness(lruvec, sc);
		uint64_t done;

		task_sync(t);
		work = (is_6_1 ? work_6_1 : work_6_12)(t, lruvec, sc, swappiness);
		done = work.nr ? mglru_evict(t, lruvec, sc, swappiness, &swapped) : 0;
		scanned += done;
		if (!done) {
			wake_flusher(t, sc);
			return work.leave;
		}
		if (scanned >= work.nr || (is_6_1 && enough_6_1(g, sc, seq, swapped)) ||
		    (sc->global && mglru_machine_has_enough(lruvec, sc)))
			break;
		cond_resched(t);
	}
	wake_flusher(t, sc);
	if (sc->nr_reclaimed - reclaimed >= MGLRU_BATCH && !work.need_aging)
		sc->memcgs_need_aging = false;
	return false;
}

static void age_one(struct task *t, struct lruvec *lruvec, const struct scan_control *sc)
{
	uint32_t swappiness = mglru_swappiness(lruvec, sc);

	if (mglru_need_aging(mglru_of(lruvec), ERA_6_1, swappiness) != MGLRU_ENOUGH)
		mglru_age(t, lruvec, swappiness);
}

/* age_lruvec(): nothing is aged that is below its min, as all are that have nothing. */
void mglru_age_node(struct task *t, uint32_t node, struct scan_control *sc)
{
	struct host *host = host_of(t);

	if (mglru_era(host) != ERA_6_1)
		return;
	if (!sc->memcgs_need_aging) {
		sc->memcgs_need_aging = true;
		return;
	}
	for (struct memcg *m = NULL; (m = memcg_walk(t, host->cgroups->root, m));) {
		struct lruvec *lruvec = m->lruvecs ? m->lruvecs[node] : NULL;

		task_sync(t);
		memcg_protection(host->cgroups->root, m, sc);
		if (!memcg_is_root(m) && sc->emin >= m->memory.usage) {
			m = pass_empty_at_once(t, m);
			continue;
		}
		if (lruvec)
			age_one(t, lruvec, sc);
	}
}

void mglru_shrink_lruvec(struct task *t, struct lruvec *lruvec, struct scan_control *sc)
{
	mglru_pass(t, lruvec, sc);
}
