/*
 * test_sim.c - whole simulations: how they end, that slicing and neighbours do not disturb them, that a fork
 * goes on as the original does.
 *
 * What runs is a mix of tasks with locks, sleeps and user work on a few CPUs; its fingerprint stands for all
 * that happens in it.
 */
#include "tests/hw_host.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NR_TASKS 12
#define HORIZON  (3 * SIM_MS)

struct mix {
	struct sim *sim;
	struct machine machine;
	struct spinlock spin;
	struct mutex mutex;
	struct actor {
		struct mix *mix;
		uint64_t random;
	} actors[NR_TASKS];
};

static void act(struct task *t, void *arg)
{
	struct actor *a = arg;

	for (;;) {
		sim_time_t d = draw(&a->random, 10 * SIM_US);

		switch (draw(&a->random, 5)) {
		case 0:
			spin_lock(t, &a->mix->spin);
			cpu_work(t, d / 8);
			spin_unlock(t, &a->mix->spin);
			break;
		case 1:
			mutex_lock(t, &a->mix->mutex);
			cpu_work(t, d);
			mutex_unlock(t, &a->mix->mutex);
			break;
		case 2:
			task_sleep(t, d);
			break;
		default:
			user_work(t, d);
			break;
		}
	}
}

/* The mix lives in its simulation's arena, so a fork takes it along. */
static struct mix *mix_new(uint64_t seed, bool cross_check)
{
	struct sim *sim = sim_create(&(struct sim_config){ .seed = seed, .cross_check = cross_check });
	struct mix *mix = sim_alloc(sim, sizeof *mix);

	mix->sim = sim;
	mix->machine = plain_machine(4);
	mix->machine.line_socket = 100 * SIM_NS;
	mix->machine.context_switch = SIM_US;
	mix->machine.slice = 20 * SIM_US;
	mix->machine.latency = 100 * SIM_US;
	mix->machine.wakeup_granularity = 10 * SIM_US;
	sched_init(sim, &(struct sched_config){ .machine = &mix->machine, .preempt = PREEMPT_FULL });
	spin_lock_init(&mix->spin, lock_class(sim, "spin"));
	mutex_init(&mix->mutex, lock_class(sim, "mutex"));
	for (uint32_t i = 0; i < NR_TASKS; i++) {
		mix->actors[i] = (struct actor){ mix, seed * 100 + i + 1 };
		task_spawn(sim, &(struct task_attr){
					.name = "actor", .run = act, .arg = &mix->actors[i], .cpu = -1 });
	}
	return mix;
}

static uint64_t mix_end(struct mix *mix)
{
	assert_int_equal(sim_run(mix->sim, HORIZON), SIM_END_TIME);
	assert_int_equal(sim_now(mix->sim), HORIZON);
	assert_null(sim_error(mix->sim));
	assert_in_range(sim_events(mix->sim), 2000, 1000000);
	uint64_t fingerprint = sim_fingerprint(mix->sim);

	sim_destroy(mix->sim);
	return fingerprint;
}

static uint64_t alone(uint64_t seed)
{
	return mix_end(mix_new(seed, true));
}

/* ---- fingerprints ---- */

static void same_seed_same_stream(void **state)
{
	(void)state;
	assert_true(alone(1) == alone(1));
	assert_true(alone(1) != alone(2));
	assert_true(mix_end(mix_new(1, false)) == alone(1)); /* with or without cross-check */
}

static void marks_count(void **state)
{
	struct mix *mix = mix_new(1, true);

	(void)state;
	sim_mark(mix->sim, 1);
	assert_true(mix_end(mix) != alone(1));
}

static void slices_do_not_show(void **state)
{
	(void)state;
	for (sim_time_t step = 777777; step < HORIZON; step = step * 11 + 13) {
		struct mix *mix = mix_new(3, true);

		for (sim_time_t t = 0; t < HORIZON; t += step) {
			assert_int_equal(sim_run(mix->sim, t), SIM_END_TIME);
			assert_int_equal(sim_now(mix->sim), t);
		}
		assert_true(mix_end(mix) == alone(3));
	}
}

static void neighbours_do_not_show(void **state)
{
	struct mix *one = mix_new(4, true), *two = mix_new(5, true);

	(void)state;
	for (sim_time_t t = 0; t < HORIZON; t += HORIZON / 50) {
		sim_run(one->sim, t);
		sim_run(two->sim, t / 3 * 2);
	}
	assert_true(mix_end(one) == alone(4));
	assert_true(mix_end(two) == alone(5));
}

static void time_does_not_go_back(void **state)
{
	struct mix *mix = mix_new(1, true);

	(void)state;
	sim_run(mix->sim, 2 * SIM_MS);
	assert_int_equal(sim_run(mix->sim, SIM_MS), SIM_END_TIME);
	assert_int_equal(sim_now(mix->sim), 2 * SIM_MS);
	assert_true(mix_end(mix) == alone(1));
}

/* ---- a fork ---- */

static void a_fork_goes_on_alike(void **state)
{
	struct mix *mix = mix_new(6, true);
	uint64_t in_child = 0;
	int ends[2];

	(void)state;
	sim_run(mix->sim, HORIZON / 2);
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();

	if (!pid) {
		sim_run(mix->sim, HORIZON);
		in_child = sim_fingerprint(mix->sim);
		_exit(write(ends[1], &in_child, sizeof in_child) == sizeof in_child ? 0 : 1);
	}
	close(ends[1]);
	uint64_t here = mix_end(mix);
	int status;

	assert_int_equal(read(ends[0], &in_child, sizeof in_child), sizeof in_child);
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(in_child == here);
	assert_true(here == alone(6));
}

/* ---- ends ---- */

static void do_nothing(struct sim *sim, struct slot *slot)
{
	(void)sim;
	(void)slot;
}

static void idle_and_time(void **state)
{
	struct sim *sim = sim_create(&(struct sim_config){ .seed = 1 });
	struct slot slot;

	(void)state;
	assert_int_equal(sim_run(sim, SIM_SEC), SIM_END_IDLE);
	assert_int_equal(sim_now(sim), 0);
	slot_init(sim, &slot, SIM_CLASS_TIMER, do_nothing);
	slot_arm(sim, &slot, SIM_MS);
	assert_int_equal(sim_run(sim, SIM_MS - 1), SIM_END_TIME);
	assert_true(slot_pending(&slot));
	assert_int_equal(sim_run(sim, SIM_MS), SIM_END_IDLE);
	assert_int_equal(sim_now(sim), SIM_MS);
	assert_int_equal(sim_events(sim), 1);
	sim_destroy(sim);
}

static struct sim *signalled; /* what the handler stops: it has no argument */

static void on_signal(int number)
{
	(void)number;
	sim_stop(signalled); /* NOLINT(bugprone-signal-handler): made for it */
}

static void raise_it(struct sim *sim, struct slot *slot)
{
	(void)sim;
	(void)slot;
	raise(SIGUSR1);
}

static void a_signal_stops_it(void **state)
{
	struct mix *mix = mix_new(7, true);
	struct slot slot;

	(void)state;
	signalled = mix->sim;
	signal(SIGUSR1, on_signal);
	slot_init(mix->sim, &slot, SIM_CLASS_CONTROL, raise_it);
	slot_arm(mix->sim, &slot, SIM_MS);
	assert_int_equal(sim_run(mix->sim, HORIZON), SIM_END_ASKED);
	assert_int_equal(sim_now(mix->sim), SIM_MS);
	signal(SIGUSR1, SIG_DFL);
	slot_release(mix->sim, &slot);
	mix_end(mix); /* and it can go on */
}

static void stop_in_task(struct task *t, void *arg)
{
	(void)arg;
	cpu_work(t, SIM_US);
	task_sync(t);
	raise(SIGUSR1);
	for (;;) { /* alone on the machine: nothing else makes it give way */
		cpu_work(t, SIM_NS);
		task_sync(t);
	}
}

static void a_signal_stops_a_task_that_is_alone(void **state)
{
	const struct machine m = plain_machine(1);

	(void)state;
	signalled = host_new(&m);
	signal(SIGUSR1, on_signal);
	host_task(signalled, 0, stop_in_task, NULL);
	assert_int_equal(sim_run(signalled, SIM_SEC), SIM_END_ASKED);
	assert_int_equal(sim_now(signalled), SIM_US);
	assert_int_equal(sim_run(signalled, 2 * SIM_US), SIM_END_TIME);
	signal(SIGUSR1, SIG_DFL);
	sim_destroy(signalled);
}

static void fail_twice(struct sim *sim, struct slot *slot)
{
	(void)slot;
	sim_fail(sim, "page %d has no owner", 42);
	sim_fail(sim, "consequence");
}

static void the_first_failure_is_kept(void **state)
{
	struct sim *sim = sim_create(&(struct sim_config){ .seed = 1 });
	struct slot slot;

	(void)state;
	slot_init(sim, &slot, SIM_CLASS_TIMER, fail_twice);
	slot_arm(sim, &slot, SIM_MS);
	assert_null(sim_error(sim));
	assert_int_equal(sim_run(sim, SIM_SEC), SIM_END_ASKED);
	assert_string_equal(sim_error(sim), "page 42 has no owner");
	sim_destroy(sim);
}

static void into_the_past(struct sim *sim, struct slot *slot)
{
	slot_arm(sim, slot, sim_now(sim) - 5 * SIM_NS);
}

static void events_in_the_past_are_failures(void **state)
{
	struct sim *sim = sim_create(&(struct sim_config){ .seed = 1, .cross_check = true });
	struct slot slot;

	(void)state;
	slot_init(sim, &slot, SIM_CLASS_TIMER, into_the_past);
	slot_arm(sim, &slot, SIM_MS);
	assert_int_equal(sim_run(sim, SIM_SEC), SIM_END_ASKED);
	assert_non_null(strstr(sim_error(sim), "5.000 ns in the past"));
	sim_destroy(sim);
}

/* ---- time that stands still ---- */

static void play(struct task *t, void *arg)
{
	cpu_work(t, *(const sim_time_t *)arg);
	task_sync(t);
	/* From here on the engine looks more often than every 16 million events. */
	t->sim->check_at = t->sim->events + 1000;
	for (;;)
		task_yield(t);
}

static void stalls_at(sim_time_t begin)
{
	const struct machine m = plain_machine(1);
	struct sim *sim = host_new(&m);

	host_task(sim, 0, play, &begin);
	host_task(sim, 0, play, &begin);
	sim->checked_now = 2 * begin; /* as if the last look had been at that time */
	assert_int_equal(sim_run(sim, SIM_SEC), SIM_END_STALLED);
	assert_int_equal(sim_now(sim), 2 * begin);
	assert_non_null(strstr(sim_error(sim), "stands still"));
	assert_int_equal(sim_run(sim, SIM_SEC), SIM_END_STALLED);
	sim_destroy(sim);
}

static void taking_turns_without_time_is_noticed(void **state)
{
	(void)state;
	stalls_at(0);
	stalls_at(SIM_MS);
}

static void stand_still(struct task *t, void *arg)
{
	(void)arg;
	for (;;)
		task_sync(t);
}

static void a_task_that_stands_still_is_noticed(void **state)
{
	const struct machine m = plain_machine(1);
	struct sim *sim = sim_create(&(struct sim_config){ .seed = 1 });

	(void)state;
	sched_init(sim, &(struct sched_config){ .machine = &m });
	host_task(sim, 0, stand_still, NULL);
	assert_int_equal(sim_run(sim, SIM_SEC), SIM_END_STALLED);
	sim_destroy(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_seed_same_stream),
		cmocka_unit_test(marks_count),
		cmocka_unit_test(slices_do_not_show),
		cmocka_unit_test(neighbours_do_not_show),
		cmocka_unit_test(time_does_not_go_back),
		cmocka_unit_test(a_fork_goes_on_alike),
		cmocka_unit_test(idle_and_time),
		cmocka_unit_test(a_signal_stops_it),
		cmocka_unit_test(a_signal_stops_a_task_that_is_alone),
		cmocka_unit_test(the_first_failure_is_kept),
		cmocka_unit_test(events_in_the_past_are_failures),
		cmocka_unit_test(taking_turns_without_time_is_noticed),
		cmocka_unit_test(a_task_that_stands_still_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
