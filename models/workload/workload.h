/*
 * workload.h - what tasks do.
 *
 * A workload is a module of kind MODULE_WORKLOAD whose ops are a struct workload_ops. Its own options stand
 * in the same map as those that all tasks have (struct task_options):
 *
 *	tasks: [ { workload: anon_churn, count: 10, pages: 256, pause: 1ms } ]
 *
 * tasks.c makes a simulated task of each, calls run() in it, and adds up what the tasks did.
 */
#ifndef MODELS_WORKLOAD_WORKLOAD_H
#define MODELS_WORKLOAD_WORKLOAD_H

#include "models/cgroup/memcg.h"
#include "models/page/page.h"
#include "sim/engine/random.h"

struct task_options {
	struct module_use workload;
	uint32_t count;    /* tasks in each cgroup */
	const char *name;  /* in results; NULL: that of the workload */
	double cpu;        /* pinned there; -1: not */
	uint32_t weight;   /* as cpu.weight; 0: that of the cgroup */
	struct dist start; /* when it begins, ps */
	sim_time_t start_every;
	uint64_t kernel_memory;
	double oom_score_adj;
	const char *cgroup; /* top-level tasks only: path or pattern */
};

extern const struct option_table task_options_table;

struct workload_task {
	struct cgroup_task task; /* first: task.owner points to it */
	struct host *host;
	const struct task_options *options;
	const void *own; /* the bound options of the workload's module */
	struct memcg *memcg;
	const char *label;      /* options->name, or the workload's name */
	const char *name;       /* of this task alone: "/a/b:churn/3"; names its random streams */
	uint32_t index, count;  /* which of how many in its cgroup */
	uint32_t ordinal;       /* how many of its item came before it, in whatever cgroup */
	uint64_t ops;           /* work done; run() adds to it */
	uint64_t reads, misses; /* accesses to files, and those that had to read the device */
	uint64_t ops_before, reads_before, misses_before; /* of those, before the end of the warm-up */
	sim_time_t began, ended;                          /* its life; SIM_NEVER: not yet */
	struct memcg *oom;                                /* the level whose limit ended it */
	bool failed;                                      /* it ended for want of memory */
	bool no_space;                                    /* for want of room on a disk */
	void *state;                                      /* run()'s own, in the arena */
};

struct workload_ops {
	/* What no option table can know; `own` as above. May be NULL. */
	void (*check)(const struct scenario *s, const struct task_options *task, const void *own,
		      struct complaints *c);
	/* Does it end by itself? `until: done` waits for those that do. NULL: never. */
	bool (*ends)(const void *own);
	/* At time 0, before any task runs. May be NULL. */
	void (*prepare)(struct workload_task *w);
	/* The task's life. When it returns the task ends. */
	void (*run)(struct task *t, struct workload_task *w);
	/* The rest are called once per module that has tasks. May be NULL. */
	void (*measure)(struct host *host, const struct module *self);
	void (*finish)(struct host *host, const struct module *self);
};

/* A task of the workload: &w->... of the running task, or NULL for tasks that are none (kernel workers). */
struct workload_task *workload_of(const struct task *t);
static inline bool workload_is(const struct workload_task *w, const struct module *module)
{
	return w->options->workload.module == module;
}

/*
 * The task plays a process in m for a while, its own cgroup being that of the process that made it. False: m
 * is removed, or there is no memory for it; who plays comes home all the same, which stands for exit(2).
 */
bool workload_leave_for(struct task *t, struct workload_task *w, struct memcg *m);
void workload_come_home(struct task *t, struct workload_task *w);

/* Have they the same module and name, under which results add up; is it the first of all that have? */
bool workload_shares(const struct workload_task *a, const struct workload_task *b);
bool workload_leads(const struct workload_task *tasks, uint32_t i);
/* All of them, in order of creation. */
struct workload_task *workload_tasks(const struct host *host, uint32_t *nr);

/*
 * There was no memory for it: counts the event and marks the task. The workload returns from run() then. No
 * victim is chosen: who asks for more than there is ends.
 */
void workload_out_of_memory(struct workload_task *w, struct memcg *level);

/* There was no room for it on the disk: the same. */
void workload_no_space(struct workload_task *w);

static inline void workload_count_read(struct workload_task *w, enum file_result result)
{
	w->reads++;
	w->misses += result == FILE_MISS;
}

/* A system call or a fault of the task is over: what waits for the way back to user mode is done. */
static inline void workload_return(struct task *t, struct workload_task *w)
{
	if (w->task.over_high)
		memcg_handle_over_high(t);
}

/*
 * Files that tasks share, by name. Declared in prepare(), so that the file is as large as the largest use;
 * NULL names the cgroup's own file.
 */
void workload_file_declare(struct workload_task *w, const char *name, uint64_t nr_pages);
/* In prepare(), once it is declared: the disk of the scenario that it lies on. NULL: a RAM disk. */
void workload_file_place(struct workload_task *w, const char *name, const char *disk);
struct file_object *workload_file(struct host *host, const struct memcg *m, const char *name);
/* Opening a file reads so many blocks of its disk first. False: there was no memory. */
bool workload_read_blocks(struct task *t, struct workload_task *w, uint64_t nr);

void workload_check(const struct scenario *s, struct complaints *c);
void workload_build(struct host *host);
void workload_measure(struct host *host);
void workload_finish(struct host *host);

#endif
