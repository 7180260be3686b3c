/*
 * test_psi.c - pressure: who is stalled when, what CPUs weigh, and averages against the formula they follow.
 */
#include <math.h>

#include "models/pressure/pressure.h"
#include "tests/evict_rig.h"

static const char plain[] = RIG_HEAD RIG_POLICIES " }\ncgroups: [ { name: c } ]\n";

struct psi_test {
	struct fixture f;
	sim_time_t stall, sleep; /* of each round */
	uint32_t rounds;
};

/* Stalled asleep for a part of each round, asleep without being stalled for the rest. */
static void rounds(struct task *t, void *arg)
{
	const struct psi_test *p = arg;

	for (uint32_t i = 0; i < p->rounds; i++) {
		bool outer = psi_memstall_enter(t);

		task_sleep(t, p->stall);
		psi_memstall_leave(t, outer);
		task_sleep(t, p->sleep);
	}
}

/* Does something useful all the time. */
static void busy(struct task *t, void *arg)
{
	const struct psi_test *p = arg;

	while (sim_now(t->sim) < p->rounds * (p->stall + p->sleep))
		user_work(t, SIM_MS);
}

/* So that time passes. */
static void nothing(struct task *t, void *arg)
{
	(void)t;
	(void)arg;
}

static void open_test(struct psi_test *p)
{
	fixture_open(&p->f, plain);
}

static void spawn(struct psi_test *p, int32_t cpu, void (*run)(struct task *t, void *arg))
{
	task_spawn(p->f.run.sim, &(struct task_attr){ .name = "test", .run = run, .arg = p, .cpu = cpu });
}

static struct psi_reading read_root(const struct psi_test *p)
{
	struct psi_reading reading;

	psi_read(p->f.host->cgroups->root, &reading);
	return reading;
}

static void assert_near(double value, double expected, double tolerance)
{
	if (fabs(value - expected) > tolerance)
		fail_msg("%g, not %g", value, expected);
}

/* A quarter of the time stalled, nobody else there: 25 % some and full, of the average 1 - exp(-t / T). */
static void averages(void **state)
{
	static const double spans[NR_PSI_AVGS] = { 10, 60, 300 };
	struct psi_test p = { .stall = 100 * SIM_MS, .sleep = 300 * SIM_MS, .rounds = 100 };
	struct psi_reading reading;

	(void)state;
	open_test(&p);
	spawn(&p, 0, rounds);
	sim_run(p.f.run.sim, 30 * SIM_SEC);
	reading = read_root(&p);
	for (int kind = 0; kind < NR_PSI_KINDS; kind++) {
		assert_near((double)reading.total[kind] / 1e9, 7.5, 0.01);
		for (int i = 0; i < NR_PSI_AVGS; i++)
			assert_near(reading.average[kind][i], 25 * (1 - exp(-30 / spans[i])), 0.3);
	}
	/* It ends at 40 s; who reads only at 60 s finds ten periods of nothing. */
	sim_run(p.f.run.sim, 40 * SIM_SEC);
	double before = read_root(&p).average[PSI_SOME][PSI_AVG10];

	task_spawn(p.f.run.sim, &(struct task_attr){ .name = "end", .run = nothing, .start = 60 * SIM_SEC });
	sim_run(p.f.run.sim, 60 * SIM_SEC);
	reading = read_root(&p);
	assert_near(reading.average[PSI_SOME][PSI_AVG10], before * exp(-2), 0.2);
	assert_near((double)reading.total[PSI_SOME] / 1e9, 10, 0.02);
	fixture_close(&p.f);
}

/* Reading often and reading once give the same. */
static void lazy(void **state)
{
	struct psi_reading seen[2];

	(void)state;
	for (int often = 0; often < 2; often++) {
		struct psi_test p = { .stall = 7 * SIM_MS, .sleep = 9 * SIM_MS, .rounds = 1000 };

		open_test(&p);
		spawn(&p, 0, rounds);
		for (sim_time_t at = 0; at < 50 * SIM_SEC;) {
			at += often ? 2 * SIM_SEC : 50 * SIM_SEC;
			sim_run(p.f.run.sim, at);
			seen[often] = read_root(&p);
		}
		fixture_close(&p.f);
	}
	for (int kind = 0; kind < NR_PSI_KINDS; kind++)
		for (int i = 0; i < NR_PSI_AVGS; i++)
			assert_near(seen[0].average[kind][i], seen[1].average[kind][i], 1e-9);
}

/* On one CPU a task that works keeps a stall from being full; on another it halves both. */
static void others(void **state)
{
	(void)state;
	for (int32_t cpu = 0; cpu < 2; cpu++) {
		struct psi_test p = { .stall = 100 * SIM_MS, .sleep = 0, .rounds = 100 };
		struct psi_reading reading;

		open_test(&p);
		spawn(&p, 0, rounds);
		spawn(&p, cpu, busy);
		sim_run(p.f.run.sim, 10 * SIM_SEC);
		reading = read_root(&p);
		assert_near((double)reading.total[PSI_SOME] / 1e9, cpu ? 5 : 10, 0.1);
		assert_near((double)reading.total[PSI_FULL] / 1e9, cpu ? 5 : 0, 0.1);
		fixture_close(&p.f);
	}
}

/* A stall within a stall ends with the outer one; cgroups that nobody is in have none. */
static void nested(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct psi_reading reading;
	bool outer = psi_memstall_enter(t), inner;

	assert_false(outer);
	inner = psi_memstall_enter(t);
	assert_true(inner);
	psi_memstall_leave(t, inner);
	task_sleep(t, 200 * SIM_MS);
	psi_memstall_leave(t, outer);
	task_sleep(t, 200 * SIM_MS);
	psi_read(r->host->cgroups->root, &reading);
	assert_near((double)reading.total[PSI_SOME] / 1e9, 0.2, 0.005);
	psi_read(r->c, &reading);
	assert_int_equal(reading.total[PSI_SOME], 0);
}

static void nesting(void **state)
{
	(void)state;
	rig_run_on(plain, 1, nested);
}

/* The wait for a page of the workingset is a stall, that for any other is not. */
static void read_back(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct file_object *f = file_create(r->host, 10);
	struct psi_reading reading;

	file_place(f, disk_find(r->host, "d"));
	assert_int_equal(file_read(t, r->c, f, 0, NULL), FILE_MISS);
	lru_add_drain(t);
	psi_read(r->host->cgroups->root, &reading);
	assert_int_equal(reading.total[PSI_SOME], 0);
	rig_seen.workingset = true;
	assert_int_equal(rig_evict(t, r->host, rig_frame(&f->object, 0), r->c), EVICT_GONE);
	assert_int_equal(file_read(t, r->c, f, 0, NULL), FILE_MISS);
	psi_read(r->host->cgroups->root, &reading);
	assert_near((double)reading.total[PSI_SOME] / 1e9, 0.1, 0.005);
}

static void workingset(void **state)
{
	(void)state;
	rig_run_on(RIG_HEAD RIG_POLICIES " }\ncgroups: [ { name: c } ]\n"
					 "devices: [ { name: d, device: disk, read: 100ms } ]\n",
		   1, read_back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(averages), cmocka_unit_test(lazy),       cmocka_unit_test(others),
		cmocka_unit_test(nesting),  cmocka_unit_test(workingset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
