/*
 * life_impl.h - what life.c and its results share.
 */
#ifndef MODELS_CGROUP_LIFE_IMPL_H
#define MODELS_CGROUP_LIFE_IMPL_H

#include "models/cgroup/life.h"
#include "models/host/costs.h"
#include "models/stat/stat.h"
#include "sim/hw/rcu.h"
#include "sim/hw/work.h"

struct early_grace {
	struct rcu_head rcu; /* first */
	struct memcg *m;
};

/* A removed cgroup on its way. */
struct cgroup_end {
	struct rcu_head rcu; /* first */
	struct work work;
	struct early_grace rcu_early; /* dying_percpu: released_at_offline */
	struct work early;
	struct memcg *memcg;
	uint32_t cpu;
	uint32_t grace_periods; /* to wait for before css_offline() */
	sim_time_t removed;
};

static inline struct cgroup_end *end_of_work(struct work *work)
{
	return (struct cgroup_end *)(void *)((char *)work - offsetof(struct cgroup_end, work));
}

struct cgroup_life {
	struct mutex mutex;      /* cgroup_mutex */
	struct workqueue *queue; /* cgroup_destroy_wq */
	uint64_t made, removed, freed;
	uint64_t refused[NR_CGROUP_ERRORS];      /* mkdir and rmdir, by reason */
	sim_time_t refused_at[NR_CGROUP_ERRORS]; /* the first of them */
	struct histogram offline;                /* from rmdir to the end of css_offline(), ns */
	struct histogram css_offline;            /* that alone, with cgroup_mutex held */
	struct histogram dying;                  /* from rmdir until it no longer counts as dying, ns */
};

/* What mkdir or rmdir returned; life_results.c. */
void life_refused(struct host *host, enum cgroup_error error, sim_time_t now);
/* The work of a removed cgroup may go on: an RCU callback. */
void grace_over(struct sim *sim, struct rcu_head *head);

#endif
