/*
 * writeback.c - the flusher, and writers that wait for it; after fs/fs-writeback.c and balance_dirty_pages()
 * of mm/page-writeback.c, Linux 6.1.
 *
 * Dirty pages may be a share of what could be dirty: free memory and file pages of the machine, and likewise
 * of a cgroup, what it has and could still have under its limits (cgroup writeback). Above `background` the
 * flusher writes, above `limit`, in which pages count until they are written, whoever dirties a page sleeps
 * until there are fewer; pages that have been dirty for `expire` are written at the next `interval`. A writer
 * looks only after so many pages, as balance_dirty_pages_ratelimited() does.
 *
 * Left out: the gradual slowing of writers between half of the way and the limit, which fits their rate to
 * the disk's; several flushers, one for each disk and cgroup. Here is one, which takes files in turn.
 */
#include "models/backing/backing_impl.h"
#include "models/reclaim/reclaim.h"
#include "models/stat/decision.h"

#define RATELIMIT 32u            /* ratelimit_pages, at its least */
#define PAUSE     (200 * SIM_MS) /* MAX_PAUSE */
#define CHUNK     1024u          /* MIN_WRITEBACK_PAGES: of one file before the next */

struct writeback_options {
	double background, limit;
	sim_time_t interval, expire;
};

static const struct option rows[] = {
	OPTION(struct writeback_options, background, OPT_RATIO, .fallback = "10%", .min = "0", .max = "100%",
	       .help = "share of dirtyable memory above which the flusher writes",
	       .source = "vm.dirty_background_ratio"),
	OPTION(struct writeback_options, limit, OPT_RATIO, .fallback = "20%", .min = "0", .max = "100%",
	       .help = "share above which writers wait", .source = "vm.dirty_ratio"),
	OPTION(struct writeback_options, interval, OPT_DURATION, .fallback = "5s", .never = "never",
	       .help = "between looks for old dirty pages", .source = "vm.dirty_writeback_centisecs"),
	OPTION(struct writeback_options, expire, OPT_DURATION, .fallback = "30s",
	       .help = "age from which dirty pages are written", .source = "vm.dirty_expire_centisecs"),
};
static const struct option_table table = OPTION_TABLE("writeback", struct writeback_options, rows);

MODULE(writeback_section) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_SECTION,
	.name = "writeback",
	.help = "when dirty pages of files are written",
	.options = &table,
	.order = 32,
};

enum { DIRTY, WRITTEN, THROTTLED };

static const struct metric metrics[] = {
	[DIRTY] = { "writeback.dirty", "pages", METRIC_GAUGE, "dirty pages of files" },
	[WRITTEN] = { "writeback.written", "pages", METRIC_COUNTER, "pages that the flusher wrote" },
	[THROTTLED] = { "writeback.throttled", "ns", METRIC_COUNTER, "time that writers slept for it" },
};
static const struct metric_table metric_table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(writeback_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "writeback",
	.help = "dirty pages of files",
	.ops = &metric_table,
};

struct flusher {
	const struct writeback_options *options;
	struct task *task;                 /* made when the first page becomes dirty */
	struct file_object *first, **last; /* files with dirty pages */
	bool asked;                        /* there is more to do than what is old */
	uint64_t dirtied;                  /* pages, ever */
	uint64_t written;
	sim_time_t throttled;
};

static struct flusher *flusher_of(const struct host *host)
{
	return host->backing->flusher;
}

bool writeback_is_periodic(const struct host *host)
{
	return flusher_of(host)->options->interval != SIM_NEVER;
}

/* ---- how much is dirty, and how much may be ---- */

typedef int64_t view_fn(const struct memcg *m, enum stat_item item);

static uint64_t counter(const struct memcg *m, enum stat_item item, view_fn *view)
{
	int64_t v = view(m, item);

	return v > 0 ? (uint64_t)v : 0;
}

static uint64_t free_pages(const struct host *host)
{
	uint64_t nr = 0;

	for (uint32_t i = 0; i < host->nr_nodes; i++)
		nr += node_free(host, i);
	return nr;
}

/*
 * What counts as dirty: for the flusher pages that nobody writes yet, for who waits for it those that are not
 * yet written.
 */
static uint64_t dirty(const struct memcg *m, bool to_wait, view_fn *view)
{
	return counter(m, NR_FILE_DIRTY, view) + (to_wait ? counter(m, NR_WRITEBACK, view) : 0);
}

/* domain_dirty_limits() of the machine, whose counters are exact. */
static bool machine_exceeds(const struct host *host, double share, bool to_wait)
{
	const struct memcg *root = host->cgroups->root;
	uint64_t files = counter(root, NR_INACTIVE_FILE, stat_truth) +
			 counter(root, NR_ACTIVE_FILE, stat_truth);

	return (double)dirty(root, to_wait, stat_truth) > share * (double)(free_pages(host) + files);
}

/* mem_cgroup_wb_stats(): of a cgroup, by what was flushed; or, to see if that misleads, by the truth. */
static bool memcg_exceeds(const struct memcg *m, double share, bool to_wait, view_fn *view)
{
	uint64_t files = counter(m, NR_INACTIVE_FILE, view) + counter(m, NR_ACTIVE_FILE, view);
	uint64_t headroom = UINT64_MAX;

	for (const struct memcg *level = m; !memcg_is_root(level); level = level->parent) {
		const struct page_counter *c = &level->memory;
		uint64_t ceiling = c->max < c->high ? c->max : c->high;
		uint64_t room = c->usage < ceiling ? ceiling - c->usage : 0;

		headroom = room < headroom ? room : headroom;
	}
	if (headroom > m->host->memory / PAGE_SIZE)
		return false; /* no limit that matters */
	return (double)dirty(m, to_wait, view) > share * (double)(files + headroom);
}

static bool exceeds(struct memcg *m, double share, bool to_wait)
{
	if (machine_exceeds(m->host, share, to_wait))
		return true;
	if (memcg_is_root(m))
		return false;
	bool over = memcg_exceeds(m, share, to_wait, stat_reported);
	int64_t off = stat_reported(m, NR_FILE_DIRTY) - stat_truth(m, NR_FILE_DIRTY);

	decision_taken(m->host, DECISION_DIRTY_LIMIT, over, memcg_exceeds(m, share, to_wait, stat_truth),
		       (uint64_t)(off < 0 ? -off : off));
	return over;
}

/* ---- the flusher ---- */

/* A chunk of one file that has anything to be written; false: there is none. */
static bool write_some(struct task *t, struct host *host, bool all)
{
	struct flusher *fl = flusher_of(host);

	for (struct file_object **at = &fl->first; *at;) {
		struct file_object *f = *at;
		uint64_t from = 0;

		if (!all && f->nr_dirty && sim_now(host->sim) - f->dirtied < fl->options->expire) {
			at = &f->next_dirty;
			continue;
		}
		*at = f->next_dirty; /* to the end, if anything is left */
		if (!*at)
			fl->last = at;
		f->next_dirty = NULL;
		f->listed = false;
		if (!f->nr_dirty)
			continue;
		fl->written += file_write_out(t, f, &from, CHUNK);
		task_sync(t);
		if (f->nr_dirty)
			writeback_list(f);
		return true;
	}
	return false;
}

/* wb_workfn(): until nothing is left that it was asked for. */
static void flusher_run(struct task *t, void *arg)
{
	struct host *host = arg;
	struct flusher *fl = flusher_of(host);
	sim_time_t next = sim_now(t->sim);

	for (;;) {
		task_sync(t);
		while (write_some(t, host, fl->asked))
			cond_resched(t);
		fl->asked = false;
		if (fl->options->interval == SIM_NEVER) {
			task_block(t);
			continue;
		}
		next += fl->options->interval;
		task_block_until(t, next);
	}
}

void writeback_list(struct file_object *f)
{
	struct flusher *fl = flusher_of(f->object.host);

	if (f->listed)
		return;
	f->listed = true;
	*fl->last = f;
	fl->last = &f->next_dirty;
}

void writeback_wake(struct task *t)
{
	struct host *host = host_of(t);
	struct flusher *fl = flusher_of(host);

	shared_step(t);
	if (!fl->first || fl->asked)
		return;
	fl->asked = true;
	if (fl->task)
		task_wake(t->sim, t, fl->task);
}

void writeback_dirtied(struct task *t, struct file_object *f, struct memcg *m)
{
	struct host *host = f->object.host;
	struct flusher *fl = flusher_of(host);

	shared_step(t);
	writeback_list(f);
	if (!fl->task)
		fl->task = task_spawn(host->sim, &(struct task_attr){ .name = "kworker/flush",
								      .run = flusher_run,
								      .arg = host,
								      .cpu = -1 });
	if (++fl->dirtied % RATELIMIT)
		return;
	stat_flush(t, m, FLUSH_WRITEBACK);
	task_sync(t);
	if (exceeds(m, fl->options->background, false))
		writeback_wake(t);
	while (exceeds(m, fl->options->limit, true)) {
		sim_time_t from = sim_now(t->sim);

		writeback_wake(t);
		task_sleep(t, PAUSE);
		task_sync(t);
		fl->throttled += sim_now(t->sim) - from;
		stat_flush(t, m, FLUSH_WRITEBACK);
		task_sync(t);
	}
}

void writeback_build(struct host *host)
{
	struct flusher *fl = sim_alloc(host->sim, sizeof *fl);

	host->backing->flusher = fl;
	fl->options = scenario_section(host->scenario, "writeback");
	fl->last = &fl->first;
}

void writeback_sample(struct host *host, sim_time_t now)
{
	if (flusher_of(host)->dirtied)
		record_sample(host->run->record, &metrics[DIRTY], "all", now,
			      (double)stat_truth(host->cgroups->root, NR_FILE_DIRTY));
}

void writeback_finish(struct host *host)
{
	const struct flusher *fl = flusher_of(host);
	struct record *record = host->run->record;

	if (!fl->dirtied)
		return;
	record_summary(record, &metrics[DIRTY], "all",
		       (double)stat_truth(host->cgroups->root, NR_FILE_DIRTY));
	record_summary(record, &metrics[WRITTEN], "all", (double)fl->written);
	record_summary(record, &metrics[THROTTLED], "all", sim_nanoseconds(fl->throttled));
}
