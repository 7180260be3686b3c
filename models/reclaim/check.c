/*
 * check.c - invariants after every call of reclaim, in builds with assertions.
 *
 * The whole look is at every page in use and every index of every object. A host with little of them (every
 * count from a real kernel, nearly every test) gets it after each call. On a larger one a call adds what it
 * scanned to the work not yet checked, and when that is a sixteenth of what there is to look at, everything
 * is looked at. In between a call is followed by a look at what it came to: the cgroups whose pages it
 * judged, with charges of all above them, and the leaves of the trees that the last pages left. Lists of a
 * cgroup with very many pages are measured against its counters there, but walked only by the whole look,
 * as are flags of pages against counters. A call that came to more cgroups than are noted gets the whole.
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
#define WALK_MOST    4096  /* pages of a cgroup whose lists are walked after each call */

static uint64_t to_look_at(const struct host *host)
{
	return frames_used(host) + host->pages->nr_indices + (uint64_t)host->cgroups->nr * host->nr_nodes +
	       (uint64_t)host->nr_cpus * host->nr_stock;
}

void reclaim_touches(const struct lruvec *lruvec)
{
	struct reclaim_touched *touched = &lruvec_host(lruvec)->reclaim->touched;
	uint32_t id = lruvec->memcg->id, nr = touched->nr_memcgs;

	for (uint32_t i = 0; i < nr && i < TOUCHED_MOST; i++)
		if (touched->memcgs[i] == id)
			return;
	if (nr < TOUCHED_MOST)
		touched->memcgs[nr] = id;
	touched->nr_memcgs++;
}

void reclaim_touches_page(const struct host *host, const struct page *page)
{
	struct reclaim_touched *touched = &host->reclaim->touched;

	touched->slots[touched->nr_slots++ % TOUCHED_MOST] = (struct touched_slot){ .object = page->object,
										    .index = page->index };
}

static void look_at_all(struct host *host, struct record *record)
{
	cgroups_check(host, record);
	pages_check(host, record);
	workingset_check(host, record);
}

static void look_at_touched(struct host *host, struct record *record)
{
	const struct reclaim_touched *touched = &host->reclaim->touched;
	uint32_t slots = touched->nr_slots < TOUCHED_MOST ? touched->nr_slots : TOUCHED_MOST;

	cgroups_check_some(host, touched->memcgs, touched->nr_memcgs, record);
	pages_check_some(host, touched->memcgs, touched->nr_memcgs, WALK_MOST, record);
	workingset_check_some(host, touched->slots, slots, record);
}

void reclaim_check(struct task *t, const struct scan_control *sc)
{
	struct host *host = sc->target->host;
	struct reclaim_state *state = host->reclaim;

	state->unchecked += sc->nr_scanned + SWAP_CLUSTER_MAX;
	if (state->unchecked_for_ever)
		return;
	uint64_t nr = to_look_at(host);
	struct record *record = record_new(1);

	if (nr <= CHECK_ALWAYS || state->unchecked >= nr / CHECK_SHARE ||
	    state->touched.nr_memcgs > TOUCHED_MOST) {
		state->unchecked = 0;
		look_at_all(host, record);
	} else {
		look_at_touched(host, record);
	}
	state->touched.nr_memcgs = state->touched.nr_slots = 0;
	if (record_invariants_broken(record))
		sim_fail(t->sim, "after reclaim for %s: %s", sc->target->path,
			 record_invariants_text(record));
	record_free(record);
}

#endif
