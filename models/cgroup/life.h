/*
 * life.h - cgroups that are made and removed while the simulation runs, and what keeps a removed one.
 *
 * mkdir and rmdir are system calls of the running task. A removed cgroup is gone from the tree that users
 * see at once; what the kernel has of it goes in steps, each of which waits for something else:
 *
 *	rmdir           cgroup_mutex; CSS_DYING; nr_dying_descendants of all ancestors + 1
 *	(grace period)  nobody takes a reference by the CPUs' own counts any more
 *	offline         a work item, cgroup_mutex: lists and kernel objects become the parent's,
 *	                stocks are drained, the id is given back
 *	(references)    pages, swap, stocks, children, whoever holds it: the dying state
 *	release         a work item, cgroup_mutex: statistics are flushed for the last time, walks forget it
 *	(grace period)
 *	free            a work item: per-CPU blocks and all else; the parent loses a reference
 *	(cgroup)        cgroup_mutex: nr_dying_descendants - 1
 *
 * Kernel: cgroup_destroy_locked(), css_killed_work_fn(), css_release_work_fn(), css_free_rwork_fn() of
 * kernel/cgroup/cgroup.c; mem_cgroup_css_offline() and mem_cgroup_css_free() of mm/memcontrol.c.
 */
#ifndef MODELS_CGROUP_LIFE_H
#define MODELS_CGROUP_LIFE_H

#include "models/cgroup/memcg.h"

/* Why there is no cgroup (mkdir), or it stays (rmdir). */
enum cgroup_error {
	CGROUP_OK,
	CGROUP_NO_ID,   /* ENOSPC: 65,535 are taken by live cgroups and by swap of removed ones */
	CGROUP_NO_PAGE, /* ENOMEM: the machine has no page left, and nobody could be killed */
	CGROUP_LIMITED, /* ENOMEM: a limit is in the way */
	CGROUP_BUSY,    /* EBUSY: tasks or cgroups are in it */
	CGROUP_GONE,    /* ENODEV: somebody has removed the parent */
	NR_CGROUP_ERRORS
};

struct scenario;
struct complaints;

/*
 * mkdir(2). *made is NULL on failure; else the caller holds it, since somebody else may remove it any time,
 * and ends with memcg_put(). `name` is copied.
 */
enum cgroup_error cgroup_mkdir(struct task *t, struct memcg *parent, const char *name, struct memcg **made);
/* rmdir(2). Of one that is removed already nothing happens. Who does not hold m may not name it again. */
enum cgroup_error cgroup_rmdir(struct task *t, struct memcg *m);
/*
 * A write to cgroup.procs: what the task is charged for from now on is `to`'s, unless that is removed
 * (ENODEV), or there is no memory for its css_set (ENOMEM). Who names a cgroup that others may remove holds
 * it meanwhile.
 */
enum cgroup_error cgroup_move(struct task *t, struct cgroup_task *ct, struct memcg *to);
/*
 * The task ends, and with the last of a cgroup its css_set, unless somebody is away who comes back. In
 * the kernel cgroup_exit() only unlinks the task, and the css_set goes in cgroup_free(), with the
 * task_struct: the time until the zombie is reaped is left out. In a step.
 */
void cgroup_exit(struct task *t, struct cgroup_task *ct);

/* What is left of cgroups that hold nothing alive, of the whole machine (12.6). */
struct cgroup_leftovers {
	uint32_t empty;       /* live, without tasks, children or users' memory: forgotten, not removed */
	uint32_t reclaimable; /* dying, for pages that reclaim from an ancestor would take */
	uint32_t pinned;      /* dying, for what reclaim cannot take: swap, sockets, children, ... */
	uint32_t passing;     /* removed, and only on the way through the work queues */
};
struct cgroup_leftovers cgroup_leftovers(const struct host *host);

void offline_when_check(const struct scenario *s, struct complaints *c);
void life_build(struct host *host);
void life_sample(struct host *host, sim_time_t now);
void life_finish(struct host *host); /* metrics, invariants I20 and references */

#endif
