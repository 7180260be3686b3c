/*
 * hardware.h - what every run reports of its machine, whatever model runs on it.
 *
 * Models use the time.* metrics too, for entities of their own (a workload, say).
 */
#ifndef SIM_EXPERIMENT_HARDWARE_H
#define SIM_EXPERIMENT_HARDWARE_H

#include "sim/hw/task.h"
#include "sim/results/record.h"

enum hardware_metric {
	HW_TIME_WALL,
	HW_TIME_USER,
	HW_TIME_SYS,
	HW_TIME_SPIN,
	HW_UTILISATION,
	HW_SWITCHES,
	HW_IRQ_OFF,
	HW_PREEMPT_OFF,
	HW_NR_METRICS
};
extern const struct metric hardware_metrics[HW_NR_METRICS];

/* Counters as they stood when measuring began. */
struct hardware_start {
	sim_time_t time, busy, clocks[NR_TASK_CLOCKS];
	uint64_t switches;
};

/* Forgets what locks and sections have counted, and notes where the rest stands. */
void hardware_measure(struct sim *sim, struct hardware_start *start);
void hardware_finish(const struct sim *sim, const struct hardware_start *start, struct record *record);

#endif
