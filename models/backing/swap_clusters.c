/*
 * swap_clusters.c - which slot of swap is taken next, after scan_swap_map_try_ssd_cluster() and its
 * neighbours of mm/swapfile.c, Linux 6.1 to 6.11, for devices without seeks.
 *
 * Slots come in clusters of 256. A CPU has one of its own, in which it goes on from where it was; when that
 * is full it takes the cluster that has been free for longest. So pages that one CPU writes in a row lie
 * together and share nodes of the swap cache, and CPUs keep out of each other's. A cluster joins the queue of
 * free ones when its last slot is given back; a CPU whose own has been emptied meanwhile gives it up, unless
 * it is the first of the queue. Without a free cluster the search goes on, slot by slot, from where the CPU
 * is.
 *
 * The queue begins with every 64th cluster, so that CPUs that write at the same time do so in different
 * address spaces of the swap cache (of 64 clusters each) and not under one lock
 * (setup_swap_map_and_extents(), 4b3ef9daa4fc). The kernel begins with a random one of the 64; here it is the
 * first.
 *
 * Left out: the lots of 64 slots that a CPU takes from its cluster at a time, which save locks and change
 * nothing of the order. What waits to be given back: swap_slots.c.
 */
#include "models/backing/backing_impl.h"

#define CLUSTER_SLOTS 256u /* SWAPFILE_CLUSTER without THP_SWAP; with it 512, and 32 columns */
#define CLUSTER_COLS  64u  /* SWAP_CLUSTER_COLS: clusters of one address space */
#define NO_CLUSTER    UINT32_MAX

struct swap_cluster {
	uint32_t used;
	uint32_t prev, next; /* of the queue of free ones */
};

struct swap_clusters {
	struct swap_cluster *all;
	uint32_t nr, first, last; /* first, last: of the queue; NO_CLUSTER: it is empty */
	uint32_t *next;           /* by CPU: the slot that it looks at next; 0: it has no cluster */
};

static uint32_t cluster_of(swap_slot_t slot)
{
	return slot / CLUSTER_SLOTS;
}

static void enqueue(struct swap_clusters *c, uint32_t cluster)
{
	c->all[cluster].prev = c->last;
	c->all[cluster].next = NO_CLUSTER;
	*(c->last == NO_CLUSTER ? &c->first : &c->all[c->last].next) = cluster;
	c->last = cluster;
}

static void dequeue(struct swap_clusters *c, uint32_t cluster)
{
	const struct swap_cluster *it = &c->all[cluster];

	*(it->prev == NO_CLUSTER ? &c->first : &c->all[it->prev].next) = it->next;
	*(it->next == NO_CLUSTER ? &c->last : &c->all[it->next].prev) = it->prev;
}

/* The first free slot from `slot` to the end of its cluster; 0: none. */
static swap_slot_t in_cluster(const struct swap_state *swap, swap_slot_t slot)
{
	uint32_t end = (cluster_of(slot) + 1) * CLUSTER_SLOTS;

	for (; slot < end && slot <= swap->nr_slots; slot++)
		if (slot && !swap->owners[slot])
			return slot;
	return NO_SWAP;
}

/* Anywhere, from the CPU's place on; there is one. */
static swap_slot_t anywhere(const struct swap_state *swap, swap_slot_t slot)
{
	slot = slot && slot <= swap->nr_slots ? slot : 1;
	while (swap->owners[slot])
		slot = slot % swap->nr_slots + 1;
	return slot;
}

swap_slot_t swap_slot_take(struct swap_state *swap, uint32_t cpu)
{
	struct swap_clusters *c = swap->clusters;
	swap_slot_t at = c->next[cpu], slot = NO_SWAP;
	uint32_t mine = at ? cluster_of(at - 1) : NO_CLUSTER; /* at may be the slot behind its end */

	if (mine != NO_CLUSTER && cluster_of(at) == mine && (c->all[mine].used || mine == c->first))
		slot = in_cluster(swap, at);
	if (!slot && c->first != NO_CLUSTER)
		slot = in_cluster(swap, c->first * CLUSTER_SLOTS);
	if (!slot)
		slot = anywhere(swap, at);
	c->next[cpu] = slot + 1;
	if (!c->all[cluster_of(slot)].used++)
		dequeue(c, cluster_of(slot));
	return slot;
}

void swap_slot_give(struct swap_state *swap, swap_slot_t slot)
{
	if (!--swap->clusters->all[cluster_of(slot)].used)
		enqueue(swap->clusters, cluster_of(slot));
}

void swap_clusters_build(struct host *host)
{
	struct swap_state *swap = swap_of(host);
	struct swap_clusters *c = sim_alloc(host->sim, sizeof *c);

	c->nr = cluster_of(swap->nr_slots) + 1;
	c->all = arena_array(sim_arena(host->sim), c->nr, sizeof *c->all);
	c->next = sim_alloc(host->sim, host->nr_cpus * sizeof *c->next);
	c->first = c->last = NO_CLUSTER;
	for (uint32_t column = 0; column < CLUSTER_COLS; column++)
		for (uint32_t i = column; i < c->nr; i += CLUSTER_COLS)
			enqueue(c, i);
	swap->clusters = c;
}
