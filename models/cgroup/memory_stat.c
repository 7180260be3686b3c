/*
 * memory_stat.c - what became of the memory of cgroups: list sizes and shadow nodes over time, and counters
 * of memory.stat over the run, from the truth and not from what a reader would see.
 *
 * Over time the root and the cgroups right below it are drawn, as in results.c; counters are kept of these
 * and of every cgroup with a limit. What did not happen makes no row. The budget is an eighth of list sizes
 * and kernel objects, as count_shadow_nodes() means it (mm/workingset.c), whatever the axis shadow_budget
 * counts.
 */
#include "models/cgroup/results.h"
#include "models/stat/stat.h"
#include "models/workingset/workingset.h"
#include "sim/module.h"

enum { ANON_INACTIVE, ANON_ACTIVE, FILE_INACTIVE, FILE_ACTIVE, NODES, BUDGET, LIMIT, FIRST_COUNTER };

/* clang-format off */
static const struct metric metrics[] = {
	[ANON_INACTIVE] = { "memory.stat.inactive_anon", "bytes", METRIC_GAUGE, "list size" },
	[ANON_ACTIVE] = { "memory.stat.active_anon", "bytes", METRIC_GAUGE, "list size" },
	[FILE_INACTIVE] = { "memory.stat.inactive_file", "bytes", METRIC_GAUGE, "list size" },
	[FILE_ACTIVE] = { "memory.stat.active_file", "bytes", METRIC_GAUGE, "list size" },
	[NODES] = { "workingset.cgroup_nodes", "1", METRIC_GAUGE, "shadow nodes, those below included" },
	[BUDGET] = { "workingset.cgroup_budget", "1", METRIC_GAUGE, "an eighth of lists and kernel objects" },
	[LIMIT] = { "memory.max", "bytes", METRIC_GAUGE, "the limit" },
	[FIRST_COUNTER] =
	{ "memory.stat.pgscan_kswapd", "1", METRIC_COUNTER, "pages scanned by kswapd" },
	{ "memory.stat.pgscan_direct", "1", METRIC_COUNTER, "pages scanned in direct reclaim" },
	{ "memory.stat.pgsteal_kswapd", "1", METRIC_COUNTER, "pages reclaimed by kswapd" },
	{ "memory.stat.pgsteal_direct", "1", METRIC_COUNTER, "pages reclaimed in direct reclaim" },
	{ "memory.stat.pgactivate", "1", METRIC_COUNTER, "pages made active" },
	{ "memory.stat.pgdeactivate", "1", METRIC_COUNTER, "pages made inactive" },
	{ "memory.stat.pgfault", "1", METRIC_COUNTER, "page faults" },
	{ "memory.stat.pgmajfault", "1", METRIC_COUNTER, "page faults that had to read" },
	{ "memory.stat.workingset_refault_anon", "1", METRIC_COUNTER, "refaults of anonymous pages" },
	{ "memory.stat.workingset_refault_file", "1", METRIC_COUNTER, "refaults of file pages" },
	{ "memory.stat.workingset_activate_anon", "1", METRIC_COUNTER, "anonymous refaults made active" },
	{ "memory.stat.workingset_activate_file", "1", METRIC_COUNTER, "file refaults made active" },
	{ "memory.stat.workingset_restore_anon", "1", METRIC_COUNTER, "anon refaults, workingset before" },
	{ "memory.stat.workingset_restore_file", "1", METRIC_COUNTER, "file refaults, workingset before" },
	{ "memory.stat.workingset_nodereclaim", "1", METRIC_COUNTER, "shadow nodes reclaimed" },
};
static const enum stat_item counters[] = {
	PGSCAN_KSWAPD, PGSCAN_DIRECT, PGSTEAL_KSWAPD, PGSTEAL_DIRECT, PGACTIVATE, PGDEACTIVATE, PGFAULT,
	PGMAJFAULT, WORKINGSET_REFAULT_ANON, WORKINGSET_REFAULT_FILE, WORKINGSET_ACTIVATE_ANON,
	WORKINGSET_ACTIVATE_FILE, WORKINGSET_RESTORE_ANON, WORKINGSET_RESTORE_FILE, WORKINGSET_NODERECLAIM,
};
/* clang-format on */
#define NR_COUNTERS (sizeof counters / sizeof counters[0])
_Static_assert(sizeof metrics / sizeof metrics[0] == FIRST_COUNTER + NR_COUNTERS, "a metric a counter");

static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(memory_stat_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "memory_stat",
	.help = "lists, shadow nodes, reclaim and refaults of cgroups",
	.ops = &table,
};

struct memory_stat_base {
	int64_t of[NR_COUNTERS];
};

static bool is_kept(const struct memcg *m)
{
	if (m->transient)
		return false;
	return m->depth <= 1 || m->memory.max != COUNTER_NO_MAX || m->memory.high != COUNTER_NO_MAX;
}

void memory_stat_measure(struct host *host)
{
	struct memcg *m;

	for (uint32_t i = 0; (m = memcg_at(host->cgroups, &i)); i++) {

		if (!is_kept(m))
			continue;
		m->stat_base = sim_alloc(host->sim, sizeof *m->stat_base);
		for (size_t k = 0; k < NR_COUNTERS; k++)
			m->stat_base->of[k] = stat_truth(m, counters[k]);
	}
}

static void sample_nodes(struct host *host, struct memcg *m, sim_time_t now, double lists)
{
	double objects = (double)(stat_truth(m, NR_SLAB_RECLAIMABLE_B) +
				  stat_truth(m, NR_SLAB_UNRECLAIMABLE_B));
	uint64_t nodes = 0;

	for (struct memcg *below = NULL; (below = memcg_next(m, below));)
		nodes += workingset_nodes_of(host, below);
	if (!nodes && !stat_truth(m, WORKINGSET_NODERECLAIM))
		return;
	record_sample(host->run->record, &metrics[NODES], m->path, now, (double)nodes);
	record_sample(host->run->record, &metrics[BUDGET], m->path, now, (lists + objects / PAGE_SIZE) / 8);
}

static void sample_one(struct host *host, struct memcg *m, sim_time_t now)
{
	static const struct {
		int metric;
		enum stat_item item;
	} lists[] = {
		{ ANON_INACTIVE, NR_INACTIVE_ANON },
		{ ANON_ACTIVE, NR_ACTIVE_ANON },
		{ FILE_INACTIVE, NR_INACTIVE_FILE },
		{ FILE_ACTIVE, NR_ACTIVE_FILE },
	};
	double sum = 0;

	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
		double pages = (double)stat_truth(m, lists[i].item);

		record_sample(host->run->record, &metrics[lists[i].metric], m->path, now, pages * PAGE_SIZE);
		sum += pages;
	}
	sample_nodes(host, m, now, sum);
}

void memory_stat_sample(struct host *host, sim_time_t now)
{
	struct memcg *root = host->cgroups->root;

	sample_one(host, root, now);
	for (struct memcg *m = root->first_child; m; m = m->next_sibling)
		if (!m->transient)
			sample_one(host, m, now);
}

void memory_stat_results(struct host *host)
{
	struct record *record = host->run->record;

	struct memcg *m;

	for (uint32_t i = 0; (m = memcg_at(host->cgroups, &i)); i++) {

		if (!is_kept(m))
			continue;
		if (m->memory.max != COUNTER_NO_MAX)
			record_summary(record, &metrics[LIMIT], m->path, (double)m->memory.max * PAGE_SIZE);
		for (size_t k = 0; k < NR_COUNTERS; k++) {
			int64_t base = m->stat_base ? m->stat_base->of[k] : 0;

			if (stat_truth(m, counters[k]))
				record_summary(record, &metrics[FIRST_COUNTER + k], m->path,
					       (double)(stat_truth(m, counters[k]) - base));
		}
	}
}
