/*
 * rstat_memcg_threshold_cached.c - stat_update: every memcg has a threshold of its own.
 *
 * Linux 6.8 as released and later: the per-CPU blocks point to those of their parents, so the walk takes
 * one load a level; and it stops at a level that may be flushed already, since all of its ancestors then
 * are. See threshold.c for what happens at a level.
 */
#include "models/stat/stat_impl.h"

static void updated(struct task *t, struct stat_pair *pair, enum stat_item item, uint64_t size)
{
	struct host *host = pair->memcg->host;
	uint64_t pages = memcg_update_pages(item, size);

	for (; pair; pair = pair->parent) {
		if (memcg_needs_flush(t, host, pair->memcg))
			break;
		memcg_update_level(t, pair, pages);
	}
}

static const struct stat_update_ops ops = { .updated = updated, .flushed = memcg_update_flushed };

MODULE(rstat_memcg_threshold_cached) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "stat_update",
	.name = "rstat_memcg_threshold_cached",
	.help = "as rstat_memcg_threshold, parents cached per CPU; stops where a flush is due",
	.source = "Linux 6.8+, memcg_rstat_updated()",
	.ops = &ops,
};
