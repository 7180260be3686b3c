/*
 * engine.c - how many steps of tasks the engine does in a second.
 *
 * The load is PHOLD's: every CPU has one task that does private work of exponentially distributed length and
 * then synchronises, for ever. So the pending set holds one entry a CPU, nothing is ever idle, and there is
 * nothing in a step but the engine: the heap and the switch of coroutines. The lengths are drawn before the
 * clock starts.
 */
#include <gsl/gsl_randist.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "sim/engine/random.h"
#include "sim/engine/xalloc.h"
#include "sim/hw/task.h"

#define NR_LENGTHS  4096 /* a power of two; small enough to stay in the nearest cache */
#define MEAN_LENGTH SIM_US
#define STEPS       10000000u
#define REPETITIONS 3

struct load {
	sim_time_t *lengths;
	uint64_t steps;
};

static void work(struct task *t, void *arg)
{
	struct load *load = arg;

	/* Each task has its own place in the table. */
	for (uint32_t i = t->id * 7919;; i++) {
		cpu_work(t, load->lengths[i % NR_LENGTHS]);
		task_sync(t);
		load->steps++;
	}
}

static double steps_per_second(struct load *load, uint32_t cpus)
{
	struct machine machine = { .cpus = cpus,
				   .nodes = 1,
				   .threads_per_core = 1,
				   .hz = 250,
				   .slice = 3 * SIM_MS,
				   .latency = 24 * SIM_MS };
	struct sim *sim = sim_create(&(struct sim_config){ .seed = 1 });

	sched_init(sim, &(struct sched_config){ .machine = &machine });
	for (uint32_t i = 0; i < cpus; i++)
		task_spawn(sim, &(struct task_attr){
					.name = "phold", .run = work, .arg = load, .cpu = (int32_t)i });
	sim_run(sim, 10 * MEAN_LENGTH);
	load->steps = 0;

	double began = bench_cpu_seconds();

	sim_run(sim, 10 * MEAN_LENGTH + STEPS / cpus * MEAN_LENGTH);
	double rate = (double)load->steps / (bench_cpu_seconds() - began);

	sim_destroy(sim);
	return rate;
}

void bench_engine(struct bench *b)
{
	/* clang-format off */
	static const struct { uint32_t cpus; double bar; } rows[] = {
		{ 1, 0 }, { 256, 20e6 }, { 1024, 0 }, { 4096, 10e6 }, { 16384, 0 },
	};
	/* clang-format on */
	struct load load = { .lengths = xcalloc(NR_LENGTHS, sizeof(sim_time_t)) };
	struct stream stream;

	stream_init(&stream, 1, "bench", "lengths");
	for (uint32_t i = 0; i < NR_LENGTHS; i++)
		load.lengths[i] = (sim_time_t)gsl_ran_exponential(&stream.rng, (double)MEAN_LENGTH);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char parameter[32];
		double best = 0;

		for (int k = 0; k < REPETITIONS; k++) {
			double rate = steps_per_second(&load, rows[i].cpus);

			best = rate > best ? rate : best;
		}
		snprintf(parameter, sizeof(parameter), "%u CPUs", rows[i].cpus);
		bench_row(b, "task steps", parameter, best, "1/s", rows[i].bar > 0 ? BAR_AT_LEAST : BAR_NONE,
			  rows[i].bar);
	}
	free(load.lengths);
}
