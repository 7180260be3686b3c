/*
 * mglru_memcg_lru.c - reclaim on behalf of the machine, one lruvec after the other in order of use; after
 * shrink_many(), shrink_one() and lru_gen_rotate_memcg() of mm/vmscan.c, Linux 6.12. See mglru_memcg_lru.h.
 *
 * The kernel walks a bin under RCU and finds its way back by markers at the ends of the lists. Here the walk
 * remembers the lruvec it is at, moves it when it is done with it, and begins again when it finds that the
 * next one has left the bin meanwhile.
 */
#include <stdio.h>

#include "models/host/policies.h"
#include "models/reclaim/mglru_memcg_lru.h"

static struct memcg_lru_place *place_of(const struct lruvec *lruvec)
{
	return &mglru_of(lruvec)->place;
}

struct mglru_node *mglru_node(struct host *host, uint32_t node)
{
	struct mglru_machine *machine = host_policy_state(host, "reclaim");

	if (!machine->nodes) {
		struct lock_class *class = lock_class(host->sim, "&pgdat->memcg_lru.lock");

		machine->nodes = sim_alloc(host->sim, host->nr_nodes * sizeof *machine->nodes);
		for (uint32_t i = 0; i < host->nr_nodes; i++) {
			char name[32];

			snprintf(name, sizeof name, "node:%u", i);
			stream_init(&machine->nodes[i].random, sim_seed(host->sim), name, "memcg lru");
			spin_lock_init(&machine->nodes[i].lock, class);
		}
	}
	return &machine->nodes[node];
}

/* ---- places ---- */

static void leave(struct mglru_node *n, struct lruvec *lruvec)
{
	struct memcg_lru_place *p = place_of(lruvec);
	struct memcg_lru_bin *bin = &n->bins[p->gen][p->bin];

	*(p->prev ? &place_of(p->prev)->next : &bin->head) = p->next;
	*(p->next ? &place_of(p->next)->prev : &bin->tail) = p->prev;
	n->nr[p->gen]--;
}

static void join(struct mglru_node *n, struct lruvec *lruvec, uint32_t gen, bool at_head)
{
	struct memcg_lru_place *p = place_of(lruvec);

	p->gen = (uint8_t)gen;
	p->bin = (uint8_t)stream_below(&n->random, MEMCG_LRU_BINS);
	p->listed = true;
	n->nr[gen]++;
	struct memcg_lru_bin *bin = &n->bins[gen][p->bin];

	p->prev = at_head ? NULL : bin->tail;
	p->next = at_head ? bin->head : NULL;
	*(p->prev ? &place_of(p->prev)->next : &bin->head) = lruvec;
	*(p->next ? &place_of(p->next)->prev : &bin->tail) = lruvec;
}

void memcg_lru_online(struct lruvec *lruvec)
{
	struct mglru_node *n = mglru_node(lruvec_host(lruvec), lruvec->node);

	join(n, lruvec, (uint32_t)(n->seq % MEMCG_LRU_GENS), false);
}

void memcg_lru_rotate(struct task *t, struct lruvec *lruvec, enum memcg_lru_move move)
{
	struct mglru_node *n = mglru_node(lruvec_host(lruvec), lruvec->node);
	struct memcg_lru_place *p = place_of(lruvec);
	uint32_t gen = p->gen, to = gen;

	spin_lock_irq(t, &n->lock);
	p->segment = move == MOVE_HEAD ? SEGMENT_HEAD : move == MOVE_TAIL ? SEGMENT_TAIL : SEGMENT_DEFAULT;
	if (move == MOVE_OLD)
		to = (uint32_t)(n->seq % MEMCG_LRU_GENS);
	else if (move == MOVE_YOUNG)
		to = (uint32_t)((n->seq + 1) % MEMCG_LRU_GENS);
	leave(n, lruvec);
	join(n, lruvec, to, move == MOVE_HEAD || move == MOVE_OLD);
	if (!n->nr[gen] && gen == n->seq % MEMCG_LRU_GENS)
		n->seq++;
	spin_unlock_irq(t, &n->lock);
}

void memcg_lru_offline(struct task *t, struct lruvec *lruvec)
{
	if (mglru_era(lruvec_host(lruvec)) != ERA_6_1)
		memcg_lru_rotate(t, lruvec, MOVE_OLD);
}

void memcg_lru_release(struct task *t, struct lruvec *lruvec)
{
	struct mglru_node *n = mglru_node(lruvec_host(lruvec), lruvec->node);
	uint32_t gen = place_of(lruvec)->gen;

	spin_lock_irq(t, &n->lock);
	leave(n, lruvec);
	if (!n->nr[gen] && gen == n->seq % MEMCG_LRU_GENS)
		n->seq++;
	spin_unlock_irq(t, &n->lock);
	task_sync(t);
}

/* ---- eviction ---- */

static bool is_sizable(const struct lruvec *lruvec, const struct scan_control *sc)
{
	const struct mglru *g = mglru_of(lruvec);
	uint32_t swappiness = mglru_swappiness(lruvec, sc);

	return (mglru_total(g, LRU_FILE) + (swappiness ? mglru_total(g, LRU_ANON) : 0)) >> sc->priority;
}

static enum memcg_lru_move tail_or_young(const struct lruvec *lruvec)
{
	return place_of(lruvec)->segment == SEGMENT_TAIL ? MOVE_YOUNG : MOVE_TAIL;
}

static enum memcg_lru_move shrink_one(struct task *t, struct lruvec *lruvec, struct scan_control *sc)
{
	struct memcg *m = lruvec->memcg;
	uint64_t usage = memcg_current(m);
	bool aged;

	memcg_protection(m->host->cgroups->root, m, sc);
	if (!memcg_is_root(m) && sc->emin >= usage) /* so is one that has nothing */
		return MOVE_YOUNG;
	if (!memcg_is_root(m) && sc->elow >= usage) {
		if (place_of(lruvec)->segment != SEGMENT_TAIL)
			return MOVE_TAIL;
		memcg_event(m, EVENT_LOW);
	}
	aged = mglru_pass(t, lruvec, sc);
	shrink_slab(t, m, lruvec->node, sc->priority);
	if (aged)
		return MOVE_YOUNG;
	task_sync(t);
	return is_sizable(lruvec, sc) ? MOVE_NONE : tail_or_young(lruvec);
}

/* The first from there on whose memcg is not about to go. */
static struct lruvec *get_one(struct lruvec *lruvec)
{
	while (lruvec && !memcg_tryget(lruvec->memcg))
		lruvec = place_of(lruvec)->next;
	return lruvec;
}

/* One bin of the oldest generation; true: that is enough. */
static bool shrink_bin(struct task *t, struct mglru_node *n, uint32_t gen, uint32_t bin,
		       struct scan_control *sc)
{
	struct lruvec *lruvec = n->bins[gen][bin].head, *next;

	/* At most as many as there are: what goes to the tail of this generation may come by again. */
	lruvec = get_one(lruvec);
	for (uint32_t left = n->nr[gen]; lruvec && left; left--, lruvec = next) {
		cpu_defer(t, lruvec_host(lruvec)->costs->reclaim_memcg);
		enum memcg_lru_move move = shrink_one(t, lruvec, sc);

		task_sync(t);
		next = get_one(place_of(lruvec)->next);
		if (move != MOVE_NONE)
			memcg_lru_rotate(t, lruvec, move);
		task_sync(t);
		bool enough = mglru_machine_has_enough(lruvec, sc);

		memcg_put(t, lruvec->memcg);
		if (next && (enough || place_of(next)->gen != gen || place_of(next)->bin != bin)) {
			memcg_put(t, next->memcg);
			next = enough ? NULL : get_one(n->bins[gen][bin].head);
		}
		if (enough)
			return true;
	}
	if (lruvec)
		memcg_put(t, lruvec->memcg);
	return false;
}

/* Of the target and of what there is follows where the priorities begin: set_initial_priority(). */
static void begin_lower(const struct host *host, uint32_t node, struct scan_control *sc)
{
	bool anon = can_reclaim_anon(host, host->cgroups->root, sc);
	uint64_t reclaimable = 0;
	int priority;

	if (sc->priority != DEF_PRIORITY || sc->nr_to_reclaim < MGLRU_BATCH)
		return;
	for (uint32_t i = 0; i < host->cgroups->nr; i++) {
		const struct memcg *m = host->cgroups->all[i];
		const struct lruvec *lruvec = m && m->lruvecs ? m->lruvecs[node] : NULL;

		if (lruvec)
			reclaimable += mglru_size(lruvec, LRU_INACTIVE_FILE) +
				       (anon ? mglru_size(lruvec, LRU_INACTIVE_ANON) : 0);
	}
	if (!reclaimable)
		return;
	priority = 63 - __builtin_clzll(reclaimable) - (64 - __builtin_clzll(sc->nr_to_reclaim - 1));
	sc->priority = priority < DEF_PRIORITY / 2 ? DEF_PRIORITY / 2
		       : priority > DEF_PRIORITY   ? DEF_PRIORITY
						   : priority;
}

bool mglru_shrink_node(struct task *t, uint32_t node, struct scan_control *sc)
{
	struct host *host = host_of(t);
	struct mglru_node *n = mglru_node(host, node);
	uint64_t before = sc->nr_reclaimed;
	uint32_t gen, first;

	if (mglru_era(host) == ERA_6_1)
		return false;
	lru_add_drain(t);
	task_sync(t);
	if (sc->kswapd)
		sc->nr_reclaimed = 0;
	begin_lower(host, node, sc);
	gen = (uint32_t)(n->seq % MEMCG_LRU_GENS);
	first = (uint32_t)stream_below(&n->random, MEMCG_LRU_BINS);
	for (uint32_t i = 0; i < MEMCG_LRU_BINS; i++)
		if (shrink_bin(t, n, gen, (first + i) % MEMCG_LRU_BINS, sc))
			break;
	if (sc->kswapd)
		sc->nr_reclaimed += before;
	return true;
}

/* ---- what must hold ---- */

void memcg_lru_check(struct host *host, struct record *record)
{
	for (uint32_t node = 0; node < host->nr_nodes; node++) {
		const struct mglru_node *n = mglru_node(host, node);

		for (uint32_t gen = 0; gen < MEMCG_LRU_GENS; gen++) {
			uint32_t found = 0, strange = 0;

			for (uint32_t bin = 0; bin < MEMCG_LRU_BINS; bin++)
				for (struct lruvec *l = n->bins[gen][bin].head; l && found <= n->nr[gen];
				     l = place_of(l)->next, found++)
					strange += place_of(l)->gen != gen || place_of(l)->bin != bin;
			record_invariant(record, "memcg LRU", found == n->nr[gen] && !strange,
					 "node %u generation %u: %u lruvecs, counted %u, %u elsewhere", node,
					 gen, found, n->nr[gen], strange);
		}
	}
}
