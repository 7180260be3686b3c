/*
 * decision.h - what was decided on a number that may be stale, beside what the truth would have decided.
 *
 * Staleness in pages says how wrong a number is, not whether it matters. So whoever acts on a counter of
 * memory.stat (reclaim, a refault, the dirty limit, the budget of shadow nodes; a daemon in user space)
 * decides twice, in the same step and at no cost to the simulated kernel: once on what it sees, which is what
 * happens, and once on the truth, which is only counted.
 *
 *	bool low = inactive_is_low(stat_reported_node, ...), right = inactive_is_low(stat_truth_node, ...);
 *
 *	decision_taken(host, DECISION_DEACTIVATE_ANON, low, right, off_by);
 *
 * Wrong is either missed (the truth says act, the number did not) or needless.
 */
#ifndef MODELS_STAT_DECISION_H
#define MODELS_STAT_DECISION_H

#include "models/host/host.h"

/* The kernel's own. */
enum decision_kind {
	DECISION_DEACTIVATE_ANON,
	DECISION_DEACTIVATE_FILE,
	DECISION_CACHE_TRIM,
	DECISION_FILE_IS_TINY,
	DECISION_REFAULT,
	DECISION_DIRTY_LIMIT,
	DECISION_SHADOW_BUDGET,
	NR_DECISION_KINDS
};

/* `off`: how wrong the deciding number is, in pages. */
void decision_taken(struct host *host, enum decision_kind kind, bool acts, bool should, uint64_t off);

/* Who decides in user space: "victim:oomd". Made once, before the run. */
struct decider *decider_create(struct host *host, const char *name);
/* `age`: since the number was read. */
void decider_taken(struct decider *d, bool acts, bool should, uint64_t off, sim_time_t age);
/*
 * The same of a choice among cgroups, and both choices as samples (decision.chosen, decision.right) of
 * "NAME PATH": the number that it was made on, and the true number of the one that it should have been.
 */
struct memcg;
struct decision_choice {
	const struct memcg *chosen, *right;
	double seen, right_truth; /* in the decider's own unit */
	uint64_t off;
	sim_time_t age;
};
void decider_chose(struct host *host, struct decider *d, sim_time_t now, const struct decision_choice *c);

void decisions_build(struct host *host);
void decisions_measure(struct host *host);
void decisions_finish(struct host *host);

#endif
