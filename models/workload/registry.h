/*
 * registry.h - the tasks and shared files of a host.
 */
#ifndef MODELS_WORKLOAD_REGISTRY_H
#define MODELS_WORKLOAD_REGISTRY_H

#include "models/workload/workload.h"

struct named_file {
	struct named_file *next;
	const char *name;
	uint64_t nr_pages;        /* the most that anybody declared */
	struct disk *disk;        /* that it lies on; NULL: a RAM disk */
	struct file_object *file; /* made at first use */
};

struct access_table;   /* access.c */
struct lockstep_group; /* lockstep.c */

struct workload_state {
	struct workload_task *tasks;
	uint32_t nr;
	sim_time_t measured_from;
	struct named_file **files; /* a hash table by name */
	uint32_t nr_files, size;
	struct access_table *access_tables;
	struct lockstep_group *groups;
};

#endif
