/*
 * invariants.c - what must hold of the statistics at the end of every run, however it went.
 *
 * I2     truth - recursive value = what its CPUs have not handed over + what is pending, of the whole
 *        subtree.
 *        Not of a removed cgroup whose pages or updates are its parent's by now: what it counts still is
 *        nobody's, and above it all is as it should be.
 * links  a pair with something to hand over can be found by a flusher: it is on its CPU's updated tree with
 *        all its ancestors, or queued, or its updater or a flusher has it in hand.
 * nodes  a memcg's value of an lruvec item = the sum over the nodes, at every instant.
 * I1     after everything is handed over: recursive = truth = sum of local over the subtree, and of what
 *        was counted by cgroups that are freed.
 * I8     and then no size of a cgroup is negative unless it is removed, with what CPUs keep back of slab
 * bytes
 *        (struct object_stock).
 *
 * Everything is handed over here without time and without the updated tree: the run is over.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "models/cgroup/stock.h"
#include "models/stat/dying/dying.h"

typedef int64_t stat_vector[NR_STAT_ITEMS];

static void vector_add(stat_vector to, const int64_t *from)
{
	for (int i = 0; i < NR_STAT_ITEMS; i++)
		to[i] += from[i];
}

/* Sums over subtrees. */
static void sum_up(struct host *host, stat_vector *sums)
{
	uint32_t nr;
	struct memcg **order = memcg_order(host, &nr);

	while (--nr)
		vector_add(sums[order[nr]->parent->id], sums[order[nr]->id]);
	sim_free(host->sim, order, host->cgroups->nr * sizeof(*order));
}

/* Out of the tree: what it counted is its parent's. */
static bool is_out(const struct memcg *m)
{
	return m->life == MEMCG_GONE;
}

/* Its counters say what it had, not what it has. */
static bool is_left_behind(const struct memcg *m)
{
	const struct host *host = m->host;

	return m->life != MEMCG_ONLINE &&
	       (host->cgroups->lru_reparent || stat_of(host)->dying->target || host->reparent_local);
}

static void check_equal(struct record *record, const char *name, const struct memcg *m, const int64_t *have,
			const int64_t *want)
{
	int item = 0;

	while (item < NR_STAT_ITEMS - 1 && have[item] == want[item])
		item++;
	record_invariant(record, name, have[item] == want[item], "%s of %s: %" PRId64 ", expected %" PRId64,
			 stat_item_name((enum stat_item)item), m->path, have[item], want[item]);
}

static void check_unflushed(struct host *host, struct record *record, stat_vector *sums)
{
	const struct cgroup_state *cgroups = host->cgroups;
	struct memcg *m;

	for (uint32_t id = 0; (m = memcg_at(cgroups, &id)); id++) {
		const struct memcg_stat *s = m->stat;

		if (is_out(m))
			continue;
		vector_add(sums[id], s->pending);
		for (const struct stat_pair *pair = s->pairs; pair; pair = pair->of_memcg)
			vector_add(sums[id], pair->delta);
	}
	sum_up(host, sums);
	for (uint32_t id = 0; (m = memcg_at(cgroups, &id)); id++) {
		if (is_out(m))
			continue;
		vector_add(sums[id], m->stat->value);
		if (is_left_behind(m))
			continue;
		check_equal(record, "I2 value + unflushed = truth", m, sums[id], m->stat->truth);
	}
}

static bool linked(const struct stat_pair *pair)
{
	for (; pair; pair = pair->parent)
		if (!pair->updated_next)
			return false;
	return true;
}

static void check_links(const struct cgroup_state *cgroups, struct record *record)
{
	struct memcg *m;

	if (stat_of(cgroups->root->host)->updated->untracked)
		return;
	for (uint32_t id = 0; (m = memcg_at(cgroups, &id)); id++) {
		if (is_out(m))
			continue;
		for (const struct stat_pair *pair = m->stat->pairs; pair; pair = pair->of_memcg) {
			bool found = !pair->changed || pair->linking || pair->queued || pair->popped ||
				     linked(pair);

			record_invariant(record, "changed pairs are on the updated tree", found,
					 "%s on CPU %u has updates that no flush will find", m->path,
					 pair->cpu);
		}
	}
}

static void check_nodes(const struct cgroup_state *cgroups, struct record *record)
{
	struct memcg *m;

	for (uint32_t id = 0; (m = memcg_at(cgroups, &id)); id++) {
		stat_vector sum = { 0 };

		if (is_out(m))
			continue;

		for (uint32_t node = 0; node < m->host->nr_nodes; node++)
			for (int i = 0; i < NR_LRUVEC_ITEMS; i++)
				sum[i] += stat_reported_node(m, node, (enum stat_item)i);
		for (int i = NR_LRUVEC_ITEMS; i < NR_STAT_ITEMS; i++)
			sum[i] = m->stat->value[i];
		check_equal(record, "value = sum over nodes", m, sum, m->stat->value);
	}
}

static void hand_over(struct host *host)
{
	uint32_t nr;
	struct memcg **order = memcg_order(host, &nr);

	for (uint32_t i = nr; i--;)
		for (struct stat_pair *pair = order[i]->stat->pairs; pair; pair = pair->of_memcg)
			rstat_take_in(stat_of(host), pair);
	sim_free(host->sim, order, host->cgroups->nr * sizeof(*order));
}

static void check_flushed(struct host *host, struct record *record, stat_vector *sums)
{
	const struct cgroup_state *cgroups = host->cgroups;
	struct memcg *m;

	for (uint32_t id = 0; (m = memcg_at(cgroups, &id)); id++) {
		if (is_out(m))
			continue;
		vector_add(sums[id], m->stat->local);
		vector_add(sums[id], m->stat->gone);
	}
	sum_up(host, sums);
	for (uint32_t id = 0; (m = memcg_at(cgroups, &id)); id++) {
		if (is_out(m))
			continue;

		if (!is_left_behind(m))
			check_equal(record, "I1 recursive = truth", m, m->stat->value, m->stat->truth);
		check_equal(record, "I1 recursive = sum of local", m, m->stat->value, sums[id]);
	}
}

/* Slab bytes that CPUs have not passed on yet, by memcg and not by subtree. */
static void add_kept_back(const struct host *host, stat_vector *sums)
{
	for (uint32_t cpu = 0; cpu < host->nr_cpus; cpu++) {
		const struct object_stock *kept = &host->cgroups->stocks[cpu].objects;

		if (!kept->objcg)
			continue;
		uint32_t id = kept->objcg->memcg->id;

		sums[id][NR_SLAB_RECLAIMABLE_B] += kept->reclaimable;
		sums[id][NR_SLAB_UNRECLAIMABLE_B] += kept->unreclaimable;
	}
}

static void check_sizes(struct host *host, struct record *record, stat_vector *sums)
{
	const struct cgroup_state *cgroups = host->cgroups;

	struct memcg *m;

	add_kept_back(host, sums);
	sum_up(host, sums);
	for (uint32_t id = 0; (m = memcg_at(cgroups, &id)); id++) {
		int item = 0;

		/*
		 * What a CPU keeps back of a removed cgroup is its parent's since then
		 * (memcg_reparent_objcgs()), and what of it was given back before is missing in the cgroup's
		 * own: they are right together.
		 */
		if (is_out(m) || !memcg_online(m))
			continue;
		vector_add(sums[id], m->stat->value);
		while (item < NR_STAT_ITEMS - 1 && sums[id][item] >= 0)
			item++;
		record_invariant(record, "I8 not negative when flushed",
				 !stat_item_is_size((enum stat_item)item) || sums[id][item] >= 0,
				 "%s of %s: %" PRId64, stat_item_name((enum stat_item)item), m->path,
				 sums[id][item]);
	}
}

static stat_vector *zero_sums(const struct cgroup_state *cgroups)
{
	stat_vector *sums = calloc(cgroups->nr, sizeof *sums);

	if (!sums)
		abort();
	return sums;
}

void stat_invariants(struct host *host, struct record *record)
{
	const struct cgroup_state *cgroups = host->cgroups;
	stat_vector *sums = zero_sums(cgroups);

	check_unflushed(host, record, sums);
	free(sums);
	check_links(cgroups, record);
	check_nodes(cgroups, record);
	hand_over(host);
	sums = zero_sums(cgroups);
	check_flushed(host, record, sums);
	free(sums);
	sums = zero_sums(cgroups);
	check_sizes(host, record, sums);
	free(sums);
}
