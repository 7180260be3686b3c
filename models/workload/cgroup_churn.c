/*
 * cgroup_churn.c - cgroups that come and go all the time: exec probes, timers, pods that are restarted.
 *
 * They come at random instants, `rate` a second; each reads some pages of a file, lives for a while, and is
 * removed. The pages stay in the page cache, charged to it, and so keep it dying until reclaim takes them or
 * another comes to the file's end and begins anew; a share of them is kept by something that reclaim cannot
 * take, for ever (`pinned`). So dying cgroups go up and down like a saw where all are reclaimable, and along
 * a line where some are not, until something ends: ids, per-CPU memory, memory. That instant is the metric
 * cgroup.refused_at; the task goes on trying, unless it is `until_refused`.
 *
 * One task does it all, in the order of time; what it does is charged to the cgroup at hand.
 */
#include <math.h>
#include <stdio.h>

#include "models/cgroup/life.h"
#include "models/cgroup/options.h"
#include "models/host/costs.h"
#include "models/page/page_impl.h"
#include "models/workload/workload.h"
#include "sim/module.h"

struct cgroup_churn {
	const char *parent;
	double rate, pinned, removed;
	sim_time_t lifetime;
	uint32_t pages;
	uint64_t file_pages;
	uint64_t most;
	bool until_refused;
};

static const struct option rows[] = {
	OPTION(struct cgroup_churn, parent, OPT_STRING,
	       .help = "path of the cgroup that they are made below; the task's own if none"),
	OPTION(struct cgroup_churn, rate, OPT_NUMBER, .fallback = "10", .min = "1e-6", .max = "1e6",
	       .help = "cgroups a second, at random instants"),
	OPTION(struct cgroup_churn, lifetime, OPT_DURATION, .fallback = "1s",
	       .help = "of each, until it is removed"),
	OPTION(struct cgroup_churn, pages, OPT_U32, .fallback = "1", .max = "16M",
	       .help = "pages of the file that each reads"),
	OPTION(struct cgroup_churn, file_pages, OPT_U64, .fallback = "1M", .min = "1", .max = "1G",
	       .help = "pages of the file, one cgroup's after another's, and from the start again"),
	OPTION(struct cgroup_churn, pinned, OPT_RATIO, .fallback = "0%", .min = "0", .max = "1",
	       .help = "share of them that something keeps for ever: a socket, a page locked elsewhere"),
	OPTION(struct cgroup_churn, removed, OPT_RATIO, .fallback = "100%", .min = "0", .max = "1",
	       .help = "share of them that somebody removes; the others stay, live and empty"),
	OPTION(struct cgroup_churn, most, OPT_U64, .fallback = "0", .help = "ends after so many; 0: never"),
	OPTION(struct cgroup_churn, until_refused, OPT_BOOL, .fallback = "false",
	       .help = "ends when a cgroup cannot be made"),
};
static const struct option_table options = OPTION_TABLE("cgroup_churn", struct cgroup_churn, rows);

/* Those that live, in the order in which they were made, which is that of their removal. */
struct alive {
	struct alive *next;
	struct memcg *memcg;
	sim_time_t until;
};

struct churn {
	struct task *t;
	struct workload_task *w;
	const struct cgroup_churn *o;
	struct memcg *parent;
	struct file_object *file;
	struct stream arrivals, fates, removals;
	struct alive *first, **last;
	uint64_t made, at; /* the next page of the file */
	bool refused;      /* the last mkdir */
};

static void begin(struct churn *c)
{
	struct memcg *m, *failed;
	char name[24];

	snprintf(name, sizeof name, "%llu", (unsigned long long)c->made);
	c->refused = cgroup_mkdir(c->t, c->parent, name, &m) != CGROUP_OK;
	workload_return(c->t, c->w);
	if (c->refused)
		return;
	c->made++;
	c->w->ops++;
	for (uint32_t i = 0; i < c->o->pages; i++) {
		enum file_result result = file_read(c->t, m, c->file, c->at, &failed);

		workload_return(c->t, c->w);
		workload_count_read(c->w, result);
		c->at = (c->at + 1) % c->o->file_pages;
	}
	task_sync(c->t);
	if (stream_uniform(&c->fates) < c->o->pinned)
		memcg_tryget(m);
	if (stream_uniform(&c->removals) >= c->o->removed) {
		memcg_put(c->t, m);
		return;
	}
	struct alive *a = sim_alloc(c->t->sim, sizeof *a);

	*a = (struct alive){ .memcg = m, .until = c->t->clock + c->o->lifetime };
	*c->last = a;
	c->last = &a->next;
}

static void end_first(struct churn *c)
{
	struct alive *a = c->first;

	c->first = a->next;
	if (!c->first)
		c->last = &c->first;
	cgroup_rmdir(c->t, a->memcg);
	task_sync(c->t);
	memcg_put(c->t, a->memcg);
	sim_free(c->t->sim, a, sizeof *a);
}

/* Sleeps, and removes those whose time comes meanwhile. */
static void wait_until(struct churn *c, sim_time_t when)
{
	while (c->first && c->first->until <= when) {
		if (c->first->until > c->t->clock)
			task_sleep(c->t, c->first->until - c->t->clock);
		end_first(c);
		task_sync(c->t);
	}
	if (when > c->t->clock)
		task_sleep(c->t, when - c->t->clock);
}

static void run(struct task *t, struct workload_task *w)
{
	const struct cgroup_churn *o = w->own;
	struct churn c = { .t = t, .w = w, .o = o };

	c.last = &c.first;
	c.parent = o->parent ? memcg_find(w->host, o->parent) : w->memcg;
	if (!c.parent || !memcg_tryget(c.parent)) /* an event has removed it */
		return;
	c.file = file_create(w->host, o->file_pages);
	stream_init(&c.arrivals, sim_seed(t->sim), w->name, "arrivals");
	stream_init(&c.fates, sim_seed(t->sim), w->name, "fates");
	stream_init(&c.removals, sim_seed(t->sim), w->name, "removals");
	while ((!o->most || c.made < o->most) && !(o->until_refused && c.refused) && !task_killed(t)) {
		double gap = -log(1 - stream_uniform(&c.arrivals)) / o->rate;

		wait_until(&c, t->clock + (sim_time_t)(gap * (double)SIM_SEC));
		begin(&c);
	}
	wait_until(&c, t->clock + o->lifetime);
	task_sync(t);
	memcg_put(t, c.parent);
}

static void check(const struct scenario *s, const struct task_options *task, const void *own,
		  struct complaints *c)
{
	const struct cgroup_churn *o = own;

	(void)task;
	if (o->parent)
		cgroup_check_pattern(s, o->parent, own, "parent", c);
}

static bool ends(const void *own)
{
	const struct cgroup_churn *o = own;

	return o->most || o->until_refused;
}

static const struct workload_ops ops = {
	.check = check,
	.ends = ends,
	.run = run,
};

MODULE(cgroup_churn) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "cgroup_churn",
	.help = "makes cgroups at a rate, each of which lives for a while and leaves pages, or more, behind",
	.source = "exec probes, timers and restarted pods",
	.options = &options,
	.ops = &ops,
};
