/*
 * page_ops.h - inside of the workload that counts the statistics updates of page operations: what its parts
 * share. page_ops.c has the operations, page_ops_watch.c what watching them does to what is watched.
 */
#ifndef MODELS_WORKLOAD_PAGE_OPS_H
#define MODELS_WORKLOAD_PAGE_OPS_H

#include "models/stat/stat.h"
#include "models/workload/workload.h"
#include "sim/module.h"

struct page_ops {
	uint64_t memory, file_pages;
	uint32_t rounds;
	struct option_list steps;
	struct option_list objects; /* struct kernel_object */
};

/* What a step did, over all rounds. */
struct step_done {
	struct stat_calls calls;
	uint64_t pages;
};

/* What the task did so far, in the arena. */
struct page_ops_state {
	struct step_done *done;                  /* by step */
	struct stat_calls before[NR_STAT_KINDS]; /* the step at hand, when each kind began to count */
	struct tmpfs_object *tmpfs;              /* its file there */
	bool has_mapping;                        /* its areas are there */
	bool knob_seen;                          /* that file has been opened before */
	int histograms_seen;                     /* and so many of those */
};

extern const struct option_table page_ops_object_table;

/* false, of each of these: there is no memory, and the task has said so. */
bool page_ops_begin(struct task *t, struct workload_task *w);
bool page_ops_map(struct task *t, struct workload_task *w);
void page_ops_unmap(struct task *t, struct workload_task *w);
bool page_ops_write_max(struct task *t, struct workload_task *w, uint64_t pages);
/* Before and after a step: what each kind counted in between is added to *done. */
bool page_ops_watch(struct task *t, struct workload_task *w);
bool page_ops_watched(struct task *t, struct workload_task *w, struct step_done *done);
void page_ops_counted(struct stat_calls *sum, const struct stat_calls *before, const struct stat_calls *now,
		      int kind);

#endif
