/*
 * passes.h - what a cgroup's counters did in each pass of a workload.
 *
 * A pass is whatever the workload says it is: once through a file, a phase of a lock step. At its end the
 * statistics are made exact, as the harness of the counts from real kernels does it (a read of cpu.stat,
 * which flushes, and then of memory.stat), and the differences to the end of the pass before become summary
 * values:
 *
 *	ENTITY/pass:N  of the N-th pass, from 1
 *	ENTITY/last    of the last
 *	ENTITY/late    means over the last `late` passes; the extremes are those of all of them
 *	ENTITY/all     sums over all passes
 *
 * Sizes are those at the end of the pass.
 */
#ifndef MODELS_WORKLOAD_PASSES_H
#define MODELS_WORKLOAD_PASSES_H

#include "models/stat/stat.h"
#include "models/reclaim/reclaim.h"
#include "models/workload/workload.h"

struct passes_options {
	uint32_t late;
	uint64_t watch_every;
};

/* clang-format off */
#define PASSES_OPTIONS(type, member)                                                                        \
	OPTION_AS("late", type, member.late, OPT_U32, .fallback = "1", .min = "1", .max = "1000",           \
		  .help = "passes that the values of NAME/late are means of"),                             \
	OPTION_AS("watch_every", type, member.watch_every, OPT_U64, .fallback = "0",                        \
		  .help = "accesses between two looks at what the extremes of a pass are of; 0: none")
/* clang-format on */

/* Extremes of values that are looked at during a pass. */
enum { WATCH_CURRENT, WATCH_NODES, WATCH_INACTIVE, WATCH_FREE, NR_WATCHED };
struct watched {
	uint64_t nr;
	double min[NR_WATCHED], max[NR_WATCHED], sum[NR_WATCHED];
};

struct pass_snapshot {
	int64_t items[NR_STAT_ITEMS];
	uint64_t events[NR_MEMCG_EVENTS];
	uint64_t swap_in, swap_out; /* pages, of the machine */
	struct reclaim_calls calls;
};

struct passes {
	struct host *host;
	struct memcg *memcg;
	const char *entity;
	const struct passes_options *options;
	struct pass_snapshot before;
	struct watched watched;
	double *values; /* of the last `late` passes: [pass % late][value] */
	double *sums;   /* of all */
	uint32_t nr;
};

/* The first pass begins. `entity` lives as long as the simulation. */
void passes_begin(struct task *t, struct passes *p, struct memcg *m, const char *entity,
		  const struct passes_options *options);
/* The k-th access of the pass, from 0, is done: a look if it is time for one. */
void passes_watch(struct passes *p, uint64_t k);
/* The pass is over, and the next begins. */
void passes_next(struct task *t, struct passes *p, uint64_t accesses, uint64_t misses);
/* No more passes: records `last`, `late` and `all`. */
void passes_end(struct passes *p);
/* One pass that ends when no task can read statistics any more: from the truth, as ENTITY/all. */
void passes_truth(struct passes *p, uint64_t accesses, uint64_t misses);

/* "label/name", or "label" without a name; in the arena. */
const char *pass_entity(struct host *host, const char *label, const char *name);

#endif
