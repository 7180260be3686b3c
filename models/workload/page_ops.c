/*
 * page_ops.c - a task that does a list of page operations, and how many statistics updates each made.
 *
 * For comparing counts with those of a real kernel: each step is one kind of operation on so many pages. The
 * calls are those of the whole host meanwhile, as a kernel's probes count them. A step that is `watched` has
 * the probes' own traces, too (page_ops_watch.c).
 *
 *	steps:
 *	  - { op: anon_fault, pages: 1024 }
 *	  - { op: anon_dontneed, pages: 1024 }
 *	  - { op: file_read, pages: 1024, name: miss }
 */
#include <stdio.h>

#include "models/cgroup/options.h"
#include "models/host/costs.h"
#include "models/workload/page_ops.h"
#include "models/workload/stat_file.h"

enum page_op {
	ANON_FAULT,
	ANON_DONTNEED,
	ANON_EXIT,
	FILE_READ,
	FILE_DROP,
	FILE_WRITE,
	FILE_SYNC,
	FILE_REMOVE,
	FILE_MAP,
	FILE_UNMAP,
	TMPFS_WRITE,
	TMPFS_READ,
	TMPFS_FALLOCATE,
	TMPFS_REMOVE,
	MEMORY_MAX,
	MEMORY_RECLAIM,
	STAT_READ,
};

static const struct enum_name op_names[] = {
	{ "anon_fault", ANON_FAULT, "touch pages that are not there, skipping those that are" },
	{ "anon_dontneed", ANON_DONTNEED, "MADV_DONTNEED of a range" },
	{ "anon_exit", ANON_EXIT, "munmap of everything, page tables included" },
	{ "file_read", FILE_READ, "read pages of a file, one read(2) each" },
	{ "file_drop", FILE_DROP, "POSIX_FADV_DONTNEED of a range" },
	{ "file_write", FILE_WRITE, "write pages of a file, one write(2) each" },
	{ "file_sync", FILE_SYNC, "fsync(2)" },
	{ "file_remove", FILE_REMOVE, "unlink(2) of a file that nobody has open" },
	{ "file_map", FILE_MAP, "touch pages of a shared mapping of a file" },
	{ "file_unmap", FILE_UNMAP, "munmap of that mapping" },
	{ "tmpfs_write", TMPFS_WRITE, "write pages of its file on tmpfs, one write(2) each" },
	{ "tmpfs_read", TMPFS_READ, "read pages of it, one read(2) each" },
	{ "tmpfs_fallocate", TMPFS_FALLOCATE, "fallocate(2) of pages of it" },
	{ "tmpfs_remove", TMPFS_REMOVE, "truncate it to nothing" },
	{ "memory_max", MEMORY_MAX, "write memory.max of its cgroup: so many pages; 0: none" },
	{ "memory_reclaim", MEMORY_RECLAIM, "write memory.reclaim of its cgroup: so many pages" },
	{ "stat_read", STAT_READ, "read memory.stat of its cgroup, from inside, so many times" },
	{ NULL, 0, NULL },
};

struct page_step {
	int op;
	const char *name;
	uint64_t pages, from, stride;
	const char *file, *of;
	sim_time_t pause;
	bool watched;
};

static const struct option step_rows[] = {
	OPTION(struct page_step, op, OPT_ENUM, .names = op_names, .required = true, .help = "what is done"),
	OPTION(struct page_step, name, OPT_STRING, .help = "name in results; that of the operation if none"),
	OPTION(struct page_step, pages, OPT_U64, .fallback = "0", .max = "1G", .help = "on how many pages"),
	OPTION(struct page_step, from, OPT_U64, .fallback = "0", .max = "1G", .help = "the first page"),
	OPTION(struct page_step, stride, OPT_U64, .fallback = "1", .min = "1", .max = "1M",
	       .help = "from one page to the next, for what is done page by page"),
	OPTION(struct page_step, file, OPT_STRING, .help = "name of a file; the cgroup's own if none"),
	OPTION(struct page_step, of, OPT_STRING,
	       .help = "path or pattern: the own files of these cgroups, one after the other, instead"),
	OPTION(struct page_step, pause, OPT_DURATION, .fallback = "0s", .help = "sleep before it"),
	OPTION(struct page_step, watched, OPT_BOOL, .fallback = "false",
	       .help = "by tracing that the task itself clears before and pauses and reads after"),
};
static const struct option_table step_table = OPTION_TABLE("page_ops step", struct page_step, step_rows);

static const struct option rows[] = {
	OPTION(struct page_ops, memory, OPT_U64, .fallback = "4096", .min = "1", .max = "1G",
	       .help = "pages of its anonymous mapping"),
	OPTION(struct page_ops, file_pages, OPT_U64, .fallback = "8192", .min = "1", .max = "1G",
	       .help = "pages of each file it uses, at least"),
	OPTION(struct page_ops, rounds, OPT_U32, .fallback = "1", .min = "1",
	       .help = "how often the steps are done"),
	OPTION(struct page_ops, steps, OPT_LIST, .sub = &step_table, .required = true,
	       .help = "operations in order"),
	OPTION(struct page_ops, objects, OPT_LIST, .sub = &page_ops_object_table,
	       .help = "kernel objects that its files and its mapping have"),
};
static const struct option_table options = OPTION_TABLE("page_ops", struct page_ops, rows);

/* Of each kind three, in the order of enum stat_kind. */
enum {
	LRUVEC_CALLS,
	LRUVEC_SUM,
	LRUVEC_READ,
	EVENT_CALLS,
	EVENT_SUM,
	EVENT_READ,
	STATE_CALLS,
	STATE_SUM,
	STATE_READ,
	PER_PAGE,
	SUM_PER_PAGE,
	READ_PER_PAGE
};

#define AS_READ "that sum as a reader has it who takes each value below 0 for -1"

static const struct metric metrics[] = {
	[LRUVEC_CALLS] = { "page_ops.lruvec_calls", "1", METRIC_GAUGE,
			   "updates of lruvec items in a step, mean of its rounds" },
	[LRUVEC_SUM] = { "page_ops.lruvec_absval", "1", METRIC_GAUGE, "sum of their absolute values" },
	[LRUVEC_READ] = { "page_ops.lruvec_read", "1", METRIC_GAUGE, AS_READ },
	[EVENT_CALLS] = { "page_ops.event_calls", "1", METRIC_GAUGE,
			  "counts of events in a step, mean of its rounds" },
	[EVENT_SUM] = { "page_ops.event_absval", "1", METRIC_GAUGE, "sum of the counts" },
	[EVENT_READ] = { "page_ops.event_read", "1", METRIC_GAUGE, AS_READ },
	[STATE_CALLS] = { "page_ops.state_calls", "1", METRIC_GAUGE,
			  "updates of memcg-only items in a step, mean of its rounds" },
	[STATE_SUM] = { "page_ops.state_absval", "1", METRIC_GAUGE, "sum of their absolute values" },
	[STATE_READ] = { "page_ops.state_read", "1", METRIC_GAUGE, AS_READ },
	[PER_PAGE] = { "page_ops.updates_per_page", "1", METRIC_RATIO, "updates of all kinds, per page" },
	[SUM_PER_PAGE] = { "page_ops.absval_per_page", "1", METRIC_RATIO,
			   "sum of absolute values of all kinds, per page" },
	[READ_PER_PAGE] = { "page_ops.read_per_page", "1", METRIC_RATIO, AS_READ ", per page" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(page_ops_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "page_ops",
	.help = "statistics updates by page operation",
	.ops = &table,
};

static bool is_file_op(const struct page_step *step)
{
	return step->op >= FILE_READ && step->op <= FILE_UNMAP;
}

static bool is_tmpfs_op(const struct page_step *step)
{
	return step->op >= TMPFS_WRITE && step->op <= TMPFS_REMOVE;
}

/* Whether its pages are those [from, from + pages), in steps of `stride` where `strides`. */
static bool has_range(const struct page_step *step, bool *strides)
{
	static const bool by_page[] = {
		[ANON_FAULT] = true,  [FILE_READ] = true,  [FILE_WRITE] = true,      [FILE_MAP] = true,
		[TMPFS_WRITE] = true, [TMPFS_READ] = true, [TMPFS_FALLOCATE] = true, [STAT_READ] = false,
	};

	*strides = by_page[step->op];
	return *strides || step->op == ANON_DONTNEED || step->op == FILE_DROP;
}

/* The last page that a step may come to is inside of what it works on. */
static void check_step(const struct scenario *s, const struct page_ops *o, const struct page_step *step,
		       struct complaints *c)
{
	uint64_t size = is_file_op(step) || is_tmpfs_op(step) ? o->file_pages : o->memory;
	bool strides, ranges = has_range(step, &strides);
	uint64_t stride = strides ? step->stride : 1;

	if (ranges && step->pages && step->from + (step->pages - 1) * stride >= size)
		complain(c, option_where(step, "pages"), "pages: the step reaches page %llu of %llu",
			 (unsigned long long)(step->from + (step->pages - 1) * stride),
			 (unsigned long long)size);
	if (step->of && !is_file_op(step))
		complain(c, option_where(step, "of"), "of: only file operations have files");
	else if (step->of)
		cgroup_check_pattern(s, step->of, step, "of", c);
	if (step->of && step->file)
		complain(c, option_where(step, "of"), "of: either a file or the files of cgroups");
}

static void check(const struct scenario *s, const struct task_options *task, const void *own,
		  struct complaints *c)
{
	const struct page_ops *o = own;

	(void)task;
	for (size_t i = 0; i < o->steps.nr; i++)
		check_step(s, o, o->steps.items[i], c);
}

static bool ends(const void *own)
{
	(void)own;
	return true;
}

static void prepare(struct workload_task *w)
{
	const struct page_ops *o = w->own;

	struct page_ops_state *s = sim_alloc(w->host->sim, sizeof *s);

	s->done = sim_alloc(w->host->sim, o->steps.nr * sizeof *s->done);
	w->state = s;
	for (size_t i = 0; i < o->steps.nr; i++) {
		const struct page_step *step = o->steps.items[i];

		if (is_file_op(step) && !step->of)
			workload_file_declare(w, step->file, o->file_pages);
	}
}

static bool fault(struct task *t, struct workload_task *w, struct anon_object *memory,
		  const struct page_step *step)
{
	uint64_t size = ((const struct page_ops *)w->own)->memory;
	uint64_t done = 0;

	if (!page_ops_map(t, w))
		return false;
	for (uint64_t i = step->from; i < size && done < step->pages; i += step->stride) {
		struct memcg *level;

		if (anon_is_present(memory, i))
			continue;
		if (!anon_touch(t, memory, i, &level)) {
			workload_out_of_memory(w, level);
			return false;
		}
		done++;
		w->ops++;
	}
	return true;
}

/* One page, of a file or, where that is NULL, of the task's own on tmpfs. */
static enum file_result one_page(struct task *t, struct workload_task *w, enum page_op op,
				 struct file_object *file, uint64_t index, struct memcg **level)
{
	struct tmpfs_object *tmpfs = ((struct page_ops_state *)w->state)->tmpfs;

	switch (op) {
	case FILE_READ:
		return file_read(t, w->memcg, file, index, level);
	case FILE_WRITE:
		return file_write(t, w->memcg, file, index, level);
	case FILE_MAP:
		return file_touch(t, w->memcg, file, index, level);
	case TMPFS_WRITE:
		return tmpfs_write(t, w->memcg, tmpfs, index, level);
	case TMPFS_READ:
		return tmpfs_read(t, w->memcg, tmpfs, index, level);
	default:
		return tmpfs_fallocate(t, w->memcg, tmpfs, index, level);
	}
}

static bool page_by_page(struct task *t, struct workload_task *w, struct file_object *file,
			 const struct page_step *step)
{
	for (uint64_t k = 0; k < step->pages; k++) {
		uint64_t index = step->from + k * step->stride;
		struct memcg *level;

		cpu_work(t, w->host->costs->syscall);
		if (one_page(t, w, (enum page_op)step->op, file, index, &level) == FILE_NOMEM) {
			workload_out_of_memory(w, level);
			return false;
		}
		w->ops++;
	}
	return true;
}

static bool file_step(struct task *t, struct workload_task *w, struct file_object *file,
		      const struct page_step *step)
{
	if (!file)
		return true; /* a cgroup whose own file nobody ever used */
	switch ((enum page_op)step->op) {
	case FILE_DROP:
		file_drop(t, file, step->from, step->pages);
		w->ops += step->pages;
		return true;
	case FILE_SYNC:
		task_sync(t);
		w->ops += file_dirty(file);
		file_sync(t, file);
		return true;
	case FILE_REMOVE:
		task_sync(t);
		w->ops += file_present(file);
		file_truncate(t, file, 0);
		return true;
	case FILE_UNMAP:
		file_unmap(t, file);
		return true;
	default:
		return page_by_page(t, w, file, step);
	}
}

static bool file_steps(struct task *t, struct workload_task *w, const struct page_step *step)
{
	struct host *host = w->host;

	if (!step->of)
		return file_step(t, w, workload_file(host, w->memcg, step->file), step);
	struct memcg **of = sim_alloc(host->sim, host->cgroups->nr * sizeof(*of));
	uint32_t nr = memcg_match(host, step->of, of);
	bool done = true;

	for (uint32_t i = 0; i < nr && done; i++)
		done = file_step(t, w, workload_file(host, of[i], NULL), step);
	sim_free(host->sim, of, host->cgroups->nr * sizeof(*of));
	return done;
}

static bool read_own_stat(struct task *t, struct workload_task *w, const struct page_step *step)
{
	for (uint64_t k = 0; k < step->pages; k++) {
		struct stat_file file;
		struct stat_read read;

		if (!stat_file_open(t, w->memcg, &file))
			return false;
		memory_stat_read(t, w->memcg, &read);
		stat_file_close(t, &file);
		w->ops++;
	}
	return true;
}

static bool do_step(struct task *t, struct workload_task *w, struct anon_object *memory,
		    const struct page_step *step)
{
	struct tmpfs_object *tmpfs = ((struct page_ops_state *)w->state)->tmpfs;

	switch ((enum page_op)step->op) {
	case ANON_FAULT:
		return fault(t, w, memory, step);
	case ANON_DONTNEED:
		anon_zap(t, memory, step->from, step->pages);
		w->ops += step->pages;
		return true;
	case ANON_EXIT:
		w->ops += anon_present(memory);
		page_ops_unmap(t, w);
		anon_unmap(t, memory);
		return true;
	case FILE_READ:
	case FILE_DROP:
	case FILE_WRITE:
	case FILE_SYNC:
	case FILE_REMOVE:
	case FILE_MAP:
	case FILE_UNMAP:
		return file_steps(t, w, step);
	case TMPFS_WRITE:
	case TMPFS_READ:
	case TMPFS_FALLOCATE:
		return page_by_page(t, w, NULL, step);
	case TMPFS_REMOVE:
		task_sync(t);
		w->ops += tmpfs_present(tmpfs);
		tmpfs_remove(t, tmpfs);
		return true;
	case MEMORY_MAX:
		return page_ops_write_max(t, w, step->pages);
	case MEMORY_RECLAIM: /* falling short of it ends nothing */
		memcg_proactive_reclaim(t, w->memcg, step->pages);
		w->ops += step->pages;
		return true;
	case STAT_READ:
		return read_own_stat(t, w, step);
	}
	return false;
}

static bool measured_step(struct task *t, struct workload_task *w, struct anon_object *memory,
			  const struct page_step *step, struct step_done *done)
{
	const struct stat_calls *now = stat_calls(w->host);

	if (step->pause)
		task_sleep(t, step->pause);
	task_sync(t);
	if (step->watched && !page_ops_watch(t, w))
		return false;
	struct stat_calls before = *now;
	uint64_t ops = w->ops;
	bool going = do_step(t, w, memory, step);

	task_sync(t);
	done->pages += w->ops - ops;
	if (step->watched)
		return page_ops_watched(t, w, done) && going;
	for (int k = 0; k < NR_STAT_KINDS; k++)
		page_ops_counted(&done->calls, &before, now, k);
	return going;
}

static void run(struct task *t, struct workload_task *w)
{
	const struct page_ops *o = w->own;
	struct anon_object *memory = anon_create(w->host, w->memcg, o->memory);
	struct step_done *done = ((struct page_ops_state *)w->state)->done;
	bool going = page_ops_begin(t, w);

	((struct page_ops_state *)w->state)->tmpfs = tmpfs_create(w->host, o->file_pages);
	for (uint32_t round = 0; going && round < o->rounds; round++)
		for (size_t i = 0; going && i < o->steps.nr; i++)
			going = measured_step(t, w, memory, o->steps.items[i], &done[i]);
	page_ops_unmap(t, w);
	anon_unmap(t, memory);
}

static void finish_step(struct host *host, const struct workload_task *w, size_t i)
{
	const struct page_step *step = ((const struct page_ops *)w->own)->steps.items[i];
	const struct step_done *done = &((const struct page_ops_state *)w->state)->done[i];
	const char *name = step->name ? step->name : op_names[step->op].name;
	double rounds = ((const struct page_ops *)w->own)->rounds;
	struct record *record = host->run->record;
	double calls = 0, absval = 0, read = 0;
	char entity[512];

	snprintf(entity, sizeof entity, "%s/%s", w->label, name);
	for (int k = 0; k < NR_STAT_KINDS; k++) {
		const struct stat_calls *c = &done->calls;
		uint64_t as_read = c->absval[k] - c->absval_below_0[k] + c->calls_below_0[k];

		record_summary(record, &metrics[3 * k], entity, (double)c->calls[k] / rounds);
		record_summary(record, &metrics[3 * k + 1], entity, (double)c->absval[k] / rounds);
		record_summary(record, &metrics[3 * k + 2], entity, (double)as_read / rounds);
		calls += (double)c->calls[k];
		absval += (double)c->absval[k];
		read += (double)as_read;
	}
	if (!done->pages)
		return;
	record_summary(record, &metrics[PER_PAGE], entity, calls / (double)done->pages);
	record_summary(record, &metrics[SUM_PER_PAGE], entity, absval / (double)done->pages);
	record_summary(record, &metrics[READ_PER_PAGE], entity, read / (double)done->pages);
}

/* Tasks that share a name in results share a row there: that of the last. */
static void finish(struct host *host, const struct module *self)
{
	uint32_t nr;
	const struct workload_task *tasks = workload_tasks(host, &nr);

	for (uint32_t i = 0; i < nr; i++) {
		if (!workload_is(&tasks[i], self))
			continue;
		for (size_t k = 0; k < ((const struct page_ops *)tasks[i].own)->steps.nr; k++)
			finish_step(host, &tasks[i], k);
	}
}

static const struct workload_ops ops = {
	.check = check,
	.ends = ends,
	.prepare = prepare,
	.run = run,
	.finish = finish,
};

MODULE(page_ops) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "page_ops",
	.help = "a list of page operations, with the statistics updates of each; task.ops counts pages",
	.source = "E5c and E5f of the counts from real kernels",
	.options = &options,
	.ops = &ops,
};
