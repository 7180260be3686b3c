/*
 * results.h - memory.current and memory.events as results.
 */
#ifndef MODELS_CGROUP_RESULTS_H
#define MODELS_CGROUP_RESULTS_H

#include "models/cgroup/memcg.h"

void cgroups_sample(struct host *host, sim_time_t now);
void cgroups_results(struct host *host);

#endif
