/*
 * walk.c - stat_update: per-CPU counters and nothing else; who reads adds them all up.
 *
 * Linux 4.12 and its kin: an update is one add to the CPU's own counter, and nobody is told. A read visits
 * every cgroup of the subtree, every item, and every possible CPU (tree_stat()), without giving way. It is
 * exact, and as long as the tree is large.
 */
#include "models/stat/summed.h"

static void updated(struct task *t, struct stat_pair *pair, enum stat_item item, uint64_t size)
{
	(void)t;
	(void)pair;
	(void)item;
	(void)size;
}

static void sum(struct task *t, struct flush *f)
{
	struct host *host = f->memcg->host;
	const struct stat_state *st = stat_of(host);
	/* Its lines are in no cache of the reader. */
	sim_time_t untouched = st->pair_cost + st->pair_lines * host->costs->flush_line;

	for (struct memcg *m = NULL; (m = summed_next(f->memcg, m));) {
		uint32_t touched = 0;

		task_sync(t);
		for (struct stat_pair *pair = m->stat->pairs; pair; pair = pair->of_memcg, touched++) {
			cpu_defer(t, rstat_pair_cost(t, pair));
			rstat_take_in(stat_of(host), pair);
			f->pairs++;
		}
		cpu_defer(t, (host->nr_possible - touched) * untouched);
	}
	task_sync(t);
}

static const struct stat_update_ops ops = { .updated = updated, .sum = sum };

MODULE(walk) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "stat_update",
	.name = "walk",
	.help = "per-CPU counters; a reader adds up those of every cgroup below and every CPU",
	.source = "Linux 4.12, tree_stat()",
	.ops = &ops,
};
