/*
 * rstat.c - the updated tree and what a flush does with it, after kernel/cgroup/rstat.c and
 * mem_cgroup_css_rstat_flush() of Linux 6.1.
 *
 * Each CPU has a tree of the cgroups that it has updated since they were last flushed: whoever is on it,
 * all its ancestors are. A flush of a subtree goes through all *possible* CPUs, takes the updated members
 * of the subtree off the CPU's tree, children first, and moves what that CPU has added to each into the
 * cgroup and into its parent's `pending`. So its work is the number of updated (cgroup, CPU) pairs, plus a
 * fixed part a possible CPU that is spent even when there is nothing to do; flush_count counts both.
 *
 * A pair's block is made when its CPU first updates it. It is found in a table of its CPU, with a short cut
 * for the one that the CPU used last: a task updates its own memcg, many times in a row.
 */
#include "models/stat/stat_impl.h"

#define LINE_BYTES 64u

/* ---- the blocks ---- */

static uint32_t table_slot(const struct stat_cpu *c, const struct memcg *m)
{
	uint32_t i = m->id * 0x9E3779B1u & (c->size - 1);

	while (c->table[i] && c->table[i]->memcg != m)
		i = (i + 1) & (c->size - 1);
	return i;
}

struct stat_pair *rstat_pair_find(const struct host *host, uint32_t cpu, const struct memcg *m)
{
	const struct stat_cpu *c = &stat_of(host)->cpus[cpu];

	if (c->last && c->last->memcg == m)
		return c->last;
	return c->size ? c->table[table_slot(c, m)] : NULL;
}

/* Room for one more at a load of at most one half. */
static void table_reserve(struct sim *sim, struct stat_cpu *c)
{
	struct stat_pair **old = c->table;
	uint32_t old_size = c->size;

	if ((c->nr + 1) * 2 <= c->size)
		return;
	c->size = old_size ? old_size * 2 : 8;
	c->table = sim_alloc(sim, c->size * sizeof(struct stat_pair *));
	for (uint32_t i = 0; i < old_size; i++)
		if (old[i])
			c->table[table_slot(c, old[i]->memcg)] = old[i];
	if (old)
		sim_free(sim, old, old_size * sizeof(struct stat_pair *));
}

static struct stat_pair *make_pair(struct host *host, uint32_t cpu, struct memcg *m, struct stat_pair *parent)
{
	struct stat_cpu *c = &stat_of(host)->cpus[cpu];
	struct stat_pair *pair = sim_alloc(host->sim,
					   sizeof *pair + host->nr_nodes * sizeof(struct node_delta *));

	pair->memcg = m;
	pair->cpu = cpu;
	pair->parent = parent;
	pair->updated_children = pair;
	pair->of_memcg = m->stat->pairs;
	m->stat->pairs = pair;
	table_reserve(host->sim, c);
	c->table[table_slot(c, m)] = pair;
	c->nr++;
	return pair;
}

struct stat_pair *rstat_pair_slow(struct host *host, uint32_t cpu, struct memcg *m)
{
	struct stat_pair *pair = rstat_pair_find(host, cpu, m);

	if (!pair)
		pair = make_pair(host, cpu, m, m->parent ? rstat_pair(host, cpu, m->parent) : NULL);
	stat_of(host)->cpus[cpu].last = pair;
	return pair;
}

/* ---- the tree ---- */

uint32_t rstat_link(struct stat_pair *pair)
{
	uint32_t linked = 0;

	for (; pair && !pair->updated_next; pair = pair->parent) {
		linked++;
		if (!pair->parent) {
			pair->updated_next = pair; /* the root is on no list: only marked */
			break;
		}
		struct stat_pair *parent = pair->parent, *first = parent->updated_children;

		pair->updated_next = first;
		pair->updated_prev = NULL;
		if (first != parent)
			first->updated_prev = pair;
		parent->updated_children = pair;
		if (parent->ranks)
			updated_ranks_join(parent, pair);
	}
	return linked;
}

/*
 * Takes a pair off its parent's list, and returns how many siblings lay before it: the kernel's list is
 * singly linked, and whoever takes one off has to pass those.
 */
static uint32_t unlink_pair(struct stat_pair *pair)
{
	struct stat_pair *parent = pair->parent, *next = pair->updated_next;

	pair->updated_next = NULL;
	if (!parent)
		return 0;
	if (next != parent)
		next->updated_prev = pair->updated_prev;
	if (pair->updated_prev)
		pair->updated_prev->updated_next = next;
	else
		parent->updated_children = next;
	return pair->updated_prev || parent->ranks ? updated_ranks_leave(parent, pair) : 0;
}

/*
 * cgroup_rstat_cpu_pop_updated(): the next of the subtree of `root`, children before parents; `pos` is the
 * one before, NULL at the start. What is popped is the first of its siblings, but for the root of the flush.
 */
static struct stat_pair *pop_updated(struct task *t, struct stat_pair *pos, struct stat_pair *root)
{
	if (pos == root)
		return NULL;
	pos = pos ? pos->parent : root;
	while (pos->updated_children != pos)
		pos = pos->updated_children;
	if (!pos->updated_next)
		return NULL; /* only the root can be found off the list: nothing in it was updated */
	cpu_defer(t, unlink_pair(pos) * pos->memcg->host->costs->rstat_link);
	pos->popped = true;
	return pos;
}

/* ---- the end ---- */

/* Those behind it in the table move up, so that no search ends before them. */
static void table_remove(struct stat_cpu *c, const struct stat_pair *pair)
{
	uint32_t hole = table_slot(c, pair->memcg), i = hole, mask = c->size - 1;

	c->table[hole] = NULL;
	c->nr--;
	while (c->table[i = (i + 1) & mask]) {
		struct stat_pair *moved = c->table[i];

		c->table[i] = NULL;
		c->table[table_slot(c, moved->memcg)] = moved;
	}
}

void rstat_free_pair(struct stat_pair *pair)
{
	struct host *host = pair->memcg->host;
	struct stat_cpu *c = &stat_of(host)->cpus[pair->cpu];

	if (pair->updated_next)
		unlink_pair(pair);
	updated_ranks_drop(pair);
	for (struct stat_pair **link = &c->queued; pair->queued; link = &(*link)->queued_next)
		if (*link == pair) {
			*link = pair->queued_next;
			pair->queued = false;
		}
	if (c->last == pair)
		c->last = NULL;
	table_remove(c, pair);
	for (uint32_t node = 0; node < host->nr_nodes; node++)
		if (pair->nodes[node])
			sim_free(host->sim, pair->nodes[node], sizeof(struct node_delta));
	sim_free(host->sim, pair, sizeof *pair + host->nr_nodes * sizeof(struct node_delta *));
}

/* ---- taking in ---- */

static void take_in_nodes(struct stat_pair *pair)
{
	struct memcg *m = pair->memcg, *parent = m->parent;
	struct host *host = m->host;

	for (uint32_t node = 0; node < host->nr_nodes; node++) {
		struct node_delta *d = pair->nodes[node];
		struct node_stat *to = m->stat->nodes[node], *up = parent ? parent->stat->nodes[node] : NULL;
		uint64_t set = (d ? d->changed : 0) | (to ? to->pending_set : 0);

		if (!set)
			continue;
		if (!to)
			to = m->stat->nodes[node] = sim_alloc(host->sim, sizeof *to);
		if (!up && parent)
			up = parent->stat->nodes[node] = sim_alloc(host->sim, sizeof *up);
		for (uint64_t left = set; left; left &= left - 1) {
			int i = __builtin_ctzll(left);
			int64_t delta = to->pending[i] + (d ? d->of[i] : 0);

			to->pending[i] = 0;
			to->value[i] += delta;
			if (up)
				up->pending[i] += delta;
			if (d) {
				to->local[i] += d->of[i];
				d->of[i] = 0;
			}
		}
		to->pending_set = 0;
		if (d)
			d->changed = 0;
		if (up)
			up->pending_set |= set;
	}
}

void rstat_take_in(struct stat_state *st, struct stat_pair *pair)
{
	struct memcg_stat *s = pair->memcg->stat;
	struct memcg *parent = pair->memcg->parent;
	uint64_t set = pair->changed | s->pending_set;
	uint64_t absolute = pair->absolute + s->pending_absolute;

	for (uint64_t left = set; left; left &= left - 1) {
		int i = __builtin_ctzll(left);
		int64_t delta = s->pending[i] + pair->delta[i];

		s->pending[i] = 0;
		s->local[i] += pair->delta[i];
		pair->delta[i] = 0;
		s->value[i] += delta;
		if (parent)
			parent->stat->pending[i] += delta;
	}
	s->pending_set = pair->changed = 0;
	s->unflushed -= absolute;
	s->pending_absolute = pair->absolute = 0;
	if (parent) {
		parent->stat->pending_set |= set;
		parent->stat->pending_absolute += absolute;
	}
	take_in_nodes(pair);
	pair->popped = false;
	st->count.pairs++;
}

/* Lines of the block that its CPU has written since it was flushed last. */
static uint32_t lines_written(const struct stat_pair *pair)
{
	const uint64_t line = (1u << SLOTS_PER_LINE) - 1;
	uint32_t lines = 0, nr_nodes = pair->memcg->host->nr_nodes;

	for (uint64_t left = pair->changed; left; left >>= SLOTS_PER_LINE)
		lines += (left & line) > 0;
	for (uint32_t node = 0; node < nr_nodes; node++)
		for (uint64_t left = pair->nodes[node] ? pair->nodes[node]->changed : 0; left;
		     left >>= SLOTS_PER_LINE)
			lines += (left & line) > 0;
	return lines;
}

/*
 * The counters lie in the caches of the CPU that wrote them, and all the lines have to come from there, as in
 * the measurement behind flush_line. Only what was written since has to if the same CPU flushed the pair last
 * and (where the machine's caches have sizes) still has the rest; what it flushes passes through its caches.
 */
sim_time_t rstat_pair_cost(struct task *t, struct stat_pair *pair)
{
	const struct host *host = pair->memcg->host;
	const struct stat_state *st = stat_of(host);
	sim_time_t way = machine_transfer(host->machine, pair->cpu, t->cpu->id);
	uint32_t lines = st->pair_lines, near = 0;
	sim_time_t near_cost = 0;

	if (t->cpu->caches) {
		near_cost = line_cost_near(t, &pair->near_flush);
		near = pair->flusher == t->cpu->id + 1 ? lines - lines_written(pair) : 0;
		cache_stream(t, (uint64_t)lines * LINE_BYTES);
	}
	pair->flusher = t->cpu->id + 1;
	return st->pair_cost + near * near_cost +
	       (lines - near) * host->costs->flush_line * way / host->machine->line_socket;
}

static void flush_pair(struct task *t, struct flush *f, struct stat_pair *pair)
{
	struct stat_state *st = stat_of(pair->memcg->host);
	sim_time_t cost = rstat_pair_cost(t, pair);

	rstat_take_in(st, pair);
	if (st->update->flushed)
		st->update->flushed(t, pair);
	f->pairs++;
	cpu_work(t, cost);
	task_sync(t);
}

/* ---- flushing ---- */

void rstat_flush_cpu(struct task *t, struct flush *f, struct memcg *root, uint32_t cpu)
{
	struct stat_state *st = stat_of(root->host);
	struct stat_cpu *c = &st->cpus[cpu];
	struct stat_pair *pos = NULL, *top;

	st->updated->begin(t, c);
	cpu_defer(t, root->host->costs->flush_cpu);
	st->count.cpu_steps++;
	top = rstat_pair_find(root->host, cpu, root);
	while (top && (pos = pop_updated(t, pos, top)))
		flush_pair(t, f, pos);
	st->updated->end(t, c);
}

void rstat_flush_cpu_listed(struct task *t, struct flush *f, struct memcg *root, uint32_t cpu)
{
	struct stat_state *st = stat_of(root->host);
	struct stat_cpu *c = &st->cpus[cpu];
	struct stat_pair *pos = NULL, *top, *first = NULL, **last = &first;

	st->updated->begin(t, c);
	cpu_defer(t, root->host->costs->flush_cpu);
	st->count.cpu_steps++;
	top = rstat_pair_find(root->host, cpu, root);
	while (top && (pos = pop_updated(t, pos, top))) {
		*last = pos;
		last = &pos->flush_next;
	}
	*last = NULL;
	st->updated->end(t, c);
	while ((pos = first)) {
		first = pos->flush_next;
		flush_pair(t, f, pos);
	}
}

void rstat_flush(struct task *t, struct flush *f, struct memcg *root, bool may_sleep)
{
	struct stat_state *st = stat_of(root->host);

	task_sync(t);
	sim_time_t start = t->clock;

	st->count.flushes++;
	f->flushes++;
	bool done = st->lock->flush(t, f, root, may_sleep);

	task_sync(t);
	if (!done)
		return;
	if (start > root->stat->flushed_at)
		root->stat->flushed_at = start;
	flush_metrics_add(root->host, f, root, start, t->clock);
}
