/*
 * results.h - memory.current, memory.events and memory.stat as results.
 */
#ifndef MODELS_CGROUP_RESULTS_H
#define MODELS_CGROUP_RESULTS_H

#include "models/cgroup/memcg.h"

void cgroups_sample(struct host *host, sim_time_t now);
void cgroups_results(struct host *host);
void cgroup_writes_results(struct host *host); /* of `events:` */

void memory_stat_measure(struct host *host);
void memory_stat_sample(struct host *host, sim_time_t now);
void memory_stat_results(struct host *host);

#endif
