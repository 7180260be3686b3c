/*
 * test_rwsem.c - readers share, writers exclude, nobody starves; and seqlocks.
 */
#include "tests/hw_host.h"

struct yard {
	struct rwsem rwsem;
	char log[64]; /* who entered, in order */
	uint32_t nr, inside, most;
	sim_time_t at[16];
};

struct visitor {
	struct yard *yard;
	char name;
	bool writer;
	sim_time_t comes, stays;
};

static void visit(struct task *t, void *arg)
{
	const struct visitor *v = arg;
	struct yard *y = v->yard;

	task_sleep(t, v->comes);
	if (v->writer)
		down_write(t, &y->rwsem);
	else
		down_read(t, &y->rwsem);
	y->log[y->nr] = v->name;
	y->at[y->nr++] = t->clock;
	if (++y->inside > y->most)
		y->most = y->inside;
	task_sleep(t, v->stays);
	y->inside--;
	if (v->writer)
		up_write(t, &y->rwsem);
	else
		up_read(t, &y->rwsem);
}

static struct sim *open_yard(struct yard *y, struct machine *m, struct visitor *v, uint32_t n)
{
	*m = plain_machine(n);
	struct sim *sim = host_new(m);

	*y = (struct yard){ .nr = 0 };
	rwsem_init(&y->rwsem, lock_class(sim, "yard"));
	for (uint32_t i = 0; i < n; i++) {
		v[i].yard = y;
		host_task(sim, i, visit, &v[i]);
	}
	host_finish(sim);
	assert_int_equal(y->nr, n);
	return sim;
}

static void readers_share(void **state)
{
	struct visitor v[4] = { { .name = 'a', .stays = SIM_MS },
				{ .name = 'b', .stays = SIM_MS },
				{ .name = 'c', .stays = SIM_MS },
				{ .name = 'd', .stays = 3 * SIM_MS } };
	struct machine m;
	struct yard y;
	struct sim *sim = open_yard(&y, &m, v, 4);

	(void)state;
	assert_int_equal(y.most, 4);
	assert_int_equal(sim_now(sim), 3 * SIM_MS);
	assert_int_equal(y.rwsem.class->acquisitions, 4);
	assert_int_equal(y.rwsem.class->contended, 0);
	assert_int_equal(y.rwsem.class->hold_total, 3 * SIM_MS); /* held once, by all of them */
	sim_destroy(sim);
}

/* Reader a is inside; writer W comes, then readers b and c, writer X, reader d: nobody overtakes W or X. */
static void waiters_enter_in_order_and_readers_together(void **state)
{
	struct visitor v[6] = {
		{ .name = 'a', .comes = 0, .stays = 10 * SIM_MS },
		{ .name = 'W', .comes = 1 * SIM_MS, .stays = 5 * SIM_MS, .writer = true },
		{ .name = 'b', .comes = 2 * SIM_MS, .stays = 2 * SIM_MS },
		{ .name = 'c', .comes = 3 * SIM_MS, .stays = 4 * SIM_MS },
		{ .name = 'X', .comes = 4 * SIM_MS, .stays = 5 * SIM_MS, .writer = true },
		{ .name = 'd', .comes = 5 * SIM_MS, .stays = 1 * SIM_MS },
	};
	static const sim_time_t at[] = { 0, 10, 15, 15, 19, 24 };
	struct machine m;
	struct yard y;
	struct sim *sim = open_yard(&y, &m, v, 6);
	const struct lock_class *class = y.rwsem.class;

	(void)state;
	assert_string_equal(y.log, "aWbcXd");
	for (int i = 0; i < 6; i++)
		assert_int_equal(y.at[i], at[i] * SIM_MS);
	assert_int_equal(y.most, 2);
	assert_int_equal(class->contended, 5);
	assert_int_equal(class->wait_total, (9 + 13 + 12 + 15 + 19) * SIM_MS);
	assert_int_equal(class->wait_max, 19 * SIM_MS);
	assert_int_equal(class->spin_total, 0);
	assert_int_equal(class->hold_total, 25 * SIM_MS);
	assert_true(class->queue_area == (double)class->wait_total);
	sim_destroy(sim);
}

/* ---- a stream of readers ---- */

struct stream_of_readers {
	struct rwsem rwsem;
	bool written;
	uint64_t reads;
};

static void keeps_reading(struct task *t, void *arg)
{
	struct stream_of_readers *s = arg;

	task_sleep(t, t->cpu->id * 300 * SIM_US);
	for (int i = 0; i < 1000 && !s->written; i++) {
		down_read(t, &s->rwsem);
		s->reads++;
		cpu_work(t, 1 * SIM_MS);
		up_read(t, &s->rwsem);
	}
}

static void writes_once(struct task *t, void *arg)
{
	struct stream_of_readers *s = arg;

	task_sleep(t, 10 * SIM_MS);
	down_write(t, &s->rwsem);
	s->written = true;
	up_write(t, &s->rwsem);
}

/* Four readers overlap for ever; the writer still waits no longer than those inside stay. */
static void readers_do_not_starve_a_writer(void **state)
{
	struct machine m = plain_machine(5);
	struct sim *sim = host_new(&m);
	struct stream_of_readers s = { .reads = 0 };

	(void)state;
	rwsem_init(&s.rwsem, lock_class(sim, "s"));
	for (uint32_t i = 0; i < 4; i++)
		host_task(sim, i, keeps_reading, &s);
	host_task(sim, 4, writes_once, &s);
	host_finish(sim);
	assert_true(s.written);
	assert_in_range(s.rwsem.class->wait_max, 1, 1 * SIM_MS);
	assert_in_range(s.reads, 36, 48);
	sim_destroy(sim);
}

/* ---- seqlock ---- */

struct pair {
	struct seqlock seqlock;
	uint64_t first, second, reads, retries, begin_waits;
};

static void writes_pairs(struct task *t, void *arg)
{
	struct pair *p = arg;
	uint64_t random = t->id + 1;

	for (int i = 0; i < 500; i++) {
		write_seqlock(t, &p->seqlock);
		p->first++;
		cpu_work(t, 1 * SIM_US);
		task_sync(t);
		p->second++;
		write_sequnlock(t, &p->seqlock);
		cpu_work(t, draw(&random, 20 * SIM_US));
	}
}

static void reads_pairs(struct task *t, void *arg)
{
	struct pair *p = arg;
	uint64_t random = t->id + 1;

	for (int i = 0; i < 500; i++) {
		uint64_t sequence, first, second;

		for (;;) {
			sim_time_t before = t->clock;

			sequence = read_seqbegin(t, &p->seqlock);
			assert_false(sequence & 1);
			assert_false(p->seqlock.sequence & 1); /* the writer has left */
			p->begin_waits += t->clock - before > SIM_US / 2;
			first = p->first;
			cpu_work(t, draw(&random, 2 * SIM_US));
			task_sync(t);
			second = p->second;
			if (!read_seqretry(t, &p->seqlock, sequence))
				break;
			p->retries++;
		}
		assert_int_equal(first, second);
		p->reads++;
		cpu_work(t, draw(&random, 5 * SIM_US));
	}
}

static void readers_of_a_seqlock_see_no_torn_pair(void **state)
{
	struct machine m = plain_machine(4);
	struct pair p = { .first = 0 };

	(void)state;
	m.line_hit = 1 * SIM_NS;
	m.line_socket = 50 * SIM_NS;
	struct sim *sim = host_new(&m);

	seqlock_init(&p.seqlock, lock_class(sim, "seqlock"));
	for (uint32_t i = 0; i < 2; i++) {
		host_task(sim, i, writes_pairs, &p);
		host_task(sim, 2 + i, reads_pairs, &p);
	}
	host_finish(sim);
	assert_int_equal(p.reads, 1000);
	assert_int_equal(p.first, 1000);
	assert_true(p.retries > 50);
	assert_true(p.begin_waits > 50);
	sim_destroy(sim);
}

/*
 * A reader that is woken by something else, after it was let in and before it is its turn to be woken, must
 * not go its way: whoever wakes the others still has to walk over it.
 */

struct early {
	struct slot slot;
	struct rwsem rwsem;
	struct task *readers[3];
	uint32_t read;
};

static void wake_last(struct sim *sim, struct slot *slot)
{
	assert_true(task_wake(sim, NULL, ((struct early *)(void *)slot)->readers[2]));
}

static void write_10us(struct task *t, void *arg)
{
	struct early *e = arg;

	down_write(t, &e->rwsem);
	cpu_work(t, 10 * SIM_US);
	up_write(t, &e->rwsem);
}

static void read_once(struct task *t, void *arg)
{
	struct early *e = arg;

	cpu_work(t, SIM_US);
	down_read(t, &e->rwsem);
	e->read++;
	up_read(t, &e->rwsem);
}

static void an_early_riser_waits_for_its_turn(void **state)
{
	struct machine m = plain_machine(4);
	struct early e = { .read = 0 };

	(void)state;
	m.wakeup = SIM_US;
	struct sim *sim = host_new(&m);

	rwsem_init(&e.rwsem, lock_class(sim, "rwsem"));
	slot_init(sim, &e.slot, SIM_CLASS_TIMER, wake_last);
	slot_arm(sim, &e.slot, 10 * SIM_US + SIM_NS);
	host_task(sim, 0, write_10us, &e);
	for (uint32_t i = 0; i < 3; i++)
		e.readers[i] = host_task(sim, i + 1, read_once, &e);
	host_run(sim, 10 * SIM_US + 2 * SIM_NS); /* the first has been woken, the third by the timer */
	assert_int_equal(e.read, 1);
	host_finish(sim);
	assert_int_equal(e.read, 3);
	sim_destroy(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readers_share),
		cmocka_unit_test(waiters_enter_in_order_and_readers_together),
		cmocka_unit_test(readers_do_not_starve_a_writer),
		cmocka_unit_test(an_early_riser_waits_for_its_turn),
		cmocka_unit_test(readers_of_a_seqlock_see_no_torn_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
