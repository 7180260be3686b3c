/*
 * worker.c - the periodic flush, flush_memcg_stats_dwork() of mm/memcontrol.c.
 *
 * Deferrable delayed work on the unbound workqueue, which queues itself again FLUSH_TIME after it has
 * finished: the period is that, rounded up by the timer wheel, plus the wait for a CPU that is not idle,
 * plus the wait for a worker, plus the flush. It is no strict period, and nobody is told when it is late.
 */
#include <stddef.h>

#include "models/stat/stat_impl.h"

static sim_time_t period(const struct host *host)
{
	const struct flush_ops *flush = stat_of(host)->flush;

	return flush->period ? flush->period(host) : FLUSH_TIME;
}

static void flush_dwork(struct task *t, struct work *work)
{
	struct delayed_work *dw = (struct delayed_work *)(void *)((char *)work -
								  offsetof(struct delayed_work, work));
	struct host *host = host_of(t);

	stat_flush(t, host->cgroups->root, FLUSH_PERIODIC);
	task_sync(t);
	queue_delayed_work(t->sim, t->cpu->id, stat_of(host)->wq, dw, period(host));
}

void stat_start(struct host *host)
{
	struct stat_state *st = stat_of(host);

	if (period(host) == SIM_NEVER)
		return;
	st->wq = workqueue_create(host->sim, "events_unbound", true, 0);
	delayed_work_init(host->sim, &st->worker, true, flush_dwork);
	queue_delayed_work(host->sim, 0, st->wq, &st->worker, period(host));
}
