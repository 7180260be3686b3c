/*
 * rstat_none.c - stat_update: nobody is told how much was updated.
 *
 * Linux 5.13 to 5.15, and the idea that only a periodic flusher reads the updates: there is no threshold to
 * count towards, so an update costs what its slot and the updated tree cost.
 */
#include "models/stat/stat_impl.h"

static void updated(struct task *t, struct stat_pair *pair, enum stat_item item, uint64_t size)
{
	(void)t;
	(void)pair;
	(void)item;
	(void)size;
}

static const struct stat_update_ops ops = { .updated = updated };

MODULE(rstat_none) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "stat_update",
	.name = "rstat_none",
	.help = "per-CPU slots and the updated tree only, no count of pending updates",
	.source = "Linux 5.13-5.15, 2d146aa3aa84",
	.ops = &ops,
};
