/*
 * shrinker.c - the core that all slab shrinkers share, after do_shrink_slab() of mm/vmscan.c, Linux 6.1
 * (mm/shrinker.c since 6.7); and shadow nodes as the shrinker that there is.
 *
 * How much to scan comes from the priority, or is half of what is freeable for objects that cost nothing to
 * make again (seeks 0). It is done in batches; what is less than a batch, and less than all, is deferred: it
 * is added to the next call's, shifted by that call's priority. So a small excess survives until it has grown
 * to a batch, or until reclaim gets to low priorities.
 *
 * Worked example: 300 freeable, nothing deferred, priority 12, seeks 0: 150 are due, one batch of 128 is
 * scanned, 22 are deferred. The next call finds 172 freeable: 86 are due and (22 >> 12) = 0 of the deferred;
 * nothing is scanned, and 108 are deferred. Never is more than twice of what is freeable scanned or deferred.
 */
#include "models/workingset/workingset_impl.h"

#define SHRINK_BATCH 128u

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void do_shrink_slab(struct task *t, const struct shrinker *s, struct memcg *m, uint32_t node, int priority,
		    uint64_t *deferred)
{
	uint64_t batch = s->batch ? s->batch : SHRINK_BATCH;
	uint64_t freeable = s->count(t, m, node);
	uint64_t before, due, total, scanned = 0;

	if (!freeable)
		return;
	before = *deferred;
	*deferred = 0; /* others who come meanwhile do not do it again */
	due = s->seeks ? (freeable >> priority) * 4 / s->seeks : freeable / 2;
	total = least((before >> priority) + due, 2 * freeable);
	while (total >= batch || total >= freeable) {
		uint64_t nr = least(batch, total);

		s->scan(t, m, node, nr);
		total -= nr;
		scanned += nr;
		cond_resched(t);
	}
	/* What was done may be more than what is due now. */
	due += before;
	*deferred += least(due > scanned ? due - scanned : 0, 2 * freeable);
}

/* ---- shadow nodes ---- */

static uint64_t count_shadow_nodes(struct task *t, struct memcg *m, uint32_t node)
{
	uint64_t nodes = shadow_list(m->host, m->id, node)->nr;
	uint64_t most;

	if (!nodes)
		return 0;
	most = workingset_of(m->host)->budget->pages(t, m, node) / 8;
	return nodes > most ? nodes - most : 0;
}

static const struct shrinker shadow_shrinker = {
	.name = "mm-shadow",
	.seeks = 0,
	.count = count_shadow_nodes,
	.scan = shadow_nodes_scan,
};

void shrink_slab(struct task *t, struct memcg *m, uint32_t node, int priority)
{
	task_sync(t);
	const struct shadow_list *list = shadow_list_find(m->host, m->id, node);

	if (!list || !list->nr) /* its bit in the memcg's map of shrinkers is clear */
		return;
	do_shrink_slab(t, &shadow_shrinker, m, node, priority, &shadow_list(m->host, m->id, node)->deferred);
	task_sync(t);
}
