/*
 * protection.c - how much of a memcg's memory memory.min and memory.low keep, after
 * mem_cgroup_calculate_protection() and effective_protection() of mm/memcontrol.c, Linux 6.1.
 *
 * What is protected is at most what is used, and what the parent is protected: siblings that claim more share
 * the parent's in proportion to their claims. With memory_recursiveprot, protection of the parent that no
 * child claims goes to the children in proportion to what they use beyond their claims.
 *
 * Effective values are computed from the parent's, which the walk (pre-order) has computed just before. The
 * target of a reclaim is not protected from itself.
 */
#include "models/reclaim/reclaim_impl.h"

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t effective(const struct memcg *m, uint64_t setting, uint64_t parent_effective,
			  uint64_t siblings)
{
	uint64_t usage = m->memory.usage, parent_usage = m->parent->memory.usage;
	uint64_t claim = least(usage, setting), ep;

	if (siblings > parent_effective)
		return (uint64_t)((unsigned __int128)claim * parent_effective / siblings);
	ep = claim;
	if (m->host->reclaim->vm->memory_recursiveprot && parent_effective > siblings &&
	    parent_usage > siblings && usage > claim) {
		unsigned __int128 unclaimed = parent_effective - siblings;

		ep += (uint64_t)(unclaimed * (usage - claim) / (parent_usage - siblings));
	}
	return ep;
}

void memcg_protection(struct memcg *root, struct memcg *m, struct scan_control *sc)
{
	const struct memcg *parent = m->parent;

	sc->emin = sc->elow = 0;
	if (m == root || !parent)
		return;
	if (!m->memory.usage) {
		/* Nothing to protect; the values of an earlier walk stay, as in the kernel. */
	} else if (parent == root) {
		m->emin = m->memory.min;
		m->elow = m->memory.low;
	} else {
		m->emin = effective(m, m->memory.min, parent->emin, parent->memory.children_min_usage);
		m->elow = effective(m, m->memory.low, parent->elow, parent->memory.children_low_usage);
	}
	sc->emin = m->emin;
	sc->elow = m->elow;
}
