/*
 * mglru_control.c - the controller: which type to evict from, and from which tier on pages stay, after
 * read_ctrl_pos(), positive_ctrl_err(), get_tier_idx() and get_type_to_scan() of mm/vmscan.c.
 *
 * A set point and a process variable are compared by their shares of refaults. A tier whose pages come back
 * more often than those of tier 0 is spared; a type whose pages come back more often is left alone. Averages
 * halve each time the oldest generation of the type moves on, which forgets what is long ago.
 */
#include "models/reclaim/mglru.h"

struct position {
	uint64_t refaulted, total, gain;
};

static struct position position(const struct mglru_control *c, enum lru_type type, uint32_t tier,
				uint64_t gain)
{
	return (struct position){
		.refaulted = c->avg_refaulted[type][tier] + c->refaulted[type][tier],
		.total = c->avg_total[type][tier] + c->evicted[type][tier] + c->protected[type][tier],
		.gain = gain,
	};
}

/* Is the variable's share of refaults no larger than the set point's? Few refaults say nothing. */
static bool within(struct position set_point, struct position variable)
{
	return variable.refaulted < MGLRU_BATCH ||
	       variable.refaulted * (set_point.total + MGLRU_BATCH) * set_point.gain <=
		       (set_point.refaulted + 1) * variable.total * variable.gain;
}

static uint32_t last_within(const struct mglru_control *c, struct position set_point, enum lru_type type,
			    uint64_t gain)
{
	uint32_t tier = 1;

	while (tier < MGLRU_TIERS && within(set_point, position(c, type, tier, gain)))
		tier++;
	return tier - 1;
}

uint32_t mglru_tier_limit(const struct mglru *g, enum mglru_era era, enum lru_type type)
{
	/* So that a tier is spared only when it refaults clearly more. */
	uint64_t of_base = era < ERA_6_18 ? 1 : 2, of_tier = of_base + 1;

	return last_within(&g->control, position(&g->control, type, 0, of_base), type, of_tier);
}

/* The refaults of all tiers of a type against those of the other (6.18). */
static struct position all_tiers(const struct mglru_control *c, enum lru_type type, uint64_t gain)
{
	struct position sum = { .gain = gain };

	for (uint32_t tier = 0; tier < MGLRU_TIERS; tier++) {
		struct position one = position(c, type, tier, gain);

		sum.refaulted += one.refaulted;
		sum.total += one.total;
	}
	return sum;
}

enum lru_type mglru_type_to_scan(const struct mglru *g, enum mglru_era era, uint32_t swappiness,
				 uint32_t *limit)
{
	const struct mglru_control *c = &g->control;
	uint64_t gains[] = { [LRU_ANON] = swappiness, [LRU_FILE] = 200 - swappiness };
	enum lru_type type, other;

	if (era == ERA_6_18) {
		type = within(all_tiers(c, LRU_ANON, gains[LRU_ANON]),
			      all_tiers(c, LRU_FILE, gains[LRU_FILE]))
			       ? LRU_FILE
			       : LRU_ANON;
		*limit = mglru_tier_limit(g, era, type);
		return type;
	}
	type = within(position(c, LRU_ANON, 0, gains[LRU_ANON]), position(c, LRU_FILE, 0, gains[LRU_FILE]))
		       ? LRU_FILE
		       : LRU_ANON;
	other = type == LRU_FILE ? LRU_ANON : LRU_FILE;
	*limit = last_within(c, position(c, other, 0, gains[other]), type, gains[type]);
	return type;
}

void mglru_carry_over(struct mglru_control *c, enum lru_type type)
{
	for (uint32_t tier = 0; tier < MGLRU_TIERS; tier++) {
		c->avg_refaulted[type][tier] = (c->avg_refaulted[type][tier] + c->refaulted[type][tier]) / 2;
		c->avg_total[type][tier] = (c->avg_total[type][tier] + c->evicted[type][tier] +
					    c->protected[type][tier]) /
					   2;
		c->refaulted[type][tier] = c->evicted[type][tier] = c->protected[type][tier] = 0;
	}
}
