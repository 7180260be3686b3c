/*
 * updated_rank.c - how many siblings a pair has before it on its parent's list, without walking there.
 *
 * The kernel's list is singly linked, so who takes a cgroup off that is not the first passes all before it,
 * and pays for that (rstat.c). A flush pops first ones. But a cgroup that is released flushes itself, and
 * when thousands of one parent are released together, the walks are most of what the simulator would do.
 *
 * Pairs join at the head. Where a walk has been long, all that are on the list are numbered in the order in
 * which they came, whoever joins gets the next number, and a binary indexed tree counts numbers that are on
 * the list. Those before a pair have higher ones. When the numbers are used up, or the list is empty, the
 * tree goes, until a walk is long again.
 */
#include "models/stat/stat_impl.h"

#define LONG_WALK 64u

struct updated_ranks {
	uint32_t size, last; /* numbers that there are, 1 to size; the last given */
	uint32_t nr;         /* on the list */
	uint32_t counts[];   /* of a range of numbers that ends with this one */
};

static size_t bytes(uint32_t size)
{
	return sizeof(struct updated_ranks) + (size + 1) * sizeof(uint32_t);
}

static void add(struct updated_ranks *r, uint32_t number, uint32_t nr)
{
	for (; number <= r->size; number += number & -number)
		r->counts[number] += nr;
}

static uint32_t up_to(const struct updated_ranks *r, uint32_t number)
{
	uint32_t nr = 0;

	for (; number; number &= number - 1)
		nr += r->counts[number];
	return nr;
}

void updated_ranks_drop(struct stat_pair *parent)
{
	struct updated_ranks *r = parent->ranks;

	if (r)
		sim_free(parent->memcg->host->sim, r, bytes(r->size));
	parent->ranks = NULL;
}

static void build(struct stat_pair *parent)
{
	uint32_t nr = 0, size;
	struct updated_ranks *r;

	for (struct stat_pair *c = parent->updated_children; c != parent; c = c->updated_next)
		nr++;
	if (!nr)
		return;
	size = 2 * nr + LONG_WALK;
	r = parent->ranks = sim_alloc(parent->memcg->host->sim, bytes(size));
	r->size = size;
	r->last = r->nr = nr;
	for (struct stat_pair *c = parent->updated_children; c != parent; c = c->updated_next) {
		c->number = nr;
		add(r, nr--, 1);
	}
}

void updated_ranks_join(struct stat_pair *parent, struct stat_pair *pair)
{
	struct updated_ranks *r = parent->ranks;

	if (r->last == r->size) {
		updated_ranks_drop(parent);
		return;
	}
	pair->number = ++r->last;
	add(r, pair->number, 1);
	r->nr++;
}

static uint32_t leave(struct stat_pair *parent, const struct stat_pair *pair)
{
	struct updated_ranks *r = parent->ranks;
	uint32_t before = r->nr - up_to(r, pair->number);

	add(r, pair->number, UINT32_MAX); /* one fewer */
	if (!--r->nr)
		updated_ranks_drop(parent);
	return before;
}

uint32_t updated_ranks_leave(struct stat_pair *parent, const struct stat_pair *pair)
{
	uint32_t before = 0;

	if (parent->ranks)
		return leave(parent, pair);
	for (const struct stat_pair *c = pair->updated_prev; c; c = c->updated_prev)
		before++;
	if (before >= LONG_WALK)
		build(parent);
	return before;
}
