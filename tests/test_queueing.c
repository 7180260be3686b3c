/*
 * test_queueing.c - CPUs and their run queues against queueing theory.
 *
 * A timer lets jobs arrive as a Poisson process; each is a task that works for its service time and ends.
 * Switching costs nothing. So one CPU with constant service is M/D/1 (Pollaczek and Khinchine), c CPUs with
 * exponential service are M/M/c (Erlang C), whether jobs run to their end (kernel work) or take turns (user
 * work): with exponential service the mean does not depend on it, as long as no CPU idles while a job waits.
 *
 * Means over several seeds must agree with theory within their confidence interval, and the interval must be
 * narrow enough to mean something. Seeds are fixed: a test that holds once holds always.
 */
#include "tests/hw_host.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>

#include "sim/engine/random.h"

#define NR_SEEDS   16
#define NR_JOBS    6000 /* measured, of each seed */
#define WARM_UP    600
#define CONFIDENCE 0.99
#define SERVICE    SIM_MS

struct queue {
	struct slot arrival;
	struct stream *between, *service;
	double mean_between;
	bool constant, user;
	uint32_t arrived, left;
	sim_time_t wait, response; /* sums over the measured jobs */
	uint32_t nr_waited;
	sim_time_t all_response, all_wait; /* over all jobs */
	sim_time_t changed, in_system;     /* integral of the number of jobs over time */
	uint32_t now_in;
};

struct job {
	struct queue *q;
	uint32_t number;
	sim_time_t arrived, service;
};

static void count(struct queue *q, sim_time_t now, int by)
{
	q->in_system += (now - q->changed) * q->now_in;
	q->changed = now;
	q->now_in += (uint32_t)by;
}

static void job_run(struct task *t, void *arg)
{
	const struct job *job = arg;

	if (job->q->user)
		user_work(t, job->service);
	else
		cpu_work(t, job->service);
}

static void job_end(struct task *t)
{
	struct job *job = t->arg;
	struct queue *q = job->q;
	sim_time_t response = sim_now(t->sim) - job->arrived;

	assert_int_equal(response, job->service + t->runq_wait);
	q->all_response += response;
	q->all_wait += t->runq_wait;
	count(q, sim_now(t->sim), -1);
	q->left++;
	if (job->number >= WARM_UP) {
		q->response += response;
		q->wait += t->runq_wait;
		q->nr_waited += t->runq_wait > 0;
	}
	sim_free(t->sim, job, sizeof *job);
}

static void arrive(struct sim *sim, struct slot *slot)
{
	struct queue *q = (struct queue *)(void *)slot;
	struct job *job = sim_alloc(sim, sizeof *job);

	*job = (struct job){ .q = q, .number = q->arrived++, .arrived = sim_now(sim), .service = SERVICE };
	if (!q->constant)
		job->service = (sim_time_t)gsl_ran_exponential(&q->service->rng, (double)SERVICE);
	count(q, sim_now(sim), 1);
	task_spawn(sim, &(struct task_attr){
				.name = "job", .run = job_run, .arg = job, .on_exit = job_end, .cpu = -1 });
	if (q->arrived < WARM_UP + NR_JOBS)
		slot_arm(sim, slot,
			 sim_now(sim) + (sim_time_t)gsl_ran_exponential(&q->between->rng, q->mean_between));
}

static struct queue run_queue(uint32_t cpus, double load, bool constant, bool user, uint64_t seed)
{
	const struct machine m = plain_machine(cpus);
	struct sim *sim = sim_create(&(struct sim_config){ .seed = seed });
	struct queue q = { .mean_between = (double)SERVICE / (load * cpus),
			   .constant = constant,
			   .user = user };
	sim_time_t busy = 0, clocks[NR_TASK_CLOCKS];

	sched_init(sim, &(struct sched_config){ .machine = &m });
	q.between = stream_open(sim, "queue", "arrivals");
	q.service = stream_open(sim, "queue", "service");
	slot_init(sim, &q.arrival, SIM_CLASS_TIMER, arrive);
	slot_arm(sim, &q.arrival, 0);
	host_finish(sim);
	assert_int_equal(q.left, WARM_UP + NR_JOBS);

	/* Little's law, exact since the system begins and ends empty; and the same by the scheduler. */
	for (uint32_t i = 0; i < cpus; i++) {
		assert_true(cpu_busy(sim, &sim_sched(sim)->cpus[i]) <= sim_now(sim));
		busy += cpu_busy(sim, &sim_sched(sim)->cpus[i]);
	}
	sched_clocks(sim, clocks);
	assert_int_equal(q.in_system, q.all_response);
	assert_int_equal(q.in_system, busy + q.all_wait);
	assert_int_equal(clocks[CLOCK_USER] + clocks[CLOCK_SYS], busy);
	assert_int_equal(clocks[user ? CLOCK_SYS : CLOCK_USER], 0);
	assert_true(fabs((double)busy / ((double)sim_now(sim) * cpus) - load) < 0.05 * load);
	sim_destroy(sim);
	return q;
}

static void assert_in_interval(const char *what, const double *values, double theory, double width)
{
	double sum = 0, squares = 0;

	for (int i = 0; i < NR_SEEDS; i++)
		sum += values[i];
	double mean = sum / NR_SEEDS;

	for (int i = 0; i < NR_SEEDS; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	double half = gsl_cdf_tdist_Pinv(0.5 + CONFIDENCE / 2, NR_SEEDS - 1) *
		      sqrt(squares / (NR_SEEDS - 1) / NR_SEEDS);

	if (half > width * theory)
		fail_msg("%s: the interval of %g +- %g says too little", what, mean, half);
	if (fabs(mean - theory) > half)
		fail_msg("%s: %g +- %g does not contain %g", what, mean, half, theory);
}

/* The share of jobs that must wait in M/M/c with `load` on each server. */
static double erlang_c(uint32_t c, double load)
{
	double erlang_b = gsl_ran_poisson_pdf(c, load * c) / gsl_cdf_poisson_P(c, load * c);

	return erlang_b / (1 - load * (1 - erlang_b));
}

static void check_mmc(uint32_t c, double load, bool user)
{
	double waits[NR_SEEDS], waited[NR_SEEDS], must_wait = erlang_c(c, load);

	for (uint64_t i = 0; i < NR_SEEDS; i++) {
		struct queue q = run_queue(c, load, false, user, i + 1);

		waits[i] = (double)q.wait / NR_JOBS / (double)SERVICE;
		waited[i] = (double)q.nr_waited / NR_JOBS;
	}
	assert_in_interval("mean wait in M/M/c", waits, must_wait / (c * (1 - load)), 0.12);
	if (!user) /* who takes turns waits once it is preempted too */
		assert_in_interval("share of those who wait in M/M/c", waited, must_wait, 0.05);
}

static void constant_service_on_one_cpu(void **state)
{
	static const double loads[] = { 0.3, 0.7 };

	(void)state;
	for (int k = 0; k < 2; k++) {
		double waits[NR_SEEDS];

		for (uint64_t i = 0; i < NR_SEEDS; i++)
			waits[i] = (double)run_queue(1, loads[k], true, false, i + 1).wait / NR_JOBS /
				   (double)SERVICE;
		assert_in_interval("mean wait in M/D/1", waits, loads[k] / (2 * (1 - loads[k])), 0.1);
	}
}

static void exponential_service_on_one_cpu(void **state)
{
	(void)state;
	check_mmc(1, 0.6, false);
}

static void exponential_service_on_four_cpus(void **state)
{
	(void)state;
	check_mmc(4, 0.65, false);
}

static void jobs_that_take_turns(void **state)
{
	(void)state;
	check_mmc(3, 0.6, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constant_service_on_one_cpu),
		cmocka_unit_test(exponential_service_on_one_cpu),
		cmocka_unit_test(exponential_service_on_four_cpus),
		cmocka_unit_test(jobs_that_take_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
