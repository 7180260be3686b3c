/*
 * stat_rig.h - a host made by hand for tests of models/stat: some cgroups, the policies named, no scenario.
 *
 * Tasks update and read directly; there are no pages and no charges, so every count is the test's own.
 */
#ifndef TESTS_STAT_RIG_H
#define TESTS_STAT_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "models/stat/stat_impl.h"

struct rig_config {
	uint32_t cpus, possible, nodes;              /* possible 0: as online; nodes 0: 1 */
	uint32_t version;                            /* 0: 606 */
	const char *update, *updated, *flush, *lock; /* NULL: those of 6.6 */
	const void *flush_options;
	enum preempt_model preempt;
	bool preempt_static; /* not PREEMPT_DYNAMIC */
	bool caches;         /* of 32 KiB and 1 MiB; level 3 has no end */
	uint64_t seed;
};

struct rig {
	struct machine machine;
	struct kernel_costs costs;
	struct host host;
	struct sim *sim;
};

static inline struct stat_policy rig_policy(struct sim *sim, const char *axis, const char *name)
{
	const struct module *m = module_find(MODULE_POLICY, axis, name);

	assert_non_null(m);
	return (struct stat_policy){
		.module = m,
		.ops = m->ops,
		.state = m->state_size ? sim_alloc(sim, m->state_size) : NULL,
	};
}

static inline const char * or (const char *name, const char *fallback)
{
	return name ? name : fallback;
}

static inline void rig_costs(struct kernel_costs *c)
{
	c->stat_update = 5 * SIM_NS;
	c->rstat_check = 1 * SIM_NS;
	c->rstat_link = 20 * SIM_NS;
	c->stat_level = 2 * SIM_NS;
	c->flush_cpu = 50 * SIM_NS;
	c->flush_slot = 2 * SIM_NS;
	c->flush_line = 50 * SIM_NS;
	c->flush_pair = 200 * SIM_NS;
	c->flush_others = 300 * SIM_NS;
	c->read_open = 1 * SIM_US;
	c->read_format = 5 * SIM_US;
}

static inline struct rig *rig_new(const struct rig_config *config)
{
	static const struct stat_options options = { .per_cgroup = PER_CGROUP_MEAN };
	struct rig *r = test_calloc(1, sizeof *r);
	uint32_t possible = config->possible ? config->possible : config->cpus;

	assert_true(modules_init());
	r->machine = (struct machine){
		.cpus = config->cpus,
		.possible_cpus = possible,
		.nodes = config->nodes ? config->nodes : 1,
		.threads_per_core = 1,
		.hz = 250,
		.slice = 3 * SIM_MS,
		.latency = 24 * SIM_MS,
		.wakeup_granularity = 4 * SIM_MS,
		.bandwidth_slice = 5 * SIM_MS,
		.rcu_gp_start = 100 * SIM_US,
		.rcu_gp_poll = 4 * SIM_MS,
		.line_hit = SIM_NS,
		.line_socket = 60 * SIM_NS,
		.line_remote = 120 * SIM_NS,
		.line_memory = 90 * SIM_NS,
		.atomic = 5 * SIM_NS,
	};
	if (config->caches) {
		r->machine.cache_l1 = 32 << 10;
		r->machine.cache_l2 = 1 << 20;
		r->machine.cache_l3 = 1 << 30;
		r->machine.line_l2 = 4 * SIM_NS;
		r->machine.line_l3 = 25 * SIM_NS;
	}
	rig_costs(&r->costs);
	r->sim = sim_create(&(struct sim_config){ .seed = config->seed + 1, .cross_check = true });
	assert_non_null(r->sim);
	sched_init(r->sim, &(struct sched_config){ .machine = &r->machine, .preempt = config->preempt });
	r->host = (struct host){
		.sim = r->sim,
		.machine = &r->machine,
		.costs = &r->costs,
		.kernel_version = config->version ? config->version : 606,
		.preempt_dynamic = !config->preempt_static,
		.nr_cpus = config->cpus,
		.nr_possible = possible,
		.nr_nodes = r->machine.nodes,
		.charge_batch = config->version && config->version < 601 ? 32 : 64,
		.nr_stock = 1,
	};
	sim_state_set(r->sim, SIM_STATE_MODEL, &r->host);
	cgroups_build(&r->host);
	struct stat_policy policy[NR_STAT_AXES] = {
		[AXIS_UPDATE] = rig_policy(r->sim, "stat_update",
					   or (config->update, "rstat_global_threshold")),
		[AXIS_UPDATED] = rig_policy(r->sim, "rstat_updated", or (config->updated, "cpu_lock")),
		[AXIS_FLUSH] = rig_policy(r->sim, "flush", or (config->flush, "unified")),
		[AXIS_LOCK] = rig_policy(r->sim, "rstat_lock", or (config->lock, "spin_yield")),
	};

	policy[AXIS_FLUSH].options = config->flush_options;
	stat_build_policies(&r->host, policy, &options);
	stat_build_memcg(r->host.cgroups->root);
	return r;
}

static inline void rig_free(struct rig *r)
{
	sim_destroy(r->sim);
	test_free(r);
}

static inline struct memcg *rig_memcg(struct rig *r, struct memcg *parent, const char *name)
{
	struct memcg *m = memcg_create(parent ? parent : r->host.cgroups->root, name);

	stat_build_memcg(m);
	return m;
}

static inline struct task *rig_task(struct rig *r, uint32_t cpu, void (*run)(struct task *t, void *arg),
				    void *arg)
{
	return task_spawn(r->sim,
			  &(struct task_attr){ .name = "test", .run = run, .arg = arg, .cpu = (int32_t)cpu });
}

/* Runs to the end of all tasks, or for as long as said. */
static inline void rig_run(struct rig *r, sim_time_t until)
{
	sim_run(r->sim, until);
	if (sim_error(r->sim))
		fail_msg("%s", sim_error(r->sim));
}

/* Updates anon of m by val on the CPU that t runs on. */
static inline void rig_update(struct task *t, struct memcg *m, int64_t val)
{
	task_sync(t);
	mod_lruvec_state(t, m, 0, NR_ANON_MAPPED, val);
	cpu_work(t, 100 * SIM_NS);
}

#endif
