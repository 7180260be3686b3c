/*
 * autoscaler.c - a daemon that gives a cgroup more memory when it needs more: by the alarm of memory.high, or
 * by polling.
 *
 * Polling compares the mean of the readings of the last `window` with `threshold` of memory.high; the request
 * is served after `delay`, when memory.high and memory.max go up by `step`. What is used meanwhile, beyond
 * the threshold, is the overshoot. The alarm has none to speak of, because the kernel sends it as it begins
 * to throttle: between the event and the new limit the tasks stand still. After the autoscaling of database
 * VMs, which went from the one to the other.
 */
#include <math.h>

#include "models/cgroup/options.h"
#include "models/workload/watch.h"
#include "sim/results/record.h"
#include "sim/stats/histogram.h"

#define MOST_READINGS 1024

enum { BY_POLL, BY_EVENT };

struct autoscaler {
	const char *watch;
	int number, reading;
	double threshold;
	sim_time_t interval, window;
	struct dist delay;
	uint64_t step;
};

static const struct enum_name readings[] = {
	{ "poll", BY_POLL, "a file every `interval`, and the mean over `window`" },
	{ "event", BY_EVENT, "memory.events: `high` has been passed" },
	{ NULL, 0, NULL },
};

static const struct option rows[] = {
	OPTION(struct autoscaler, watch, OPT_STRING, .required = true,
	       .help = "cgroup that gets more; it needs a memory.high"),
	OPTION(struct autoscaler, reading, OPT_ENUM, .names = readings, .fallback = "poll",
	       .help = "how it learns that more is needed"),
	OPTION(struct autoscaler, number, OPT_ENUM, .names = watch_numbers, .fallback = "anon",
	       .help = "what is polled"),
	OPTION(struct autoscaler, threshold, OPT_RATIO, .fallback = "75%", .min = "0", .max = "1",
	       .help = "share of memory.high above which polling asks for more"),
	OPTION(struct autoscaler, interval, OPT_DURATION, .fallback = "100ms", .min = "1ms",
	       .help = "between two readings", .with = "reading", .with_value = "poll"),
	OPTION(struct autoscaler, window, OPT_DURATION, .fallback = "500ms",
	       .help = "time over which readings are averaged", .with = "reading", .with_value = "poll"),
	OPTION(struct autoscaler, delay, OPT_DIST_DURATION, .fallback = "1s",
	       .help = "from the request to the new limit"),
	OPTION(struct autoscaler, step, OPT_BYTES, .fallback = "1GiB", .min = "4KiB",
	       .help = "by which memory.high and memory.max are raised"),
};
static const struct option_table options = OPTION_TABLE("autoscaler", struct autoscaler, rows);

enum { RAISES, DETECTED, SERVED };

static const struct metric metrics[] = {
	[RAISES] = { "autoscaler.raises", "1", METRIC_COUNTER, "times that a limit was raised" },
	[DETECTED] = { "autoscaler.overshoot", "pages", METRIC_DISTRIBUTION,
		       "what was truly used beyond the threshold when it was noticed" },
	[SERVED] = { "autoscaler.overshoot_served", "pages", METRIC_DISTRIBUTION,
		     "the same when the limit was raised" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(autoscaler_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "autoscaler",
	.help = "what autoscalers noticed, and when",
	.ops = &table,
};

struct scaler {
	const struct autoscaler *o;
	struct watched watched;
	struct decider *trigger;
	struct histogram *detected, *served;
	struct memcg_watcher events;
	struct stream delays;
	double readings[MOST_READINGS];
	uint32_t window, nr, next; /* readings in the window; there so far; where the next goes */
	uint64_t raises;
};

static uint64_t readings_in(const struct autoscaler *o)
{
	return o->window < o->interval ? 1 : o->window / o->interval;
}

static void check(const struct scenario *s, const struct task_options *task, const void *own,
		  struct complaints *c)
{
	const struct autoscaler *o = own;

	(void)task;
	cgroup_check_pattern(s, o->watch, own, "watch", c);
	if (readings_in(o) > MOST_READINGS)
		complain(c, option_where(own, "window"), "window: more than %d readings", MOST_READINGS);
	if (o->number == WATCH_PRESSURE || o->number == WATCH_PGSCAN)
		complain(c, option_where(own, "number"), "number: has to be an amount of memory");
}

static void prepare(struct workload_task *w)
{
	struct scaler *x = sim_alloc(w->host->sim, sizeof *x);
	const struct autoscaler *o = w->own;
	char name[256];

	snprintf(name, sizeof name, "trigger:%s", w->label);
	x->o = o;
	x->window = (uint32_t)readings_in(o);
	watch_init(&x->watched, memcg_find(w->host, o->watch));
	x->trigger = decider_create(w->host, arena_strdup(sim_arena(w->host->sim), name));
	x->detected = histogram_create(sim_arena(w->host->sim));
	x->served = histogram_create(sim_arena(w->host->sim));
	stream_init(&x->delays, sim_seed(w->host->sim), w->name, "delay");
	w->state = x;
}

static double threshold(const struct scaler *x)
{
	return x->o->threshold * (double)x->watched.memcg->memory.high;
}

static double mean(const struct scaler *x)
{
	double sum = 0;

	for (uint32_t i = 0; i < x->nr; i++)
		sum += x->readings[i];
	return sum / x->nr;
}

/* A reading more; true when the mean of a whole window is above the threshold. */
static bool poll(struct task *t, struct scaler *x)
{
	double truth, seen;

	watch_read(t, &x->watched, x->o->number);
	x->readings[x->next] = x->watched.seen;
	x->next = (x->next + 1) % x->window;
	x->nr += x->nr < x->window;
	task_sync(t);
	seen = mean(x);
	truth = watch_truth(t, &x->watched, x->o->number);
	decider_taken(x->trigger, seen > threshold(x), truth > threshold(x),
		      watch_off(seen, truth, x->o->number), watch_age(t, &x->watched));
	return x->nr == x->window && seen > threshold(x);
}

static void wait_for_event(struct task *t, struct scaler *x)
{
	task_sync(t);
	while (!x->events.raised) {
		task_block(t);
		task_sync(t);
	}
	x->events.raised = false;
}

static void note_overshoot(const struct task *t, struct scaler *x, struct histogram *h)
{
	double over = watch_truth(t, &x->watched, x->o->number) - threshold(x);

	histogram_add(h, over > 0 ? (uint64_t)over : 0, 1);
}

static void raise_limit(struct task *t, struct scaler *x)
{
	struct page_counter *c = &x->watched.memcg->memory;
	uint64_t step = x->o->step / PAGE_SIZE;

	note_overshoot(t, x, x->detected);
	task_sleep(t, (sim_time_t)fmin(dist_draw(&x->o->delay, &x->delays), DIST_LARGEST));
	task_sync(t);
	if (!watch_exists(host_of(t), &x->watched))
		return;
	note_overshoot(t, x, x->served);
	if (c->max != COUNTER_NO_MAX)
		c->max += step;
	c->high += step;
	x->raises++;
	x->nr = x->next = 0;
	x->events.raised = false;
}

static void run(struct task *t, struct workload_task *w)
{
	struct scaler *x = w->state;

	task_sync(t);
	if (x->watched.memcg->memory.high == COUNTER_NO_MAX) {
		sim_fail(t->sim, "%s: %s has no memory.high that could be raised", w->label,
			 x->watched.memcg->path);
		return;
	}
	if (x->o->reading == BY_EVENT)
		memcg_watch_events(&x->events, x->watched.memcg, t);
	for (;;) {
		if (x->o->reading == BY_EVENT)
			wait_for_event(t, x);
		else
			task_sleep(t, x->o->interval);
		task_sync(t);
		if (task_killed(t) || !watch_exists(w->host, &x->watched))
			break;
		if (x->o->reading == BY_EVENT || poll(t, x)) {
			task_sync(t);
			raise_limit(t, x);
			w->ops++;
		}
	}
}

static void finish(struct host *host, const struct module *self)
{
	uint32_t nr;
	const struct workload_task *tasks = workload_tasks(host, &nr);
	struct record *r = host->run->record;

	for (uint32_t i = 0; i < nr; i++) {
		const struct scaler *x = tasks[i].state;

		if (!workload_is(&tasks[i], self))
			continue;
		record_summary(r, &metrics[RAISES], tasks[i].label, (double)x->raises);
		if (!x->raises)
			continue;
		record_histogram(r, &metrics[DETECTED], tasks[i].label, x->detected);
		record_histogram(r, &metrics[SERVED], tasks[i].label, x->served);
	}
}

static const struct workload_ops ops = { .check = check, .prepare = prepare, .run = run, .finish = finish };

MODULE(autoscaler) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "autoscaler",
	.help = "raises the limits of a cgroup that needs more memory; task.ops counts how often",
	.source = "autoscaling of database VMs: the alarm of memory.high, later polling",
	.options = &options,
	.ops = &ops,
};
