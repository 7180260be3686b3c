/*
 * options.h - `cgroups:`, as bound, and which paths it makes.
 */
#ifndef MODELS_CGROUP_OPTIONS_H
#define MODELS_CGROUP_OPTIONS_H

#include "sim/scenario/scenario.h"

struct host;

struct cgroup_options {
	const char *name; /* may hold ranges */
	uint64_t memory_max, memory_low, memory_min; /* bytes */
	struct {
		sim_time_t quota; /* SIM_NEVER: unlimited */
		sim_time_t period;
	} cpu_max;
	uint32_t cpu_weight;
	struct option_list tasks;    /* struct task_options */
	struct option_list children; /* struct cgroup_options */
};

/* Is there a cgroup that the path or pattern names (as memcg_match() does)? Needs no host. */
bool cgroup_options_match(const struct scenario *s, const char *pattern);
/* Complains unless there is. `bound` and `key` say where the pattern was written. */
void cgroup_check_pattern(const struct scenario *s, const char *pattern, const void *bound, const char *key,
			  struct complaints *c);
void cgroup_check(const struct scenario *s, struct complaints *c);
/* Makes the tree below the root; calls `each` with every cgroup and the options that it comes from. */
struct memcg;
void cgroup_options_build(struct host *host,
			  void (*each)(struct memcg *m, const struct cgroup_options *options, void *arg), void *arg);

#endif
