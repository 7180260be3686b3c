/*
 * record_locks.c - a lock class in a record: its row of lock_stat and its distributions.
 *
 * As in the kernel's lock_stat, only contended acquisitions have waits; lock.acquire counts them all.
 */
#include "sim/module.h"
#include "sim/results/record_rows.h"

enum { LOCK_WAIT, LOCK_HOLD, LOCK_ACQUIRE, LOCK_WAITERS };

static const struct metric metrics[] = {
	[LOCK_WAIT] = { "lock.wait", "ns", METRIC_DISTRIBUTION,
			"wait of a contended acquisition, by lock class" },
	[LOCK_HOLD] = { "lock.hold", "ns", METRIC_DISTRIBUTION, "time a lock is held, by lock class" },
	[LOCK_ACQUIRE] = { "lock.acquire", "1", METRIC_COUNTER,
			   "acquisitions, contended or not, by lock class" },
	[LOCK_WAITERS] = { "lock.waiters", "1", METRIC_GAUGE,
			   "most tasks that waited at a time, by lock class; who holds it not counted" },
};

static const struct metric_table lock_metrics = { metrics, sizeof(metrics) / sizeof(metrics[0]) };

MODULE(lock_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "locks",
	.help = "what lock_stat keeps of each lock class",
	.ops = &lock_metrics,
};

static uint64_t whole_ns(sim_time_t t)
{
	return (t + SIM_NS / 2) / SIM_NS;
}

void record_lock(struct record *r, const struct lock_class *c)
{
	record_put_lock(r, &(struct lock_row){
				   .entity = record_entity(r, c->name),
				   .acquisitions = c->acquisitions,
				   .contended = c->contended,
				   .wait_total_ns = whole_ns(c->wait_total),
				   .wait_max_ns = whole_ns(c->wait_max),
				   .hold_total_ns = whole_ns(c->hold_total),
				   .hold_max_ns = whole_ns(c->hold_max),
			   });
	record_summary(r, &metrics[LOCK_ACQUIRE], c->name, (double)c->acquisitions);
	record_summary(r, &metrics[LOCK_WAITERS], c->name, c->most_waiting);
	record_histogram(r, &metrics[LOCK_WAIT], c->name, c->wait);
	record_histogram(r, &metrics[LOCK_HOLD], c->name, c->hold);
}
