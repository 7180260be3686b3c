/*
 * page_counter.c - hierarchical counts of pages, after mm/page_counter.c of Linux 6.1.
 *
 * A charge adds to the counter and to every ancestor, one contended word a level: this is where the charge
 * path of a deep tree, or of many CPUs below one parent, queues. The addition comes before the look at the
 * limit, as in page_counter_try_charge(), so a large charge that is about to fail can make a small one fail
 * that would have fitted.
 *
 * Where memory.min or memory.low is set, the parent learns how much of what its children use is protected
 * (propagate_protected_usage()); its words lie on the line that the walk touches next anyway.
 */
#include "models/cgroup/memcg.h"

void page_counter_init(struct page_counter *c, struct page_counter *parent)
{
	*c = (struct page_counter){ .max = COUNTER_NO_MAX, .high = COUNTER_NO_MAX, .parent = parent };
	line_init(&c->line);
}

static void propagate(uint64_t usage, uint64_t setting, uint64_t *own, uint64_t *children)
{
	uint64_t now = usage < setting ? usage : setting;

	*children += now - *own;
	*own = now;
}

/* One level of a walk, in the step in which the CPU gets the line. `nr` may be negative. */
static void add(struct task *t, struct page_counter *c, int64_t nr)
{
	line_rmw(t, &c->line);
	c->usage += (uint64_t)nr;
	c->in_flight += nr;
	if (!c->parent)
		return;
	c->parent->in_flight -= nr;
	if (c->min)
		propagate(c->usage, c->min, &c->min_usage, &c->parent->children_min_usage);
	if (c->low)
		propagate(c->usage, c->low, &c->low_usage, &c->parent->children_low_usage);
}

static void undo(struct task *t, struct page_counter *c, const struct page_counter *end, uint64_t nr)
{
	for (; c != end; c = c->parent)
		add(t, c, -(int64_t)nr);
}

bool page_counter_try_charge(struct task *t, struct page_counter *c, uint64_t nr,
			     struct page_counter **failed)
{
	for (struct page_counter *level = c; level; level = level->parent) {
		add(t, level, (int64_t)nr);
		if (level->usage > level->max) {
			level->failcnt++;
			*failed = level;
			undo(t, level, level->parent, nr);
			undo(t, c, level, nr);
			return false;
		}
		if (level->usage > level->watermark)
			level->watermark = level->usage;
	}
	return true;
}

void page_counter_charge(struct task *t, struct page_counter *c, uint64_t nr)
{
	for (; c; c = c->parent) {
		add(t, c, (int64_t)nr);
		if (c->usage > c->watermark)
			c->watermark = c->usage;
	}
}

void page_counter_uncharge(struct task *t, struct page_counter *c, uint64_t nr)
{
	for (; c; c = c->parent)
		add(t, c, -(int64_t)nr);
}
