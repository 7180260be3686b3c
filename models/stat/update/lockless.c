/*
 * lockless.c - rstat_updated: the updater pushes its block on a list of its CPU, the flusher builds the
 * tree.
 *
 * css_rstat_updated() from Linux 6.17 on (36df6e3dbd7e). A block that is queued already needs nothing; else
 * one compare-and-swap claims it and one pushes it: O(1) whatever the depth, no lock, no interrupts off.
 * Both words belong to this CPU, so neither costs a transfer. The flusher, under its subsystem's lock,
 * takes the whole list and links what is on it.
 */
#include "models/stat/stat_impl.h"

static void updated(struct task *t, struct stat_pair *pair)
{
	const struct host *host = pair->memcg->host;
	struct stat_cpu *c = &stat_of(host)->cpus[pair->cpu];

	cpu_defer(t, host->costs->rstat_check);
	if (pair->queued)
		return;
	shared_step(t);
	pair->queued = true;
	pair->queued_next = c->queued;
	c->queued = pair;
	cpu_defer(t, 2 * host->machine->atomic);
}

static void begin(struct task *t, struct stat_cpu *c)
{
	task_sync(t);
	while (c->queued) {
		struct stat_pair *pair = c->queued;

		c->queued = pair->queued_next;
		pair->queued = false;
		cpu_defer(t, rstat_link(pair) * pair->memcg->host->costs->rstat_link);
	}
}

static void end(struct task *t, struct stat_cpu *c)
{
	(void)t;
	(void)c;
}

static const struct rstat_updated_ops ops = { .updated = updated, .begin = begin, .end = end };

MODULE(rstat_lockless) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "rstat_updated",
	.name = "lockless",
	.help = "pushed on a lock-less list of the CPU, from which the flusher builds the tree",
	.source = "Linux 6.17+, css_rstat_updated(), 36df6e3dbd7e",
	.ops = &ops,
};
