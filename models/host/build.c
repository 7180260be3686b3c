/*
 * build.c - the host, from a scenario: costs, policies, cgroups, statistics, pages, tasks; and at the end of
 * the run their results and invariants, in the same order.
 */
#include "models/backing/backing.h"
#include "models/cgroup/life.h"
#include "models/cgroup/options.h"
#include "models/cgroup/results.h"
#include "models/fs/vfs.h"
#include "models/host/costs.h"
#include "models/host/ledger.h"
#include "models/host/policies.h"
#include "models/list_lru/list_lru.h"
#include "models/page/page.h"
#include "models/page/reparent.h"
#include "models/pressure/pressure.h"
#include "models/reclaim/reclaim.h"
#include "models/stat/stat.h"
#include "models/workingset/workingset.h"
#include "models/workload/workload.h"

/* Frames are numbered in 32 bits, and number 0 stands for none. */
#define MEMORY_MOST ((uint64_t)UINT32_MAX * PAGE_SIZE)

/* The kernel whose paths are modelled where a scenario names none. */
#define DEFAULT_VERSION 601

static const struct host_options *host_section(const struct scenario *s)
{
	return scenario_section(s, "host");
}

static void check(const struct scenario *s, struct complaints *c)
{
	const struct host_options *options = host_section(s);

	if (options->memory > MEMORY_MOST)
		complain(c, option_where(options, "memory"),
			 "memory: at most 16 TiB less a page can be modelled");
	if (options->memory / PAGE_SIZE < options->nodes)
		complain(c, option_where(options, "memory"), "memory: less than a page for each of %u nodes",
			 options->nodes);
	ledger_check(s, c);
	cgroup_check(s, c);
	cgroup_writes_check(s, c);
	workload_check(s, c);
	stat_check(s, c);
	backing_check(s, c);
	reparent_check(s, c);
	offline_when_check(s, c);
}

static uint32_t charge_constant(const struct host *host, const char *axis)
{
	const struct charge_constant *constant = host_policy_ops(host, axis);

	return constant->value;
}

static void build(struct run *run)
{
	struct host *host = sim_alloc(run->sim, sizeof *host);
	uint32_t version = scenario_kernel_version(run->scenario);

	run->model = host;
	sim_state_set(run->sim, SIM_STATE_MODEL, host);
	host->run = run;
	host->sim = run->sim;
	host->scenario = run->scenario;
	host->machine = scenario_machine(run->scenario);
	host->costs = kernel_costs_scaled(run->sim, scenario_costs(run->scenario, "kernel"));
	host->kernel_version = version ? version : DEFAULT_VERSION;
	host->nr_cpus = host->machine->cpus;
	host->nr_possible = host->machine->possible_cpus ? host->machine->possible_cpus : host->machine->cpus;
	host->nr_nodes = host->machine->nodes;
	host->memory = host_section(run->scenario)->memory;
	host->preempt_dynamic = host_section(run->scenario)->preempt_dynamic;
	host_policies_build(host);
	host->charge_batch = charge_constant(host, "charge_batch");
	host->nr_stock = charge_constant(host, "charge_stock");
	host->grace_periods = charge_constant(host, "css_killed_work");
	host->reparent_local = charge_constant(host, "reparent_local");
	host->ids_until_freed = charge_constant(host, "memcg_id");

	ledger_build(host);
	reclaim_build(host);
	cgroups_build(host);
	cgroup_options_build(host);
	list_lru_build(host);
	workingset_build(host);
	page_build(host);
	ledger_start(host);
	backing_build(host);
	pressure_build(host);
	stat_build(host);
	for (uint32_t i = 0; i < host->cgroups->nr; i++)
		stat_build_memcg(host->cgroups->all[i]);
	stat_start(host);
	reclaim_start(host);
	workload_build(host);
	cgroup_writes_build(host);
}

static void measure(struct run *run)
{
	stat_measure(run->model);
	memory_stat_measure(run->model);
	workload_measure(run->model);
}

static void sample(struct run *run, sim_time_t now)
{
	stat_sample(run->model, now);
	cgroups_sample(run->model, now);
	life_sample(run->model, now);
	ledger_sample(run->model, now);
	memory_stat_sample(run->model, now);
	workingset_sample(run->model, now);
	backing_sample(run->model, now);
	pressure_sample(run->model, now);
}

static void finish(struct run *run)
{
	workload_finish(run->model);
	stat_finish(run->model);
	cgroups_results(run->model);
	life_finish(run->model);
	ledger_finish(run->model);
	cgroup_writes_results(run->model);
	memory_stat_results(run->model);
	cgroups_finish(run->model);
	page_finish(run->model);
	backing_finish(run->model);
	reclaim_finish(run->model);
	workingset_finish(run->model);
	vfs_finish(run->model);
	pressure_finish(run->model);
}

static const struct model_ops ops = {
	.check = check,
	.build = build,
	.measure = measure,
	.sample = sample,
	.finish = finish,
};

MODULE(model_host) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_MODEL,
	.name = "host",
	.help = "a Linux host with memory cgroups",
	.ops = &ops,
	.order = 10,
};
