/*
 * pressure.h - PSI for memory: how much of the time tasks of a cgroup lost waiting for memory.
 *
 * "some": at least one task on a CPU was stalled; "full": no task there did anything else. A stall is a
 * section between enter and leave: reclaim for a limit, the wait for memory.high, kswapd, a page of the
 * workingset being read back. Kernel: kernel/sched/psi.c.
 */
#ifndef MODELS_PRESSURE_PRESSURE_H
#define MODELS_PRESSURE_PRESSURE_H

#include "models/cgroup/memcg.h"
#include "sim/scenario/scenario.h"

/* psi_memstall_enter(), leave(): nests; leave() gets what enter() returned. In a step. */
bool psi_memstall_enter(struct task *t);
void psi_memstall_leave(struct task *t, bool outer);

enum psi_kind { PSI_SOME, PSI_FULL, NR_PSI_KINDS };
enum { PSI_AVG10, PSI_AVG60, PSI_AVG300, NR_PSI_AVGS };

/* memory.pressure at this instant; the root is the machine's. */
struct psi_reading {
	double average[NR_PSI_KINDS][NR_PSI_AVGS]; /* per cent */
	uint64_t total[NR_PSI_KINDS];              /* ns */
};
void psi_read(struct memcg *m, struct psi_reading *out);

/* cgroup_move_task(): the task goes to another cgroup. In a step. */
void psi_move_task(struct task *t, struct memcg *to);
/* m is gone: who gets its number begins anew. */
void psi_free_memcg(const struct memcg *m);

void pressure_build(struct host *host);
void pressure_sample(struct host *host, sim_time_t now);
void pressure_finish(struct host *host);

#endif
