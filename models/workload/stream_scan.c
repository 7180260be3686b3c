/*
 * stream_scan.c - a task that reads a large file from its beginning to its end, and never the same page twice
 * before all others: a backup, a log being shipped, a table scan beside a service.
 *
 * It reads at most at a given rate, in requests of so many pages; without a rate, as fast as it can.
 */
#include <math.h>

#include "models/backing/backing.h"
#include "models/host/costs.h"
#include "models/workload/workload.h"
#include "sim/module.h"

struct stream_scan {
	const char *file, *disk;
	uint64_t pages, request;
	uint32_t passes;
	double rate; /* pages a second; 0: as fast as it can */
	sim_time_t work;
};

static const struct option rows[] = {
	OPTION(struct stream_scan, disk, OPT_STRING,
	       .help = "device that the file lies on; a RAM disk if none"),
	OPTION(struct stream_scan, file, OPT_STRING, .help = "name of the file; the cgroup's own if none"),
	OPTION(struct stream_scan, pages, OPT_U64, .required = true, .min = "1", .max = "1G",
	       .help = "pages of the file"),
	OPTION(struct stream_scan, request, OPT_U64, .fallback = "32", .min = "1", .max = "1M",
	       .help = "pages that one read(2) asks for"),
	OPTION(struct stream_scan, passes, OPT_U32, .fallback = "0", .help = "0: for ever"),
	OPTION(struct stream_scan, rate, OPT_RATE, .fallback = "0",
	       .help = "pages a second at most; 0: no limit"),
	OPTION(struct stream_scan, work, OPT_DURATION, .fallback = "0s",
	       .help = "time in user mode for each page"),
};
static const struct option_table options = OPTION_TABLE("stream_scan", struct stream_scan, rows);

static bool ends(const void *own)
{
	return ((const struct stream_scan *)own)->passes > 0;
}

static void check(const struct scenario *s, const struct task_options *task, const void *own,
		  struct complaints *c)
{
	(void)task;
	disk_check(s, ((const struct stream_scan *)own)->disk, own, "disk", c);
}

static void prepare(struct workload_task *w)
{
	const struct stream_scan *o = w->own;

	workload_file_declare(w, o->file, o->pages);
	workload_file_place(w, o->file, o->disk);
}

static bool read_request(struct task *t, struct workload_task *w, struct file_object *file, uint64_t from,
			 uint64_t to)
{
	const struct stream_scan *o = w->own;
	struct memcg *level;

	cpu_work(t, w->host->costs->syscall);
	for (uint64_t i = from; i < to; i++) {
		enum file_result result = file_read(t, w->memcg, file, i, &level);

		if (result == FILE_NOMEM) {
			workload_out_of_memory(w, level);
			return false;
		}
		workload_count_read(w, result);
		w->ops++;
	}
	workload_return(t, w);
	if (o->work)
		user_work(t, (to - from) * o->work);
	return true;
}

static void run(struct task *t, struct workload_task *w)
{
	const struct stream_scan *o = w->own;
	struct file_object *file = workload_file(w->host, w->memcg, o->file);
	sim_time_t due = t->clock;

	for (uint32_t pass = 0; !o->passes || pass < o->passes; pass++)
		for (uint64_t from = 0; from < o->pages; from += o->request) {
			uint64_t to = from + o->request < o->pages ? from + o->request : o->pages;

			if (!read_request(t, w, file, from, to))
				return;
			if (o->rate > 0) {
				due += (sim_time_t)fmin((double)(to - from) * (double)SIM_SEC / o->rate,
							DIST_LARGEST);
				if (due > t->clock)
					task_sleep(t, due - t->clock);
				else
					due = t->clock; /* what it missed it does not make up for */
			}
		}
}

static const struct workload_ops ops = { .check = check, .ends = ends, .prepare = prepare, .run = run };

MODULE(stream_scan) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "stream_scan",
	.help = "reads a large file from end to end, at a rate; task.ops counts pages",
	.options = &options,
	.ops = &ops,
};
