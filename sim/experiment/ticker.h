/*
 * ticker.h - interrupts a simulation at intervals of real time.
 *
 * A thread of its own calls sim_stop(); whoever runs the simulation looks about and calls sim_run() again.
 * The simulation cannot tell: nothing of real time enters it.
 */
#ifndef SIM_EXPERIMENT_TICKER_H
#define SIM_EXPERIMENT_TICKER_H

#include <pthread.h>
#include <stdbool.h>

#include "sim/engine/sim.h"

struct ticker {
	struct sim *sim;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t ended;
	bool end;
	unsigned int period_ms;
};

/* false when there can be no thread: then nothing ever interrupts, and ticker_stop() must not be called. */
bool ticker_start(struct ticker *t, struct sim *sim, unsigned int period_ms);
void ticker_stop(struct ticker *t);

#endif
