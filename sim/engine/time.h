/*
 * time.h - simulated time.
 *
 * An unsigned count of picoseconds since the start of the simulation (213 days in 64 bits). Costs below
 * a nanosecond matter (an uncontended RCU read section is about 0.2 ns), sums of billions of costs must
 * not depend on the order of addition, so there is no floating-point time anywhere.
 */
#ifndef SIM_ENGINE_TIME_H
#define SIM_ENGINE_TIME_H

#include <stdint.h>

typedef uint64_t sim_time_t; /* picoseconds */

#define SIM_PS    ((sim_time_t)1)
#define SIM_NS    ((sim_time_t)1000)
#define SIM_US    ((sim_time_t)1000000)
#define SIM_MS    ((sim_time_t)1000000000)
#define SIM_SEC   ((sim_time_t)1000000000000)
#define SIM_NEVER UINT64_MAX

static inline double sim_seconds(sim_time_t t)
{
	return (double)t * 1e-12;
}

static inline double sim_nanoseconds(sim_time_t t)
{
	return (double)t * 1e-3;
}

#endif
