/*
 * plugin_broken.c - a plug-in of the right ABI, one of whose two modules has a default that its type cannot
 * have. Neither is to be taken.
 */
#include "sim/module.h"

PLUGIN;

struct broken {
	uint64_t pause;
};

static const struct option rows[] = {
	OPTION(struct broken, pause, OPT_DURATION, .fallback = "10", .help = "a duration without its unit"),
};
static const struct option_table options = OPTION_TABLE("broken", struct broken, rows);

MODULE(broken_device) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_DEVICE,
	.name = "broken_device",
	.help = "nothing is wrong with it",
};

MODULE(broken_costs) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_COSTS,
	.name = "broken_costs",
	.help = "its default has no unit",
	.options = &options,
};
