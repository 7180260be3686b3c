/*
 * execute.h - the local executor: many runs, some at a time.
 *
 * Each run happens in a child process, which sends its progress and then its record through a pipe. So a run
 * that crashes or runs out of memory is one failed run, memory goes back to the system after each, and the
 * parent alone writes results. Records arrive in whatever order runs end; they are handed on in the order of
 * the jobs, so that what is made of them does not depend on how many ran at a time.
 *
 * The first SIGINT or SIGTERM ends the runs at hand and returns; what is complete has been handed on. From
 * then on these signals do what they do by default.
 */
#ifndef SIM_EXPERIMENT_EXECUTE_H
#define SIM_EXPERIMENT_EXECUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/results/record.h"
#include "sim/scenario/scenario.h"

struct progress;

struct job {
	const struct scenario *scenario;
	uint32_t replication; /* from 0 */
	uint64_t seed;
};

struct execute_setup {
	const struct job *jobs;
	size_t nr_jobs;
	uint32_t at_once; /* at least 1 */
	bool random_ties, naive;
	struct progress *progress; /* NULL: none */
	/* A job begins; in the order of the jobs. NULL: nobody wants to know. false: stop. */
	bool (*started)(void *arg, const struct job *job);
	/* The job's record, which now is the callee's. false: stop, results cannot be kept. */
	bool (*finished)(void *arg, const struct job *job, struct record *record);
	void *arg;
};

enum execute_end { EXECUTE_DONE, EXECUTE_INTERRUPTED, EXECUTE_STOPPED /* by finished() */ };

enum execute_end execute(const struct execute_setup *setup);

#endif
