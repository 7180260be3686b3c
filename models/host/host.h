/*
 * host.h - the simulated host: what every part of the kernel model hangs from.
 *
 * Built once per run by models/host/build.c (the MODULE_MODEL): costs and policies are looked up, the cgroup
 * tree is made from `cgroups:`, workloads become tasks. One struct host per simulation, in its arena.
 */
#ifndef MODELS_HOST_HOST_H
#define MODELS_HOST_HOST_H

#include "sim/experiment/run.h"
#include "sim/hw/task.h"

struct memcg;
struct module;
struct page_state; /* models/page/page.h */
struct stat_state; /* models/stat/stat.h */
struct cgroup_state;
struct workload_state; /* models/workload/workload.h */
struct reclaim_state;  /* models/reclaim/reclaim.h */
struct workingset_state;
struct backing_state;
struct pressure_state;
struct percpu_state;
struct slab_state;
struct ledger_state;
struct list_lru_state; /* models/list_lru */
struct superblock;     /* models/fs */

/* The module chosen for an axis, its options, and its state: a zeroed block of module->state_size. */
struct host_policy {
	const char *axis;
	const struct module *module;
	const void *options;
	void *state;
};

/* `host:` as far as the engine does not read it itself, and kernel parameters that are not policies. */
struct host {
	struct run *run;
	struct sim *sim;
	const struct scenario *scenario;
	const struct machine *machine;
	const struct kernel_costs *costs; /* models/host/costs.h */
	uint32_t kernel_version;          /* 601 for 6.1 */
	bool preempt_dynamic;             /* built with CONFIG_PREEMPT_DYNAMIC */
	uint32_t nr_cpus, nr_possible, nr_nodes;
	uint64_t memory;        /* bytes, of all nodes */
	uint32_t charge_batch;  /* MEMCG_CHARGE_BATCH: 32, or 64 from 6.1 */
	uint32_t nr_stock;      /* slots of a CPU's stock: 1 or 7 */
	uint32_t grace_periods; /* between the removal of a cgroup and css_offline(): css_killed_work */
	bool reparent_local;
	bool ids_until_freed; /* a removed cgroup keeps its id as long as anything holds it: memcg_id */
	struct host_policy *policies;
	uint32_t nr_policies;
	struct cgroup_state *cgroups;
	struct percpu_state *percpu; /* models/host/percpu.h */
	struct slab_state *slabs;    /* models/host/slab.h */
	struct ledger_state *ledger; /* models/host/ledger.h */
	struct stat_state *stat;
	struct page_state *pages;
	struct reclaim_state *reclaim;
	struct list_lru_state *list_lrus;
	struct superblock *superblocks;
	struct workingset_state *workingset;
	struct backing_state *backing;
	struct pressure_state *pressure;
	struct workload_state *workloads;
};

static inline struct host *host_of(const struct task *t)
{
	return sim_state_get(t->sim, SIM_STATE_MODEL);
}

/* All axes, as the scenario chose them. */
void host_policies_build(struct host *host);
/* Looked up by name: for set-up, not for hot paths. An axis that does not exist ends the program. */
void *host_policy_state(struct host *host, const char *axis);
const void *host_policy_ops(const struct host *host, const char *axis);
const void *host_policy_options(const struct host *host, const char *axis);

#endif
