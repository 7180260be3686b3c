/*
 * shrinker.c - the core that all slab shrinkers share, after do_shrink_slab(), shrink_slab_memcg() and
 * set_shrinker_bit() of mm/vmscan.c, Linux 6.1 (mm/shrinker.c since 6.7).
 *
 * How much to scan comes from the priority, or is half of what is freeable for objects that cost nothing to
 * make again (seeks 0). It is done in batches; what is less than a batch, and less than all, is deferred: it
 * is added to the next call's, shifted by that call's priority. So a small excess survives until it has grown
 * to a batch, or until reclaim gets to low priorities.
 *
 * Worked example: 300 freeable, nothing deferred, priority 12, seeks 0: 150 are due, one batch of 128 is
 * scanned, 22 are deferred. The next call finds 172 freeable: 86 are due and (22 >> 12) = 0 of the deferred;
 * nothing is scanned, and 108 are deferred. Never is more than twice of what is freeable scanned or deferred.
 *
 * Left out: shrinker_rwsem, which up to 6.6 reclaim only tries, and gives up when a file system is mounted or
 * a cgroup made at that moment.
 */
#include <string.h>

#include "models/list_lru/list_lru_impl.h"

/* Of one memcg on one node. */
struct shrinker_info {
	uint64_t *map;      /* a bit for each shrinker */
	uint64_t *deferred; /* nr_deferred, by shrinker */
	uint32_t nr;        /* shrinkers that there is room for, a multiple of 64 */
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t do_shrink_slab(struct task *t, const struct shrinker *s, struct memcg *m, uint32_t node,
			int priority, uint64_t *deferred)
{
	uint64_t batch = s->batch ? s->batch : SHRINK_BATCH;
	uint64_t freeable = s->count(t, s, m, node);
	uint64_t before, due, total, scanned = 0;

	if (!freeable || freeable == SHRINK_EMPTY)
		return freeable;
	before = *deferred;
	*deferred = 0; /* others who come meanwhile do not do it again */
	due = s->seeks ? (freeable >> priority) * 4 / s->seeks : freeable / 2;
	total = least((before >> priority) + due, 2 * freeable);
	while (total >= batch || total >= freeable) {
		uint64_t nr = least(batch, total);

		s->scan(t, s, m, node, nr);
		total -= nr;
		scanned += nr;
		cond_resched(t);
	}
	/* What was done may be more than what is due now. */
	due += before;
	*deferred += least(due > scanned ? due - scanned : 0, 2 * freeable);
	return scanned;
}

/* ---- bits and debts of a memcg ---- */

void shrinker_register(struct host *host, struct shrinker *s)
{
	struct list_lru_state *state = list_lru_state(host);

	if (state->nr_shrinkers == state->shrinker_capacity) {
		uint32_t capacity = state->shrinker_capacity ? 2 * state->shrinker_capacity : 64;
		struct shrinker **shrinkers = sim_alloc(host->sim, capacity * sizeof(*shrinkers));

		if (state->nr_shrinkers) {
			memcpy(shrinkers, state->shrinkers, state->nr_shrinkers * sizeof(*shrinkers));
			sim_free(host->sim, state->shrinkers, state->shrinker_capacity * sizeof(*shrinkers));
		}
		state->shrinkers = shrinkers;
		state->shrinker_capacity = capacity;
	}
	s->id = state->nr_shrinkers;
	state->shrinkers[state->nr_shrinkers++] = s;
}

static void info_free(struct host *host, struct shrinker_info *info)
{
	if (!info->nr)
		return;
	sim_free(host->sim, info->map, info->nr / 64 * sizeof *info->map);
	sim_free(host->sim, info->deferred, info->nr * sizeof *info->deferred);
	*info = (struct shrinker_info){ 0 };
}

/* With room for all shrinkers that there are now. */
static struct shrinker_info *info_of(struct memcg *m, uint32_t node)
{
	struct host *host = m->host;
	uint32_t nr = list_lru_state(host)->shrinker_capacity;

	if (!m->shrinkers)
		m->shrinkers = sim_alloc(host->sim, host->nr_nodes * sizeof *m->shrinkers);
	struct shrinker_info *info = &m->shrinkers[node], old = *info;

	if (info->nr >= nr)
		return info;
	info->map = sim_alloc(host->sim, nr / 64 * sizeof *info->map);
	info->deferred = sim_alloc(host->sim, nr * sizeof *info->deferred);
	info->nr = nr;
	if (old.nr) {
		memcpy(info->map, old.map, old.nr / 64 * sizeof *info->map);
		memcpy(info->deferred, old.deferred, old.nr * sizeof *info->deferred);
		info_free(host, &old);
	}
	return info;
}

void set_shrinker_bit(struct memcg *m, uint32_t node, const struct shrinker *s)
{
	if (!memcg_is_root(m))
		info_of(m, node)->map[s->id / 64] |= (uint64_t)1 << s->id % 64;
}

static void clear_shrinker_bit(struct memcg *m, uint32_t node, const struct shrinker *s)
{
	info_of(m, node)->map[s->id / 64] &= ~((uint64_t)1 << s->id % 64);
}

bool shrinker_bit(const struct memcg *m, uint32_t node, const struct shrinker *s)
{
	const struct shrinker_info *info = m->shrinkers ? &m->shrinkers[node] : NULL;

	return info && s->id < info->nr && info->map[s->id / 64] >> s->id % 64 & 1;
}

void reparent_shrinker_deferred(struct memcg *m)
{
	struct host *host = m->host;

	for (uint32_t node = 0; m->shrinkers && node < host->nr_nodes; node++) {
		struct shrinker_info *info = &m->shrinkers[node];

		for (uint32_t i = 0; i < info->nr; i++)
			if (info->deferred[i])
				info_of(m->parent, node)->deferred[i] += info->deferred[i];
		info_free(host, info);
	}
	if (m->shrinkers)
		sim_free(host->sim, m->shrinkers, host->nr_nodes * sizeof *m->shrinkers);
	m->shrinkers = NULL;
}

/* ---- what reclaim calls ---- */

/*
 * The bit is cleared when there is nothing, and looked at once more: who put an item on a list meanwhile may
 * have seen it set.
 */
static void shrink_one(struct task *t, const struct shrinker *s, struct memcg *m, uint32_t node, int priority)
{
	if (do_shrink_slab(t, s, m, node, priority, &info_of(m, node)->deferred[s->id]) != SHRINK_EMPTY)
		return;
	task_sync(t);
	clear_shrinker_bit(m, node, s);
	if (do_shrink_slab(t, s, m, node, priority, &info_of(m, node)->deferred[s->id]) == SHRINK_EMPTY)
		return;
	task_sync(t);
	set_shrinker_bit(m, node, s);
}

void shrink_slab(struct task *t, struct memcg *m, uint32_t node, int priority)
{
	const struct list_lru_state *state = list_lru_state(m->host);

	task_sync(t);
	if (m->kmemcg) /* offline: what it had is its parent's */
		return;
	for (uint32_t i = 0; i < state->nr_shrinkers; i++) {
		const struct shrinker *s = state->shrinkers[i];

		if (memcg_is_root(m))
			do_shrink_slab(t, s, m, node, priority, &info_of(m, node)->deferred[i]);
		else if (shrinker_bit(m, node, s))
			shrink_one(t, s, m, node, priority);
		task_sync(t);
	}
}
