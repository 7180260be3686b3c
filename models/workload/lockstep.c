/*
 * lockstep.c - tasks that take turns: each does so many accesses to its file, then it is the next one's turn.
 *
 * Real processes that share memory drift against each other, and what reclaim takes from whom depends on it.
 * In lock step the order of all accesses is given, so counts can be compared. E3, E9 and E10 of the counts
 * from real kernels are made so, with a process a cgroup; each member is a task of its own, so that one can
 * be killed and the others go on.
 *
 * A round is one turn of every member; a pass is so many rounds. The end of a pass belongs to whoever had its
 * last turn: he takes the counters of all members and of the cgroups that are watched.
 */
#include <string.h>

#include "models/cgroup/options.h"
#include "models/host/costs.h"
#include "models/workload/access.h"
#include "models/workload/passes.h"
#include "models/workload/registry.h"
#include "sim/module.h"
#include "sim/results/record.h"

struct lockstep {
	const char *group, *file;
	uint64_t pages, file_blocks, rate, rounds;
	uint32_t passes;
	struct option_list watch;
	struct access_options access;
	struct passes_options record;
};

static const struct option rows[] = {
	OPTION(struct lockstep, group, OPT_STRING, .fallback = "lockstep",
	       .help = "who takes turns with whom"),
	OPTION(struct lockstep, file, OPT_STRING, .help = "name of the file; the cgroup's own if none"),
	OPTION(struct lockstep, pages, OPT_U64, .required = true, .min = "1", .max = "1G",
	       .help = "pages of the file"),
	OPTION(struct lockstep, file_blocks, OPT_U64, .fallback = "0", .max = "1M",
	       .help = "blocks of the disk that opening it reads first; the last 16 stay in use"),
	OPTION(struct lockstep, rate, OPT_U64, .fallback = "64", .min = "1", .help = "reads in a turn"),
	OPTION(struct lockstep, rounds, OPT_U64, .required = true, .min = "1",
	       .help = "rounds in a pass; the same for all of a group"),
	OPTION(struct lockstep, passes, OPT_U32, .required = true, .min = "1",
	       .help = "the same for all of a group"),
	OPTION(struct lockstep, watch, OPT_STRINGS,
	       .help = "paths of further cgroups whose counters are taken at the end of a pass"),
	ACCESS_OPTIONS(struct lockstep, access),
	PASSES_OPTIONS(struct lockstep, record),
};
static const struct option_table options = OPTION_TABLE("lockstep", struct lockstep, rows);

enum { ALIVE, DEAD };

static const struct metric metrics[] = {
	[ALIVE] = { "lockstep.alive", "1", METRIC_GAUGE, "1 if the member lived to the end" },
	[DEAD] = { "lockstep.dead", "1", METRIC_GAUGE, "members that did not, by cgroup that is watched" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(lockstep_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "lockstep",
	.help = "members of a lock step",
	.ops = &table,
};

struct member {
	struct member *next;
	struct workload_task *w;
	struct task *task; /* NULL: not there yet */
	struct passes passes;
	uint64_t accesses, misses; /* in this pass */
	bool waiting, dead;
};

struct watch {
	struct watch *next;
	struct passes passes;
	struct memcg *memcg;
	const struct passes_options *options;
};

struct lockstep_group {
	struct lockstep_group *next;
	const char *name;
	struct member *first, **last, *turn; /* turn NULL: all is over */
	struct watch *watches;
	uint64_t round;
	uint32_t pass;
	bool began;
};

static struct lockstep_group *find_group(struct host *host, const char *name)
{
	struct lockstep_group **groups = &host->workloads->groups, *g;

	for (g = *groups; g; g = g->next)
		if (!strcmp(g->name, name))
			return g;
	g = sim_alloc(host->sim, sizeof *g);
	g->name = name;
	g->last = &g->first;
	g->next = *groups;
	*groups = g;
	return g;
}

static void prepare(struct workload_task *w)
{
	const struct lockstep *o = w->own;
	struct lockstep_group *g = find_group(w->host, o->group);
	struct member *m = sim_alloc(w->host->sim, sizeof *m);

	workload_file_declare(w, o->file, o->pages);
	m->w = w;
	w->state = m;
	*g->last = m;
	g->last = &m->next;
	g->turn = g->first;
	for (size_t i = 0; i < o->watch.nr; i++) {
		struct watch *watch = sim_alloc(w->host->sim, sizeof *watch);

		watch->memcg = memcg_find(w->host, o->watch.items[i]);
		watch->options = &o->record;
		watch->next = g->watches;
		g->watches = watch;
	}
}

/* ---- passes ---- */

static void begin(struct task *t, struct lockstep_group *g)
{
	g->began = true;
	for (struct member *m = g->first; m; m = m->next) {
		const struct lockstep *o = m->w->own;

		passes_begin(t, &m->passes, m->w->memcg, m->w->label, &o->record);
	}
	for (struct watch *w = g->watches; w; w = w->next)
		passes_begin(t, &w->passes, w->memcg, w->memcg->path, w->options);
}

static void end_pass(struct task *t, struct lockstep_group *g)
{
	uint64_t accesses = 0, misses = 0;

	for (struct member *m = g->first; m; m = m->next) {
		passes_next(t, &m->passes, m->accesses, m->misses);
		accesses += m->accesses;
		misses += m->misses;
		m->accesses = m->misses = 0;
	}
	for (struct watch *w = g->watches; w; w = w->next)
		passes_next(t, &w->passes, accesses, misses);
	g->pass++;
	g->round = 0;
}

static void end(struct lockstep_group *g)
{
	struct record *record = g->first->w->host->run->record;
	uint32_t dead = 0;

	for (struct member *m = g->first; m; m = m->next) {
		passes_end(&m->passes);
		record_summary(record, &metrics[ALIVE], m->w->label, !m->dead);
		dead += m->dead;
	}
	for (struct watch *w = g->watches; w; w = w->next) {
		passes_end(&w->passes);
		record_summary(record, &metrics[DEAD], w->memcg->path, dead);
	}
	g->turn = NULL;
}

static void wake(struct task *t, struct member *m)
{
	if (m && m->waiting && m->task != t)
		task_wake(t->sim, t, m->task);
}

/* The next one's turn. With nobody alive the passes that are left are empty, and everything ends. */
static void pass_on(struct task *t, struct lockstep_group *g)
{
	const struct lockstep *o = g->first->w->own;
	struct member *next = g->turn;

	do {
		next = next->next;
		if (!next) {
			next = g->first;
			g->round++;
		}
	} while (next->dead && next != g->turn);
	while (g->pass < o->passes && (next->dead || g->round == o->rounds))
		end_pass(t, g);
	task_sync(t);
	if (g->pass == o->passes) {
		end(g);
		for (struct member *m = g->first; m; m = m->next)
			wake(t, m);
		return;
	}
	g->turn = next;
	for (struct watch *w = g->watches; w; w = w->next)
		passes_watch(&w->passes, g->round);
	wake(t, next);
}

/* ---- members ---- */

static bool take_turn(struct task *t, struct member *m, struct access *access, uint64_t *position)
{
	struct workload_task *w = m->w;
	const struct lockstep *o = w->own;
	struct file_object *file = workload_file(w->host, w->memcg, o->file);

	for (uint64_t i = 0; i < o->rate; i++) {
		struct memcg *level;

		cpu_work(t, w->host->costs->syscall);
		enum file_result result = file_read_open(t, w->memcg, file, access_next(access), position,
							 &level);

		if (result == FILE_NOMEM) {
			workload_out_of_memory(w, level);
			return false;
		}
		workload_return(t, w);
		m->accesses++;
		m->misses += result == FILE_MISS;
		workload_count_read(w, result);
		w->ops++;
	}
	return true;
}

/* False when everything is over, or the member's life. */
static bool wait_for_turn(struct task *t, struct lockstep_group *g, struct member *m)
{
	task_sync(t);
	while (g->turn && g->turn != m && !task_killed(t)) {
		m->waiting = true;
		task_block(t);
		task_sync(t);
		m->waiting = false;
	}
	return g->turn && !task_killed(t);
}

static void run(struct task *t, struct workload_task *w)
{
	const struct lockstep *o = w->own;
	struct lockstep_group *g = find_group(w->host, o->group);
	struct member *m = w->state;
	uint64_t position = NO_INDEX;
	struct access access;

	m->task = t;
	bool opened = workload_read_blocks(t, w, o->file_blocks);

	access_open(&access, w, &o->access, o->pages, "page");
	while (opened && wait_for_turn(t, g, m)) {
		if (!g->began)
			begin(t, g);
		m->dead = !take_turn(t, m, &access, &position);
		task_sync(t);
		pass_on(t, g);
		if (m->dead)
			return;
	}
	if (!g->turn)
		return;
	m->dead = true;
	if (g->turn != m)
		return;
	if (!g->began)
		begin(t, g);
	pass_on(t, g);
}

/* ---- the module ---- */

static void check(const struct scenario *s, const struct task_options *task, const void *own,
		  struct complaints *c)
{
	const struct lockstep *o = own;

	(void)task;
	access_check(&o->access, o->pages, own, "pages", c);
	for (size_t i = 0; i < o->watch.nr; i++) {
		const char *path = o->watch.items[i];

		if (strcmp(path, "/") != 0)
			cgroup_check_pattern(s, path, own, "watch", c);
	}
}

static bool ends(const void *own)
{
	(void)own;
	return true;
}

static const struct workload_ops ops = { .check = check, .ends = ends, .prepare = prepare, .run = run };

MODULE(lockstep) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "lockstep",
	.help = "reads of several tasks in turns, in rounds; task.ops counts pages",
	.source = "E3, E9 and E10 of the counts from real kernels",
	.options = &options,
	.ops = &ops,
};
