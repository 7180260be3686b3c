/*
 * packet_probe.c - packets that arrive at a CPU at random times, and how late they are looked at.
 *
 * Under load the network's soft interrupts run in a thread of their CPU (ksoftirqd), which cannot take the
 * CPU from a system call in a kernel that is not preemptible. So a long read of a statistics file delays
 * every packet of the CPU on which it happens to run. Arrivals are a Poisson process and wait for nobody:
 * what has arrived is handled in one go when the thread gets the CPU. Task i stays on CPU i.
 */
#include <gsl/gsl_randist.h>

#include "models/workload/workload.h"
#include "sim/module.h"
#include "sim/results/record.h"
#include "sim/stats/histogram.h"

struct packet_probe {
	double rate;
	sim_time_t late, work;
};

static const struct option rows[] = {
	OPTION(struct packet_probe, rate, OPT_RATE, .fallback = "1K/s", .min = "0", .above_min = true,
	       .help = "packets a second for each CPU"),
	OPTION(struct packet_probe, late, OPT_DURATION, .fallback = "1ms",
	       .help = "a packet that waits longer is late"),
	OPTION(struct packet_probe, work, OPT_DURATION, .fallback = "2us", .help = "CPU time for a packet"),
};
static const struct option_table options = OPTION_TABLE("packet_probe", struct packet_probe, rows);

enum { WAIT, LATE, SHARE };

static const struct metric metrics[] = {
	[WAIT] = { "packet.wait", "ns", METRIC_DISTRIBUTION, "from a packet's arrival to its turn" },
	[LATE] = { "packet.late", "1", METRIC_COUNTER, "packets that waited longer than `late`" },
	[SHARE] = { "packet.late_share", "1", METRIC_RATIO, "of all" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(packet_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "packet",
	.help = "packets, and how long they wait for their CPU",
	.ops = &table,
};

struct queue {
	struct histogram *wait;
	uint64_t late;
};

static void prepare(struct workload_task *w)
{
	struct queue *q = sim_alloc(w->host->sim, sizeof *q);

	q->wait = histogram_create(sim_arena(w->host->sim));
	w->state = q;
}

static void handle(struct task *t, struct workload_task *w, sim_time_t arrival)
{
	const struct packet_probe *o = w->own;
	struct queue *q = w->state;
	sim_time_t wait = t->clock - arrival;

	if (w->host->run->measuring) {
		histogram_add(q->wait, wait / SIM_NS, 1);
		q->late += wait > o->late;
	}
	w->ops++;
	cpu_work(t, o->work);
}

static void run(struct task *t, struct workload_task *w)
{
	const struct packet_probe *o = w->own;
	struct stream arrivals;
	sim_time_t next;

	stream_init(&arrivals, sim_seed(t->sim), w->name, "arrivals");
	task_pin(t, w->index % w->host->nr_cpus);
	next = t->clock;
	for (;;) {
		next += (sim_time_t)gsl_ran_exponential(&arrivals.rng, (double)SIM_SEC / o->rate);
		if (next > t->clock)
			task_sleep(t, next - t->clock);
		else
			cond_resched(t);
		handle(t, w, next);
	}
}

static void finish(struct host *host, const struct module *self)
{
	uint32_t nr;
	const struct workload_task *tasks = workload_tasks(host, &nr);
	struct histogram all;
	const char *label = NULL;
	uint64_t late = 0;

	histogram_init(&all, sim_arena(host->sim));
	for (uint32_t i = 0; i < nr; i++)
		if (workload_is(&tasks[i], self)) {
			const struct queue *q = tasks[i].state;

			histogram_merge(&all, q->wait);
			late += q->late;
			label = tasks[i].label;
		}
	if (!all.count)
		return;
	record_histogram(host->run->record, &metrics[WAIT], label, &all);
	record_summary(host->run->record, &metrics[LATE], label, (double)late);
	record_summary(host->run->record, &metrics[SHARE], label, (double)late / (double)all.count);
}

static const struct workload_ops ops = { .prepare = prepare, .run = run, .finish = finish };

MODULE(packet_probe) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "packet_probe",
	.help = "packets at random times on every CPU, and how late they are handled; task.ops counts them",
	.source = "stalls of packet processing by reads of memory.stat",
	.options = &options,
	.ops = &ops,
};
