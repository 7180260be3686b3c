/*
 * summed.c - values from before rstat move: a batch spills, a reader takes in. See summed.h.
 *
 * The by-node values of an item move with it, so that the two never disagree.
 */
#include <stdlib.h>

#include "models/stat/summed.h"

#define COUNTER_LINES ((NR_STAT_ITEMS + 7) / 8)

struct line *summed_line(struct memcg *m, enum stat_item item)
{
	struct line **lines = &m->stat->counter_lines;

	if (!*lines) {
		*lines = sim_alloc(m->host->sim, COUNTER_LINES * sizeof **lines);
		for (int i = 0; i < COUNTER_LINES; i++)
			line_init(&(*lines)[i]);
	}
	return &(*lines)[item / 8];
}

void summed_release(struct memcg *m)
{
	struct line *lines = m->stat->counter_lines;

	for (int i = 0; lines && i < COUNTER_LINES; i++)
		line_release(m->host->sim, &lines[i]);
	if (lines)
		sim_free(m->host->sim, lines, COUNTER_LINES * sizeof *lines);
}

static struct node_stat *node_of(struct memcg *m, uint32_t node)
{
	struct node_stat **n = &m->stat->nodes[node];

	if (!*n)
		*n = sim_alloc(m->host->sim, sizeof **n);
	return *n;
}

static void spill_nodes(struct stat_pair *pair, enum stat_item item, bool up)
{
	struct memcg *m = pair->memcg;

	for (uint32_t node = 0; node < m->host->nr_nodes; node++) {
		struct node_delta *d = pair->nodes[node];
		int64_t delta = d ? d->of[item] : 0;

		if (!delta)
			continue;
		d->of[item] = 0;
		node_of(m, node)->local[item] += delta;
		for (struct memcg *level = m; level && (up || level == m); level = level->parent)
			node_of(level, node)->value[item] += delta;
		if (!up && m->parent) {
			node_of(m->parent, node)->pending[item] += delta;
			node_of(m->parent, node)->pending_set |= (uint64_t)1 << item;
		}
	}
}

/* What of the pair's updates is not taken in: without spilling, all; with it, what is left of each item. */
static uint64_t left_of(const struct stat_pair *pair)
{
	uint64_t sum = 0;

	for (int i = 0; i < NR_STAT_ITEMS; i++)
		sum += (uint64_t)llabs(pair->delta[i]);
	return sum;
}

void rstat_spill(struct stat_pair *pair, enum stat_item item, bool up)
{
	struct memcg *m = pair->memcg;
	int64_t delta = pair->delta[item];
	uint64_t bit = (uint64_t)1 << item, gone;

	pair->delta[item] = 0;
	gone = pair->absolute - left_of(pair);
	pair->absolute -= gone;
	m->stat->local[item] += delta;
	for (struct memcg *level = m; level && (up || level == m); level = level->parent) {
		level->stat->value[item] += delta;
		level->stat->unflushed -= gone;
	}
	if (!up && m->parent) {
		m->parent->stat->pending[item] += delta;
		m->parent->stat->pending_set |= bit;
		m->parent->stat->pending_absolute += gone;
	}
	if (item < NR_LRUVEC_ITEMS)
		spill_nodes(pair, item, up);
}

static void take_pending_nodes(struct memcg *m)
{
	for (uint32_t node = 0; node < m->host->nr_nodes; node++) {
		struct node_stat *n = m->stat->nodes[node];

		for (uint64_t left = n ? n->pending_set : 0; left; left &= left - 1) {
			int i = __builtin_ctzll(left);

			n->value[i] += n->pending[i];
			if (m->parent) {
				node_of(m->parent, node)->pending[i] += n->pending[i];
				node_of(m->parent, node)->pending_set |= (uint64_t)1 << i;
			}
			n->pending[i] = 0;
		}
		if (n)
			n->pending_set = 0;
	}
}

void rstat_take_pending(struct memcg *m)
{
	struct memcg_stat *s = m->stat, *up = m->parent ? m->parent->stat : NULL;

	for (uint64_t left = s->pending_set; left; left &= left - 1) {
		int i = __builtin_ctzll(left);

		s->value[i] += s->pending[i];
		if (up)
			up->pending[i] += s->pending[i];
		s->pending[i] = 0;
	}
	s->unflushed -= s->pending_absolute;
	if (up) {
		up->pending_set |= s->pending_set;
		up->pending_absolute += s->pending_absolute;
	}
	s->pending_set = s->pending_absolute = 0;
	take_pending_nodes(m);
}
