/*
 * progress.h - how far a set of runs is.
 *
 * On a terminal one line is redrawn in place: simulated time, share done, events a second, simulated against
 * real time, memory, time left. Elsewhere a plain line is written when a run ends and, in between, every
 * PROGRESS_PLAIN_S seconds. Everything goes to standard error.
 */
#ifndef SIM_EXPERIMENT_PROGRESS_H
#define SIM_EXPERIMENT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/engine/time.h"

#define PROGRESS_PLAIN_S 10

/* What a run says of itself while it runs. */
struct progress_state {
	sim_time_t sim_time;
	uint64_t events, memory; /* bytes */
	double share;            /* 0 to 1 */
};

struct progress;

struct progress *progress_new(FILE *out, bool live, size_t nr_jobs, double now);
void progress_free(struct progress *p); /* and clears the live line */

/* News of job i at real time `now` (seconds, any origin). */
void progress_update(struct progress *p, size_t i, const struct progress_state *state, double now);
/* Job i is over. */
void progress_done(struct progress *p, size_t i, double now);
/* Takes the live line away, so that something else can be written; it comes back by itself. NULL: nothing. */
void progress_clear(struct progress *p);
/* Writes what is due. */
void progress_show(struct progress *p, double now);

/* The line, without an end of line: exposed for tests. */
void progress_format(const struct progress *p, double now, char *line, size_t size);

#endif
