/*
 * dying.h - dying_stats: whose counters an update of a removed cgroup goes to, and what asking costs.
 */
#ifndef MODELS_STAT_DYING_DYING_H
#define MODELS_STAT_DYING_DYING_H

#include "models/host/host.h"

struct dying_stats_ops {
	/* Of one update of a memcg or lruvec item, beside the update; events are never redirected. */
	sim_time_t (*cost)(const struct host *host);
};

#endif
