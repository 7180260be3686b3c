/*
 * unified.c - flush: everybody, userspace readers included, takes part in the unified flush.
 *
 * Linux 5.16 to 6.7. So a read costs nothing to speak of, or the flush of the whole tree, and may return
 * values that a flush which is still under way, or the threshold, keeps from it. See models/stat/unified.c.
 */
#include "models/stat/stat_impl.h"

static const struct flush_ops ops = { .flush = unified_kernel };

MODULE(flush_unified) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "flush",
	.name = "unified",
	.help = "one flusher for the whole tree; losers go on with what is there",
	.source = "Linux 5.16-6.7, fd25a9e0e23b",
	.ops = &ops,
};
