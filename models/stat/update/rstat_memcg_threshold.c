/*
 * rstat_memcg_threshold.c - stat_update: every memcg has a threshold of its own.
 *
 * As posted (seed 3, patch 3 of versions 1 and 2 of the series): see memcg_update_posted(). A flush clears
 * the memcg's word, but leaves what the flushed CPU has of the next batch in the CPU's counter: the word then
 * says a little more than there is to flush, and a cgroup may be due when its parent is not.
 */
#include "models/stat/stat_impl.h"

static const struct stat_update_ops ops = {
	.updated = memcg_update_posted,
	.flushed = memcg_word_flushed,
	.in_pages = true,
};

MODULE(rstat_memcg_threshold) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "stat_update",
	.name = "rstat_memcg_threshold",
	.help = "each memcg and ancestor counts, with three dependent loads at each level",
	.source = "as first posted for Linux 6.8, seed 3",
	.ops = &ops,
};
