/*
 * limit.c - a new memory.max for a cgroup that exists: memory_max_write() of mm/memcontrol.c, Linux 6.1.
 *
 * The limit holds from the first moment; what is above it is then taken back: stocks are drained once,
 * pages reclaimed until 16 calls got nothing, and then tasks killed. When nobody is left to kill, usage
 * stays above.
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
