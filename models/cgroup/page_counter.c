/*
 * page_counter.c - hierarchical counts of pages, after mm/page_counter.c of Linux 6.1.
 *
 * A charge adds to the counter and to every ancestor, one contended word a level: this is where the charge
 * path of a deep tree, or of many CPUs below one parent, queues. The addition comes before the look at the
 * limit, as in page_counter_try_charge(), so a large charge that is about to fail can make a small one fail
 * that would have fitted.
 *
 * Where memory.min or memory.low is set, the parent learns how much of what its children use is protected
 * (propagate_protected_usage()): while usage is below the setting each charge exchanges a word of the
 * counter and adds to one of its parent's, which all children write. Up to 6.0 these lie on the lines that
 * the walk touches anyway; from 6.1 on on a second one of each counter, which then is as hot as usage.
 */
#include "models/cgroup/memcg.h"

void page_counter_init(struct page_counter *c, struct page_counter *parent)
{
	*c = (struct page_counter){ .max = COUNTER_NO_MAX, .high = COUNTER_NO_MAX, .parent = parent };
	line_init(&c->line);
	line_init(&c->protection_line);
}

static struct line *protection_line(const struct task *t, struct page_counter *c)
{
	return host_of(t)->kernel_version >= 601 ? &c->protection_line : &c->line;
}

static void propagate(struct task *t, struct page_counter *c, uint64_t setting, uint64_t *own,
		      uint64_t *children)
{
	uint64_t now = c->usage < setting ? c->usage : setting;

	line_touch(t, protection_line(t, c), false);
	if (now == *own)
		return;
	*children += now - *own;
	*own = now;
	line_touch_rmw(t, protection_line(t, c));
	line_touch_rmw(t, protection_line(t, c->parent));
}

static void change(struct page_counter *c, int64_t nr)
{
	bool was_empty = !c->usage;

	c->usage += (uint64_t)nr;
	if (c->row && was_empty != !c->usage)
		siblings_charge_turned(c);
}

/* One level of a walk, in the step in which the CPU gets the line. `nr` may be negative. */
static void add(struct task *t, struct page_counter *c, int64_t nr)
{
	line_rmw(t, &c->line);
	change(c, nr);
	c->in_flight += nr;
	if (!c->parent)
		return;
	c->parent->in_flight -= nr;
	if (c->min)
		propagate(t, c, c->min, &c->min_usage, &c->parent->children_min_usage);
	if (c->low)
		propagate(t, c, c->low, &c->low_usage, &c->parent->children_low_usage);
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
		if (c->usage > c->max)
			c->forced = c->usage;
	}
}

void page_counter_uncharge(struct task *t, struct page_counter *c, uint64_t nr)
{
	for (; c; c = c->parent)
		add(t, c, -(int64_t)nr);
}

void page_counter_forget(struct page_counter *c, uint64_t nr)
{
	change(c, -(int64_t)nr);
}

void page_counter_protect(struct task *t, struct page_counter *c, uint64_t min, uint64_t low)
{
	task_sync(t);
	c->min = min;
	c->low = low;
	for (; c->parent; c = c->parent) {
		propagate(t, c, c->min, &c->min_usage, &c->parent->children_min_usage);
		propagate(t, c, c->low, &c->low_usage, &c->parent->children_low_usage);
	}
}
