/*
 * check.c - combinations of statistics policies that no kernel could have.
 *
 * Each axis is a choice of its own only as far as the pieces fit: a flush policy tests a threshold that
 * some update policy has to count, and a sleeping lock cannot be taken where interrupts are off.
 * `allow_unreal: true` lets them pass, for whoever wants to see what happens.
 */
#include <string.h>

#include "models/stat/stat_impl.h"

static bool named(const struct scenario *s, const char *axis, const char *const *names)
{
	const char *name = scenario_policy(s, axis)->module->name;

	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

static const char *const global_flush[] = { "unified",
					    "nonunified_user",
					    "nonunified_user_mutex",
					    "everyone_waits",
					    "unified_waits",
					    "waits_if_ongoing",
					    NULL };
static const char *const global_update[] = { "rstat_global_threshold", NULL };
static const char *const memcg_flush_names[] = { "memcg_threshold", "memcg_ratelimited",
						 "sublinear_threshold", "skip_if_ongoing", NULL };
static const char *const memcg_update[] = {
	"rstat_memcg_threshold",        "rstat_memcg_threshold_inline",      "rstat_memcg_threshold_fixlet",
	"rstat_memcg_threshold_cached", "rstat_memcg_threshold_cached_stop", NULL
};
static const char *const gated_flush[] = { "always_subtree",        "unified",       "nonunified_user",
					   "nonunified_user_mutex", "unified_waits", NULL };
static const char *const sleeping_lock[] = { "mutex", "mutex_preempt_off", NULL };
static const char *const summed_flush[] = { "sum_on_read", NULL };
static const char *const summed_update[] = { "walk", "batch_local", "batch_hier", NULL };
static const char *const untracked[] = { "untracked", NULL };
static const char *const lockless[] = { "lockless", NULL };
static const char *const redirecting[] = { "redirect_all", "redirect_all_fast", NULL };
static const char *const moved_local[] = { "on", NULL };
static const char *const pages_stay[] = { "none", NULL };
static const char *const subsystem_lock[] = { "per_subsystem", NULL };

void stat_check(const struct scenario *s, struct complaints *c)
{
	struct where flush = scenario_policy_where(s, "flush");
	uint32_t version = scenario_kernel_version(s);
	const struct stat_options *options = scenario_section(s, "statistics");
	const struct host_options *host = scenario_section(s, "host");

	if (scenario_allow_unreal(s))
		return;
	if (options->stall_by == STALL_PREEMPTION && host->preemption != PREEMPT_FULL)
		complain(c, option_where(options, "stall_by"),
			 "stall_by 'preemption': no task is preempted in the kernel unless the host has "
			 "preemption 'full'");
	if (named(s, "flush", global_flush) && !named(s, "stat_update", global_update))
		complain(
			c, flush,
			"flush policy '%s' tests the global threshold, which stat_update '%s' does not count",
			scenario_policy(s, "flush")->module->name,
			scenario_policy(s, "stat_update")->module->name);
	if (named(s, "flush", memcg_flush_names) && !named(s, "stat_update", memcg_update))
		complain(c, flush,
			 "flush policy '%s' tests a threshold of each memcg, which stat_update '%s' does not "
			 "count",
			 scenario_policy(s, "flush")->module->name,
			 scenario_policy(s, "stat_update")->module->name);
	if (named(s, "flush", gated_flush) && named(s, "rstat_lock", sleeping_lock) && version < 604)
		complain(c, scenario_policy_where(s, "rstat_lock"),
			 "before 6.4 the unified flush runs with interrupts off and cannot take a sleeping "
			 "lock");
	if (named(s, "stat_update", summed_update) != named(s, "flush", summed_flush) ||
	    named(s, "stat_update", summed_update) != named(s, "rstat_updated", untracked))
		complain(c, scenario_policy_where(s, "stat_update"),
			 "stat_update '%s', flush '%s', rstat_updated '%s': before rstat there is flush "
			 "'sum_on_read' and rstat_updated 'untracked', and since rstat neither",
			 scenario_policy(s, "stat_update")->module->name,
			 scenario_policy(s, "flush")->module->name,
			 scenario_policy(s, "rstat_updated")->module->name);
	if (named(s, "dying_stats", redirecting) && named(s, "lru_reparent", pages_stay))
		complain(c, scenario_policy_where(s, "dying_stats"),
			 "dying_stats '%s' has the parent count what becomes of pages that it never counted "
			 "in: "
			 "lru_reparent has to be 'at_offline'",
			 scenario_policy(s, "dying_stats")->module->name);
	if (named(s, "reparent_local", moved_local) && named(s, "lru_reparent", pages_stay))
		complain(c, scenario_policy_where(s, "reparent_local"),
			 "reparent_local 'on' moves counters of pages, which stay behind: lru_reparent has "
			 "to be "
			 "'at_offline'");
	if (named(s, "rstat_updated", lockless) && !named(s, "rstat_lock", subsystem_lock))
		complain(c, scenario_policy_where(s, "rstat_updated"),
			 "the lock-less lists belong to a subsystem: rstat_lock has to be 'per_subsystem'");
}
