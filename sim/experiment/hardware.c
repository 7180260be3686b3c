/*
 * hardware.c - locks, sections, CPU time. See hardware.h.
 *
 * Locks and section lengths are histograms that are emptied at the end of the warm-up; CPU time and switches
 * are running totals of the scheduler, so the difference to the end of the warm-up is taken instead.
 */
#include "sim/experiment/hardware.h"

#include "sim/hw/lock.h"
#include "sim/module.h"
#include "sim/results/summary.h"

/* clang-format off */
const struct metric hardware_metrics[HW_NR_METRICS] = {
	[HW_TIME_WALL] = { "time.wall", "ns", METRIC_GAUGE, "simulated time, warm-up excluded" },
	[HW_TIME_USER] = { "time.user", "ns", METRIC_COUNTER, "CPU time in user mode" },
	[HW_TIME_SYS] = { "time.sys", "ns", METRIC_COUNTER, "CPU time in the kernel, spinning included" },
	[HW_TIME_SPIN] = { "time.spin", "ns", METRIC_COUNTER, "CPU time spent spinning for a lock" },
	[HW_UTILISATION] = { "cpu.utilisation", "1", METRIC_RATIO, "share of time that CPUs were not idle" },
	[HW_SWITCHES] = { "ctxt", "1", METRIC_COUNTER, "context switches, as in /proc/stat" },
	[HW_IRQ_OFF] = { "irq_off", "ns", METRIC_DISTRIBUTION, "lengths of sections with interrupts off" },
	[HW_PREEMPT_OFF] = { "preempt_off", "ns", METRIC_DISTRIBUTION,
			     "lengths of sections with preemption off" },
};
/* clang-format on */

static const struct metric_table hardware_table = { .rows = hardware_metrics, .nr = HW_NR_METRICS };

MODULE(hardware_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "hardware",
	.help = "CPU time, sections with interrupts or preemption off",
	.ops = &hardware_table,
};

static const struct summary_row shown[] = {
	{ "utilisation of CPUs", "cpu.utilisation", "all", SUMMARY_MEAN, 100, "%", 1 },
	{ "CPU time in the kernel", "time.sys", "all", SUMMARY_MEAN, 1e-9, "s", 3 },
	{ "of that, spinning", "time.spin", "all", SUMMARY_MEAN, 1e-9, "s", 3 },
	{ "interrupts off, longest", "irq_off.max", "all", SUMMARY_MEAN, 1e-3, "us", 1 },
};
static const struct summary_table shown_table = { "CPUs", shown, sizeof(shown) / sizeof(shown[0]) };

MODULE(hardware_summary) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_SUMMARY,
	.name = "hardware",
	.help = "how busy CPUs were, and with what",
	.ops = &shown_table,
	.order = 900,
};

static sim_time_t busy_time(const struct sim *sim)
{
	const struct sched *sched = sim_sched(sim);
	sim_time_t busy = 0;

	for (uint32_t i = 0; i < sched->nr_cpus; i++)
		busy += cpu_busy(sim, &sched->cpus[i]);
	return busy;
}

static uint64_t switches(const struct sched *sched)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < sched->nr_cpus; i++)
		n += sched->cpus[i].switches;
	return n;
}

void hardware_measure(struct sim *sim, struct hardware_start *start)
{
	struct sched *sched = sim_sched(sim);

	lock_classes_reset(sim);
	histogram_reset(sched->irq_off);
	histogram_reset(sched->preempt_off);
	start->time = sim_now(sim);
	start->busy = busy_time(sim);
	start->switches = switches(sched);
	sched_clocks(sim, start->clocks);
}

static void summary(struct record *record, enum hardware_metric which, double value)
{
	record_summary(record, &hardware_metrics[which], "all", value);
}

static void record_time(const struct sim *sim, const struct hardware_start *start, struct record *record)
{
	const struct sched *sched = sim_sched(sim);
	sim_time_t clocks[NR_TASK_CLOCKS];
	sim_time_t wall = sim_now(sim) - start->time;

	sched_clocks(sim, clocks);
	for (int i = 0; i < NR_TASK_CLOCKS; i++)
		clocks[i] -= start->clocks[i];
	summary(record, HW_TIME_WALL, sim_nanoseconds(wall));
	summary(record, HW_TIME_USER, sim_nanoseconds(clocks[CLOCK_USER]));
	summary(record, HW_TIME_SYS, sim_nanoseconds(clocks[CLOCK_SYS] + clocks[CLOCK_SPIN]));
	summary(record, HW_TIME_SPIN, sim_nanoseconds(clocks[CLOCK_SPIN]));
	summary(record, HW_SWITCHES, (double)(switches(sched) - start->switches));
	if (wall)
		summary(record, HW_UTILISATION,
			(double)(busy_time(sim) - start->busy) / (double)wall / sched->nr_cpus);
}

void hardware_finish(const struct sim *sim, const struct hardware_start *start, struct record *record)
{
	const struct sched *sched = sim_sched(sim);

	record_time(sim, start, record);
	record_histogram(record, &hardware_metrics[HW_IRQ_OFF], "all", sched->irq_off);
	record_histogram(record, &hardware_metrics[HW_PREEMPT_OFF], "all", sched->preempt_off);
	for (const struct lock_class *c = lock_classes(sim); c; c = c->next)
		record_lock(record, c);
}
