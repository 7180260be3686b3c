/*
 * life_results.c - cgroups that come and go, as results: cgroup.stat, how long removal takes, and what is
 * left of cgroups that hold nothing alive.
 *
 * Leftovers are of three kinds, which call for different remedies: live but empty ones, which somebody has to
 * remove; dying ones that reclaim frees; dying ones that it cannot free.
 */
#include "models/cgroup/life_impl.h"
#include "models/page/page.h"
#include "models/reclaim/reclaim.h"
#include "sim/module.h"

enum {
	DESCENDANTS,
	DYING,
	MADE,
	REMOVED,
	FREED,
	REFUSED,
	REFUSED_AT,
	OFFLINE,
	DYING_TIME,
	EMPTY,
	RECLAIMABLE,
	PINNED
};

static const struct metric metrics[] = {
	[DESCENDANTS] = { "nr_descendants", "1", METRIC_GAUGE, "cgroups below it that are visible" },
	[DYING] = { "nr_dying_descendants", "1", METRIC_GAUGE,
		    "cgroups below it that are removed and not released" },
	[MADE] = { "cgroup.made", "1", METRIC_COUNTER, "mkdir that succeeded during the run" },
	[REMOVED] = { "cgroup.removed", "1", METRIC_COUNTER, "rmdir that succeeded" },
	[FREED] = { "cgroup.freed", "1", METRIC_COUNTER, "removed cgroups that are released" },
	[REFUSED] = { "cgroup.refused", "1", METRIC_COUNTER, "mkdir and rmdir that failed, by reason" },
	[REFUSED_AT] = { "cgroup.refused_at", "ns", METRIC_GAUGE,
			 "date of the first of these, since the start of the simulation" },
	[OFFLINE] = { "cgroup.offline_latency", "ns", METRIC_DISTRIBUTION,
		      "all: from rmdir until the cgroup is offline: grace period, queue, cgroup_mutex; "
		      "css_offline: the last part of it, with the mutex held" },
	[DYING_TIME] = { "cgroup.dying_time", "ns", METRIC_DISTRIBUTION,
			 "from rmdir until it no longer counts as dying; of those that came so far" },
	[EMPTY] = { "cgroup.leftover.empty", "1", METRIC_GAUGE,
		    "live cgroups without tasks, children and pages" },
	[RECLAIMABLE] = { "cgroup.leftover.reclaimable", "1", METRIC_GAUGE,
			  "dying cgroups kept only by pages that reclaim can take" },
	[PINNED] = { "cgroup.leftover.pinned", "1", METRIC_GAUGE,
		     "dying cgroups kept by what reclaim cannot take" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(life_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "life",
	.help = "cgroups that come and go",
	.ops = &table,
};

/* As the system call reports it, and why. */
static const char *const reasons[NR_CGROUP_ERRORS] = {
	[CGROUP_NO_ID] = "ENOSPC: no id",   [CGROUP_NO_PAGE] = "ENOMEM: no page left",
	[CGROUP_LIMITED] = "ENOMEM: limit", [CGROUP_BUSY] = "EBUSY",
	[CGROUP_GONE] = "ENODEV",
};

/* The first of its kind is an event: a row among the samples at that time, and a date. */
void life_refused(struct host *host, enum cgroup_error error, sim_time_t now)
{
	struct cgroup_life *life = host->cgroups->life;

	if (life->refused[error]++ || error == CGROUP_OK)
		return;
	life->refused_at[error] = now;
	record_sample(host->run->record, &metrics[REFUSED], reasons[error], now, 1);
}

/* Pages on lists of their own that reclaim would look at; mlocked ones are on none of these. */
static uint64_t evictable(const struct memcg *m)
{
	const struct reclaim_ops *ops = reclaim_ops(m->host);
	bool anon = memcg_swap_room(m->host, m) > 0;
	uint64_t nr = 0;

	for (uint32_t node = 0; m->lruvecs && node < m->host->nr_nodes; node++) {
		const struct lruvec *lruvec = m->lruvecs[node];

		if (!lruvec)
			continue;
		nr += ops->size(lruvec, LRU_INACTIVE_FILE) + ops->size(lruvec, LRU_ACTIVE_FILE);
		if (anon)
			nr += ops->size(lruvec, LRU_INACTIVE_ANON) + ops->size(lruvec, LRU_ACTIVE_ANON);
	}
	return nr;
}

static bool is_empty(const struct memcg *m)
{
	return !m->tasks && !m->first_child && m->nr_charged == m->nr_kmem;
}

/*
 * Pages in folio batches are on no list yet, but nothing keeps them from getting there. Cgroups below it, all
 * of which are removed, keep it as long as they are kept.
 */
static bool is_reclaimable(const struct memcg *m, const bool *batched)
{
	if (m->nr_pins || m->nr_swap || !(m->nr_children || batched[m->id] || evictable(m)))
		return false;
	for (const struct memcg *child = m->first_child; child; child = child->next_sibling)
		if (child->life == MEMCG_OFFLINE && !is_reclaimable(child, batched))
			return false;
	return true;
}

/* Whose pages are on their way to a list. */
static void find_batched(const struct host *host, bool *batched)
{
	for (uint32_t cpu = 0; cpu < host->nr_cpus; cpu++) {
		const struct folio_batch *batch = &host->pages->cpus[cpu].add;

		for (uint32_t i = 0; i < batch->nr; i++)
			batched[host->pages->pages[batch->frames[i]].memcg] = true;
	}
}

struct cgroup_leftovers cgroup_leftovers(const struct host *host)
{
	bool *batched = sim_alloc(host->sim, host->cgroups->nr * sizeof *batched);
	struct cgroup_leftovers l = { 0 };
	struct memcg *m;

	find_batched(host, batched);
	for (uint32_t i = 1; (m = memcg_at(host->cgroups, &i)); i++)
		if (m->life == MEMCG_ONLINE)
			l.empty += is_empty(m);
		else if (m->life != MEMCG_OFFLINE)
			l.passing++;
		else if (is_reclaimable(m, batched))
			l.reclaimable++;
		else
			l.pinned++;
	sim_free(host->sim, batched, host->cgroups->nr * sizeof *batched);
	return l;
}

static void sample(struct record *record, const struct memcg *m, sim_time_t now)
{
	record_sample(record, &metrics[DESCENDANTS], m->path, now, m->nr_descendants);
	record_sample(record, &metrics[DYING], m->path, now, m->nr_dying_descendants);
}

/* Where nothing comes or goes there is nothing to show. */
static bool is_used(const struct cgroup_life *life)
{
	return life->made || life->removed || life->refused[CGROUP_NO_ID] || life->refused[CGROUP_NO_PAGE] ||
	       life->refused[CGROUP_LIMITED];
}

void life_sample(struct host *host, sim_time_t now)
{
	struct record *record = host->run->record;
	struct memcg *root = host->cgroups->root;
	struct cgroup_leftovers l;

	if (!is_used(host->cgroups->life))
		return;
	sample(record, root, now);
	for (struct memcg *m = root->first_child; m; m = m->next_sibling)
		if (!m->transient)
			sample(record, m, now);
	l = cgroup_leftovers(host);
	record_sample(record, &metrics[EMPTY], "all", now, l.empty);
	record_sample(record, &metrics[RECLAIMABLE], "all", now, l.reclaimable);
	record_sample(record, &metrics[PINNED], "all", now, l.pinned);
}

/* I20, and that every removed cgroup is kept by something or on its way. */
static void check(struct host *host, struct record *record)
{
	uint32_t nr;
	struct memcg **order = memcg_order(host, &nr);
	uint32_t *dying = sim_alloc(host->sim, host->cgroups->nr * sizeof *dying);
	struct memcg *m;

	for (uint32_t i = 1; (m = memcg_at(host->cgroups, &i)); i++)
		for (struct memcg *above = m->parent; m->end && above; above = above->parent)
			dying[above->id]++;
	while (nr--) {
		m = order[nr];
		/* Between the two last steps of a cgroup's end it is not dying, but still there. */
		record_invariant(record, "I20", m->nr_dying_descendants <= dying[m->id],
				 "%s: nr_dying_descendants %u, but %u are removed", m->path,
				 m->nr_dying_descendants, dying[m->id]);
	}
	sim_free(host->sim, dying, host->cgroups->nr * sizeof *dying);
	sim_free(host->sim, order, host->cgroups->nr * sizeof(*order));
}

void life_finish(struct host *host)
{
	struct cgroup_life *life = host->cgroups->life;
	struct record *record = host->run->record;
	struct cgroup_leftovers l;
	struct memcg *m;

	check(host, record);
	if (!is_used(life))
		return;
	for (uint32_t i = 0; (m = memcg_at(host->cgroups, &i)); i++) {
		if (m->transient || m->depth > 1)
			continue;
		record_summary(record, &metrics[DESCENDANTS], m->path, m->nr_descendants);
		record_summary(record, &metrics[DYING], m->path, m->nr_dying_descendants);
	}
	record_summary(record, &metrics[MADE], "all", (double)life->made);
	record_summary(record, &metrics[REMOVED], "all", (double)life->removed);
	record_summary(record, &metrics[FREED], "all", (double)life->freed);
	for (int i = CGROUP_OK + 1; i < NR_CGROUP_ERRORS; i++)
		if (life->refused[i]) {
			record_summary(record, &metrics[REFUSED], reasons[i], (double)life->refused[i]);
			record_summary(record, &metrics[REFUSED_AT], reasons[i],
				       sim_nanoseconds(life->refused_at[i]));
		}
	if (life->offline.count)
		record_histogram(record, &metrics[OFFLINE], "all", &life->offline);
	if (life->css_offline.count)
		record_histogram(record, &metrics[OFFLINE], "css_offline", &life->css_offline);
	if (life->dying.count)
		record_histogram(record, &metrics[DYING_TIME], "all", &life->dying);
	l = cgroup_leftovers(host);
	record_summary(record, &metrics[EMPTY], "all", l.empty);
	record_summary(record, &metrics[RECLAIMABLE], "all", l.reclaimable);
	record_summary(record, &metrics[PINNED], "all", l.pinned);
}
