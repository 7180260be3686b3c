/*
 * metrics.c - what is recorded of statistics: reads, staleness, flushes.
 *
 * Reads are kept by level of the tree and over all, as distributions; of each cgroup by itself what
 * `statistics: per_cgroup` asks for, since thousands of cgroups with four histograms each would be the
 * largest thing in a result. Staleness over time is looked at in every sample (`run: sample`), for all
 * cgroups: equally spaced looks give the time-weighted mean, whoever reads and when.
 */
#include <inttypes.h>
#include <stdio.h>

#include "models/stat/decision.h"
#include "models/stat/stat_impl.h"

enum {
	M_LATENCY,
	M_LATENCY_MEAN,
	M_LATENCY_MAX,
	M_FLUSHING,
	M_PAGES,
	M_PAGES_MEAN,
	M_PAGES_MAX,
	M_PAGES_TIME,
	M_TARGET,
	M_AGE,
	M_AGE_TIME,
	M_PENDING,
	M_PENDING_TIME,
	M_CALLS,
	M_FLUSHES,
	M_PAIRS,
	M_CPU_STEPS,
	M_SKIPPED,
	M_ANON,
	M_ANON_TRUTH,
	NR_METRICS
};

/* clang-format off */
static const struct metric metrics[NR_METRICS] = {
	[M_LATENCY] = { "stat.read_latency", "ns", METRIC_DISTRIBUTION, "of a read of memory.stat" },
	[M_LATENCY_MEAN] = { "stat.read_latency.mean", "ns", METRIC_GAUGE, "of a cgroup's reads, mean" },
	[M_LATENCY_MAX] = { "stat.read_latency.max", "ns", METRIC_GAUGE, "of a cgroup's reads, longest" },
	[M_FLUSHING] = { "stat.flushing_read_latency", "ns", METRIC_DISTRIBUTION,
			 "of a read of memory.stat that did a flush itself" },
	[M_PAGES] = { "staleness.pages", "pages", METRIC_DISTRIBUTION,
		      "|reported - true| at a read, of anon or file, whichever is more" },
	[M_PAGES_MEAN] = { "staleness.pages.mean", "pages", METRIC_GAUGE, "of a cgroup's reads, mean" },
	[M_PAGES_MAX] = { "staleness.pages.max", "pages", METRIC_GAUGE, "largest" },
	[M_PAGES_TIME] = { "staleness.pages.time_weighted", "pages", METRIC_GAUGE,
			   "|reported - true|, mean over time and cgroups" },
	[M_TARGET] = { "staleness.pages.target", "pages", METRIC_GAUGE, "what readers can do with" },
	[M_AGE] = { "staleness.age", "ns", METRIC_DISTRIBUTION,
		    "at a read: time since the start of the last complete flush that covered it" },
	[M_AGE_TIME] = { "staleness.age.time_weighted", "ns", METRIC_GAUGE, "mean over time and cgroups" },
	[M_PENDING] = { "staleness.pending", "1", METRIC_DISTRIBUTION,
			"at a read: sum of |updates| of the subtree that it does not show" },
	[M_PENDING_TIME] = { "staleness.pending.time_weighted", "1", METRIC_GAUGE,
			     "mean over time and cgroups" },
	[M_CALLS] = { "flush.calls", "1", METRIC_COUNTER, "flushes asked for, by who asks" },
	[M_FLUSHES] = { "flush.flushes", "1", METRIC_COUNTER, "flushes done" },
	[M_PAIRS] = { "flush.pairs", "1", METRIC_COUNTER, "(cgroup, CPU) pairs visited by flushes" },
	[M_CPU_STEPS] = { "flush.cpu_steps", "1", METRIC_COUNTER, "possible CPUs looked at by flushes" },
	[M_SKIPPED] = { "flush.skipped", "1", METRIC_COUNTER,
			"asked for, and not done: below the threshold, or somebody else was at it" },
	[M_ANON] = { "anon", "pages", METRIC_GAUGE, "memory.stat anon as reported" },
	[M_ANON_TRUTH] = { "anon.truth", "pages", METRIC_GAUGE, "memory.stat anon as it truly is" },
};
/* clang-format on */

static const struct metric_table table = { .rows = metrics, .nr = NR_METRICS };

MODULE(statistics_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "statistics",
	.help = "reads of memory.stat, staleness, flushes",
	.ops = &table,
};

static const struct enum_name per_cgroup_names[] = {
	{ "none", PER_CGROUP_NONE, "nothing" },
	{ "mean", PER_CGROUP_MEAN, "mean and largest latency and error of its reads" },
	{ "distribution", PER_CGROUP_DISTRIBUTION, "all distributions of its reads" },
	{ NULL, 0, NULL },
};
static const struct enum_name stall_names[] = {
	{ "interrupt", STALL_INTERRUPT, "by interrupts: grace periods wait for their end" },
	{ "preemption", STALL_PREEMPTION,
	  "by other tasks (preemption: full): grace periods wait for who is in a read section" },
	{ NULL, 0, NULL },
};
static const struct option option_rows[] = {
	OPTION(struct stat_options, per_cgroup, OPT_ENUM, .fallback = "mean", .names = per_cgroup_names,
	       .help = "what is recorded of each cgroup's own reads, beside levels and totals"),
	OPTION(struct stat_options, error_target, OPT_U64, .fallback = "0",
	       .help = "pages that a read may be off by for its purpose: a line in figures; 0: none"),
	OPTION(struct stat_options, stall_every, OPT_U32, .fallback = "0",
	       .help = "one update in so many stalls between finding out whose counters it goes to and "
		       "adding; 0: none"),
	OPTION(struct stat_options, stall, OPT_DURATION, .fallback = "0s", .help = "for so long"),
	OPTION(struct stat_options, stall_by, OPT_ENUM, .fallback = "interrupt", .names = stall_names,
	       .help = "by what"),
};
static const struct option_table option_table = OPTION_TABLE("statistics", struct stat_options, option_rows);

MODULE(section_statistics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_SECTION,
	.name = "statistics",
	.help = "what is recorded of statistics reads",
	.options = &option_table,
};

static const char *const caller_names[NR_FLUSH_CALLERS] = {
	[FLUSH_READER] = "reader",   [FLUSH_CPU_STAT] = "cpu.stat", [FLUSH_RECLAIM] = "reclaim",
	[FLUSH_REFAULT] = "refault", [FLUSH_SHRINKER] = "shrinker", [FLUSH_WRITEBACK] = "writeback",
	[FLUSH_ZSWAP] = "zswap",     [FLUSH_PERIODIC] = "periodic", [FLUSH_RELEASE] = "release",
};

/* Of the reads of a level, a cgroup, or all. */
struct stat_reads {
	struct histogram latency, pages, age, pending;
};

/* Staleness in the samples. */
struct looks {
	double n, pages, age, pending;
};

struct level {
	struct stat_reads reads;
	struct histogram flushing;
	struct looks now, total; /* of the sample at hand; of all */
	double pages_max;        /* in the sample at hand */
	char name[24];
};

struct stat_metrics {
	struct level all;
	struct level *levels; /* by depth */
	uint32_t nr_levels;
	struct flush_count start;
};

/* ---- reads ---- */

static void reads_init(struct stat_reads *r, struct sim *sim)
{
	struct histogram *each[] = { &r->latency, &r->pages, &r->age, &r->pending };

	for (size_t i = 0; i < 4; i++)
		histogram_init(each[i], sim_arena(sim));
}

static void reads_reset(struct stat_reads *r)
{
	histogram_reset(&r->latency);
	histogram_reset(&r->pages);
	histogram_reset(&r->age);
	histogram_reset(&r->pending);
}

static void reads_add(struct stat_reads *r, const struct stat_read *read)
{
	histogram_add(&r->latency, read->latency / SIM_NS, 1);
	histogram_add(&r->pages, read->error, 1);
	histogram_add(&r->age, read->age / SIM_NS, 1);
	histogram_add(&r->pending, read->pending, 1);
}

static void level_init(struct level *l, struct sim *sim, uint32_t depth)
{
	reads_init(&l->reads, sim);
	histogram_init(&l->flushing, sim_arena(sim));
	snprintf(l->name, sizeof l->name, "level:%" PRIu32, depth);
}

void stat_metrics_build(struct host *host)
{
	struct stat_metrics *sm = sim_alloc(host->sim, sizeof *sm);

	level_init(&sm->all, host->sim, 0);
	snprintf(sm->all.name, sizeof sm->all.name, "all");
	stat_of(host)->metrics = sm;
}

/* Levels are made as reads and samples come to them: the tree is built after the statistics. */
static struct level *level_of(struct host *host, uint32_t depth)
{
	struct stat_metrics *sm = stat_of(host)->metrics;

	if (depth >= sm->nr_levels) {
		struct level *levels = sim_alloc(host->sim, (depth + 1) * sizeof *levels);

		for (uint32_t i = 0; i <= depth; i++)
			if (i < sm->nr_levels)
				levels[i] = sm->levels[i];
			else
				level_init(&levels[i], host->sim, i);
		if (sm->levels)
			sim_free(host->sim, sm->levels, sm->nr_levels * sizeof *levels);
		sm->levels = levels;
		sm->nr_levels = depth + 1;
	}
	return &sm->levels[depth];
}

static void level_add(struct level *l, const struct stat_read *read)
{
	reads_add(&l->reads, read);
	if (read->flushes)
		histogram_add(&l->flushing, read->latency / SIM_NS, 1);
}

void stat_metrics_read(struct host *host, struct memcg *m, const struct stat_read *read)
{
	struct stat_state *st = stat_of(host);

	if (host->run && !host->run->measuring)
		return;
	level_add(&st->metrics->all, read);
	level_add(level_of(host, m->depth), read);
	if (st->options.per_cgroup == PER_CGROUP_NONE)
		return;
	if (!m->stat->reads) {
		m->stat->reads = sim_alloc(host->sim, sizeof *m->stat->reads);
		reads_init(m->stat->reads, host->sim);
	}
	reads_add(m->stat->reads, read);
}

/* ---- samples ---- */

static void look(struct level *l, const struct stat_read *read)
{
	l->now.n++;
	l->now.pages += (double)read->error;
	l->now.age += sim_nanoseconds(read->age);
	l->now.pending += (double)read->pending;
	if ((double)read->error > l->pages_max)
		l->pages_max = (double)read->error;
}

static void end_look(struct level *l, struct record *record, sim_time_t now)
{
	struct looks *n = &l->now, *sum = &l->total;

	record_sample(record, &metrics[M_PAGES], l->name, now, n->pages / n->n);
	record_sample(record, &metrics[M_PAGES_MAX], l->name, now, l->pages_max);
	record_sample(record, &metrics[M_AGE], l->name, now, n->age / n->n);
	sum->n += n->n;
	sum->pages += n->pages;
	sum->age += n->age;
	sum->pending += n->pending;
	*n = (struct looks){ 0 };
	l->pages_max = 0;
}

void stat_sample(struct host *host, sim_time_t now)
{
	struct stat_metrics *sm = stat_of(host)->metrics;
	struct record *record = host->run->record;
	const struct memcg *root = host->cgroups->root;

	struct memcg *m;

	for (uint32_t id = 0; (m = memcg_at(host->cgroups, &id)); id++) {
		struct stat_read read;

		if (m->transient)
			continue;
		stat_look(m, now, &read);
		look(&sm->all, &read);
		look(level_of(host, m->depth), &read);
	}
	end_look(&sm->all, record, now);
	for (uint32_t i = 0; i < sm->nr_levels; i++)
		if (sm->levels[i].now.n > 0)
			end_look(&sm->levels[i], record, now);
	record_sample(record, &metrics[M_ANON], root->path, now, (double)stat_reported(root, NR_ANON_MAPPED));
	record_sample(record, &metrics[M_ANON_TRUTH], root->path, now,
		      (double)stat_truth(root, NR_ANON_MAPPED));
}

/* ---- end of warm-up, end of run ---- */

static void level_reset(struct level *l)
{
	reads_reset(&l->reads);
	histogram_reset(&l->flushing);
}

void stat_measure(struct host *host)
{
	struct stat_metrics *sm = stat_of(host)->metrics;

	sm->start = stat_of(host)->count;
	decisions_measure(host);
	level_reset(&sm->all);
	for (uint32_t i = 0; i < sm->nr_levels; i++)
		level_reset(&sm->levels[i]);
	flush_metrics_measure(host);
}

static void record_reads(struct record *record, const char *entity, const struct stat_reads *r)
{
	if (!r->latency.count)
		return;
	record_histogram(record, &metrics[M_LATENCY], entity, &r->latency);
	record_histogram(record, &metrics[M_PAGES], entity, &r->pages);
	record_histogram(record, &metrics[M_AGE], entity, &r->age);
	record_histogram(record, &metrics[M_PENDING], entity, &r->pending);
}

static void record_level(struct record *record, const struct level *l)
{
	const struct looks *sum = &l->total;

	record_reads(record, l->name, &l->reads);
	if (l->flushing.count)
		record_histogram(record, &metrics[M_FLUSHING], l->name, &l->flushing);
	if (sum->n <= 0)
		return;
	record_summary(record, &metrics[M_PAGES_TIME], l->name, sum->pages / sum->n);
	record_summary(record, &metrics[M_AGE_TIME], l->name, sum->age / sum->n);
	record_summary(record, &metrics[M_PENDING_TIME], l->name, sum->pending / sum->n);
}

static void record_cgroup(struct record *record, const struct memcg *m, int how)
{
	const struct stat_reads *r = m->stat->reads;

	if (!r)
		return;
	if (how == PER_CGROUP_DISTRIBUTION) {
		record_reads(record, m->path, r);
		return;
	}
	record_summary(record, &metrics[M_LATENCY_MEAN], m->path, histogram_mean(&r->latency));
	record_summary(record, &metrics[M_LATENCY_MAX], m->path, (double)r->latency.max);
	record_summary(record, &metrics[M_PAGES_MEAN], m->path, histogram_mean(&r->pages));
	record_summary(record, &metrics[M_PAGES_MAX], m->path, (double)r->pages.max);
}

static void record_counts(struct record *record, const struct flush_count *now,
			  const struct flush_count *start)
{
	for (int i = 0; i < NR_FLUSH_CALLERS; i++)
		if (now->calls[i] > start->calls[i])
			record_summary(record, &metrics[M_CALLS], caller_names[i],
				       (double)(now->calls[i] - start->calls[i]));
	record_summary(record, &metrics[M_FLUSHES], "all", (double)(now->flushes - start->flushes));
	record_summary(record, &metrics[M_PAIRS], "all", (double)(now->pairs - start->pairs));
	record_summary(record, &metrics[M_CPU_STEPS], "all", (double)(now->cpu_steps - start->cpu_steps));
	record_summary(record, &metrics[M_SKIPPED], "all", (double)(now->skipped - start->skipped));
}

void stat_finish(struct host *host)
{
	struct stat_state *st = stat_of(host);
	struct record *record = host->run->record;

	record_counts(record, &st->count, &st->metrics->start);
	flush_metrics_finish(host);
	if (st->options.error_target)
		record_summary(record, &metrics[M_TARGET], "all", (double)st->options.error_target);
	record_level(record, &st->metrics->all);
	for (uint32_t i = 0; i < st->metrics->nr_levels; i++)
		record_level(record, &st->metrics->levels[i]);
	struct memcg *m;

	for (uint32_t id = 0; (m = memcg_at(host->cgroups, &id)); id++)
		if (!m->transient)
			record_cgroup(record, m, st->options.per_cgroup);
	decisions_finish(host);
	stat_invariants(host, record);
}
