/*
 * classic_scan.c - how much of which list: prepare_scan_count(), get_scan_count() and shrink_lruvec() of
 * mm/vmscan.c, Linux 6.1.
 *
 * Two kinds of numbers meet here, and which is which decides what a model shows: the sizes that are divided
 * by the priority are exact (lru_zone_size), while the decisions (is an active list too long, is there cache
 * enough to spare anonymous memory) rest on statistics as they were last flushed.
 */
#include <math.h>

#include "models/backing/backing.h"
#include "models/reclaim/classic.h"

/* The target's own node, recursive, as last flushed: lruvec_page_state(). */
static uint64_t seen(const struct lruvec *lruvec, enum stat_item item)
{
	int64_t value = stat_reported_node(lruvec->memcg, lruvec->node, item);

	return value > 0 ? (uint64_t)value : 0;
}

static bool inactive_is_low(const struct lruvec *lruvec, enum lru_type type)
{
	uint64_t inactive = seen(lruvec, type == LRU_ANON ? NR_INACTIVE_ANON : NR_INACTIVE_FILE);
	uint64_t active = seen(lruvec, type == LRU_ANON ? NR_ACTIVE_ANON : NR_ACTIVE_FILE);
	uint64_t gb = (inactive + active) >> (30 - 12);
	uint64_t ratio = gb ? (uint64_t)sqrt((double)(10 * gb)) : 1;

	return inactive * ratio < active;
}

static bool refaults_changed(const struct lruvec *target, enum lru_type type)
{
	return (int64_t)seen(target, WORKINGSET_ACTIVATE_ANON + type) != classic_of(target)->refaults[type];
}

/* Global reclaim: is there so little cache that taking it would only make it be read again? */
static bool file_is_tiny(const struct host *host, const struct lruvec *root, const struct scan_control *sc)
{
	uint64_t file = seen(root, NR_ACTIVE_FILE) + seen(root, NR_INACTIVE_FILE);

	return file + node_free(host, root->node) <= node_watermark(host, root->node, WMARK_HIGH) &&
	       !sc->may_deactivate[LRU_ANON] && seen(root, NR_INACTIVE_ANON) >> sc->priority;
}

void classic_begin_pass(struct task *t, struct lruvec *target, struct scan_control *sc)
{
	const struct classic *c = classic_of(target);

	stat_flush(t, target->memcg, FLUSH_RECLAIM);
	spin_lock_irq(t, target->lock);
	sc->anon_cost = c->cost[LRU_ANON];
	sc->file_cost = c->cost[LRU_FILE];
	spin_unlock_irq(t, target->lock);
	task_sync(t);
	for (enum lru_type type = LRU_ANON; type <= LRU_FILE; type++)
		sc->may_deactivate[type] = sc->force_deactivate || refaults_changed(target, type) ||
					   inactive_is_low(target, type);
	sc->cache_trim = seen(target, NR_INACTIVE_FILE) >> sc->priority && !sc->may_deactivate[LRU_FILE];
	sc->file_is_tiny = sc->global && file_is_tiny(target->memcg->host, target, sc);
}

void classic_end_call(struct task *t, struct lruvec *target, struct scan_control *sc)
{
	(void)sc;
	task_sync(t);
	for (enum lru_type type = LRU_ANON; type <= LRU_FILE; type++)
		classic_of(target)->refaults[type] = (int64_t)seen(target, WORKINGSET_ACTIVATE_ANON + type);
}

/* ---- get_scan_count() ---- */

/* Parts of each list that are scanned: fraction[type] of their sum, or one type alone, or both whole. */
struct balance {
	bool only[2]; /* nothing but this type */
	bool fract;
	uint64_t fraction[2];
};

static struct balance scan_balance(const struct lruvec *lruvec, const struct scan_control *sc)
{
	const struct host *host = lruvec->memcg->host;
	uint64_t swappiness = host->reclaim->vm->swappiness;
	struct balance b = { 0 };

	if (!can_reclaim_anon(host, lruvec->memcg, sc) || (!sc->global && !swappiness)) {
		b.only[LRU_FILE] = true;
	} else if (!sc->priority && swappiness) {
		return b;
	} else if (sc->file_is_tiny) {
		b.only[LRU_ANON] = true;
	} else if (sc->cache_trim) {
		b.only[LRU_FILE] = true;
	} else {
		uint64_t total = sc->anon_cost + sc->file_cost;
		uint64_t anon = total + sc->anon_cost, file = total + sc->file_cost;

		b.fract = true;
		b.fraction[LRU_ANON] = swappiness * (anon + file + 1) / (anon + 1);
		b.fraction[LRU_FILE] = (200 - swappiness) * (anon + file + 1) / (file + 1);
	}
	return b;
}

/* What protection leaves of a list. */
static uint64_t unprotected(uint64_t size, uint64_t usage, struct scan_control *sc)
{
	uint64_t protection = sc->emin;

	if (!sc->emin && !sc->elow)
		return size;
	if (!sc->low_reclaim && sc->elow > sc->emin) {
		protection = sc->elow;
		sc->low_skipped = true;
	}
	if (usage < protection)
		usage = protection;
	size -= (uint64_t)((unsigned __int128)size * protection / (usage + 1));
	return size > SWAP_CLUSTER_MAX ? size : SWAP_CLUSTER_MAX;
}

static void scan_count(const struct lruvec *lruvec, struct scan_control *sc, uint64_t nr[NR_LRU_LISTS])
{
	struct balance b = scan_balance(lruvec, sc);

	for (enum lru_list lru = LRU_INACTIVE_ANON; lru <= LRU_ACTIVE_FILE; lru++) {
		enum lru_type type = classic_type(lru);

		nr[lru] = unprotected(lruvec->lru_zone_size[lru], lruvec->memcg->memory.usage, sc) >>
			  sc->priority;
		if (b.fract)
			nr[lru] = nr[lru] * b.fraction[type] / (b.fraction[LRU_ANON] + b.fraction[LRU_FILE]);
		else if (b.only[!type])
			nr[lru] = 0;
	}
}

/* ---- shrink_lruvec() ---- */

static uint64_t shrink_list(struct task *t, struct lruvec *lruvec, enum lru_list lru, uint32_t nr,
			    struct scan_control *sc)
{
	if (!classic_is_active(lru))
		return classic_shrink_inactive(t, lruvec, lru, nr, sc);
	if (sc->may_deactivate[classic_type(lru)])
		classic_shrink_active(t, lruvec, lru, nr, sc);
	else
		sc->skipped_deactivate = true;
	return 0;
}

/* What is left of a list's target when its type is to be scanned no further than the other has been. */
static uint64_t proportional(uint64_t target, uint64_t left, uint64_t percent)
{
	uint64_t scanned = target - left, want = target * (100 - percent) / 100;

	return want > scanned ? want - scanned : 0;
}

/*
 * The target is reached. The type with less left is scanned no more, the other as far as that one has come;
 * false: one of them has nothing left, so all is done.
 */
static bool rebalance(const uint64_t targets[NR_LRU_LISTS], uint64_t nr[NR_LRU_LISTS])
{
	uint64_t left[2] = { nr[LRU_INACTIVE_ANON] + nr[LRU_ACTIVE_ANON],
			     nr[LRU_INACTIVE_FILE] + nr[LRU_ACTIVE_FILE] };
	enum lru_type less = left[LRU_FILE] > left[LRU_ANON] ? LRU_ANON : LRU_FILE;
	enum lru_list base = 2 * (enum lru_list)less, other = 2 * (enum lru_list) !less;
	uint64_t percent;

	if (!left[LRU_ANON] || !left[LRU_FILE])
		return false;
	percent = left[less] * 100 / (targets[base] + targets[base + 1] + 1);
	nr[base] = nr[base + 1] = 0;
	for (enum lru_list lru = other; lru <= other + 1; lru++)
		nr[lru] = proportional(targets[lru], nr[lru], percent);
	return true;
}

void classic_shrink_lruvec(struct task *t, struct lruvec *lruvec, struct scan_control *sc)
{
	bool whole = sc->global && !sc->kswapd && sc->priority == DEF_PRIORITY;
	uint64_t nr[NR_LRU_LISTS], targets[NR_LRU_LISTS], reclaimed = 0;

	scan_count(lruvec, sc, nr);
	for (enum lru_list lru = 0; lru <= LRU_ACTIVE_FILE; lru++)
		targets[lru] = nr[lru];
	while (nr[LRU_INACTIVE_ANON] || nr[LRU_ACTIVE_FILE] || nr[LRU_INACTIVE_FILE]) {
		for (enum lru_list lru = 0; lru <= LRU_ACTIVE_FILE; lru++) {
			uint32_t now = nr[lru] < SWAP_CLUSTER_MAX ? (uint32_t)nr[lru] : SWAP_CLUSTER_MAX;

			nr[lru] -= now;
			if (now)
				reclaimed += shrink_list(t, lruvec, lru, now, sc);
		}
		cond_resched(t);
		if (reclaimed >= sc->nr_to_reclaim && !whole && !rebalance(targets, nr))
			break;
	}
	sc->nr_reclaimed += reclaimed;
	task_sync(t);
	if (swap_present(lruvec->memcg->host) && inactive_is_low(lruvec, LRU_ANON))
		classic_shrink_active(t, lruvec, LRU_ACTIVE_ANON, SWAP_CLUSTER_MAX, sc);
}

void classic_age_node(struct task *t, uint32_t node, struct scan_control *sc)
{
	struct memcg *root = sc->target;

	task_sync(t);
	if (!swap_present(root->host) || !inactive_is_low(memcg_lruvec(root, node), LRU_ANON))
		return;
	for (struct memcg *m = NULL; (m = memcg_next(root, m));)
		classic_shrink_active(t, memcg_lruvec(m, node), LRU_ACTIVE_ANON, SWAP_CLUSTER_MAX, sc);
}
