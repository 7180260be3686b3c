/*
 * siblings.c - see siblings.h.
 *
 * A row is an array of a parent's children in their order, which is that of their creation, with two bits for
 * each: can it be held, and has it nothing. The next that has something is found 64 at a time. Who is made
 * takes the next place, who leaves leaves his free; when there are no places left the row goes, and the next
 * long walk makes it again, without those that are gone. So it costs nothing where nobody walks, and a few
 * instructions for each cgroup that comes and goes where somebody does.
 *
 * Whether a cgroup has pages charged changes with charges alone, which page_counter.c tells (by the counter's
 * `row` and `place`).
 */
#include "models/cgroup/siblings.h"

#define LONG_ROW 64u
#define NO_PLACE UINT32_MAX

struct siblings {
	uint32_t size, used; /* places that there are, a multiple of 64; given out */
	uint64_t *there;     /* can be held */
	uint64_t *empty;     /* of those, without pages and children */
	struct memcg *at[];
};

static size_t bytes(uint32_t size)
{
	return sizeof(struct siblings) + size * sizeof(struct memcg *) + size / 64 * 2 * sizeof(uint64_t);
}

static void set_bit(uint64_t *map, uint32_t place, bool on)
{
	uint64_t bit = (uint64_t)1 << place % 64;

	map[place / 64] = on ? map[place / 64] | bit : map[place / 64] & ~bit;
}

static void note(struct siblings *row, const struct memcg *m)
{
	bool there = m->life < MEMCG_RELEASED;

	set_bit(row->there, m->memory.place, there);
	set_bit(row->empty, m->memory.place, there && !m->memory.usage && !m->first_child);
}

void siblings_charge_turned(struct page_counter *c)
{
	note(c->row, c->row->at[c->place]);
}

/* ---- the row ---- */

static void place(struct siblings *row, struct memcg *m)
{
	m->memory.row = row;
	m->memory.place = row->used++;
	row->at[m->memory.place] = m;
	note(row, m);
}

static void drop(struct memcg *parent)
{
	struct siblings *row = parent->row;

	for (struct memcg *m = parent->first_child; m; m = m->next_sibling)
		m->memory.row = NULL;
	parent->row = NULL;
	sim_free(parent->host->sim, row, bytes(row->size));
}

static struct siblings *build(struct memcg *parent)
{
	uint32_t nr = 0, size;
	struct siblings *row;

	for (const struct memcg *m = parent->first_child; m; m = m->next_sibling)
		nr++;
	if (nr < LONG_ROW)
		return NULL;
	size = (2 * nr + 63) / 64 * 64;
	row = parent->row = sim_alloc(parent->host->sim, bytes(size));
	row->size = size;
	row->there = (uint64_t *)(void *)(row->at + size);
	row->empty = row->there + size / 64;
	for (struct memcg *m = parent->first_child; m; m = m->next_sibling)
		place(row, m);
	return row;
}

void siblings_join(struct memcg *m)
{
	struct siblings *row = m->parent->row;

	if (row && row->used == row->size)
		drop(m->parent);
	else if (row)
		place(row, m);
	siblings_changed(m->parent);
}

void siblings_leave(struct memcg *m)
{
	struct siblings *row = m->memory.row;

	m->memory.row = NULL;
	if (row && !m->parent->first_child) {
		drop(m->parent);
	} else if (row) {
		set_bit(row->there, m->memory.place, false);
		set_bit(row->empty, m->memory.place, false);
	}
	siblings_changed(m->parent);
}

void siblings_changed(struct memcg *m)
{
	if (m->memory.row)
		note(m->memory.row, m);
}

/* ---- walks ---- */

/* The n-th bit that is set, from 0. */
static uint32_t nth_bit(uint64_t word, uint64_t n)
{
	while (n--)
		word &= word - 1;
	return (uint32_t)__builtin_ctzll(word);
}

struct memcg *siblings_empty_after(struct memcg *m, uint64_t most, uint64_t *nr)
{
	const struct siblings *row = m->memory.row;
	uint32_t last = NO_PLACE;

	*nr = 0;
	if (!row && m->parent && m->parent->nr_children >= LONG_ROW)
		row = build(m->parent);
	if (!row)
		return NULL;
	for (uint32_t place = m->memory.place + 1; place < row->used && *nr < most;) {
		uint32_t word = place / 64;
		uint64_t from = ~(uint64_t)0 << place % 64, there = row->there[word] & from;
		uint64_t busy = there & ~row->empty[word];
		/* Those before the first that has something. */
		uint64_t empty = busy ? there & ((busy & -busy) - 1) : there;
		uint64_t found = (uint64_t)__builtin_popcountll(empty), left = most - *nr;

		if (found > left)
			found = left;
		if (found)
			last = word * 64 + (found == left ? nth_bit(empty, found - 1)
							  : 63 - (uint32_t)__builtin_clzll(empty));
		*nr += found;
		if (busy)
			break;
		place = (word + 1) * 64;
	}
	return last == NO_PLACE ? NULL : row->at[last];
}
