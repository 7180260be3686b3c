/*
 * keep.h - takes the runs of an experiment from the executor and puts them into the store.
 *
 * An experiment is what one call of `memcgsim run` does, and what later calls with --resume add to it. It is
 * named after the scenario, with a number behind it when the database has one of that name.
 */
#ifndef SIM_PROGRAM_KEEP_H
#define SIM_PROGRAM_KEEP_H

#include "sim/experiment/execute.h"
#include "sim/results/store.h"

struct progress;

enum kept_state { KEPT_WAITING, KEPT_RUNNING, KEPT_DONE, KEPT_FAILED };

struct kept {
	enum kept_state state;
	int64_t run_id;
	uint64_t fingerprint;
};

struct keep {
	struct store *store;
	const struct scenario_set *set;
	const char *provenance;
	bool random_ties, naive, quiet;
	struct progress *progress;
	char *experiment;       /* NULL: a new one, which the first run begins */
	const struct job *jobs; /* those that runs[] is about */
	struct kept *runs;
	size_t nr_jobs;
	uint64_t invariants_held, invariants_broken, invariants_known;
};

/* The newest experiment of this very scenario, on the heap; NULL if there is none. */
char *keep_same_experiment(struct store *store, const struct scenario_set *set);

/* Of `jobs`, leaves those that the experiment does not have yet; returns how many. */
size_t keep_missing(const struct keep *k, struct job *jobs, size_t nr);

/* Callbacks of the executor; arg is a struct keep. */
bool keep_started(void *arg, const struct job *job);
bool keep_finished(void *arg, const struct job *job, struct record *record);
/* Marks what was begun and not finished. */
void keep_interrupted(struct keep *k);

size_t keep_count(const struct keep *k, enum kept_state state);

/* Notes every pair of variants whose runs were all the same, event by event. */
void keep_report_identical(const struct keep *k);

/* Parameters of a run: the variant's, and what the command line changed in the engine. On the heap. */
char *keep_params(const struct scenario *s, bool random_ties, bool naive);
/* The latter, back from such a text. */
void keep_params_read(const char *params, bool *random_ties, bool *naive);

#endif
