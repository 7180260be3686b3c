/*
 * pressure.c - stalls of tasks, and what they are to their cgroups; after psi_task_change(),
 * psi_group_change(), collect_percpu_times() and update_averages() of kernel/sched/psi.c, Linux 6.1.
 *
 * Every cgroup counts, on every CPU, its runnable tasks, its stalled ones and those that are both, and keeps
 * the time spent with any stalled (some) and with none that works (full). Every two seconds the CPUs' times
 * are summed, each weighted by how long that CPU was not idle for the cgroup, and folded into three averages
 * that decay over 10, 60 and 300 s, in the kernel's own fixed point.
 *
 * The kernel does the summing in a work item that runs while there is something to sum. Here it is made up
 * for when the cgroup next changes or is read: its state was constant since, so the sums at the ends of the
 * periods in between are known exactly, and an idle cgroup costs nothing.
 *
 * A task counts on the CPU where it became runnable until it sleeps. Left out: that a CPU whose running task
 * is stalled is full even if others wait for it (PSI_ONCPU), triggers, and clock skew between CPUs.
 */
#include "models/pressure/pressure.h"

#include "models/workload/workload.h"
#include "sim/module.h"

#define PSI_PERIOD (2 * SIM_SEC)
#define FIXED_1    2048u

/* 1 / exp(2 s / 10 s), 60 s, 300 s: EXP_10s, EXP_60s, EXP_300s. */
static const uint64_t decay[NR_PSI_AVGS] = { 1677, 1981, 2034 };

enum { IS_RUNNABLE = 1, IS_STALLED = 2 };

struct psi_task { /* task.account */
	struct memcg *memcg;
	uint32_t cpu; /* where it is counted */
	uint8_t state;
};

struct psi_cpu {
	uint32_t runnable, stalled, both;
	sim_time_t since;                  /* when times[] were brought up to date */
	uint64_t times[NR_PSI_KINDS + 1];  /* ns; the last: not idle */
	uint64_t summed[NR_PSI_KINDS + 1]; /* of them, in sums already made */
	struct psi_cpu *next;              /* of the group's that were ever used */
	bool used;
};
#define NOT_IDLE NR_PSI_KINDS

struct psi_group {
	struct psi_cpu *cpus; /* by CPU */
	struct psi_cpu *first;
	sim_time_t period_end;
	uint64_t total[NR_PSI_KINDS], averaged[NR_PSI_KINDS]; /* ns; of them, in averages */
	uint64_t average[NR_PSI_KINDS][NR_PSI_AVGS];          /* fixed point, per cent */
};

struct pressure_state {
	struct psi_group **groups; /* by memcg id; NULL: nothing has run there */
	uint32_t nr_groups;
	uint64_t tick; /* ns */
};

static struct psi_group *group_of(struct memcg *m)
{
	struct host *host = m->host;
	struct pressure_state *p = host->pressure;

	if (m->id >= p->nr_groups) {
		uint32_t nr = host->cgroups->nr > 2 * p->nr_groups ? host->cgroups->nr : 2 * p->nr_groups;
		struct psi_group **groups = arena_array(sim_arena(host->sim), nr, sizeof(*groups));

		for (uint32_t i = 0; i < p->nr_groups; i++)
			groups[i] = p->groups[i];
		p->groups = groups;
		p->nr_groups = nr;
	}
	struct psi_group *g = p->groups[m->id];

	if (!g) {
		g = p->groups[m->id] = sim_alloc(host->sim, sizeof *g);
		g->cpus = arena_array(sim_arena(host->sim), host->nr_cpus, sizeof *g->cpus);
	}
	if (!g->period_end)
		g->period_end = sim_now(host->sim) + PSI_PERIOD;
	return g;
}

/* ---- sums and averages ---- */

/* record_times(): of one CPU, up to `now`. */
static void record_times(struct psi_cpu *c, sim_time_t now)
{
	uint64_t ns = now / SIM_NS - c->since / SIM_NS;

	if (c->stalled)
		c->times[PSI_SOME] += ns;
	if (c->stalled && c->runnable == c->both)
		c->times[PSI_FULL] += ns;
	if (c->stalled || c->runnable)
		c->times[NOT_IDLE] += ns;
	c->since = now;
}

/* collect_percpu_times() */
static void sum_cpus(const struct pressure_state *p, struct psi_group *g, sim_time_t now)
{
	uint64_t weighted[NR_PSI_KINDS] = { 0 }, weights = 0;

	for (struct psi_cpu *c = g->first; c; c = c->next) {
		uint64_t weight;

		record_times(c, now);
		weight = (c->times[NOT_IDLE] - c->summed[NOT_IDLE]) / p->tick;
		weights += weight;
		for (int kind = 0; kind < NR_PSI_KINDS; kind++)
			weighted[kind] += (c->times[kind] - c->summed[kind]) * weight;
		for (int kind = 0; kind <= NOT_IDLE; kind++)
			c->summed[kind] = c->times[kind];
	}
	for (int kind = 0; kind < NR_PSI_KINDS; kind++)
		g->total[kind] += weighted[kind] / (weights ? weights : 1);
}

/* calc_load() */
static uint64_t fold(uint64_t average, uint64_t factor, uint64_t value)
{
	uint64_t sum = average * factor + value * (FIXED_1 - factor);

	if (value >= average)
		sum += FIXED_1 - 1;
	return sum / FIXED_1;
}

/* update_averages() for the period that has ended. */
static void end_period(struct psi_group *g)
{
	const uint64_t period = PSI_PERIOD / SIM_NS;

	for (int kind = 0; kind < NR_PSI_KINDS; kind++) {
		uint64_t sample = g->total[kind] - g->averaged[kind];

		if (sample > period) /* what is too much for one is left for the next */
			sample = period;
		g->averaged[kind] += sample;
		for (int i = 0; i < NR_PSI_AVGS; i++)
			g->average[kind][i] = fold(g->average[kind][i], decay[i],
						   sample * 100 * FIXED_1 / period);
	}
	g->period_end += PSI_PERIOD;
}

static bool averages_zero(const struct psi_group *g)
{
	for (int kind = 0; kind < NR_PSI_KINDS; kind++)
		for (int i = 0; i < NR_PSI_AVGS; i++)
			if (g->average[kind][i])
				return false;
	return true;
}

/* All periods that ended since the group last changed. */
static void catch_up(const struct pressure_state *p, struct psi_group *g, sim_time_t now)
{
	while (g->period_end <= now) {
		uint64_t before = g->total[PSI_SOME];

		sum_cpus(p, g, g->period_end);
		end_period(g);
		if (g->total[PSI_SOME] == before && averages_zero(g) && g->period_end <= now) {
			/* Nothing happens in those that follow either. */
			g->period_end += (now - g->period_end) / PSI_PERIOD * PSI_PERIOD;
		}
	}
}

/* ---- tasks ---- */

static void count_state(struct psi_cpu *c, uint8_t state, uint32_t nr)
{
	c->runnable += state & IS_RUNNABLE ? nr : 0;
	c->stalled += state & IS_STALLED ? nr : 0;
	c->both += state == (IS_RUNNABLE | IS_STALLED) ? nr : 0;
}

static struct psi_cpu *cpu_of(struct psi_group *g, uint32_t cpu, sim_time_t now)
{
	struct psi_cpu *c = &g->cpus[cpu];

	if (!c->used) {
		c->used = true;
		c->since = now;
		c->next = g->first;
		g->first = c;
	}
	record_times(c, now);
	return c;
}

/* psi_task_change(), for the task's cgroup and all above it. */
static void change(struct sim *sim, struct psi_task *pt, uint8_t state, uint32_t cpu)
{
	sim_time_t now = sim_now(sim);

	for (struct memcg *m = pt->memcg; m; m = m->parent) {
		struct psi_group *g = group_of(m);

		catch_up(m->host->pressure, g, now);
		if (pt->state)
			count_state(cpu_of(g, pt->cpu, now), pt->state, -1u);
		if (state)
			count_state(cpu_of(g, cpu, now), state, 1);
	}
	pt->state = state;
	pt->cpu = cpu;
}

static struct psi_task *account(struct sim *sim, struct task *t)
{
	struct psi_task *pt = t->account;

	if (!pt) {
		const struct cgroup_task *ct = cgroup_task_of(t);

		pt = sim_alloc(sim, sizeof *pt);
		pt->memcg = ct ? ct->memcg : host_of(t)->cgroups->root;
		t->account = pt;
	}
	return pt;
}

static void on_state(struct sim *sim, struct task *t, const struct cpu *cpu)
{
	struct psi_task *pt = account(sim, t);

	if (cpu)
		change(sim, pt, pt->state | IS_RUNNABLE, cpu->id);
	else
		change(sim, pt, pt->state & IS_STALLED, pt->cpu);
	if (t->state == TASK_DEAD) {
		change(sim, pt, 0, pt->cpu);
		sim_free(sim, pt, sizeof *pt);
		t->account = NULL;
	}
}

bool psi_memstall_enter(struct task *t)
{
	task_sync(t);
	struct psi_task *pt = account(t->sim, t);
	bool outer = pt->state & IS_STALLED;

	if (!outer)
		change(t->sim, pt, pt->state | IS_STALLED, t->cpu->id);
	return outer;
}

void psi_memstall_leave(struct task *t, bool outer)
{
	task_sync(t);
	struct psi_task *pt = account(t->sim, t);

	if (!outer)
		change(t->sim, pt, pt->state & IS_RUNNABLE, t->cpu->id);
}

void psi_move_task(struct task *t, struct memcg *to)
{
	struct psi_task *pt = account(t->sim, t);
	uint8_t state = pt->state;

	change(t->sim, pt, 0, pt->cpu);
	pt->memcg = to;
	change(t->sim, pt, state, pt->cpu);
}

void psi_free_memcg(const struct memcg *m)
{
	struct pressure_state *p = m->host->pressure;
	struct psi_group *g = m->id < p->nr_groups ? p->groups[m->id] : NULL;

	if (!g)
		return;
	struct psi_cpu *cpus = g->cpus;

	for (struct psi_cpu *c = g->first, *next; c; c = next) {
		next = c->next;
		*c = (struct psi_cpu){ 0 };
	}
	*g = (struct psi_group){ .cpus = cpus };
}

/* ---- reading ---- */

void psi_read(struct memcg *m, struct psi_reading *out)
{
	struct psi_group *g = group_of(m);
	sim_time_t now = sim_now(m->host->sim);

	catch_up(m->host->pressure, g, now);
	sum_cpus(m->host->pressure, g, now);
	for (int kind = 0; kind < NR_PSI_KINDS; kind++) {
		for (int i = 0; i < NR_PSI_AVGS; i++)
			out->average[kind][i] = (double)g->average[kind][i] / FIXED_1;
		out->total[kind] = g->total[kind];
	}
}

void pressure_build(struct host *host)
{
	struct pressure_state *p = sim_alloc(host->sim, sizeof *p);

	host->pressure = p;
	p->tick = SIM_SEC / SIM_NS / host->machine->hz;
	sim_sched(host->sim)->on_state = on_state;
}

/* ---- results ---- */

enum { SOME10, FULL10, SOME_TOTAL, FULL_TOTAL };

static const struct metric metrics[] = {
	[SOME10] = { "memory.pressure.some.avg10", "%", METRIC_GAUGE,
		     "time that some task was stalled, over 10 s" },
	[FULL10] = { "memory.pressure.full.avg10", "%", METRIC_GAUGE,
		     "time that all tasks were stalled, over 10 s" },
	[SOME_TOTAL] = { "memory.pressure.some.total", "ns", METRIC_COUNTER,
			 "time that some task was stalled" },
	[FULL_TOTAL] = { "memory.pressure.full.total", "ns", METRIC_COUNTER,
			 "time that all tasks were stalled" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(pressure_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "pressure",
	.help = "memory.pressure: of cgroups that were ever stalled, of the root as the machine",
	.ops = &table,
};

static bool ever_stalled(const struct host *host, uint32_t id)
{
	const struct pressure_state *p = host->pressure;

	if (id >= p->nr_groups || !p->groups[id])
		return false;
	for (const struct psi_cpu *c = p->groups[id]->first; c; c = c->next)
		if (c->times[PSI_SOME] || c->stalled)
			return true;
	return false;
}

void pressure_sample(struct host *host, sim_time_t now)
{
	struct memcg *root = host->cgroups->root;
	struct psi_reading reading;

	for (struct memcg *m = root; m; m = m == root ? root->first_child : m->next_sibling) {
		if (m->transient || !ever_stalled(host, m->id))
			continue;
		psi_read(m, &reading);
		record_sample(host->run->record, &metrics[SOME10], m->path, now,
			      reading.average[PSI_SOME][PSI_AVG10]);
		record_sample(host->run->record, &metrics[FULL10], m->path, now,
			      reading.average[PSI_FULL][PSI_AVG10]);
	}
}

void pressure_finish(struct host *host)
{
	struct psi_reading reading;

	for (uint32_t i = 0; i < host->cgroups->nr; i++) {
		struct memcg *m = host->cgroups->all[i];

		if (!m || m->transient || !ever_stalled(host, i))
			continue;
		psi_read(m, &reading);
		for (int kind = 0; kind < NR_PSI_KINDS; kind++) {
			record_summary(host->run->record, &metrics[SOME10 + kind], m->path,
				       reading.average[kind][PSI_AVG10]);
			record_summary(host->run->record, &metrics[SOME_TOTAL + kind], m->path,
				       (double)reading.total[kind]);
		}
	}
}
