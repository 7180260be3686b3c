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
#include "models/stat/decision.h"

/*
 * The lruvec's own node, recursive: as last flushed, which is lruvec_page_state(), or as it truly is.
 * Whatever is decided is decided on what was flushed; the other view says how often that was a mistake
 * (models/stat/decision.h).
 */
typedef int64_t view_fn(const struct memcg *m, uint32_t node, enum stat_item item);

static uint64_t look(view_fn *view, const struct lruvec *lruvec, enum stat_item item)
{
	int64_t value = view(lruvec->memcg, lruvec->node, item);

	return value > 0 ? (uint64_t)value : 0;
}

static bool inactive_is_low(view_fn *view, const struct lruvec *lruvec, enum lru_type type)
{
	uint64_t inactive = look(view, lruvec, type == LRU_ANON ? NR_INACTIVE_ANON : NR_INACTIVE_FILE);
	uint64_t active = look(view, lruvec, type == LRU_ANON ? NR_ACTIVE_ANON : NR_ACTIVE_FILE);
	uint64_t gb = (inactive + active) >> (30 - 12);
	uint64_t ratio = gb ? (uint64_t)sqrt((double)(10 * gb)) : 1;

	return inactive * ratio < active;
}

static bool may_deactivate(view_fn *view, const struct lruvec *target, enum lru_type type,
			   const struct scan_control *sc, const int64_t refaults[2])
{
	return sc->force_deactivate ||
	       (int64_t)look(view, target, WORKINGSET_ACTIVATE_ANON + type) != refaults[type] ||
	       inactive_is_low(view, target, type);
}

/* Global reclaim: is there so little cache that taking it would only make it be read again? */
static bool file_is_tiny(view_fn *view, const struct lruvec *root, const struct scan_control *sc,
			 const bool deactivate[2])
{
	const struct host *host = root->memcg->host;
	uint64_t file = look(view, root, NR_ACTIVE_FILE) + look(view, root, NR_INACTIVE_FILE);

	return file + node_free(host, root->node) <= node_watermark(host, root->node, WMARK_HIGH) &&
	       !deactivate[LRU_ANON] && look(view, root, NR_INACTIVE_ANON) >> sc->priority;
}

/* prepare_scan_count(), on the numbers of one view. */
struct choice {
	bool deactivate[2], trim, tiny;
};

static struct choice choose(view_fn *view, const struct lruvec *target, const struct scan_control *sc,
			    const int64_t refaults[2])
{
	struct choice c;

	for (enum lru_type type = LRU_ANON; type <= LRU_FILE; type++)
		c.deactivate[type] = may_deactivate(view, target, type, sc, refaults);
	c.trim = look(view, target, NR_INACTIVE_FILE) >> sc->priority && !c.deactivate[LRU_FILE];
	c.tiny = sc->global && file_is_tiny(view, target, sc, c.deactivate);
	return c;
}

static uint64_t off_by(const struct lruvec *target, enum stat_item item)
{
	int64_t off = stat_reported_node(target->memcg, target->node, item) -
		      stat_truth_node(target->memcg, target->node, item);

	return (uint64_t)(off < 0 ? -off : off);
}

static void compare(const struct lruvec *target, const struct scan_control *sc, const struct choice *done)
{
	struct host *host = target->memcg->host;
	struct choice right = choose(stat_truth_node, target, sc, classic_of(target)->true_refaults);

	decision_taken(host, DECISION_DEACTIVATE_ANON, done->deactivate[LRU_ANON], right.deactivate[LRU_ANON],
		       off_by(target, NR_INACTIVE_ANON));
	decision_taken(host, DECISION_DEACTIVATE_FILE, done->deactivate[LRU_FILE], right.deactivate[LRU_FILE],
		       off_by(target, NR_INACTIVE_FILE));
	decision_taken(host, DECISION_CACHE_TRIM, done->trim, right.trim, off_by(target, NR_INACTIVE_FILE));
	if (sc->global)
		decision_taken(host, DECISION_FILE_IS_TINY, done->tiny, right.tiny,
			       off_by(target, NR_INACTIVE_FILE));
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
	struct choice choice = choose(stat_reported_node, target, sc, c->refaults);

	compare(target, sc, &choice);
	for (enum lru_type type = LRU_ANON; type <= LRU_FILE; type++)
		sc->may_deactivate[type] = choice.deactivate[type];
	sc->cache_trim = choice.trim;
	sc->file_is_tiny = choice.tiny;
}

void classic_end_call(struct task *t, struct lruvec *target, struct scan_control *sc)
{
	struct classic *c = classic_of(target);

	(void)sc;
	task_sync(t);
	for (enum lru_type type = LRU_ANON; type <= LRU_FILE; type++) {
		enum stat_item item = WORKINGSET_ACTIVATE_ANON + type;

		c->refaults[type] = (int64_t)look(stat_reported_node, target, item);
		c->true_refaults[type] = (int64_t)look(stat_truth_node, target, item);
	}
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

/* Of a removed cgroup something is scanned at any priority: nobody will use it, and it keeps the cgroup. */
static uint64_t share_of(const struct lruvec *lruvec, uint64_t size, const struct scan_control *sc)
{
	uint64_t nr = size >> sc->priority;

	if (!nr && !memcg_online(lruvec->memcg))
		nr = size < SWAP_CLUSTER_MAX ? size : SWAP_CLUSTER_MAX;
	return nr;
}

static void scan_count(const struct lruvec *lruvec, struct scan_control *sc, uint64_t nr[NR_LRU_LISTS])
{
	struct balance b = scan_balance(lruvec, sc);
	uint64_t sum = b.fraction[LRU_ANON] + b.fraction[LRU_FILE];
	uint64_t round_up = memcg_online(lruvec->memcg) ? 0 : sum - 1;

	for (enum lru_list lru = LRU_INACTIVE_ANON; lru <= LRU_ACTIVE_FILE; lru++) {
		enum lru_type type = classic_type(lru);

		nr[lru] = share_of(
			lruvec, unprotected(lruvec->lru_zone_size[lru], lruvec->memcg->memory.usage, sc), sc);
		if (b.fract)
			nr[lru] = (nr[lru] * b.fraction[type] + round_up) / sum;
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
	if (swap_present(lruvec->memcg->host) && inactive_is_low(stat_reported_node, lruvec, LRU_ANON))
		classic_shrink_active(t, lruvec, LRU_ACTIVE_ANON, SWAP_CLUSTER_MAX, sc);
}

void classic_age_node(struct task *t, uint32_t node, struct scan_control *sc)
{
	struct memcg *root = sc->target;

	task_sync(t);
	if (!swap_present(root->host) ||
	    !inactive_is_low(stat_reported_node, memcg_lruvec(root, node), LRU_ANON))
		return;
	for (struct memcg *m = NULL; (m = memcg_walk(t, root, m));) {
		classic_shrink_active(t, memcg_lruvec(m, node), LRU_ACTIVE_ANON, SWAP_CLUSTER_MAX, sc);
		task_sync(t);
	}
}
