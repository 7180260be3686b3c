/*
 * file_writer.c - a task that writes a file, page by page, pass by pass: a log, a build, a database that
 * overwrites.
 *
 * A file that is `new` begins empty, and each page that it grows by takes room on its disk, where a write
 * that finds none ends the task. With `truncate` it is cut off after each pass, as a log that is rotated,
 * and its room is free again; without, all but the first pass overwrite. Dirty pages are left to the flusher
 * unless `sync_every` says otherwise.
 */
#include <math.h>

#include "models/backing/backing.h"
#include "models/host/costs.h"
#include "models/workload/access.h"
#include "sim/module.h"

struct file_writer {
	const char *file, *disk;
	uint64_t pages, writes, sync_every;
	uint32_t passes;
	bool is_new, truncate;
	struct access_options access;
	double rate; /* pages a second; 0: as fast as it can */
	sim_time_t work;
};

static const struct option rows[] = {
	OPTION(struct file_writer, disk, OPT_STRING,
	       .help = "device that the file lies on; a RAM disk if none"),
	OPTION(struct file_writer, file, OPT_STRING, .help = "name of the file; the cgroup's own if none"),
	OPTION(struct file_writer, pages, OPT_U64, .required = true, .min = "1", .max = "256M",
	       .help = "pages that the file may have; each takes some 9 bytes of the simulator"),
	OPTION(struct file_writer, writes, OPT_U64, .fallback = "0",
	       .help = "pages written in a pass; 0: as many as pages"),
	OPTION(struct file_writer, passes, OPT_U32, .fallback = "0", .help = "0: for ever"),
	OPTION_AS("new", struct file_writer, is_new, OPT_BOOL, .fallback = "true",
		  .help = "it has no pages before, so it takes room on the disk"),
	OPTION(struct file_writer, truncate, OPT_BOOL, .fallback = "false",
	       .help = "is cut off after each pass (ftruncate)"),
	OPTION(struct file_writer, sync_every, OPT_U64, .fallback = "0",
	       .help = "pages written between two calls of fsync(2); 0: none"),
	OPTION(struct file_writer, rate, OPT_RATE, .fallback = "0",
	       .help = "pages a second at most; 0: no limit"),
	OPTION(struct file_writer, work, OPT_DURATION, .fallback = "0s",
	       .help = "time in user mode for each page"),
	ACCESS_OPTIONS(struct file_writer, access),
};
static const struct option_table options = OPTION_TABLE("file_writer", struct file_writer, rows);

static bool ends(const void *own)
{
	return ((const struct file_writer *)own)->passes > 0;
}

static void check(const struct scenario *s, const struct task_options *task, const void *own,
		  struct complaints *c)
{
	const struct file_writer *o = own;

	(void)task;
	disk_check(s, o->disk, own, "disk", c);
	access_check(&o->access, o->pages, own, "pages", c);
}

static void prepare(struct workload_task *w)
{
	const struct file_writer *o = w->own;

	workload_file_declare(w, o->file, o->pages);
	workload_file_place(w, o->file, o->disk);
}

static bool write_page(struct task *t, struct workload_task *w, struct file_object *file, uint64_t page)
{
	const struct file_writer *o = w->own;
	struct memcg *level;

	cpu_work(t, w->host->costs->syscall);
	switch (file_write(t, w->memcg, file, page, &level)) {
	case FILE_NOMEM:
		workload_out_of_memory(w, level);
		return false;
	case FILE_NOSPC:
		workload_no_space(w);
		return false;
	default:
		w->ops++;
	}
	workload_return(t, w);
	if (o->sync_every && w->ops % o->sync_every == 0)
		file_sync(t, file);
	if (o->work)
		user_work(t, o->work);
	return !task_killed(t);
}

static void run(struct task *t, struct workload_task *w)
{
	const struct file_writer *o = w->own;
	struct file_object *file = workload_file(w->host, w->memcg, o->file);
	uint64_t writes = o->writes ? o->writes : o->pages;
	sim_time_t due = t->clock;
	struct access access;

	if (o->is_new)
		file_begin_empty(file);
	access_open(&access, w, &o->access, o->pages, "page");
	for (uint32_t pass = 0; !o->passes || pass < o->passes; pass++) {
		for (uint64_t i = 0; i < writes; i++) {
			if (!write_page(t, w, file, access_next(&access)))
				return;
			if (o->rate <= 0)
				continue;
			due += (sim_time_t)fmin((double)SIM_SEC / o->rate, DIST_LARGEST);
			if (due > t->clock)
				task_sleep(t, due - t->clock);
			else
				due = t->clock; /* what it missed it does not make up for */
		}
		if (o->truncate)
			file_truncate(t, file, 0);
	}
}

static const struct workload_ops ops = { .check = check, .ends = ends, .prepare = prepare, .run = run };

MODULE(file_writer) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "file_writer",
	.help = "writes a file page by page, pass by pass; task.ops counts pages",
	.options = &options,
	.ops = &ops,
};
