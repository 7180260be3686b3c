/*
 * trace.c - a task that repeats a page-access trace from a file.
 *
 * Each object of the trace is a page of one file, numbered in the order of first appearance, so traces of
 * block addresses or of cache keys make a compact file; with `whole` an object takes as many pages as its
 * size says. Accesses are charged to the cgroup that the record names, or to the task's own. With `paced` an
 * access is not made before its time in the trace (times are often whole seconds), else one follows the
 * other.
 *
 * The file is read twice, once to see how many pages there are, and is never held in memory as a whole.
 */
#include "models/workload/trace_file.h"

#include <math.h>
#include <string.h>

#include "models/host/costs.h"
#include "models/workload/passes.h"
#include "sim/module.h"

struct trace {
	const char *path;
	int format;
	uint64_t limit;
	bool paced, whole;
	double speed;
	sim_time_t work;
	struct passes_options record;
};

static const struct enum_name formats[] = {
	{ "csv", TRACE_CSV, "time,cgroup,page" },
	{ "oracle", TRACE_ORACLE, "24 bytes a record, as public cache traces come" },
	{ NULL, 0, NULL },
};

static const struct option rows[] = {
	OPTION(struct trace, path, OPT_STRING, .required = true,
	       .help = "the trace, plain or compressed with zstd; from where the program runs"),
	OPTION(struct trace, format, OPT_ENUM, .names = formats, .fallback = "csv",
	       .help = "what a record is"),
	OPTION(struct trace, limit, OPT_U64, .fallback = "0", .help = "records that are used; 0: all"),
	OPTION(struct trace, paced, OPT_BOOL, .fallback = "false",
	       .help = "not before the record's time, counted from the first"),
	OPTION(struct trace, speed, OPT_NUMBER, .fallback = "1", .min = "0", .above_min = true,
	       .help = "seconds of the trace in one of the simulation, if paced"),
	OPTION(struct trace, whole, OPT_BOOL, .fallback = "false",
	       .help = "an access touches all pages of an object of the size recorded; else one"),
	OPTION(struct trace, work, OPT_DURATION, .fallback = "0s",
	       .help = "time in user mode for each record"),
	PASSES_OPTIONS(struct trace, record),
};
static const struct option_table options = OPTION_TABLE("trace", struct trace, rows);

/* Where an object's pages begin in the file. */
struct place {
	uint64_t object, first;
	uint32_t pages; /* 0: the place is free */
};

struct replay {
	struct place *places; /* a hash table, at most half full */
	uint64_t size, used, nr_pages;
	struct file_object *file;
};

static uint64_t mix(uint64_t key)
{
	key = (key ^ key >> 33) * 0xff51afd7ed558ccdu;
	return key ^ key >> 29;
}

static struct place *find(const struct replay *r, uint64_t object)
{
	uint64_t i = mix(object) & (r->size - 1);

	while (r->places[i].pages && r->places[i].object != object)
		i = (i + 1) & (r->size - 1);
	return &r->places[i];
}

static void grow(struct host *host, struct replay *r)
{
	struct replay old = *r;

	r->size = old.size ? 2 * old.size : 1024;
	r->places = arena_array(sim_arena(host->sim), r->size, sizeof *r->places);
	for (uint64_t i = 0; i < old.size; i++)
		if (old.places[i].pages)
			*find(r, old.places[i].object) = old.places[i];
}

static uint32_t pages_of(const struct trace *o, const struct trace_record *record)
{
	return o->whole && record->bytes > PAGE_SIZE ? (record->bytes + PAGE_SIZE - 1) / PAGE_SIZE : 1;
}

static void learn(struct host *host, struct replay *r, const struct trace *o,
		  const struct trace_record *record)
{
	struct place *place;

	if (2 * (r->used + 1) > r->size)
		grow(host, r);
	place = find(r, record->object);
	if (place->pages)
		return;
	*place = (struct place){ record->object, r->nr_pages, pages_of(o, record) };
	r->nr_pages += place->pages;
	r->used++;
}

/* Calls use() for each record that is wanted, until it says no; false after a mistake in the file. */
static bool each_record(struct workload_task *w, bool (*use)(void *arg, const struct trace_record *record),
			void *arg)
{
	const struct trace *o = w->own;
	char why[256] = "";
	struct trace_file *f = trace_open(o->path, (enum trace_format)o->format, why);
	struct trace_record record;
	bool going = f != NULL;

	for (uint64_t i = 0; going && (!o->limit || i < o->limit) && trace_next(f, &record, why); i++)
		going = use(arg, &record);
	trace_close(f);
	if (*why)
		sim_fail(w->host->sim, "trace '%s': %s", o->path, why);
	return !*why;
}

static bool learn_record(void *arg, const struct trace_record *record)
{
	struct workload_task *w = arg;

	learn(w->host, w->state, w->own, record);
	return true;
}

static void check(const struct scenario *s, const struct task_options *task, const void *own,
		  struct complaints *c)
{
	const struct trace *o = own;
	char why[256];
	struct trace_file *f = o->path ? trace_open(o->path, (enum trace_format)o->format, why) : NULL;

	(void)s;
	if (o->path && !f)
		complain(c, option_where(own, "path"), "path: %s", why);
	trace_close(f);
	if (task->count != 1)
		complain(c, option_where(task, "count"), "count: a trace is repeated by one task");
}

static bool ends(const void *own)
{
	(void)own;
	return true;
}

static void prepare(struct workload_task *w)
{
	struct replay *r = sim_alloc(w->host->sim, sizeof *r);

	w->state = r;
	if (each_record(w, learn_record, w) && r->nr_pages)
		r->file = file_create(w->host, r->nr_pages);
}

struct player {
	struct task *t;
	struct workload_task *w;
	struct memcg *memcg; /* of the last record, by name */
	char name[512];
	double first; /* time of the first record */
	sim_time_t begin;
	uint64_t played, accesses, misses;
};

static bool to_cgroup(struct player *p, const char *name)
{
	if (!strcmp(p->name, name))
		return true;
	strcpy(p->name, name);
	p->memcg = *name ? memcg_find(p->w->host, name) : p->w->memcg;
	if (!p->memcg)
		sim_fail(p->t->sim, "trace: there is no cgroup '%s'", name);
	return p->memcg;
}

static void wait_for(struct player *p, double seconds)
{
	const struct trace *o = p->w->own;
	sim_time_t due;

	if (!p->played++) {
		p->first = seconds;
		p->begin = p->t->clock;
	}
	if (!o->paced || seconds <= p->first)
		return;
	due = p->begin + (sim_time_t)fmin((seconds - p->first) / o->speed * (double)SIM_SEC, DIST_LARGEST);
	if (due > p->t->clock)
		task_sleep(p->t, due - p->t->clock);
}

static bool play_record(void *arg, const struct trace_record *record)
{
	struct player *p = arg;
	const struct trace *o = p->w->own;
	const struct replay *r = p->w->state;
	const struct place *place = find(r, record->object);
	struct memcg *level;

	if (!to_cgroup(p, record->cgroup))
		return false;
	wait_for(p, record->seconds);
	cpu_work(p->t, p->w->host->costs->syscall);
	for (uint32_t i = 0; i < place->pages; i++) {
		enum file_result result = file_read(p->t, p->memcg, r->file, place->first + i, &level);

		if (result == FILE_NOMEM) {
			workload_out_of_memory(p->w, level);
			return false;
		}
		p->accesses++;
		p->misses += result == FILE_MISS;
		workload_count_read(p->w, result);
	}
	workload_return(p->t, p->w);
	p->w->ops++;
	if (o->work)
		user_work(p->t, o->work);
	return true;
}

static void run(struct task *t, struct workload_task *w)
{
	const struct trace *o = w->own;
	struct player player = { .t = t, .w = w, .memcg = w->memcg };
	struct passes p;

	if (!((const struct replay *)w->state)->file)
		return;
	passes_begin(t, &p, w->memcg, w->label, &o->record);
	each_record(w, play_record, &player);
	passes_next(t, &p, player.accesses, player.misses);
	passes_end(&p);
}

static const struct workload_ops ops = { .check = check, .ends = ends, .prepare = prepare, .run = run };

MODULE(trace) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "trace",
	.help = "repeats page accesses from a file; task.ops counts records",
	.options = &options,
	.ops = &ops,
};
