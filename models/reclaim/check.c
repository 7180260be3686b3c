/*
 * check.c - all invariants after a call of reclaim, in builds with assertions.
 *
 * The checks look at every page in use and every index of every object. A host with little of them (every
 * count from a real kernel, nearly every test) is checked after each call. On a larger one a call adds what
 * it scanned to the work not yet checked, and when that is a sixteenth of what there is to look at,
 * everything is: so checks stay a modest part of the time.
 *
 * They look without taking part: no time, no synchronisation, nothing recorded; so builds with and without
 * them give the same results. What is found broken ends the run.
 */
#ifndef NDEBUG

#include "models/cgroup/invariants.h"
#include "models/reclaim/reclaim_impl.h"
#include "models/workingset/workingset_impl.h"

#define CHECK_ALWAYS 26000 /* pages, indices and counters that are looked at whatever was scanned */
#define CHECK_SHARE  16    /* of what there is to look at, beyond that */

static uint64_t to_look_at(const struct host *host)
{
	return frames_used(host) + host->pages->nr_indices + (uint64_t)host->cgroups->nr * host->nr_nodes +
	       (uint64_t)host->nr_cpus * host->nr_stock;
}

void reclaim_check(struct task *t, const struct scan_control *sc)
{
	struct host *host = sc->target->host;
	struct reclaim_state *state = host->reclaim;

	state->unchecked += sc->nr_scanned + SWAP_CLUSTER_MAX;
	if (state->unchecked_for_ever)
		return;
	uint64_t nr = to_look_at(host);

	if (nr > CHECK_ALWAYS && state->unchecked < nr / CHECK_SHARE)
		return;
	struct record *record = record_new(1);

	state->unchecked = 0;
	cgroups_check(host, record);
	pages_check(host, record);
	workingset_check(host, record);
	if (record_invariants_broken(record))
		sim_fail(t->sim, "after reclaim for %s: %s", sc->target->path,
			 record_invariants_text(record));
	record_free(record);
}

#endif
