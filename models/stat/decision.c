/*
 * decision.c - counting decisions, right and wrong. See decision.h.
 *
 * A decider that never decided makes no row. What happened before the end of the warm-up is not counted.
 */
#include <stdio.h>

#include "models/cgroup/memcg.h"
#include "models/stat/decision.h"
#include "models/stat/stat_impl.h"

enum { TAKEN, WRONG, MISSED, NEEDLESS, SHARE, ERROR, AGE, CHOSEN, RIGHT };

/* clang-format off */
static const struct metric metrics[] = {
	[TAKEN] = { "decision.taken", "1", METRIC_COUNTER, "decisions on a counter that may be stale" },
	[WRONG] = { "decision.wrong", "1", METRIC_COUNTER, "those that the truth would not have taken" },
	[MISSED] = { "decision.missed", "1", METRIC_COUNTER, "of the wrong: should have acted" },
	[NEEDLESS] = { "decision.needless", "1", METRIC_COUNTER, "of the wrong: should not have acted" },
	[SHARE] = { "decision.wrong_share", "1", METRIC_RATIO, "wrong decisions of all" },
	[ERROR] = { "decision.error", "pages", METRIC_DISTRIBUTION, "|seen - true| of the deciding number" },
	[AGE] = { "decision.age", "ns", METRIC_DISTRIBUTION, "since it was read, where that was before" },
	[CHOSEN] = { "decision.chosen", "1", METRIC_GAUGE, "the number by which a cgroup was chosen" },
	[RIGHT] = { "decision.right", "1", METRIC_GAUGE, "the true number of the cgroup that had the most" },
};
/* clang-format on */
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(decision_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "decision",
	.help = "decisions taken on stale counters beside those that the truth would have taken",
	.ops = &table,
};

struct decider {
	struct decider *next;
	const char *name;
	uint64_t taken, missed, needless;
	struct histogram error, age;
};

struct decision_state {
	struct decider kernel[NR_DECISION_KINDS];
	struct decider *deciders, **last; /* in order of creation */
};

static const char *const kernel_names[NR_DECISION_KINDS] = {
	[DECISION_DEACTIVATE_ANON] = "deactivate:anon",
	[DECISION_DEACTIVATE_FILE] = "deactivate:file",
	[DECISION_CACHE_TRIM] = "cache_trim_mode",
	[DECISION_FILE_IS_TINY] = "file_is_tiny",
	[DECISION_REFAULT] = "refault",
	[DECISION_DIRTY_LIMIT] = "dirty_limit",
	[DECISION_SHADOW_BUDGET] = "shadow_budget",
};

static void add(struct host *host, struct decider *d, const char *name)
{
	struct decision_state *all = stat_of(host)->decisions;

	d->name = name;
	histogram_init(&d->error, sim_arena(host->sim));
	histogram_init(&d->age, sim_arena(host->sim));
	*all->last = d;
	all->last = &d->next;
}

void decisions_build(struct host *host)
{
	struct decision_state *all = sim_alloc(host->sim, sizeof *all);

	stat_of(host)->decisions = all;
	all->last = &all->deciders;
	for (int i = 0; i < NR_DECISION_KINDS; i++)
		add(host, &all->kernel[i], kernel_names[i]);
}

struct decider *decider_create(struct host *host, const char *name)
{
	struct decider *d = sim_alloc(host->sim, sizeof *d);

	add(host, d, name);
	return d;
}

static void count(struct decider *d, bool acts, bool should, uint64_t off)
{
	d->taken++;
	d->missed += should && !acts;
	d->needless += acts && !should;
	histogram_add(&d->error, off, 1);
}

void decision_taken(struct host *host, enum decision_kind kind, bool acts, bool should, uint64_t off)
{
	count(&stat_of(host)->decisions->kernel[kind], acts, should, off);
}

void decider_taken(struct decider *d, bool acts, bool should, uint64_t off, sim_time_t age)
{
	count(d, acts, should, off);
	histogram_add(&d->age, age / SIM_NS, 1);
}

static void sample(struct host *host, int metric, const struct decider *d, const struct memcg *m,
		   sim_time_t now, double value)
{
	char entity[1024];

	snprintf(entity, sizeof entity, "%s %s", d->name, m->path);
	record_sample(host->run->record, &metrics[metric], entity, now, value);
}

void decider_chose(struct host *host, struct decider *d, sim_time_t now, const struct decision_choice *c)
{
	decider_taken(d, c->chosen != c->right, false, c->off, c->age);
	sample(host, CHOSEN, d, c->chosen, now, c->seen);
	sample(host, RIGHT, d, c->right, now, c->right_truth);
}

void decisions_measure(struct host *host)
{
	for (struct decider *d = stat_of(host)->decisions->deciders; d; d = d->next) {
		d->taken = d->missed = d->needless = 0;
		histogram_reset(&d->error);
		histogram_reset(&d->age);
	}
}

void decisions_finish(struct host *host)
{
	struct record *r = host->run->record;

	for (const struct decider *d = stat_of(host)->decisions->deciders; d; d = d->next) {
		uint64_t wrong = d->missed + d->needless;

		if (!d->taken)
			continue;
		record_summary(r, &metrics[TAKEN], d->name, (double)d->taken);
		record_summary(r, &metrics[WRONG], d->name, (double)wrong);
		record_summary(r, &metrics[MISSED], d->name, (double)d->missed);
		record_summary(r, &metrics[NEEDLESS], d->name, (double)d->needless);
		record_summary(r, &metrics[SHARE], d->name, (double)wrong / (double)d->taken);
		record_histogram(r, &metrics[ERROR], d->name, &d->error);
		if (d->age.count)
			record_histogram(r, &metrics[AGE], d->name, &d->age);
	}
}
