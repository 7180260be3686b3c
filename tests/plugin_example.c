/*
 * plugin_example.c - a module outside of the program: an axis of its own with one policy.
 *
 *	cc -std=gnu11 -I. -fPIC -shared -o example.so tests/plugin_example.c
 *	memcgsim explain --plugin ./example.so example_axis
 *
 * All that makes it one is the line PLUGIN, and that modules are announced as anywhere else.
 */
#include "sim/module.h"

PLUGIN;

struct example {
	uint64_t size;
};

static const struct option rows[] = {
	OPTION(struct example, size, OPT_BYTES, .fallback = "4KiB", .min = "1", .help = "how much at a time"),
};
static const struct option_table options = OPTION_TABLE("example", struct example, rows);

static const struct axis axis = { .fallback = "example" };
static const int operations = 42;

MODULE(axis) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_AXIS,
	.name = "example_axis",
	.help = "what only the example has",
	.ops = &axis,
};

MODULE(example) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "example_axis",
	.name = "example",
	.help = "the example's only policy",
	.options = &options,
	.ops = &operations,
};
