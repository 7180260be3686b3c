/*
 * reparent_summary.c - what is printed of reparent_check after a run: what the parent counts of its
 * children's pages when these are offline, half dropped and gone, against what it has on its lists, and what
 * is left counted by the children.
 *
 * A reader of memory.stat sees what is counted with children, and 0 where a number of the parent's own is
 * below.
 */
#include "sim/module.h"
#include "sim/results/summary.h"

#define STAGE(label_, metric_, stage_)                                               \
	{                                                                            \
		label_, "reparent." metric_, "*/" stage_, SUMMARY_SUM, 1, "pages", 0 \
	}

static const struct summary_row rows[] = {
	STAGE("offline: on parent's lists", "parent_lru", "offline"),
	STAGE("  counted with children", "parent_total", "offline"),
	STAGE("  counted by parent itself", "parent_local", "offline"),
	STAGE("half dropped: on the lists", "parent_lru", "half"),
	STAGE("  counted with children", "parent_total", "half"),
	STAGE("  counted by parent itself", "parent_local", "half"),
	STAGE("all dropped: with children", "parent_total", "none"),
	STAGE("  counted by parent itself", "parent_local", "none"),
	STAGE("  left counted by children", "child_local", "none"),
	STAGE("  mapped, by parent itself", "mapped_local", "none"),
	{ "  dying", "reparent.nr_dying", "*/none", SUMMARY_SUM, 1, NULL, 0 },
};
static const struct summary_table table = { "Parent and child", rows, sizeof rows / sizeof rows[0] };

MODULE(reparent_summary) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_SUMMARY,
	.name = "reparent",
	.help = "counters of a parent whose children are removed, and what it has on its lists",
	.ops = &table,
};
