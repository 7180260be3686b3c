/*
 * stat_file.h - what a statistics file costs the cgroup of who reads it; stat_file.c.
 */
#ifndef MODELS_WORKLOAD_STAT_FILE_H
#define MODELS_WORKLOAD_STAT_FILE_H

#include "models/cgroup/memcg.h"

struct stat_file {
	uint32_t objcg, node;
};

/* For a reader in m, up to the moment at which the text is made; false: there is no room within a limit. */
bool stat_file_open(struct task *t, struct memcg *m, struct stat_file *file);
void stat_file_close(struct task *t, const struct stat_file *file);

#endif
