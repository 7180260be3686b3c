/*
 * dying.h - dying_stats: whose counters an update of a removed cgroup goes to, and what asking costs.
 */
#ifndef MODELS_STAT_DYING_DYING_H
#define MODELS_STAT_DYING_DYING_H

#include "models/stat/stat_impl.h"

struct dying_stats_ops {
	/* Of one update of a memcg or lruvec item, beside the update; events are never redirected. */
	sim_time_t (*cost)(const struct host *host);
	/* m is removed: who counts. NULL: m. */
	struct memcg *(*target)(struct task *t, struct memcg *m);
	bool in_section; /* of RCU, from the question to the end of the update, of whatever cgroup */
};
extern const struct dying_stats_ops dying_stats_keep;

/* The nearest that is not removed: several levels may be dying together. */
static inline struct memcg *non_dying(struct memcg *m)
{
	while (m->life != MEMCG_ONLINE)
		m = m->parent;
	return m;
}

#endif
