/*
 * test_rcu.c - a grace period waits for the readers that were there, and for no other.
 */
#include "tests/hw_host.h"

#define START (100 * SIM_US) /* plain_machine(): request to start */
#define POLL  (4 * SIM_MS)

struct reader {
	sim_time_t enter, length;
	uint32_t nr;       /* sections, one after the other */
	bool synchronises; /* inside; else the CPU runs ahead through all of them */
};

static void reader_main(struct task *t, void *arg)
{
	const struct reader *r = arg;

	cpu_work(t, r->enter);
	for (uint32_t i = 0; i < r->nr; i++) {
		rcu_read_lock(t);
		rcu_read_lock(t);
		cpu_work(t, r->length / 2);
		rcu_read_unlock(t);
		if (r->synchronises)
			task_sync(t);
		cpu_work(t, r->length - r->length / 2);
		rcu_read_unlock(t);
		cpu_work(t, 1 * SIM_US);
	}
}

static void writer_main(struct task *t, void *arg)
{
	synchronize_rcu(t);
	*(sim_time_t *)arg = t->clock;
}

/* How long synchronize_rcu(), called at 0, takes beside such a reader. */
static sim_time_t grace_period(struct reader r, bool naive, enum preempt_model preempt)
{
	struct machine m = plain_machine(2);
	struct sim *sim = host_new_as(&m, preempt, naive);
	sim_time_t end = 0;

	host_task(sim, 0, reader_main, &r);
	host_task(sim, 1, writer_main, &end);
	host_finish(sim);
	assert_int_equal(rcu_grace_periods(sim), 1);
	sim_destroy(sim);
	return end;
}

static void check(struct reader r, sim_time_t expected)
{
	for (int i = 0; i < 8; i++) {
		r.synchronises = i & 1;
		assert_int_equal(grace_period(r, i & 2, i & 4 ? PREEMPT_FULL : PREEMPT_VOLUNTARY), expected);
	}
}

static void a_grace_period_waits_for_earlier_readers_only(void **state)
{
	(void)state;
	/* Nobody inside: the first look ends it. */
	check((struct reader){ .enter = 0, .length = 50 * SIM_US, .nr = 1 }, START + POLL);
	/* Inside at the start, out before the first look. */
	check((struct reader){ .enter = 50 * SIM_US, .length = 1 * SIM_MS, .nr = 1 }, START + POLL);
	/* Still inside at the first and second look. */
	check((struct reader){ .enter = 50 * SIM_US, .length = 9 * SIM_MS, .nr = 1 }, START + 3 * POLL);
	/* Entered at the very start, or after it: a later reader, however long it stays. */
	check((struct reader){ .enter = START, .length = 9 * SIM_MS, .nr = 1 }, START + POLL);
	check((struct reader){ .enter = 1 * SIM_MS, .length = 9 * SIM_MS, .nr = 1 }, START + POLL);
	/* Leaves at the instant of the look: the look comes first. */
	check((struct reader){ .enter = 0, .length = START + POLL, .nr = 1 }, START + 2 * POLL);
	/* One section after the other: only the one at the start counts (the second, 50 to 150 us). */
	check((struct reader){ .enter = 0, .length = 49 * SIM_US, .nr = 1000 }, START + POLL);
	/* The third of three: the first two are over at 81 us, it goes on until 40 ms later. */
	check((struct reader){ .enter = 0, .length = 39 * SIM_MS, .nr = 3 }, START + 10 * POLL);
}

/* ---- requests ---- */

struct callback {
	struct rcu_head head;
	sim_time_t called;
	struct callback *again;
};

static void called(struct sim *sim, struct rcu_head *head)
{
	struct callback *c = (struct callback *)(void *)head;

	c->called = sim_now(sim);
	if (c->again)
		call_rcu(sim, &c->again->head, called);
}

static void asker_main(struct task *t, void *arg)
{
	struct callback *c = arg;

	c[3].again = &c[4];
	call_rcu(t->sim, &c[0].head, called);
	task_sleep(t, 90 * SIM_US);
	call_rcu(t->sim, &c[1].head, called); /* that grace period is still starting */
	task_sleep(t, 20 * SIM_US);
	call_rcu(t->sim, &c[2].head, called); /* it has started */
	task_sleep(t, 3 * SIM_MS);
	call_rcu(t->sim, &c[3].head, called); /* the same next one */
}

static void requests_share_a_grace_period_that_has_not_started(void **state)
{
	struct machine m = plain_machine(2);
	struct sim *sim = host_new(&m);
	struct callback c[5] = { { .called = 0 } };

	(void)state;
	host_task(sim, 0, asker_main, c);
	host_finish(sim);
	assert_int_equal(c[0].called, START + POLL);
	assert_int_equal(c[1].called, START + POLL);
	/* Asked for long ago, so it starts as soon as the first has ended. */
	assert_int_equal(c[2].called, START + 2 * POLL);
	assert_int_equal(c[3].called, START + 2 * POLL);
	assert_int_equal(c[4].called, c[3].called + START + POLL);
	assert_int_equal(rcu_grace_periods(sim), 3);
	sim_destroy(sim);
}

/* ---- what RCU is for ---- */

struct shared {
	struct line line;
	uint32_t *current;
	uint32_t versions[4000], nr;
	uint64_t reads, stale;
	bool done;
};

static void list_reader(struct task *t, void *arg)
{
	struct shared *s = arg;
	uint64_t random = t->id + 1;

	for (task_sync(t); !s->done; task_sync(t)) {
		rcu_read_lock(t);
		line_read(t, &s->line);
		const uint32_t *seen = s->current;

		for (int i = 0; i < 3; i++) {
			cpu_work(t, draw(&random, 3 * SIM_MS));
			task_sync(t);
			assert_true(*seen); /* freed objects are 0 */
			s->stale += seen != s->current;
			s->reads++;
		}
		rcu_read_unlock(t);
		cpu_work(t, draw(&random, 20 * SIM_US));
	}
}

static void list_writer(struct task *t, void *arg)
{
	struct shared *s = arg;

	for (int i = 1; i < 300; i++) {
		uint32_t *old = s->current;

		s->versions[i] = 1;
		line_write(t, &s->line);
		s->current = &s->versions[i];
		synchronize_rcu(t);
		*old = 0;
	}
	s->done = true;
}

static void what_a_reader_holds_is_not_freed(void **state)
{
	struct machine m = plain_machine(4);
	static struct shared s;

	(void)state;
	m.rcu_read = 200 * SIM_PS;
	m.rcu_gp_start = 10 * SIM_US;
	m.rcu_gp_poll = 100 * SIM_US;
	struct sim *sim = host_new(&m);

	line_init(&s.line);
	s.versions[0] = 1;
	s.current = &s.versions[0];
	for (uint32_t i = 0; i < 3; i++)
		host_task(sim, i, list_reader, &s);
	host_task(sim, 3, list_writer, &s);
	host_finish(sim);
	assert_int_equal(rcu_grace_periods(sim), 299);
	assert_true(s.reads > 500);
	assert_true(s.stale > 100); /* readers do hold what has been replaced */
	sim_destroy(sim);
}

static void pairs(struct task *t, void *arg)
{
	uint64_t before = sim_events(t->sim);

	for (int i = 0; i < 1000; i++) {
		rcu_read_lock(t);
		rcu_read_unlock(t);
	}
	assert_int_equal(t->clock, 1000 * 200 * SIM_PS);
	*(uint64_t *)arg = sim_events(t->sim) - before;

	/* What was kept of sections ahead of their time is forgotten when it has come. */
	size_t memory = arena_committed(sim_arena(t->sim));

	for (int i = 0; i < 300000; i++) {
		task_sync(t);
		rcu_read_lock(t);
		rcu_read_unlock(t);
	}
	assert_int_equal(arena_committed(sim_arena(t->sim)), memory);
}

static void a_read_section_costs_no_event(void **state)
{
	struct machine m = plain_machine(1);
	uint64_t events = 99;

	(void)state;
	m.rcu_read = 200 * SIM_PS;
	struct sim *sim = host_new(&m);

	host_task(sim, 0, pairs, &events);
	host_finish(sim);
	assert_int_equal(events, 0);
	sim_destroy(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_grace_period_waits_for_earlier_readers_only),
		cmocka_unit_test(requests_share_a_grace_period_that_has_not_started),
		cmocka_unit_test(what_a_reader_holds_is_not_freed),
		cmocka_unit_test(a_read_section_costs_no_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
