/*
 * killer.c - deciding on what was read whom to end. See killer.h.
 *
 * How old the numbers are is the point, so there are three ways to read. `cached`: everything is read every
 * `refresh`, and both questions are answered from that copy, as monitoring libraries do. `on_demand`: the
 * watched number is read at each look, the candidates' when they are needed. `event`: the daemon sleeps until
 * memory.events of the watched cgroup changes, and reads then; the kernel tells at most every 10 ms
 * (CGROUP_FILE_NOTIFY_MIN_INTV).
 *
 * Beside each look stands what the truth would have said (trigger:NAME), and beside each victim the one that
 * it should have been (victim:NAME).
 */
#include "models/workload/killer.h"

#include <stdio.h>

#include "models/cgroup/options.h"
#include "models/host/costs.h"
#include "sim/results/record.h"
#include "sim/stats/histogram.h"

#define NOTIFY_MIN_INTV (10 * SIM_MS)

const struct enum_name killer_readings[] = {
	{ "cached", READ_CACHED, "all numbers every `refresh`" },
	{ "on_demand", READ_ON_DEMAND, "`watch` at each look, candidates when one is to be chosen" },
	{ "event", READ_EVENT, "the same, when memory.events of `watch` changes" },
	{ NULL, 0, NULL },
};

enum { KILLS, HELD_BACK, OVERSHOOT };

static const struct metric metrics[] = {
	[KILLS] = { "daemon.kills", "1", METRIC_COUNTER, "cgroups whose tasks a daemon ended" },
	[HELD_BACK] = { "daemon.held_back", "1", METRIC_COUNTER,
			"looks at which it would have acted but for dying cgroups" },
	[OVERSHOOT] = { "daemon.overshoot", "pages", METRIC_DISTRIBUTION,
			"how far above its limit the watched cgroup truly was when a daemon acted" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(daemon_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "daemon",
	.help = "what daemons in user space did to cgroups",
	.ops = &table,
};

struct killer {
	const struct killer_options *o;
	struct watched watch, *candidates;
	uint32_t nr, kills, held_back;
	sim_time_t refreshed; /* SIM_NEVER: not yet */
	struct decider *trigger, *victim;
	struct histogram *overshoot;
	struct memcg_watcher events;
};

static bool is_amount(int number)
{
	return number != WATCH_PRESSURE && number != WATCH_PGSCAN;
}

static void check(const struct scenario *s, const struct task_options *task, const void *own,
		  struct complaints *c)
{
	const struct killer_options *o = own;

	(void)task;
	cgroup_check_pattern(s, o->watch, own, "watch", c);
	for (size_t i = 0; i < o->candidates.nr; i++)
		cgroup_check_pattern(s, o->candidates.items[i], own, "candidates", c);
	if (is_amount(o->when) && o->limit == UINT64_MAX)
		complain(c, option_where(own, NULL), "limit: '%s' is an amount of memory and needs one",
			 watch_numbers[o->when].name);
}

static bool ends(const void *own)
{
	return ((const struct killer_options *)own)->kills > 0;
}

static struct decider *decider(struct workload_task *w, const char *what)
{
	char name[256];

	snprintf(name, sizeof name, "%s:%s", what, w->label);
	return decider_create(w->host, arena_strdup(sim_arena(w->host->sim), name));
}

static void prepare(struct workload_task *w)
{
	struct killer *k = sim_alloc(w->host->sim, sizeof *k);
	uint32_t most = w->host->cgroups->nr;

	k->o = w->own;
	k->refreshed = SIM_NEVER;
	watch_init(&k->watch, memcg_find(w->host, k->o->watch));
	struct memcg **found = sim_alloc(w->host->sim, most * sizeof(struct memcg *));

	for (size_t i = 0; i < k->o->candidates.nr; i++) {
		uint32_t nr = memcg_match(w->host, k->o->candidates.items[i], found);
		struct watched *all = arena_array(sim_arena(w->host->sim), k->nr + nr, sizeof *all);

		for (uint32_t n = 0; n < k->nr; n++)
			all[n] = k->candidates[n];
		for (uint32_t n = 0; n < nr; n++)
			watch_init(&all[k->nr + n], found[n]);
		k->candidates = all;
		k->nr += nr;
	}
	sim_free(w->host->sim, found, most * sizeof(struct memcg *));
	k->trigger = decider(w, "trigger");
	k->victim = decider(w, "victim");
	k->overshoot = histogram_create(sim_arena(w->host->sim));
	w->state = k;
}

/* ---- whether ---- */

static double limit_of(const struct killer_options *o)
{
	return is_amount(o->when) ? (double)(o->limit / PAGE_SIZE) : o->pressure;
}

static void read_candidates(struct task *t, struct killer *k)
{
	for (uint32_t i = 0; i < k->nr; i++) {
		task_sync(t);
		k->candidates[i].ended |= !watch_exists(host_of(t), &k->candidates[i]);
		if (!k->candidates[i].ended)
			watch_read(t, &k->candidates[i], k->o->by);
	}
}

static void refresh(struct task *t, struct killer *k)
{
	if (k->refreshed != SIM_NEVER && t->clock - k->refreshed < k->o->refresh)
		return;
	k->refreshed = t->clock;
	watch_read(t, &k->watch, k->o->when);
	read_candidates(t, k);
}

static bool too_much(struct task *t, struct killer *k)
{
	double limit = limit_of(k->o), truth;

	if (k->o->reading == READ_CACHED)
		refresh(t, k);
	else
		watch_read(t, &k->watch, k->o->when);
	task_sync(t);
	truth = watch_truth(t, &k->watch, k->o->when);
	decider_taken(k->trigger, k->watch.seen > limit, truth > limit,
		      watch_off(k->watch.seen, truth, k->o->when), watch_age(t, &k->watch));
	return k->watch.seen > limit;
}

/*
 * Dying cgroups make reclaim and its pressure longer without anybody being guilty, so some daemons wait until
 * they are gone. The number is cgroup.stat's, which is exact, and read only when the first question is
 * answered.
 */
static bool held_back(struct task *t, struct killer *k)
{
	if (k->o->dying == UINT64_MAX)
		return false;
	cpu_work(t, host_of(t)->costs->read_open);
	task_sync(t);
	if (k->watch.memcg->nr_dying_descendants <= k->o->dying)
		return false;
	k->held_back++;
	return true;
}

/* ---- whom ---- */

/* The largest by what was read and by what is; of equals the first. NULL: nobody is left. */
static struct watched *choose(struct task *t, struct killer *k, struct decision_choice *c)
{
	struct watched *chosen = NULL;

	for (uint32_t i = 0; i < k->nr; i++) {
		struct watched *x = &k->candidates[i];
		double truth;

		x->ended |= !watch_exists(host_of(t), x);
		if (x->ended)
			continue;
		truth = watch_truth(t, x, k->o->by);
		if (!chosen || x->seen > chosen->seen)
			chosen = x;
		if (!c->right || truth > c->right_truth) {
			c->right = x->memcg;
			c->right_truth = truth;
		}
	}
	if (chosen) {
		c->chosen = chosen->memcg;
		c->seen = chosen->seen;
		c->off = watch_off(chosen->seen, watch_truth(t, chosen, k->o->by), k->o->by);
		c->age = watch_age(t, chosen);
	}
	return chosen;
}

static bool end_one(struct task *t, struct workload_task *w)
{
	struct killer *k = w->state;
	struct decision_choice c = { 0 };
	struct watched *chosen;
	double above;

	if (k->o->reading != READ_CACHED)
		read_candidates(t, k);
	task_sync(t);
	chosen = choose(t, k, &c);
	if (!chosen)
		return false;
	decider_chose(w->host, k->victim, t->clock, &c);
	above = watch_truth(t, &k->watch, k->o->when) - limit_of(k->o);
	if (is_amount(k->o->when))
		histogram_add(k->overshoot, above > 0 ? (uint64_t)above : 0, 1);
	if (k->o->grace)
		task_sleep(t, k->o->grace);
	task_sync(t);
	if (watch_exists(w->host, chosen))
		memcg_kill(t, chosen->memcg);
	chosen->ended = true;
	k->kills++;
	w->ops++;
	return true;
}

/* ---- the loop ---- */

static void wait(struct task *t, struct killer *k)
{
	if (k->o->reading != READ_EVENT) {
		task_sleep(t, k->o->interval);
		return;
	}
	task_sleep(t, NOTIFY_MIN_INTV);
	task_sync(t);
	while (!k->events.raised) {
		task_block(t);
		task_sync(t);
	}
	k->events.raised = false;
}

static void run(struct task *t, struct workload_task *w)
{
	struct killer *k = w->state;

	task_sync(t);
	if (k->o->reading == READ_EVENT)
		memcg_watch_events(&k->events, k->watch.memcg, t);
	while (!k->o->kills || k->kills < k->o->kills) {
		wait(t, k);
		task_sync(t);
		if (task_killed(t) || !watch_exists(w->host, &k->watch))
			break;
		if (!too_much(t, k) || held_back(t, k))
			continue;
		if (!end_one(t, w))
			break;
		if (k->o->settle)
			task_sleep(t, k->o->settle);
	}
}

/*
 * By the name that tasks have in common, as in task.ops: several of one daemon are rare, and the last counts.
 */
static void finish(struct host *host, const struct module *self)
{
	uint32_t nr;
	const struct workload_task *tasks = workload_tasks(host, &nr);

	for (uint32_t i = 0; i < nr; i++) {
		const struct killer *k = tasks[i].state;

		if (!workload_is(&tasks[i], self))
			continue;
		record_summary(host->run->record, &metrics[KILLS], tasks[i].label, (double)k->kills);
		if (k->o->dying != UINT64_MAX)
			record_summary(host->run->record, &metrics[HELD_BACK], tasks[i].label,
				       (double)k->held_back);
		if (k->overshoot->count)
			record_histogram(host->run->record, &metrics[OVERSHOOT], tasks[i].label,
					 k->overshoot);
	}
}

const struct workload_ops killer_ops = {
	.check = check,
	.ends = ends,
	.prepare = prepare,
	.run = run,
	.finish = finish,
};
