/*
 * limit.c - new limits and protection for a cgroup that exists: memory_max_write(), memory_high_write(),
 * memory_low_write(), memory_min_write() and swap_max_write() of mm/memcontrol.c, Linux 6.1.
 *
 * A limit holds from the first moment; what is above it is then taken back by the writer: stocks are drained
 * once, pages reclaimed until 17 calls got nothing. With memory.high it ends there. With memory.max 16 such
 * calls are followed by the OOM killer; when nobody is left to kill, usage stays above.
 */
#include "models/cgroup/memcg.h"
#include "models/reclaim/reclaim.h"

void memcg_set_max(struct task *t, struct memcg *m, uint64_t max)
{
	struct page_counter *c = &m->memory;
	uint32_t retries = MAX_RECLAIM_RETRIES;
	bool drained = false, hope = true;

	task_sync(t);
	line_rmw(t, &c->line);
	c->max = max;
	c->forced = c->usage > max ? c->usage : 0;
	while (hope && c->usage > max && !task_killed(t)) {
		if (!drained) {
			memcg_drain_all_stock(t, m);
			drained = true;
		} else if (retries) {
			retries -= !reclaim_memcg(t, m, c->usage - max, true, false);
		} else {
			hope = memcg_out_of_memory(t, m, 0);
		}
		task_sync(t);
	}
}

void memcg_set_high(struct task *t, struct memcg *m, uint64_t high)
{
	struct page_counter *c = &m->memory;
	uint32_t retries = MAX_RECLAIM_RETRIES;
	bool drained = false, hope = true;

	task_sync(t);
	c->high = high;
	while (hope && c->usage > high && !task_killed(t)) {
		if (!drained) {
			memcg_drain_all_stock(t, m);
			drained = true;
		} else if (!reclaim_memcg(t, m, c->usage - high, true, false)) {
			hope = retries--;
		}
		task_sync(t);
	}
}

void memcg_set_low(struct task *t, struct memcg *m, uint64_t low)
{
	page_counter_protect(t, &m->memory, m->memory.min, low);
}

void memcg_set_min(struct task *t, struct memcg *m, uint64_t min)
{
	page_counter_protect(t, &m->memory, min, m->memory.low);
}

/* What is in swap already stays there: the limit stops further pages only. */
void memcg_set_swap_max(struct task *t, struct memcg *m, uint64_t max)
{
	task_sync(t);
	m->swap.max = max;
}
