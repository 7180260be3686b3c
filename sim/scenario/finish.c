/*
 * finish.c - the checks that no option table can express, once a variant is bound.
 */
#include <string.h>

#include "sim/experiment/run.h"
#include "sim/scenario/name.h"
#include "sim/scenario/set.h"

static void check_host(const struct host_options *host, struct complaints *c)
{
	uint32_t sockets = host->sockets ? host->sockets : host->nodes;

	if (host->nodes % sockets)
		complain(c, option_where(host, "sockets"),
			 "sockets: %u nodes cannot be shared evenly by %u sockets", host->nodes, sockets);
	if (host->cpus % host->threads_per_core)
		complain(c, option_where(host, "threads_per_core"),
			 "threads_per_core: %u CPUs are not whole cores of %u threads", host->cpus,
			 host->threads_per_core);
	else if (host->nodes > host->cpus / host->threads_per_core)
		complain(c, option_where(host, "nodes"), "nodes: %u nodes for %u cores, and each needs one",
			 host->nodes, host->cpus / host->threads_per_core);
	if (host->possible_cpus && host->possible_cpus < host->cpus)
		complain(c, option_where(host, "possible_cpus"),
			 "possible_cpus: fewer than the %u that are online", host->cpus);
}

static void check_run(struct run_options *run, struct complaints *c)
{
	run->until_done = run->until == SIM_NEVER;
	if (run->warmup >= (run->until_done ? run->give_up : run->until))
		complain(c, option_where(run, "warmup"), "warmup: it must end before the run does");
}

static void make_machine(struct scenario *s, const struct host_options *host)
{
	const struct module *costs = module_find(MODULE_COSTS, NULL, "hw");
	struct machine *m = &s->machine;

	if (costs)
		*m = *(const struct machine *)scenario_costs(s, "hw");
	m->cpus = host->cpus;
	m->possible_cpus = host->possible_cpus ? host->possible_cpus : host->cpus;
	m->nodes = host->nodes;
	m->sockets = host->sockets ? host->sockets : host->nodes;
	m->threads_per_core = host->threads_per_core;
	m->hz = host->hz;
}

void scenario_finish(struct scenario *s, struct complaints *c)
{
	const struct host_options *host = scenario_section(s, "host");
	size_t before = complaints_raised(c), nr;
	const struct module *const *models = modules_of(MODULE_MODEL, &nr);

	if (name_count(s->top->name) != 1)
		complain(c, option_where(s->top, "scenario"), "scenario: one name is needed, not a range");
	if (name_count(s->name) != 1)
		complain(c, option_where(s->top, "variants"),
			 "variants: '%.100s': one name is needed, not a range", s->name);
	check_host(host, c);
	check_run((struct run_options *)scenario_section(s, "run"), c);
	make_machine(s, host);
	for (size_t i = 0; i < nr && complaints_raised(c) == before; i++) {
		const struct model_ops *ops = models[i]->ops;

		if (ops->check)
			ops->check(s, c);
	}
}
