/*
 * writes.c - `events:`: writes to files of cgroups at given times, as a shell in the root cgroup does them.
 *
 *	events:
 *	  - { at: 10s, cgroup: /a, memory.max: 1GiB }
 *	  - { at: 20s, cgroup: "job*", memory.reclaim: 64MiB, memory.low: 0 }
 *	  - { at: 1h, every: 1h, cgroup: /, memory.reclaim: 1GiB }
 *
 * A write takes its time, since it is the writer who reclaims: each item has a task of its own, which writes
 * to one cgroup after the other (those that the pattern names, in order of creation), and in each to the
 * files in the order of the table below. A write of memory.reclaim that falls short fails with EAGAIN.
 */
#include <stdio.h>
#include <string.h>

#include "models/cgroup/life.h"
#include "models/cgroup/options.h"
#include "models/cgroup/results.h"
#include "models/host/costs.h"
#include "models/page/page.h"
#include "models/reclaim/reclaim.h"
#include "sim/module.h"

struct write_options {
	sim_time_t at, every;
	const char *cgroup;
	uint64_t min, low, high, max, swap_max, reclaim; /* bytes, as far as they are there */
	bool rmdir, drop_caches;
};

#define FILE_ROW(key_, field_, help_)                                                                \
	OPTION_AS(key_, struct write_options, field_, OPT_BYTES, .allow_max = true, .help = (help_), \
		  .source = "cgroup v2, " key_)

static const struct option rows[] = {
	OPTION(struct write_options, at, OPT_DURATION, .required = true,
	       .help = "simulated time of the write"),
	OPTION(struct write_options, every, OPT_DURATION, .never = "never", .fallback = "never", .min = "1ms",
	       .help = "and again so much later each time, to what the pattern names then; a run `until: "
		       "done` "
		       "waits for the first"),
	OPTION(struct write_options, cgroup, OPT_STRING, .required = true,
	       .help = "cgroup whose files are written, by path or pattern"),
	FILE_ROW("memory.min", min, "new protection; 0: none"),
	FILE_ROW("memory.low", low, "new protection; 0: none"),
	FILE_ROW("memory.high", high, "new limit; what is above it is reclaimed by the writer"),
	FILE_ROW("memory.max", max, "new limit; what is above it is reclaimed, or tasks are killed"),
	FILE_ROW("memory.swap.max", swap_max, "new limit of swap; what is in swap stays there"),
	OPTION_AS("memory.reclaim", struct write_options, reclaim, OPT_BYTES,
		  .help = "that much is to be reclaimed", .source = "cgroup v2, memory.reclaim"),
	OPTION(struct write_options, rmdir, OPT_BOOL, .fallback = "false",
	       .help = "the cgroup is removed, after all writes; refused while it has tasks or cgroups"),
	OPTION(struct write_options, drop_caches, OPT_BOOL, .fallback = "false",
	       .help = "of the root: clean pages of all files are dropped, as by a write of 1",
	       .source = "/proc/sys/vm/drop_caches"),
};
static const struct option_table table = OPTION_TABLE("event", struct write_options, rows);

MODULE(events_section) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_SECTION,
	.name = "events",
	.help = "writes to files of cgroups in the course of the run",
	.options = &table,
	.order = 110,
	.list = true,
};

enum { TIME, REFUSED };

static const struct metric metrics[] = {
	[TIME] = { "cgroup_write.time", "ns", METRIC_COUNTER, "time that writes to its files took" },
	[REFUSED] = { "cgroup_write.refused", "1", METRIC_COUNTER,
		      "writes by `events:` that fell short, rmdir among them" },
};
static const struct metric_table metric_table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(cgroup_write_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "cgroup_write",
	.help = "writes to files of cgroups by `events:`",
	.ops = &metric_table,
};

/* ---- the files ---- */

struct cgroup_file {
	const char *name;
	size_t offset; /* of its value in the options */
	void (*set)(struct task *t, struct memcg *m, uint64_t pages);
};

static const struct cgroup_file files[] = {
	{ "memory.min", offsetof(struct write_options, min), memcg_set_min },
	{ "memory.low", offsetof(struct write_options, low), memcg_set_low },
	{ "memory.high", offsetof(struct write_options, high), memcg_set_high },
	{ "memory.max", offsetof(struct write_options, max), memcg_set_max },
	{ "memory.swap.max", offsetof(struct write_options, swap_max), memcg_set_swap_max },
	{ "memory.reclaim", offsetof(struct write_options, reclaim), NULL },
};
#define NR_FILES (sizeof files / sizeof *files)

static bool is_written(const struct write_options *o, const struct cgroup_file *f)
{
	return option_where(o, f->name).line > 0;
}

static uint64_t value_of(const struct write_options *o, const struct cgroup_file *f)
{
	uint64_t bytes = *(const uint64_t *)(const void *)((const char *)o + f->offset);

	return bytes == UINT64_MAX ? COUNTER_NO_MAX : bytes / PAGE_SIZE;
}

/* ---- checks ---- */

/* The root has no limits. */
static void check_root(const struct write_options *o, struct complaints *c)
{
	for (size_t k = 0; k < NR_FILES; k++)
		if (files[k].set && is_written(o, &files[k]))
			complain(c, option_where(o, files[k].name), "%s: the root has no such file",
				 files[k].name);
	if (o->rmdir)
		complain(c, option_where(o, "rmdir"), "rmdir: the root stays");
}

void cgroup_writes_check(const struct scenario *s, struct complaints *c)
{
	const struct option_list *list = scenario_section(s, "events");
	const struct run_options *run = scenario_run(s);

	for (size_t i = 0; i < list->nr; i++) {
		const struct write_options *o = list->items[i];
		bool any = o->rmdir || o->drop_caches;

		for (size_t k = 0; k < NR_FILES; k++)
			any |= is_written(o, &files[k]);
		if (o->cgroup)
			cgroup_check_pattern(s, o->cgroup, o, "cgroup", c);
		if (o->cgroup && !o->cgroup[strspn(o->cgroup, "/")])
			check_root(o, c);
		else if (o->drop_caches)
			complain(c, option_where(o, "drop_caches"),
				 "drop_caches: is the machine's; the cgroup is /");
		if (!any)
			complain(c, option_where(o, NULL),
				 "event: names no file that is written, and no rmdir");
		if (!run->until_done && o->at >= run->until)
			complain(c, option_where(o, "at"), "at: the run is over by then");
	}
}

/* ---- the writers ---- */

struct writer {
	struct host *host;
	const struct write_options *options;
	char name[32];
};

static void write_file(struct task *t, struct memcg *m, const struct write_options *o,
		       const struct cgroup_file *f)
{
	sim_time_t from;

	task_sync(t);
	from = t->clock;
	cpu_work(t, m->host->costs->syscall);
	if (f->set)
		f->set(t, m, value_of(o, f));
	else if (!memcg_proactive_reclaim(t, m, value_of(o, f)))
		m->writes_refused++;
	task_sync(t);
	m->write_time += t->clock - from;
}

static void drop_caches(struct task *t, struct memcg *root)
{
	sim_time_t from;

	task_sync(t);
	from = t->clock;
	cpu_work(t, root->host->costs->syscall);
	file_drop_caches(t, root->host);
	task_sync(t);
	root->write_time += t->clock - from;
}

/* The caller has a reference, which ends here. */
static void write_to(struct task *t, struct memcg *m, const struct write_options *o)
{
	for (size_t k = 0; k < NR_FILES; k++)
		if (is_written(o, &files[k]) && m->life == MEMCG_ONLINE)
			write_file(t, m, o, &files[k]);
	if (o->drop_caches)
		drop_caches(t, m);
	task_sync(t);
	if (o->rmdir && m->life == MEMCG_ONLINE && cgroup_rmdir(t, m) != CGROUP_OK)
		m->writes_refused++;
	task_sync(t);
	memcg_put(t, m);
}

static void write_to_all(struct task *t, struct host *host, const struct write_options *o)
{
	struct memcg **all = sim_alloc(host->sim, host->cgroups->nr * sizeof(*all));
	uint32_t room = host->cgroups->nr, nr = memcg_match(host, o->cgroup, all);

	for (uint32_t i = 0; i < nr; i++)
		if (!memcg_tryget(all[i]))
			all[i] = NULL;
	for (uint32_t i = 0; i < nr; i++)
		if (all[i])
			write_to(t, all[i], o);
	sim_free(host->sim, all, room * sizeof(*all));
}

static void writer_run(struct task *t, void *arg)
{
	struct writer *w = arg;
	sim_time_t next = t->clock;

	write_to_all(t, w->host, w->options);
	run_release(w->host->run);
	while (w->options->every != SIM_NEVER) {
		next += w->options->every;
		if (t->clock < next)
			task_sleep(t, next - t->clock);
		task_sync(t);
		write_to_all(t, w->host, w->options);
	}
}

void cgroup_writes_build(struct host *host)
{
	const struct option_list *list = scenario_section(host->scenario, "events");

	for (size_t i = 0; i < list->nr; i++) {
		struct writer *w = sim_alloc(host->sim, sizeof *w);

		w->host = host;
		w->options = list->items[i];
		snprintf(w->name, sizeof w->name, "event/%zu", i);
		run_hold(host->run);
		task_spawn(host->sim, &(struct task_attr){ .name = w->name,
							   .run = writer_run,
							   .arg = w,
							   .cpu = -1,
							   .start = w->options->at });
	}
}

void cgroup_writes_results(struct host *host)
{
	const struct memcg *m;

	for (uint32_t i = 0; (m = memcg_at(host->cgroups, &i)); i++) {
		if (!m->write_time && !m->writes_refused)
			continue;
		record_summary(host->run->record, &metrics[TIME], m->path, sim_nanoseconds(m->write_time));
		record_summary(host->run->record, &metrics[REFUSED], m->path, (double)m->writes_refused);
	}
}
