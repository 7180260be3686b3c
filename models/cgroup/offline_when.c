/*
 * offline_when.c - css_killed_work: what lies between rmdir and css_offline().
 *
 * percpu_ref_kill_and_confirm() confirms after a grace period, in which the CPUs' own counts of references
 * end. Linux 7.1 queues what follows as RCU work, so that there is one more, and does not lean on how a
 * percpu_ref works: every update of statistics that began before the cgroup was dying is over by then.
 * at_once shows what both are for.
 */
#include "models/cgroup/life.h"

#include "models/host/policies.h"
#include "sim/module.h"

static const struct axis axis = { .fallback = "work" };

MODULE(axis_css_killed_work) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_AXIS,
	.name = "css_killed_work",
	.help = "how many grace periods lie between the removal of a cgroup and its going offline",
	.source = "kernel/cgroup/cgroup.c, kill_css() and css_killed_ref_fn()",
	.ops = &axis,
};

static const struct charge_constant at_once = { 0 }, work = { 1 }, rcu_work = { 2 };

MODULE(css_killed_work_at_once) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "css_killed_work",
	.name = "at_once",
	.help = "none: the work is queued by rmdir. No kernel does that",
	.ops = &at_once,
};

MODULE(css_killed_work_work) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "css_killed_work",
	.name = "work",
	.help = "one, that of the reference counts",
	.source = "Linux up to 7.0",
	.ops = &work,
};

MODULE(css_killed_work_rcu_work) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "css_killed_work",
	.name = "rcu_work",
	.help = "two: the work waits for one more",
	.source = "Linux 7.1",
	.ops = &rcu_work,
};

void offline_when_check(const struct scenario *s, struct complaints *c)
{
	if (scenario_policy(s, "css_killed_work")->module->ops == &at_once && !scenario_allow_unreal(s))
		complain(
			c, scenario_policy_where(s, "css_killed_work"),
			"css_killed_work 'at_once': no kernel takes a cgroup offline without a grace period");
}
