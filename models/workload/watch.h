/*
 * watch.h - what daemons in user space read of cgroups, and what they would have read had it been exact.
 *
 * A daemon decides on numbers of files: memory.current is the page counter and exact, memory.stat is as old
 * as its last flush, an average of memory.pressure is up to two seconds old, and a rate needs two readings.
 * On top of that comes the age of the daemon's own copy. A reading pays what opening and reading the files
 * costs, flushes included; the truth costs nothing and is for models/stat/decision.h alone.
 */
#ifndef MODELS_WORKLOAD_WATCH_H
#define MODELS_WORKLOAD_WATCH_H

#include "models/stat/decision.h"
#include "models/workload/workload.h"
#include "sim/module.h"

enum watch_number {
	WATCH_CURRENT,     /* memory.current, pages */
	WATCH_ANON,        /* anon of memory.stat, pages */
	WATCH_WORKING_SET, /* memory.current less inactive_file, pages: what kubelet calls working set */
	WATCH_PRESSURE,    /* memory.pressure full avg10, per cent */
	WATCH_PGSCAN       /* pages scanned a second, between two readings */
};
extern const struct enum_name watch_numbers[];

struct watched {
	struct memcg *memcg;
	uint32_t id;                    /* its number: a removed cgroup's memory may be another's by now */
	double seen;                    /* as last read; 0 before */
	sim_time_t read_at;             /* SIM_NEVER: never */
	int64_t scanned, truly_scanned; /* WATCH_PGSCAN: at the last reading */
	double true_rate;
	bool ended; /* its tasks were killed */
};

void watch_init(struct watched *x, struct memcg *m);
/* Is there such a cgroup still? Asked in each step before the others are. */
bool watch_exists(const struct host *host, const struct watched *x);
/* Reads the files that the number needs. Between steps. */
void watch_read(struct task *t, struct watched *x, enum watch_number number);
/* The number as it is now. In a step. */
double watch_truth(const struct task *t, const struct watched *x, enum watch_number number);
sim_time_t watch_age(const struct task *t, const struct watched *x);
/* |seen - truth| in pages; 0 for numbers that are none. */
uint64_t watch_off(double seen, double truth, enum watch_number number);

#endif
