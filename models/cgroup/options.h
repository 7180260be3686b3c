/*
 * options.h - `cgroups:`, as bound, and which paths it makes.
 */
#ifndef MODELS_CGROUP_OPTIONS_H
#define MODELS_CGROUP_OPTIONS_H

#include "sim/scenario/scenario.h"

struct host;

struct cgroup_options {
	const char *name;                                                          /* may hold ranges */
	uint64_t memory_max, memory_high, memory_low, memory_min, memory_swap_max; /* bytes */
	bool memory_oom_group;
	struct {
		sim_time_t quota; /* SIM_NEVER: unlimited */
		sim_time_t period;
	} cpu_max;
	uint32_t cpu_weight;
	struct option_list tasks;    /* struct task_options */
	struct option_list children; /* struct cgroup_options */
};

/* A cpu.weight as the weight of a task. */
uint32_t cgroup_weight(uint32_t cpu_weight);

/* The next component of a path; false at its end, or if it is longer than any name can be. */
bool cgroup_next_component(const char **path, char component[256]);
/* How many cgroups the path or pattern names, as memcg_match() finds them. Needs no host. */
uint64_t cgroup_options_match(const struct scenario *s, const char *pattern);
/* Complains unless there is. `bound` and `key` say where the pattern was written. */
void cgroup_check_pattern(const struct scenario *s, const char *pattern, const void *bound, const char *key,
			  struct complaints *c);
void cgroup_check(const struct scenario *s, struct complaints *c);
/* Makes the tree below the root; each cgroup then names its options. */
void cgroup_options_build(struct host *host);

/* `events:`; writes.c. The second makes a task of each. */
void cgroup_writes_check(const struct scenario *s, struct complaints *c);
void cgroup_writes_build(struct host *host);

#endif
