/*
 * rstat_memcg_threshold_cached_stop.c - stat_update: every memcg has a threshold of its own.
 *
 * memcg_rstat_updated() from Linux 6.16 on ("memcg: optimize memcg_rstat_updated"): each level's shared
 * word is looked at first, and the walk ends at one that may be flushed already, since all of its ancestors
 * then may be. What comes after that is counted nowhere. So an update reads a line a level that others
 * write, where 6.8 read none until a batch was full, and costs next to nothing once its cgroup is due.
 */
#include "models/stat/stat_impl.h"

static void updated(struct task *t, struct stat_pair *pair, enum stat_item item, uint64_t pages)
{
	(void)item;
	for (; pair && !memcg_needs_flush(t, pair->memcg->host, pair->memcg); pair = pair->parent)
		if (memcg_update_count(t, pair, pages))
			memcg_update_move(t, pair);
}

static const struct stat_update_ops ops = {
	.updated = updated,
	.flushed = memcg_update_flushed,
	.in_pages = true,
};

MODULE(rstat_memcg_threshold_cached_stop) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "stat_update",
	.name = "rstat_memcg_threshold_cached_stop",
	.help = "as rstat_memcg_threshold_cached; the walk stops where a flush is due",
	.source = "Linux 6.16+, memcg_rstat_updated()",
	.ops = &ops,
};
