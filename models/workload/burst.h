/*
 * burst.h - a process that runs for a moment in some cgroup: a probe, a timer's service, a container's start.
 *
 * It is the task itself that moves into the cgroup, since what a process does and where is all that counts: a
 * shell's fork is left out. It reads pages of a program that all such processes share, reads or writes pages
 * that nobody had before, such as a log's, has some memory of its own, and computes. When it ends its memory
 * goes; the pages it brought into the page cache stay, charged to the cgroup, and keep it once it is removed.
 */
#ifndef MODELS_WORKLOAD_BURST_H
#define MODELS_WORKLOAD_BURST_H

#include "models/cgroup/life.h"
#include "models/workload/workload.h"
#include "sim/stats/histogram.h"

struct burst_options {
	const char *program;
	uint64_t program_pages, anon_pages, new_pages, file_pages;
	sim_time_t work;
	double pinned;
};

/* Its rows, for a structure that has one of these; defaults as text. */
#define BURST_OPTIONS(type_, field_, program_pages_, anon_pages_, new_pages_, work_)                       \
	OPTION_AS("program", type_, field_.program, OPT_STRING, .fallback = "program",                     \
		  .help = "file of its code: tasks with the same one share it"),                           \
		OPTION_AS("program_pages", type_, field_.program_pages, OPT_U64,                           \
			  .fallback = (program_pages_), .max = "1M", .help = "pages of it that are read"), \
		OPTION_AS("anon_pages", type_, field_.anon_pages, OPT_U64, .fallback = (anon_pages_),      \
			  .max = "10M", .help = "pages of memory of its own"),                             \
		OPTION_AS("new_pages", type_, field_.new_pages, OPT_U64, .fallback = (new_pages_),         \
			  .max = "1M",                                                                     \
			  .help = "pages of a file that it reads as the first: of a log, of new data"),    \
		OPTION_AS("file_pages", type_, field_.file_pages, OPT_U64, .fallback = "16K", .min = "1",  \
			  .max = "1G", .help = "pages of that file; then from the start again"),           \
		OPTION_AS("work", type_, field_.work, OPT_DURATION, .fallback = (work_),                   \
			  .help = "time in user mode"),                                                    \
		OPTION_AS("pinned", type_, field_.pinned, OPT_RATIO, .fallback = "0%", .min = "0",         \
			  .max = "1",                                                                      \
			  .help = "share that leave something behind which keeps the cgroup for ever: a "  \
				  "socket, a page locked elsewhere")

/* Of one task: w->state. */
struct burst_record {
	struct histogram latency;
	struct stream fates; /* of all that the task plays, in turn */
	uint64_t failed, oom_killed;
};

struct burst {
	struct task *t;
	struct workload_task *w;
	const struct burst_options *o;
	struct file_object *program, *file;
	struct anon_object *anon;
	struct memcg *memcg; /* in which it is; NULL: none runs */
	uint64_t at;         /* the next page of the file */
};

/* In prepare(). */
void burst_declare(struct workload_task *w, const struct burst_options *o);
/* In run(), once. */
void burst_init(struct burst *b, struct task *t, struct workload_task *w, const struct burst_options *o);
/*
 * The process begins in m, and does what it has to do; it still runs when this returns. False: it could not
 * (the cgroup is gone, no memory, killed). Either way burst_end() comes next, before m is removed.
 */
bool burst_begin(struct burst *b, struct memcg *m);
/* It ends, killed or not: its memory goes, and the task is back in its own cgroup, to be the next process. */
void burst_end(struct burst *b);
/* Sleeps until then; false: it was killed. */
bool burst_run_until(struct burst *b, sim_time_t until);
/* What was due at `due` is done now. */
void burst_done(struct burst *b, sim_time_t due);

/* A cgroup for it, by number; NULL: there is none to be had. */
struct memcg *burst_mkdir(struct burst *b, struct memcg *parent, const char *stem, uint64_t number);
/* Removes it, and again a little later as long as something is in it. */
void burst_rmdir(struct burst *b, struct memcg *m);

/* The results of a module's tasks, by their names: its finish(). */
void burst_finish(struct host *host, const struct module *self);

#endif
