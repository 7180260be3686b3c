/*
 * workingset.c - shadow entries and what is counted of them, after pack_shadow() and workingset_init() of
 * mm/workingset.c, Linux 6.1 to 6.18.
 *
 * An entry is a value of an XArray, so it has 63 bits: the workingset bit lowest, the NUMA node, the id of
 * the memcg, and a time stamp that takes what is left, 36 bits with the usual CONFIG_NODES_SHIFT of 10. A
 * machine whose pages need more bits than that counts its stamps in buckets. Ids begin
 * with 1, so no entry is 0.
 */
#include "models/workingset/workingset_impl.h"

#include "models/reclaim/reclaim.h"

static const struct axis budget_axis = { .fallback = "state_local" };

MODULE(axis_shadow_budget) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_AXIS,
	.name = "shadow_budget",
	.help = "of what shadow nodes may be an eighth",
	.source = "count_shadow_nodes(), mm/workingset.c",
	.ops = &budget_axis,
};

enum { NODES, NODERECLAIM, SHADOWS, MADE, REFAULTS };

static const struct metric metrics[] = {
	[NODES] = { "workingset.nodes", "1", METRIC_GAUGE,
		    "nodes that hold only shadows, as in /proc/vmstat" },
	[NODERECLAIM] = { "workingset.nodereclaim", "1", METRIC_COUNTER,
			  "shadow nodes taken by the shrinker" },
	[SHADOWS] = { "workingset.shadows", "1", METRIC_GAUGE, "shadow entries that exist" },
	[MADE] = { "workingset.evictions", "1", METRIC_COUNTER, "shadow entries that were made" },
	[REFAULTS] = { "workingset.refault_tests", "1", METRIC_COUNTER,
		       "pages that came back to their shadow" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(workingset_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "workingset",
	.help = "shadow entries and the nodes that hold them, of the whole machine",
	.ops = &table,
};

/* ---- packing ---- */

uint32_t workingset_stamp_bits(const struct host *host)
{
	return workingset_of(host)->stamp_bits;
}

uint32_t workingset_bucket_order(const struct host *host)
{
	return workingset_of(host)->bucket_order;
}

static uint64_t mask(uint32_t bits)
{
	return ((uint64_t)1 << bits) - 1;
}

shadow_t shadow_pack(const struct host *host, struct shadow_fields f)
{
	shadow_t shadow = f.stamp & mask(workingset_stamp_bits(host));

	shadow = shadow << SHADOW_MEMCG_BITS | (f.css_id & mask(SHADOW_MEMCG_BITS));
	shadow = shadow << SHADOW_NODE_BITS | (f.node & mask(SHADOW_NODE_BITS));
	return shadow << 1 | f.workingset;
}

struct shadow_fields shadow_unpack(const struct host *host, shadow_t shadow)
{
	struct shadow_fields f = { .workingset = shadow & 1 };

	(void)host;
	shadow >>= 1;
	f.node = (uint32_t)(shadow & mask(SHADOW_NODE_BITS));
	shadow >>= SHADOW_NODE_BITS;
	f.css_id = (uint32_t)(shadow & mask(SHADOW_MEMCG_BITS));
	f.stamp = shadow >> SHADOW_MEMCG_BITS;
	return f;
}

/* ---- refaults, and counts ---- */

void workingset_refault(struct task *t, struct host *host, frame_t frame, shadow_t shadow, bool in_fault)
{
	shared_step(t);
	workingset_of(host)->count.refaults++;
	reclaim_ops(host)->refault(t, frame, shadow, in_fault);
}

void workingset_shadow_made(struct host *host)
{
	workingset_of(host)->count.shadows_made++;
}

void workingset_shadow_gone(struct host *host, uint64_t nr)
{
	workingset_of(host)->count.shadows_gone += nr;
}

const struct workingset_count *workingset_counted(const struct host *host)
{
	return &workingset_of(host)->count;
}

uint64_t workingset_nodes(const struct host *host, uint32_t node)
{
	return workingset_of(host)->nodes[node];
}

uint64_t workingset_nodes_of(const struct host *host, const struct memcg *m)
{
	uint64_t nr = 0;

	for (uint32_t node = 0; node < host->nr_nodes; node++)
		nr += list_lru_count_one(&workingset_of(host)->shadow_nodes, m, node);
	return nr;
}

/* ---- life ---- */

/* fls(totalram_pages() - 1) - timestamp_bits, where that is positive. */
static uint32_t bucket_order(const struct host *host, uint32_t stamp_bits)
{
	uint64_t last = host->memory / PAGE_SIZE - 1;
	uint32_t bits = 0;

	while (last >> bits)
		bits++;
	return bits > stamp_bits ? bits - stamp_bits : 0;
}

void workingset_build(struct host *host)
{
	struct workingset_state *ws = sim_alloc(host->sim, sizeof *ws);

	host->workingset = ws;
	ws->stamp_bits = 64 - (1 + 1 + SHADOW_NODE_BITS + SHADOW_MEMCG_BITS);
	ws->bucket_order = bucket_order(host, ws->stamp_bits);
	ws->budget = host_policy_ops(host, "shadow_budget");
	ws->nodes = sim_alloc(host->sim, host->nr_nodes * sizeof *ws->nodes);
	shadow_nodes_build(host);
}

static uint64_t all_nodes(const struct host *host)
{
	uint64_t nr = 0;

	for (uint32_t node = 0; node < host->nr_nodes; node++)
		nr += workingset_nodes(host, node);
	return nr;
}

void workingset_sample(struct host *host, sim_time_t now)
{
	const struct workingset_count *count = workingset_counted(host);
	struct record *record = host->run->record;

	if (!count->shadows_made)
		return;
	record_sample(record, &metrics[NODES], "all", now, (double)all_nodes(host));
	record_sample(record, &metrics[NODERECLAIM], "all", now, (double)count->nodes_reclaimed);
	record_sample(record, &metrics[SHADOWS], "all", now,
		      (double)(count->shadows_made - count->shadows_gone));
}

void workingset_finish(struct host *host)
{
	const struct workingset_count *count = workingset_counted(host);
	struct record *record = host->run->record;

	if (count->shadows_made) {
		record_summary(record, &metrics[NODES], "all", (double)all_nodes(host));
		record_summary(record, &metrics[NODERECLAIM], "all", (double)count->nodes_reclaimed);
		record_summary(record, &metrics[SHADOWS], "all",
			       (double)(count->shadows_made - count->shadows_gone));
		record_summary(record, &metrics[MADE], "all", (double)count->shadows_made);
		record_summary(record, &metrics[REFAULTS], "all", (double)count->refaults);
	}
	workingset_check(host, record);
}
