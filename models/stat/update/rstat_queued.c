/*
 * rstat_queued.c - stat_update: every so many updates on a CPU, a flush of everything is queued.
 *
 * Linux 5.15-rc1 (aa48e47e3906, 7e1c0d6f5820): an update of an lruvec's counter counts on its CPU, and each
 * 32nd queues the work that flushes the root. It bounds the error by CPUs x 32 pages, and it cost
 * will-it-scale a tenth of its page faults, so it was replaced by a flush in the refault path before 5.15
 * (1f828223b799). The price is the word that says whether the work is queued, which all CPUs write, and the
 * flushes themselves.
 */
#include "models/stat/stat_impl.h"

struct queued_options {
	uint32_t every;
};

struct queued {
	struct workqueue *wq;
	struct work work;
	struct line line; /* of the work's data word */
};

static const struct option rows[] = {
	OPTION(struct queued_options, every, OPT_U32, .fallback = "32", .min = "1", .max = "1M",
	       .help = "updates on a CPU between two requests", .source = "MEMCG_CHARGE_BATCH before 6.1"),
};
static const struct option_table options = OPTION_TABLE("rstat_queued", struct queued_options, rows);

static void flush_dwork(struct task *t, struct work *work)
{
	(void)work;
	stat_flush(t, host_of(t)->cgroups->root, FLUSH_PERIODIC);
}

static void updated(struct task *t, struct stat_pair *pair, enum stat_item item, uint64_t size)
{
	const struct host *host = pair->memcg->host;
	struct stat_state *st = stat_of(host);
	const struct queued_options *o = st->policy[AXIS_UPDATE].options;
	struct queued *q = st->policy[AXIS_UPDATE].state;
	struct stat_cpu *c = &st->cpus[pair->cpu];

	(void)size;
	if (item >= NR_LRUVEC_ITEMS)
		return;
	shared_step(t);
	if (++c->updates % o->every)
		return;
	if (!q->wq) {
		q->wq = workqueue_create(host->sim, "events_unbound", true, 0);
		work_init(&q->work, flush_dwork);
		line_init(&q->line);
	}
	line_touch_rmw(t, &q->line);
	queue_work_on(t->sim, t, t->cpu->id, q->wq, &q->work);
}

static const struct stat_update_ops ops = { .updated = updated };

MODULE(rstat_queued) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "stat_update",
	.name = "rstat_queued",
	.help = "every 32nd update on a CPU queues a flush of everything",
	.source = "Linux 5.15-rc1, aa48e47e3906",
	.options = &options,
	.ops = &ops,
	.state_size = sizeof(struct queued),
};
