/*
 * machine.h - what a machine is and what its elementary operations cost.
 *
 * The shape is filled from `host:`, the costs from `costs: hw:` of scenarios/machines/NAME.yaml through the
 * option table in machine_costs.c; each names the source of its numbers.
 */
#ifndef SIM_HW_MACHINE_H
#define SIM_HW_MACHINE_H

#include <stdint.h>

#include "sim/engine/time.h"

struct machine {
	/* Shape. CPUs are numbered node by node; a socket may hold several nodes. */
	uint32_t cpus;             /* online */
	uint32_t possible_cpus;    /* 0: as online. Per-CPU memory and flushes count these */
	uint32_t nodes;            /* at least 1 */
	uint32_t sockets;          /* 0: one a node; else at most as many as nodes */
	uint32_t threads_per_core; /* at least 1; CPUs that share a core are neighbours in number */

	/* Cache lines: time until a CPU has the line, by where it was. */
	sim_time_t line_hit;    /* in this CPU's own cache, writable or shared as needed */
	sim_time_t line_core;   /* in the cache of the other thread of this core */
	sim_time_t line_socket; /* modified in another core of this socket */
	sim_time_t line_remote; /* modified on another socket */
	sim_time_t line_memory; /* in no cache, memory of this socket */
	sim_time_t atomic;      /* added to any locked read-modify-write */

	/* How far away a line has been pushed that this CPU touched last; line.h. cache_l1 0: nowhere. */
	uint64_t cache_l1, cache_l2, cache_l3; /* bytes of a core; L3: its share, beyond what L2 holds */
	sim_time_t line_l2, line_l3;

	double smt_share; /* of a core's speed that a thread gets while another of the core works */

	/* Scheduler (CFS). */
	sim_time_t context_switch; /* of the CPU, from one task to another */
	sim_time_t space_switch;   /* added, from a task of another owner; those without one do not count */
	sim_time_t wakeup;         /* spent by the waker */
	sim_time_t wakeup_remote;  /* until another, idle CPU runs the task that was woken */
	sim_time_t migration;      /* added when a task runs on a CPU that it did not last run on */
	sim_time_t slice;          /* sched_min_granularity_ns: least time before a waiting equal preempts */
	sim_time_t latency;        /* sched_latency_ns: a sleeper's credit is half of it */
	sim_time_t wakeup_granularity; /* lead that a woken task needs to preempt */
	sim_time_t bandwidth_slice;    /* sched_cfs_bandwidth_slice_us */
	uint32_t hz;

	/* RCU and deferred work. */
	sim_time_t rcu_read;       /* one rcu_read_lock/unlock pair, uncontended */
	sim_time_t rcu_gp_start;   /* from the request to the start of a grace period */
	sim_time_t rcu_gp_poll;    /* between looks for quiescent states (jiffies_till_next_fqs) */
	sim_time_t work_dispatch;  /* from queueing to the worker's first instruction, beside waking it */
	sim_time_t mutex_slowpath; /* enter and leave mutex_lock's sleeping path */
};

/* Time until `to` has a line that `from` holds modified. */
sim_time_t machine_transfer(const struct machine *m, uint32_t from, uint32_t to);

uint32_t machine_core(const struct machine *m, uint32_t cpu);
uint32_t machine_node(const struct machine *m, uint32_t cpu);
uint32_t machine_socket(const struct machine *m, uint32_t cpu);
/* The CPUs of socket s are those in [machine_socket_first(m, s), machine_socket_first(m, s + 1)). */
uint32_t machine_socket_first(const struct machine *m, uint32_t socket);

#endif
