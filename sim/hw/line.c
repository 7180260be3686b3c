/*
 * line.c - where a cache line is and what it costs to get it. See line.h.
 *
 * A directory protocol reduced to what contention shows. A line that nobody else holds is the owner's to read
 * and write. A reader elsewhere gets a copy from the nearest CPU that has one; if that was the owner's only
 * copy, the line is on its way until the reader has it, while further copies of a shared line are taken in
 * parallel. A writer has to reach every copy: it pays the way from the owner or to the farthest copy,
 * whichever is longer, and until then nobody else gets the line. Requests queue in order of arrival, which
 * is what `busy_until` is for.
 *
 * Capacity is the owner's: a line that it touched before much has streamed through its core's caches is
 * farther away, by one comparison a level, as if each were fully associative and dropped what was touched
 * first. Not modelled: that a line which was pushed out elsewhere comes from another place, capacity for
 * shared copies, the home node's own latency, and prefetching.
 */
#include "sim/hw/line.h"

static uint32_t map_words(const struct sim *sim)
{
	return (sim_sched(sim)->nr_cpus + 63) / 64;
}

static bool map_test(const uint64_t *map, uint32_t cpu)
{
	return map[cpu / 64] >> (cpu % 64) & 1;
}

/* How many of the CPUs in [from, to) are in the map. */
static uint32_t map_count(const uint64_t *map, uint32_t from, uint32_t to)
{
	uint32_t n = 0;

	while (from < to) {
		uint32_t bits = 64 - from % 64;
		uint64_t word = map[from / 64] >> (from % 64);

		if (bits > to - from) {
			bits = to - from;
			word &= ((uint64_t)1 << bits) - 1;
		}
		n += (uint32_t)__builtin_popcountll(word);
		from += bits;
	}
	return n;
}

/* Copies other than the owner's that share a core, or a socket, with the CPU (its own copy not counted). */
struct copies {
	bool own;
	uint32_t core, socket;
};

static struct copies copies_near(const struct machine *m, const struct line *l, const struct cpu *cpu)
{
	uint32_t first = cpu->core * m->threads_per_core, last = first + m->threads_per_core;
	struct copies c;

	if (last > m->cpus)
		last = m->cpus;
	c.own = map_test(l->sharers, cpu->id);
	c.core = map_count(l->sharers, first, last) - c.own;
	c.socket = map_count(l->sharers, machine_socket_first(m, cpu->socket),
			     machine_socket_first(m, cpu->socket + 1)) -
		   c.own;
	return c;
}

/* The way of a copy to a reader that has none. */
static sim_time_t way_of_copy(const struct machine *m, const struct line *l, const struct cpu *cpu)
{
	sim_time_t way = machine_transfer(m, l->owner, cpu->id);

	if (l->nr_sharers) {
		struct copies c = copies_near(m, l, cpu);

		if (c.core && m->line_core < way)
			way = m->line_core;
		else if (c.socket && m->line_socket < way)
			way = m->line_socket;
	}
	return way;
}

/* The way of the line itself to a writer: every copy has to go. */
static sim_time_t way_of_line(const struct machine *m, const struct line *l, const struct cpu *cpu)
{
	sim_time_t way = l->owner == cpu->id ? 0 : machine_transfer(m, l->owner, cpu->id);

	if (l->nr_sharers) {
		struct copies c = copies_near(m, l, cpu);
		sim_time_t farthest = 0;

		if (l->nr_sharers - c.own > c.socket)
			farthest = m->line_remote;
		else if (c.socket > c.core)
			farthest = m->line_socket;
		else if (c.core)
			farthest = m->line_core;
		if (farthest > way)
			way = farthest;
	}
	return way;
}

static void drop_copies(const struct sim *sim, struct line *l)
{
	if (!l->nr_sharers)
		return;
	for (uint32_t i = 0; i < map_words(sim); i++)
		l->sharers[i] = 0;
	l->nr_sharers = 0;
}

static void add_copy(struct sim *sim, struct line *l, uint32_t cpu)
{
	if (!l->sharers)
		l->sharers = sim_alloc(sim, map_words(sim) * sizeof *l->sharers);
	l->sharers[cpu / 64] |= (uint64_t)1 << (cpu % 64);
	l->nr_sharers++;
}

void line_init(struct line *l)
{
	*l = (struct line){ .owner = LINE_NOWHERE };
}

void line_release(struct sim *sim, struct line *l)
{
	if (l->sharers)
		sim_free(sim, l->sharers, map_words(sim) * sizeof *l->sharers);
	line_init(l);
}

static void own(struct line *l, const struct cpu *cpu, sim_time_t from)
{
	l->owner = cpu->id;
	l->busy_until = from;
	l->left = *cpu->streamed;
}

sim_time_t line_cost_near(const struct task *t, uint64_t *left)
{
	const struct machine *m = line_machine(t);
	uint64_t passed = *t->cpu->streamed - *left;

	*left += passed;
	if (passed < m->cache_l1 || !m->cache_l1)
		return m->line_hit;
	if (passed < m->cache_l2)
		return m->line_l2;
	return passed < m->cache_l2 + m->cache_l3 ? m->line_l3 : m->line_memory;
}

sim_time_t line_cost_farther(const struct task *t, uint64_t *left)
{
	return line_cost_near(t, left) - line_machine(t)->line_hit;
}

sim_time_t line_cost_slow(const struct task *t, struct line *l, bool write)
{
	const struct machine *m = line_machine(t);
	const struct cpu *cpu = t->cpu;
	bool mine = l->owner == cpu->id;

	if (write ? mine && !l->nr_sharers : mine || (l->nr_sharers && map_test(l->sharers, cpu->id)))
		return mine && cpu->caches ? line_cost_near(t, &l->left) : m->line_hit;

	sim_time_t start = t->clock > l->busy_until ? t->clock : l->busy_until;
	sim_time_t there;

	if (l->owner == LINE_NOWHERE) {
		there = start + m->line_memory;
		own(l, cpu, there);
	} else if (write) {
		there = start + way_of_line(m, l, cpu);
		drop_copies(t->sim, l);
		own(l, cpu, there);
	} else {
		there = start + way_of_copy(m, l, cpu);
		if (!l->nr_sharers)
			l->busy_until = there;
		add_copy(t->sim, l, cpu->id);
	}
	t->cpu->stalled += there - t->clock;
	return there - t->clock;
}

sim_time_t line_send(const struct task *t, struct line *l, uint32_t to)
{
	sim_time_t there = t->clock + machine_transfer(line_machine(t), t->cpu->id, to);

	drop_copies(t->sim, l);
	own(l, &sim_sched(t->sim)->cpus[to], there);
	return there;
}

void line_read(struct task *t, struct line *l)
{
	task_sync(t);
	line_touch(t, l, false);
}

void line_write(struct task *t, struct line *l)
{
	task_sync(t);
	line_touch(t, l, true);
}

void line_rmw(struct task *t, struct line *l)
{
	task_sync(t);
	line_touch_rmw(t, l);
}
