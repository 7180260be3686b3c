/*
 * file_churn.c - a task that reads a file, or touches a mapping of it, page by page in some order, pass by
 * pass.
 *
 * After the harness of the counts from real kernels: E1, E6, E7, E8b and E11 are this loop with other
 * numbers, and so is w2 of seed 1. A pass is `reads` accesses; a cyclic reader goes on in the next pass where
 * it was. With a stride only every stride-th page of the file is used, which leaves 64/stride pages to a node
 * of the page cache; `back` reads once more, in the end and backwards, all that a cyclic reader has read.
 */
#include "models/backing/backing.h"
#include "models/host/costs.h"
#include "models/workload/access.h"
#include "models/workload/passes.h"
#include "sim/module.h"

enum churn_via { VIA_READ, VIA_MMAP };

struct file_churn {
	const char *file, *disk;
	uint64_t pages, reads, stride, flush_every;
	uint32_t passes;
	int via;
	bool back;
	struct access_options access;
	struct passes_options record;
	sim_time_t work;
	struct dist pause;
};

static const struct enum_name via_names[] = {
	{ "read", VIA_READ, "read(2), one page each" },
	{ "mmap", VIA_MMAP, "a load from a shared mapping" },
	{ NULL, 0, NULL },
};

static const struct option rows[] = {
	OPTION(struct file_churn, disk, OPT_STRING,
	       .help = "device that the file lies on; a RAM disk if none"),
	OPTION(struct file_churn, file, OPT_STRING, .help = "name of the file; the cgroup's own if none"),
	OPTION(struct file_churn, pages, OPT_U64, .required = true, .min = "1", .max = "256M",
	       .help = "pages of the file that are used"),
	OPTION(struct file_churn, stride, OPT_U64, .fallback = "1", .min = "1", .max = "1M",
	       .help = "from one of them to the next, in pages of the file"),
	OPTION(struct file_churn, reads, OPT_U64, .fallback = "0",
	       .help = "accesses in a pass; 0: as many as pages"),
	OPTION(struct file_churn, passes, OPT_U32, .fallback = "0", .help = "0: for ever"),
	OPTION(struct file_churn, via, OPT_ENUM, .names = via_names, .fallback = "read",
	       .help = "how a page is accessed"),
	OPTION(struct file_churn, back, OPT_BOOL, .fallback = "false",
	       .help = "reads backwards in the end, as a pass of its own (NAME/back)"),
	OPTION(struct file_churn, flush_every, OPT_U64, .fallback = "0",
	       .help = "accesses between two reads of cpu.stat, which flush exactly; 0: none"),
	OPTION(struct file_churn, work, OPT_DURATION, .fallback = "0s",
	       .help = "time in user mode for each access"),
	OPTION(struct file_churn, pause, OPT_DIST_DURATION, .fallback = "0s",
	       .help = "sleep after each pass"),
	ACCESS_OPTIONS(struct file_churn, access),
	PASSES_OPTIONS(struct file_churn, record),
};
static const struct option_table options = OPTION_TABLE("file_churn", struct file_churn, rows);

struct churn {
	struct task *t;
	struct workload_task *w;
	const struct file_churn *o;
	struct file_object *file;
	uint64_t position; /* of the open file */
	uint64_t misses;   /* in this pass */
};

static bool ends(const void *own)
{
	return ((const struct file_churn *)own)->passes > 0;
}

static void check(const struct scenario *s, const struct task_options *task, const void *own,
		  struct complaints *c)
{
	const struct file_churn *o = own;

	(void)task;
	disk_check(s, o->disk, own, "disk", c);
	access_check(&o->access, o->pages, own, "pages", c);
	if (o->back && o->access.pattern != ACCESS_CYCLIC)
		complain(c, option_where(own, "back"), "back: only a cyclic reader can go back");
	if (o->back && !o->passes)
		complain(c, option_where(own, "back"), "back: needs a number of passes");
}

static void prepare(struct workload_task *w)
{
	const struct file_churn *o = w->own;

	workload_file_declare(w, o->file, (o->pages - 1) * o->stride + 1);
	workload_file_place(w, o->file, o->disk);
}

static bool read_page(struct churn *c, uint64_t page)
{
	struct memcg *level;
	enum file_result result;

	if (c->o->via == VIA_MMAP) {
		result = file_touch(c->t, c->w->memcg, c->file, page * c->o->stride, &level);
	} else {
		cpu_work(c->t, c->w->host->costs->syscall);
		result = file_read_open(c->t, c->w->memcg, c->file, page * c->o->stride, &c->position,
					&level);
	}
	if (result == FILE_NOMEM) {
		workload_out_of_memory(c->w, level);
		return false;
	}
	workload_return(c->t, c->w);
	c->misses += result == FILE_MISS;
	workload_count_read(c->w, result);
	c->w->ops++;
	if (c->o->work)
		user_work(c->t, c->o->work);
	return true;
}

static bool pass(struct churn *c, struct access *access, struct passes *p, uint64_t reads)
{
	c->misses = 0;
	for (uint64_t i = 0; i < reads; i++) {
		if (!read_page(c, access_next(access)))
			return false;
		if (c->o->flush_every && i % c->o->flush_every == 0)
			cpu_stat_read(c->t, c->w->memcg);
		passes_watch(p, i);
	}
	return true;
}

/* Everything that was read, from the last page to the first. */
static void go_back(struct churn *c, uint64_t read)
{
	struct passes p;

	passes_begin(c->t, &p, c->w->memcg, pass_entity(c->w->host, c->w->label, "back"), &c->o->record);
	c->misses = 0;
	for (uint64_t page = read; page-- > 0;)
		if (!read_page(c, page))
			return;
	passes_next(c->t, &p, read, c->misses);
	passes_end(&p);
}

static void run(struct task *t, struct workload_task *w)
{
	const struct file_churn *o = w->own;
	struct churn c = {
		.t = t,
		.w = w,
		.o = o,
		.file = workload_file(w->host, w->memcg, o->file),
		.position = NO_INDEX,
	};
	uint64_t reads = o->reads ? o->reads : o->pages, read = reads * o->passes;
	bool going = true;
	struct stream pauses;
	struct access access;
	struct passes p;

	access_open(&access, w, &o->access, o->pages, "page");
	stream_init(&pauses, sim_seed(t->sim), w->name, "pause");
	passes_begin(t, &p, w->memcg, w->label, &o->record);
	for (uint32_t i = 0; going && (!o->passes || i < o->passes); i++) {
		going = pass(&c, &access, &p, reads);
		if (going && o->passes)
			passes_next(t, &p, reads, c.misses);
		sim_time_t pause = (sim_time_t)dist_draw(&o->pause, &pauses);

		if (pause)
			task_sleep(t, pause);
	}
	passes_end(&p);
	if (going && o->back)
		go_back(&c, read < o->pages ? read : o->pages);
	if (o->via == VIA_MMAP)
		file_unmap(t, c.file);
}

static const struct workload_ops ops = { .check = check, .ends = ends, .prepare = prepare, .run = run };

MODULE(file_churn) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "file_churn",
	.help = "reads a file page by page, pass by pass; task.ops counts pages",
	.source = "w2 of seed 1; E1, E6, E7, E8b and E11 of the counts from real kernels",
	.options = &options,
	.ops = &ops,
};
