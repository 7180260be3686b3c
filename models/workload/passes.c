/*
 * passes.c - see passes.h.
 *
 * One table says what is recorded: the difference of a statistics item, its size, an event, or something that
 * is worked out from the others.
 */
#include "models/workload/passes.h"

#include <math.h>
#include <stdio.h>

#include "models/backing/backing_impl.h"
#include "models/reclaim/reclaim.h"
#include "models/workingset/workingset.h"
#include "sim/module.h"

enum pass_value {
	/* differences */
	ACCESSES,
	MISSES,
	PGSCAN,
	PGSTEAL,
	SCAN_KSWAPD,
	SCAN_DIRECT,
	STEAL_KSWAPD,
	STEAL_DIRECT,
	ACTIVATED,
	DEACTIVATED,
	REFILLED,
	REFAULT_ANON,
	REFAULT_FILE,
	ACTIVATE_ANON,
	ACTIVATE_FILE,
	RESTORE_ANON,
	RESTORE_FILE,
	NODERECLAIM,
	FAULTS,
	MAJOR_FAULTS,
	SWAPPED_IN,
	SWAPPED_OUT,
	CALLS,
	NODE_CALLS,
	KSWAPD_RUNS,
	KILLS,
	LOW,
	HIGH,
	MAX,
	OOM,
	OOM_KILL,
	OOM_GROUP_KILL,
	NR_DIFFERENCES,
	/* sizes */
	ANON = NR_DIFFERENCES,
	FILE_PAGES,
	MAPPED,
	SHMEM,
	INACTIVE_ANON,
	ACTIVE_ANON,
	INACTIVE_FILE,
	ACTIVE_FILE,
	SLAB_RECLAIMABLE,
	SLAB,
	KERNEL,
	CURRENT,
	PEAK,
	SWAP,
	NODES,
	BUDGET,
	WMARK_OF_MIN,
	WMARK_OF_LOW,
	WMARK_OF_HIGH,
	/* extremes */
	CURRENT_MIN,
	CURRENT_MAX,
	CURRENT_MEAN,
	NODES_MIN,
	NODES_MAX,
	NODES_MEAN,
	INACTIVE_MIN,
	INACTIVE_MAX,
	INACTIVE_MEAN,
	FREE_MIN,
	FREE_MAX,
	FREE_MEAN,
	OVER_MIN,
	OVER_MAX,
	NR_PASS_VALUES
};

#define DIFFERENCE(name_, help_)                          \
	{                                                 \
		"pass." name_, "1", METRIC_COUNTER, help_ \
	}
#define SIZE(name_, help_)                                  \
	{                                                   \
		"pass." name_, "pages", METRIC_GAUGE, help_ \
	}

static const struct metric metrics[] = {
	[ACCESSES] = DIFFERENCE("accesses", "reads or touches in a pass"),
	[MISSES] = DIFFERENCE("misses", "pages that had to be brought in from the device"),
	[PGSCAN] = DIFFERENCE("pgscan", "pages scanned, whoever asked"),
	[PGSTEAL] = DIFFERENCE("pgsteal", "pages reclaimed, whoever asked"),
	[SCAN_KSWAPD] = DIFFERENCE("pgscan_kswapd", "pages scanned by kswapd"),
	[SCAN_DIRECT] = DIFFERENCE("pgscan_direct", "pages scanned in direct reclaim"),
	[STEAL_KSWAPD] = DIFFERENCE("pgsteal_kswapd", "pages reclaimed by kswapd"),
	[STEAL_DIRECT] = DIFFERENCE("pgsteal_direct", "pages reclaimed in direct reclaim"),
	[ACTIVATED] = DIFFERENCE("pgactivate", "pages made active"),
	[DEACTIVATED] = DIFFERENCE("pgdeactivate", "pages made inactive"),
	[REFILLED] = DIFFERENCE("pgrefill", "pages scanned on active lists"),
	[REFAULT_ANON] = DIFFERENCE("workingset_refault_anon", "refaults of anonymous pages"),
	[REFAULT_FILE] = DIFFERENCE("workingset_refault_file", "refaults of file pages"),
	[ACTIVATE_ANON] = DIFFERENCE("workingset_activate_anon", "anonymous refaults made active"),
	[ACTIVATE_FILE] = DIFFERENCE("workingset_activate_file", "file refaults made active"),
	[RESTORE_ANON] = DIFFERENCE("workingset_restore_anon",
				    "anonymous refaults that were workingset before"),
	[RESTORE_FILE] = DIFFERENCE("workingset_restore_file", "file refaults that were workingset before"),
	[NODERECLAIM] = DIFFERENCE("workingset_nodereclaim", "shadow nodes reclaimed"),
	[FAULTS] = DIFFERENCE("pgfault", "page faults"),
	[MAJOR_FAULTS] = DIFFERENCE("pgmajfault", "page faults that had to read"),
	[SWAPPED_IN] = DIFFERENCE("pswpin", "pages read from swap, of the machine"),
	[SWAPPED_OUT] = DIFFERENCE("pswpout", "pages written to swap, of the machine"),
	[CALLS] = DIFFERENCE("try_to_free_mem_cgroup_pages", "calls of reclaim for a cgroup, of the machine"),
	[NODE_CALLS] = DIFFERENCE("shrink_node", "passes over a node, of the machine"),
	[KSWAPD_RUNS] = DIFFERENCE("pageoutrun", "runs of kswapd, of the machine"),
	[KILLS] = DIFFERENCE("oom_kill_process", "victims that the OOM killer chose, of the machine"),
	[LOW] = DIFFERENCE("ev_low", "memory.events low"),
	[HIGH] = DIFFERENCE("ev_high", "memory.events high"),
	[MAX] = DIFFERENCE("ev_max", "memory.events max"),
	[OOM] = DIFFERENCE("ev_oom", "memory.events oom"),
	[OOM_KILL] = DIFFERENCE("ev_oom_kill", "memory.events oom_kill"),
	[OOM_GROUP_KILL] = DIFFERENCE("ev_oom_group_kill", "memory.events oom_group_kill"),
	[ANON] = SIZE("anon", "anonymous pages at the end"),
	[FILE_PAGES] = SIZE("file", "page cache at the end, tmpfs included"),
	[MAPPED] = SIZE("file_mapped", "mapped page cache at the end"),
	[SHMEM] = SIZE("shmem", "tmpfs at the end"),
	[INACTIVE_ANON] = SIZE("inactive_anon", "list size at the end"),
	[ACTIVE_ANON] = SIZE("active_anon", "list size at the end"),
	[INACTIVE_FILE] = SIZE("inactive_file", "list size at the end"),
	[ACTIVE_FILE] = SIZE("active_file", "list size at the end"),
	[SLAB_RECLAIMABLE] = SIZE("slab_reclaimable", "reclaimable kernel objects at the end"),
	[SLAB] = SIZE("slab", "kernel objects at the end"),
	[KERNEL] = SIZE("kernel", "all kernel memory at the end"),
	[CURRENT] = SIZE("current", "memory.current at the end"),
	[PEAK] = SIZE("peak", "memory.peak at the end"),
	[SWAP] = SIZE("swap", "memory.swap.current at the end"),
	[NODES] = { "pass.workingset_nodes", "1", METRIC_GAUGE, "shadow nodes of the machine at the end" },
	[BUDGET] = { "pass.budget", "1", METRIC_GAUGE,
		     "an eighth of list sizes and kernel objects at the end" },
	[CURRENT_MIN] = SIZE("current_min", "least memory.current in the pass"),
	[CURRENT_MAX] = SIZE("current_max", "most memory.current in the pass"),
	[CURRENT_MEAN] = SIZE("current_mean", "mean memory.current in the pass"),
	[NODES_MIN] = { "pass.nodes_min", "1", METRIC_GAUGE, "fewest shadow nodes in the pass" },
	[NODES_MAX] = { "pass.nodes_max", "1", METRIC_GAUGE, "most shadow nodes in the pass" },
	[NODES_MEAN] = { "pass.nodes_mean", "1", METRIC_GAUGE, "mean number of shadow nodes in the pass" },
	[INACTIVE_MIN] = SIZE("inactive_file_min", "shortest inactive file list in the pass"),
	[INACTIVE_MAX] = SIZE("inactive_file_max", "longest inactive file list in the pass"),
	[INACTIVE_MEAN] = SIZE("inactive_file_mean", "mean length of the inactive file list in the pass"),
	[FREE_MIN] = SIZE("free_min", "fewest free frames of the machine in the pass"),
	[FREE_MAX] = SIZE("free_max", "most free frames of the machine in the pass"),
	[FREE_MEAN] = SIZE("free_mean", "mean number of free frames of the machine in the pass"),
	[WMARK_OF_MIN] = SIZE("watermark_min", "min marks of all zones of the machine"),
	[WMARK_OF_LOW] = SIZE("watermark_low", "their low marks"),
	[WMARK_OF_HIGH] = SIZE("watermark_high", "their high marks"),
	[OVER_MIN] = { "pass.over_min", "1", METRIC_GAUGE,
		       "fewest shadow nodes in the pass, less the budget" },
	[OVER_MAX] = { "pass.over_max", "1", METRIC_GAUGE, "most shadow nodes in the pass, less the budget" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(pass_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "pass",
	.help = "counters of a cgroup by pass of a workload",
	.ops = &table,
};

/* Statistics items that are recorded as they are; sizes in pages. */
static const struct {
	enum pass_value value;
	enum stat_item item;
} direct[] = {
	{ SCAN_KSWAPD, PGSCAN_KSWAPD },
	{ SCAN_DIRECT, PGSCAN_DIRECT },
	{ STEAL_KSWAPD, PGSTEAL_KSWAPD },
	{ STEAL_DIRECT, PGSTEAL_DIRECT },
	{ ACTIVATED, PGACTIVATE },
	{ DEACTIVATED, PGDEACTIVATE },
	{ REFILLED, PGREFILL },
	{ REFAULT_ANON, WORKINGSET_REFAULT_ANON },
	{ REFAULT_FILE, WORKINGSET_REFAULT_FILE },
	{ ACTIVATE_ANON, WORKINGSET_ACTIVATE_ANON },
	{ ACTIVATE_FILE, WORKINGSET_ACTIVATE_FILE },
	{ RESTORE_ANON, WORKINGSET_RESTORE_ANON },
	{ RESTORE_FILE, WORKINGSET_RESTORE_FILE },
	{ NODERECLAIM, WORKINGSET_NODERECLAIM },
	{ FAULTS, PGFAULT },
	{ MAJOR_FAULTS, PGMAJFAULT },
	{ ANON, NR_ANON_MAPPED },
	{ FILE_PAGES, NR_FILE_PAGES },
	{ MAPPED, NR_FILE_MAPPED },
	{ SHMEM, NR_SHMEM },
	{ INACTIVE_ANON, NR_INACTIVE_ANON },
	{ ACTIVE_ANON, NR_ACTIVE_ANON },
	{ INACTIVE_FILE, NR_INACTIVE_FILE },
	{ ACTIVE_FILE, NR_ACTIVE_FILE },
};

static const enum memcg_event events[] = {
	[LOW - LOW] = EVENT_LOW,           [HIGH - LOW] = EVENT_HIGH,
	[MAX - LOW] = EVENT_MAX,           [OOM - LOW] = EVENT_OOM,
	[OOM_KILL - LOW] = EVENT_OOM_KILL, [OOM_GROUP_KILL - LOW] = EVENT_OOM_GROUP_KILL,
};

/* ---- looking ---- */

static double nodes_of_machine(const struct host *host)
{
	uint64_t nr = 0;

	for (uint32_t node = 0; node < host->nr_nodes; node++)
		nr += workingset_nodes(host, node);
	return (double)nr;
}

/*
 * t NULL: nobody is there who could read, and the truth is taken. So it is for the root, whose statistics the
 * kernel takes from counters of the machine.
 */
static void look(struct task *t, const struct passes *p, struct pass_snapshot *now)
{
	const struct memcg *m = p->memcg;
	bool exact = !t || memcg_is_root(m);
	struct stat_read read;

	if (!exact) {
		cpu_stat_read(t, p->memcg);
		memory_stat_read(t, p->memcg, &read);
	}
	for (int i = 0; i < NR_STAT_ITEMS; i++) {
		int64_t value = exact ? stat_truth(m, (enum stat_item)i)
				      : stat_reported(m, (enum stat_item)i);

		now->items[i] = value > 0 ? value : 0;
	}
	for (int i = 0; i < NR_MEMCG_EVENTS; i++)
		now->events[i] = m->events[i];
	now->calls = p->host->reclaim->calls;
	now->swap_in = swap_of(p->host)->in;
	now->swap_out = swap_of(p->host)->out;
}

static double list_size(const struct host *host, struct memcg *root, enum lru_list list)
{
	uint64_t nr = 0;

	for (struct memcg *m = NULL; (m = memcg_next(root, m));)
		for (uint32_t node = 0; m->lruvecs && node < host->nr_nodes; node++)
			if (m->lruvecs[node])
				nr += reclaim_ops(host)->size(m->lruvecs[node], list);
	return (double)nr;
}

/* As /proc/zoneinfo has it: without the CPUs' own lists. */
static double free_frames(const struct host *host)
{
	uint64_t nr = 0;

	for (uint32_t node = 0; node < host->nr_nodes; node++)
		nr += node_free(host, node);
	return (double)nr;
}

void passes_watch(struct passes *p, uint64_t k)
{
	struct watched *w = &p->watched;

	if (!p->options->watch_every || k % p->options->watch_every)
		return;
	const double values[NR_WATCHED] = {
		[WATCH_CURRENT] = (double)memcg_current(p->memcg),
		[WATCH_NODES] = nodes_of_machine(p->host),
		[WATCH_FREE] = free_frames(p->host),
		[WATCH_INACTIVE] = list_size(p->host, p->memcg, LRU_INACTIVE_FILE),
	};

	for (int i = 0; i < NR_WATCHED; i++) {
		if (!w->nr || values[i] < w->min[i])
			w->min[i] = values[i];
		if (!w->nr || values[i] > w->max[i])
			w->max[i] = values[i];
		w->sum[i] += values[i];
	}
	w->nr++;
}

/* ---- values of a pass ---- */

static void fill_sizes(const struct passes *p, const struct pass_snapshot *now, double *v)
{
	double lists = v[INACTIVE_ANON] + v[ACTIVE_ANON] + v[INACTIVE_FILE] + v[ACTIVE_FILE];
	double reclaimable = (double)now->items[NR_SLAB_RECLAIMABLE_B];
	double objects = reclaimable + (double)now->items[NR_SLAB_UNRECLAIMABLE_B];

	v[SLAB_RECLAIMABLE] = floor(reclaimable / PAGE_SIZE);
	v[SLAB] = floor(objects / PAGE_SIZE);
	v[KERNEL] = (double)now->items[MEMCG_KMEM];
	v[CURRENT] = (double)memcg_current(p->memcg);
	v[PEAK] = (double)p->memcg->memory.watermark;
	v[SWAP] = (double)p->memcg->swap.usage;
	v[NODES] = nodes_of_machine(p->host);
	for (int mark = 0; mark < NR_WMARKS; mark++) {
		v[WMARK_OF_MIN + mark] = 0;
		for (uint32_t node = 0; node < p->host->nr_nodes; node++)
			v[WMARK_OF_MIN + mark] += (double)node_watermark(p->host, node, (enum watermark)mark);
	}
	v[BUDGET] = floor((lists + objects / PAGE_SIZE) / 8);
}

static void fill_extremes(const struct passes *p, double *v)
{
	static const enum pass_value first[NR_WATCHED] = { CURRENT_MIN, NODES_MIN, INACTIVE_MIN, FREE_MIN };
	const struct watched *w = &p->watched;

	for (int i = 0; i < NR_WATCHED; i++) {
		v[first[i]] = w->nr ? w->min[i] : NAN;
		v[first[i] + 1] = w->nr ? w->max[i] : NAN;
		v[first[i] + 2] = w->nr ? w->sum[i] / (double)w->nr : NAN;
	}
	v[OVER_MIN] = v[NODES_MIN] - v[BUDGET];
	v[OVER_MAX] = v[NODES_MAX] - v[BUDGET];
}

static void fill(const struct passes *p, const struct pass_snapshot *now, double *v)
{
	const struct pass_snapshot *before = &p->before;

	for (size_t i = 0; i < sizeof direct / sizeof direct[0]; i++) {
		enum stat_item item = direct[i].item;
		bool difference = direct[i].value < NR_DIFFERENCES;

		v[direct[i].value] = (double)(now->items[item] - (difference ? before->items[item] : 0));
	}
	for (int i = LOW; i <= OOM_GROUP_KILL; i++)
		v[i] = (double)(now->events[events[i - LOW]] - before->events[events[i - LOW]]);
	v[PGSCAN] = v[SCAN_KSWAPD] + v[SCAN_DIRECT];
	v[PGSTEAL] = v[STEAL_KSWAPD] + v[STEAL_DIRECT];
	v[CALLS] = (double)(now->calls.memcg - before->calls.memcg);
	v[NODE_CALLS] = (double)(now->calls.nodes - before->calls.nodes);
	v[KSWAPD_RUNS] = (double)(now->calls.kswapd - before->calls.kswapd);
	v[KILLS] = (double)(now->calls.oom_kills - before->calls.oom_kills);
	v[SWAPPED_IN] = (double)(now->swap_in - before->swap_in);
	v[SWAPPED_OUT] = (double)(now->swap_out - before->swap_out);
	fill_sizes(p, now, v);
	fill_extremes(p, v);
}

static void record(const struct passes *p, const char *which, const double *v)
{
	char entity[512];

	snprintf(entity, sizeof entity, "%s/%s", p->entity, which);
	for (int i = 0; i < NR_PASS_VALUES; i++)
		record_summary(p->host->run->record, &metrics[i], entity, v[i]);
}

static void add_up(struct passes *p, const double *v)
{
	for (int i = 0; i < NR_PASS_VALUES; i++)
		p->sums[i] = i < NR_DIFFERENCES ? p->sums[i] + v[i] : v[i];
}

/* ---- the passes ---- */

void passes_begin(struct task *t, struct passes *p, struct memcg *m, const char *entity,
		  const struct passes_options *options)
{
	*p = (struct passes){ .host = m->host, .memcg = m, .entity = entity, .options = options };
	p->values = sim_alloc(p->host->sim, options->late * NR_PASS_VALUES * sizeof(double));
	p->sums = sim_alloc(p->host->sim, NR_PASS_VALUES * sizeof(double));
	look(t, p, &p->before);
}

void passes_next(struct task *t, struct passes *p, uint64_t accesses, uint64_t misses)
{
	double *v = p->values + (size_t)(p->nr % p->options->late) * NR_PASS_VALUES;
	struct pass_snapshot now;
	char name[32];

	look(t, p, &now);
	v[ACCESSES] = (double)accesses;
	v[MISSES] = (double)misses;
	fill(p, &now, v);
	add_up(p, v);
	snprintf(name, sizeof name, "pass:%u", ++p->nr);
	record(p, name, v);
	p->before = now;
	p->watched = (struct watched){ 0 };
}

static double late_value(const struct passes *p, int i, uint32_t nr)
{
	bool least = i == CURRENT_MIN || i == NODES_MIN || i == INACTIVE_MIN || i == FREE_MIN;
	bool most = i == CURRENT_MAX || i == NODES_MAX || i == INACTIVE_MAX || i == FREE_MAX;
	double result = p->values[i];

	for (uint32_t k = 1; k < nr; k++) {
		double v = p->values[(size_t)k * NR_PASS_VALUES + (size_t)i];

		result = least ? fmin(result, v) : most ? fmax(result, v) : result + v;
	}
	return least || most ? result : result / nr;
}

void passes_end(struct passes *p)
{
	uint32_t nr = p->nr < p->options->late ? p->nr : p->options->late;
	double late[NR_PASS_VALUES];

	if (!p->nr)
		return;
	for (int i = 0; i < NR_PASS_VALUES; i++)
		late[i] = late_value(p, i, nr);
	late[OVER_MIN] = late[NODES_MIN] - p->sums[BUDGET];
	late[OVER_MAX] = late[NODES_MAX] - p->sums[BUDGET];
	record(p, "last", p->values + (size_t)((p->nr - 1) % p->options->late) * NR_PASS_VALUES);
	record(p, "late", late);
	record(p, "all", p->sums);
}

void passes_truth(struct passes *p, uint64_t accesses, uint64_t misses)
{
	double v[NR_PASS_VALUES];
	struct pass_snapshot now;

	look(NULL, p, &now);
	v[ACCESSES] = (double)accesses;
	v[MISSES] = (double)misses;
	fill(p, &now, v);
	record(p, "all", v);
}

const char *pass_entity(struct host *host, const char *label, const char *name)
{
	char text[512];

	snprintf(text, sizeof text, "%s%s%s", label, name ? "/" : "", name ? name : "");
	return arena_strdup(sim_arena(host->sim), text);
}
