/*
 * timer.c - a service that a timer of systemd starts again and again: a cgroup, a process that runs for a
 * moment in it, and its end.
 *
 * Each task is one timer. What the service reads as the first, its log or its data, stays in the page cache
 * and keeps the cgroup when that is removed, so that forty timers leave thousands of dying cgroups in a
 * day. `reuse_cgroup` is the remedy that was proposed for systemd (pull request 36827): the unit's cgroup
 * stays from one run to the next, and its charges find it alive.
 *
 * systemd lets a timer elapse within AccuracySec after its time, at an instant that is the machine's own,
 * so that those of one machine elapse together; here each draws the length of its next period.
 */
#include "models/workload/burst.h"
#include "sim/module.h"

struct timer_unit {
	struct dist period;
	bool reuse_cgroup;
	sim_time_t runtime;
	uint64_t runs;
	struct burst_options burst;
};

static const struct option rows[] = {
	OPTION(struct timer_unit, period, OPT_DIST_DURATION, .fallback = "15min",
	       .help = "from the start of a run to that of the next; a run that takes longer delays it"),
	OPTION(struct timer_unit, runtime, OPT_DURATION, .fallback = "1s",
	       .help = "of a run, beside what it does: it waits for a disk or a network"),
	OPTION(struct timer_unit, reuse_cgroup, OPT_BOOL, .fallback = "false",
	       .help = "the service's cgroup stays from one run to the next"),
	OPTION(struct timer_unit, runs, OPT_U64, .fallback = "0", .help = "ends after so many; 0: never"),
	BURST_OPTIONS(struct timer_unit, burst, "200", "256", "4", "20ms"),
};
static const struct option_table options = OPTION_TABLE("timer", struct timer_unit, rows);

static void prepare(struct workload_task *w)
{
	const struct timer_unit *o = w->own;

	burst_declare(w, &o->burst);
}

static void one_run(struct burst *b, const struct timer_unit *o, struct memcg *m, sim_time_t due)
{
	if (burst_begin(b, m) && burst_run_until(b, b->t->clock + o->runtime))
		burst_done(b, due);
	burst_end(b);
}

static void run(struct task *t, struct workload_task *w)
{
	const struct timer_unit *o = w->own;
	struct memcg *m = NULL;
	struct stream periods;
	struct burst b;

	burst_init(&b, t, w, &o->burst);
	stream_init(&periods, sim_seed(t->sim), w->name, "periods");
	for (uint64_t i = 0; !o->runs || i < o->runs; i++) {
		sim_time_t due = t->clock, next = due + (sim_time_t)dist_draw(&o->period, &periods);

		if (!m)
			m = burst_mkdir(&b, w->memcg, w->label, i);
		if (m)
			one_run(&b, o, m, due);
		if (m && !o->reuse_cgroup) {
			burst_rmdir(&b, m);
			m = NULL;
		}
		if (t->clock < next)
			task_sleep(t, next - t->clock);
	}
}

static bool ends(const void *own)
{
	return ((const struct timer_unit *)own)->runs;
}

static const struct workload_ops ops = {
	.ends = ends,
	.prepare = prepare,
	.run = run,
	.finish = burst_finish,
};

MODULE(timer) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "timer",
	.help = "starts a short-lived service, in a cgroup of its own, once a period; task.ops counts runs",
	.source = "systemd.timer(5); user case A04",
	.options = &options,
	.ops = &ops,
};
