/*
 * policies.c - the policies of a host: which modules were chosen, and those that are only a number.
 *
 * MEMCG_CHARGE_BATCH and the slots of a CPU's stock are constants of a kernel, so each value is a module
 * whose operations are the constant.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/host/host.h"
#include "models/host/policies.h"
#include "sim/module.h"

static const struct axis charge_batch_axis, charge_stock_axis;

MODULE(axis_charge_batch) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_AXIS,
	.name = "charge_batch",
	.help = "pages charged at a time, and the unit of several thresholds",
	.source = "MEMCG_CHARGE_BATCH, include/linux/memcontrol.h",
	.ops = &charge_batch_axis,
};

MODULE(axis_charge_stock) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_AXIS,
	.name = "charge_stock",
	.help = "how many cgroups a CPU can hold pages of that are charged in advance",
	.source = "NR_MEMCG_STOCK, mm/memcontrol.c",
	.ops = &charge_stock_axis,
};

static const struct charge_constant batch_32 = { 32 }, batch_64 = { 64 }, stock_1 = { 1 }, stock_7 = { 7 };

MODULE(charge_batch_32) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "charge_batch",
	.name = "32",
	.help = "32 pages",
	.source = "Linux up to 6.0",
	.ops = &batch_32,
};

MODULE(charge_batch_64) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "charge_batch",
	.name = "64",
	.help = "64 pages",
	.source = "Linux 6.1, 1813e51eece0",
	.ops = &batch_64,
};

MODULE(charge_stock_1) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "charge_stock",
	.name = "1",
	.help = "one cgroup: two that take turns on a CPU charge and uncharge every time",
	.source = "Linux 5.19, 6.1",
	.ops = &stock_1,
};

MODULE(charge_stock_7) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "charge_stock",
	.name = "7",
	.help = "seven cgroups; an eighth takes the place of a random one",
	.source = "Linux 6.18",
	.ops = &stock_7,
};

void host_policies_build(struct host *host)
{
	size_t nr;
	const struct module *const *axes = modules_of(MODULE_AXIS, &nr);

	host->policies = sim_alloc(host->sim, (nr ? nr : 1) * sizeof *host->policies);
	host->nr_policies = (uint32_t)nr;
	for (size_t i = 0; i < nr; i++) {
		const struct module_use *use = scenario_policy(host->scenario, axes[i]->name);
		struct host_policy *policy = &host->policies[i];

		policy->axis = axes[i]->name;
		policy->module = use->module;
		policy->options = use->options;
		if (use->module->state_size)
			policy->state = sim_alloc(host->sim, use->module->state_size);
	}
}

static const struct host_policy *find(const struct host *host, const char *axis)
{
	for (uint32_t i = 0; i < host->nr_policies; i++)
		if (!strcmp(host->policies[i].axis, axis))
			return &host->policies[i];
	fprintf(stderr, "memcgsim: there is no policy axis '%s'\n", axis);
	abort();
}

void *host_policy_state(struct host *host, const char *axis)
{
	return find(host, axis)->state;
}

const void *host_policy_ops(const struct host *host, const char *axis)
{
	return find(host, axis)->module->ops;
}

const void *host_policy_options(const struct host *host, const char *axis)
{
	return find(host, axis)->options;
}
