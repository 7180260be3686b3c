/*
 * release.c - the end of a cgroup's statistics, after css_release_work_fn() and cgroup_rstat_exit() of Linux
 * 6.1.
 *
 * The last flush hands everything to the parent, which keeps it for ever in its recursive values: what a
 * removed cgroup counted stays counted above it. What comes after the flush, up to the instant at which the
 * cgroup leaves the tree, is handed over without a flush; the parent is put on the updated tree for it.
 */
#include "models/stat/summed.h"

void stat_release(struct task *t, struct memcg *m)
{
	struct flush f = { .memcg = m, .caller = FLUSH_RELEASE };

	stat_of(m->host)->count.calls[FLUSH_RELEASE]++;
	rstat_flush(t, &f, m, true);
}

void stat_leave(struct memcg *m)
{
	struct memcg_stat *above = m->parent->stat;

	for (struct stat_pair *pair = m->stat->pairs; pair; pair = pair->of_memcg) {
		if (!pair->changed && !m->stat->pending_set)
			continue;
		rstat_take_in(stat_of(m->host), pair);
		rstat_link(pair->parent);
	}
	for (int i = 0; i < NR_STAT_ITEMS; i++)
		above->gone[i] += m->stat->local[i] + m->stat->gone[i];
}

/* The scenario's own cgroups keep their totals: workloads that ran in them or watched them say what was. */
bool stat_free_memcg(struct memcg *m)
{
	struct sim *sim = m->host->sim;
	struct memcg_stat *s = m->stat;

	for (const struct stat_pair *pair = s->pairs; pair; pair = pair->of_memcg)
		if (pair->linking || pair->popped)
			return false;
	for (struct stat_pair *pair = s->pairs, *next; pair; pair = next) {
		next = pair->of_memcg;
		rstat_free_pair(pair);
	}
	s->pairs = NULL;
	line_release(sim, &s->line);
	summed_release(m);
	if (!m->transient)
		return true;
	for (uint32_t node = 0; node < m->host->nr_nodes; node++)
		if (s->nodes[node])
			sim_free(sim, s->nodes[node], sizeof(struct node_stat));
	sim_free(sim, s->nodes, m->host->nr_nodes * sizeof(struct node_stat *));
	sim_free(sim, s, sizeof *s);
	m->stat = NULL;
	return true;
}
