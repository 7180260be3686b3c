/*
 * invariants.h - the checks of invariants.c on a host that need not belong to a run: for tests, which break
 * what is to be found broken.
 */
#ifndef MODELS_CGROUP_INVARIANTS_H
#define MODELS_CGROUP_INVARIANTS_H

#include "models/cgroup/memcg.h"
#include "sim/results/record.h"

void cgroups_check(struct host *host, struct record *record);
/* Of these alone, by id; they are asked about with all above them. */
void cgroups_check_some(struct host *host, const uint32_t *ids, uint32_t nr, struct record *record);

#endif
