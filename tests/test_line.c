/*
 * test_line.c - cache lines and the topology that their costs follow.
 */
#include "tests/hw_host.h"

#include "sim/hw/line.h"

/* 2 sockets of 2 nodes of 40 cores of 2 threads: more than a word of the bitmap each. */
static struct machine big_machine(void)
{
	struct machine m = plain_machine(320);

	m.nodes = 4;
	m.sockets = 2;
	m.threads_per_core = 2;
	m.line_hit = 1 * SIM_NS;
	m.line_core = 10 * SIM_NS;
	m.line_socket = 50 * SIM_NS;
	m.line_remote = 120 * SIM_NS;
	m.line_memory = 90 * SIM_NS;
	m.atomic = 5 * SIM_NS;
	return m;
}

static void topology_is_consistent(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		struct machine m = plain_machine(1 + (uint32_t)draw(&random, 300));

		m.threads_per_core = 1 + (uint32_t)draw(&random, 4);
		m.nodes = 1 + (uint32_t)draw(&random, 6);
		m.sockets = (uint32_t)draw(&random, m.nodes + 1);
		if (m.cpus / m.threads_per_core < m.nodes)
			continue;
		for (uint32_t cpu = 0; cpu < m.cpus; cpu++) {
			uint32_t socket = machine_socket(&m, cpu);

			assert_in_range(machine_node(&m, cpu), 0, m.nodes - 1);
			assert_in_range(socket, 0, (m.sockets ? m.sockets : m.nodes) - 1);
			assert_in_range(cpu, machine_socket_first(&m, socket),
					machine_socket_first(&m, socket + 1) - 1);
			if (cpu % m.threads_per_core)
				assert_int_equal(machine_node(&m, cpu), machine_node(&m, cpu - 1));
		}
		assert_int_equal(machine_node(&m, m.cpus - 1), m.nodes - 1);
		assert_int_equal(machine_socket_first(&m, machine_socket(&m, m.cpus - 1) + 1), m.cpus);
	}
}

static void transfer_goes_by_distance(void **state)
{
	struct machine m = big_machine();

	(void)state;
	assert_int_equal(machine_transfer(&m, 3, 3), m.line_hit);
	assert_int_equal(machine_transfer(&m, 2, 3), m.line_core);
	assert_int_equal(machine_transfer(&m, 3, 4), m.line_socket);
	assert_int_equal(machine_transfer(&m, 0, 159), m.line_socket);
	assert_int_equal(machine_transfer(&m, 159, 160), m.line_remote);
}

static sim_time_t cost_of(struct task *t, uint32_t cpu, struct line *l,
			  void (*access)(struct task *, struct line *))
{
	task_pin(t, cpu);
	task_sync(t);
	cpu_work(t, SIM_US); /* the line has come to rest */
	task_sync(t);
	sim_time_t before = t->clock;

	access(t, l);
	return t->clock - before;
}

static void costs(struct task *t, void *arg)
{
	const struct machine *m = sim_sched(t->sim)->machine;
	struct line l;

	(void)arg;
	line_init(&l);
	assert_int_equal(cost_of(t, 4, &l, line_read), m->line_memory);
	assert_int_equal(cost_of(t, 4, &l, line_read), m->line_hit);
	assert_int_equal(cost_of(t, 4, &l, line_write), m->line_hit); /* nobody else has it */
	assert_int_equal(cost_of(t, 4, &l, line_rmw), m->line_hit + m->atomic);
	assert_int_equal(cost_of(t, 5, &l, line_write), m->line_core);
	assert_int_equal(cost_of(t, 100, &l, line_write), m->line_socket);
	assert_int_equal(cost_of(t, 319, &l, line_rmw), m->line_remote + m->atomic);

	/* Copies: from the nearest that has one. */
	assert_int_equal(cost_of(t, 0, &l, line_read), m->line_remote);
	assert_int_equal(cost_of(t, 0, &l, line_read), m->line_hit);
	assert_int_equal(cost_of(t, 319, &l, line_read), m->line_hit);
	assert_int_equal(cost_of(t, 80, &l, line_read), m->line_socket);
	assert_int_equal(cost_of(t, 1, &l, line_read), m->line_core);
	assert_int_equal(l.nr_sharers, 3);

	/* A writer reaches all copies, the farthest included, and drops them. */
	assert_int_equal(cost_of(t, 319, &l, line_write), m->line_remote);
	assert_int_equal(cost_of(t, 319, &l, line_write), m->line_hit);
	assert_int_equal(cost_of(t, 0, &l, line_read), m->line_remote);
	assert_int_equal(cost_of(t, 0, &l, line_write), m->line_remote); /* it has a copy, but 319 too */
	assert_int_equal(cost_of(t, 80, &l, line_read), m->line_socket);
	assert_int_equal(cost_of(t, 0, &l, line_write), m->line_socket);
	assert_int_equal(cost_of(t, 1, &l, line_read), m->line_core);
	assert_int_equal(cost_of(t, 0, &l, line_write), m->line_core);
	line_release(t->sim, &l);
	assert_null(l.sharers);
	assert_int_equal(cost_of(t, 0, &l, line_read), m->line_memory);
}

#define KIB 1024u

static void streams(struct task *t, void *arg)
{
	const struct machine *m = sim_sched(t->sim)->machine;
	uint64_t near = 0, copy = 0;
	struct line l;

	(void)arg;
	line_init(&l);
	task_sync(t);
	assert_int_equal(line_cost_near(t, &near), m->line_memory); /* never touched */
	assert_int_equal(line_cost_near(t, &copy), m->line_memory);
	assert_int_equal(line_cost_near(t, &near), m->line_hit);
	line_touch(t, &l, true);
	cache_stream(t, 32 * KIB - 1);
	assert_int_equal(line_cost_near(t, &near), m->line_hit);
	assert_int_equal(line_cost(t, &l, true), m->line_hit);
	cache_stream(t, 32 * KIB);
	assert_int_equal(line_cost_near(t, &near), m->line_l2);
	assert_int_equal(line_cost_beyond(t, &near), 0); /* it has just been touched */
	assert_int_equal(line_cost(t, &l, false), m->line_l2);
	cache_stream(t, 1024 * KIB);
	assert_int_equal(line_cost_beyond(t, &near), m->line_l3 - m->line_hit);
	assert_int_equal(line_cost(t, &l, true), m->line_l3);
	cache_stream(t, 2048 * KIB);
	assert_int_equal(line_cost_near(t, &near), m->line_memory);
	assert_int_equal(line_cost(t, &l, true), m->line_memory);

	/* The other thread of the core streams through the same caches, another core through its own. */
	task_pin(t, 1);
	cache_stream(t, 64 * KIB);
	task_pin(t, 2);
	cache_stream(t, 4096 * KIB);
	task_pin(t, 0);
	task_sync(t);
	assert_int_equal(line_cost_near(t, &near), m->line_l2);
	/* What another CPU has written comes from there, however little has streamed. */
	assert_int_equal(cost_of(t, 319, &l, line_write), m->line_remote);
	assert_int_equal(cost_of(t, 0, &l, line_write), m->line_remote);
}

static void what_streams_pushes_lines_out(void **state)
{
	struct machine m = big_machine();

	(void)state;
	m.cache_l1 = 32 * KIB;
	m.cache_l2 = 1024 * KIB;
	m.cache_l3 = 1024 * KIB;
	m.line_l2 = 5 * SIM_NS;
	m.line_l3 = 25 * SIM_NS;
	struct sim *sim = host_new(&m);

	host_task(sim, 0, streams, NULL);
	host_finish(sim);
	sim_destroy(sim);
}

static void streams_in_vain(struct task *t, void *arg)
{
	const struct machine *m = sim_sched(t->sim)->machine;
	uint64_t near = 0;

	(void)arg;
	task_sync(t);
	cache_stream(t, 1 << 30);
	assert_int_equal(line_cost_near(t, &near), m->line_hit);
	assert_int_equal(line_cost_beyond(t, &near), 0);
}

static void without_sizes_lines_stay_near(void **state)
{
	const struct machine m = big_machine();
	struct sim *sim = host_new(&m);

	(void)state;
	host_task(sim, 0, streams_in_vain, NULL);
	host_finish(sim);
	sim_destroy(sim);
}

static void an_access_costs_the_way_of_the_line(void **state)
{
	struct machine m = big_machine();
	struct sim *sim = host_new(&m);

	(void)state;
	host_task(sim, 0, costs, NULL);
	host_finish(sim);
	sim_destroy(sim);
}

struct storm {
	struct line line;
	int rounds;
	uint64_t value;
	sim_time_t end;
};

static void hammer(struct task *t, void *arg)
{
	struct storm *s = arg;

	for (int i = 0; i < s->rounds; i++) {
		line_rmw(t, &s->line);
		s->value++;
	}
	if (t->clock > s->end)
		s->end = t->clock;
}

/* The figure behind every contended counter: a transfer for each operation, however many CPUs there are. */
static void contended_atomics_serialise_at_the_transfer_time(void **state)
{
	(void)state;
	for (uint32_t n = 2; n <= 32; n *= 2) {
		struct machine m = plain_machine(n);
		struct storm s = { .rounds = 100 };

		m.line_memory = 90 * SIM_NS;
		m.line_socket = 60 * SIM_NS;
		m.line_hit = 1 * SIM_NS;
		m.atomic = 5 * SIM_NS;
		struct sim *sim = host_new(&m);

		line_init(&s.line);
		for (uint32_t i = 0; i < n; i++)
			host_task(sim, i, hammer, &s);
		host_finish(sim);
		assert_int_equal(s.value, n * 100);
		assert_int_equal(s.end, m.line_memory + (n * 100 - 1) * m.line_socket + m.atomic);
		sim_destroy(sim);
	}
}

static void load(struct task *t, void *arg)
{
	struct storm *s = arg;

	line_read(t, &s->line);
	assert_int_equal(t->clock, t->cpu->id == 0 ? 50 * SIM_NS : 100 * SIM_NS);
	cpu_work(t, SIM_US);
	sim_time_t before = t->clock;

	line_read(t, &s->line);
	assert_int_equal(t->clock - before, SIM_NS);
}

/* The first copy takes the line away from its writer; the others are taken side by side. */
static void copies_are_taken_in_parallel(void **state)
{
	struct machine m = big_machine();
	struct sim *sim = host_new(&m);
	struct storm s;

	(void)state;
	line_init(&s.line);
	s.line.owner = 100;
	for (uint32_t i = 0; i < 40; i += 2)
		host_task(sim, i, load, &s);
	host_finish(sim);
	assert_int_equal(s.line.nr_sharers, 20);
	line_release(sim, &s.line);
	sim_destroy(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(topology_is_consistent),
		cmocka_unit_test(transfer_goes_by_distance),
		cmocka_unit_test(an_access_costs_the_way_of_the_line),
		cmocka_unit_test(contended_atomics_serialise_at_the_transfer_time),
		cmocka_unit_test(copies_are_taken_in_parallel),
		cmocka_unit_test(what_streams_pushes_lines_out),
		cmocka_unit_test(without_sizes_lines_stay_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
