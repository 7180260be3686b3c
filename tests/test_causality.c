/*
 * test_causality.c - the engine that merges private work against the one that does not.
 *
 * Random programs of tasks run on both (struct sim_config.naive); every shared action writes its time, CPU,
 * task and what it saw into a log, and the logs must be equal to the bit, the statistics of CPUs and locks
 * after them included. Durations come mostly from a coarse grid, so that much happens at the same instant.
 * A program that fails is shrunk to a small one, which is printed.
 *
 * Arguments: how many programs (default NR_PROGRAMS), and the number of the first, for longer searches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/random.h"
#include "sim/engine/xalloc.h"
#include "sim/hw/lock.h"
#include "sim/hw/rcu.h"
#include "sim/hw/work.h"

#define NR_PROGRAMS 2000
#define MAX_TASKS   12
#define MAX_OPS     40
#define NR_LOCKS    2
#define HORIZON     (20 * SIM_MS)

enum kind {
	OP_WORK,
	OP_USER,
	OP_LOG,
	OP_WAKE,
	OP_LINE,
	OP_BLOCK,
	OP_SLEEP,
	OP_YIELD,
	OP_RESCHED,
	OP_PIN,
	OP_SPAWN,
	OP_TIMER,
	OP_QUEUE,
	OP_CALL_RCU,
	OP_SYNC_RCU,
	OP_SEQ_READ,
	OP_SECTIONS, /* from here on: a section around the next `length` operations */
	OP_PREEMPT_OFF = OP_SECTIONS,
	OP_IRQ_OFF,
	OP_RCU,
	OP_SPIN,
	OP_SPIN_IRQ,
	OP_SPIN_TRY,
	OP_SEQ_WRITE,
	OP_MUTEX,
	OP_MUTEX_TRY,
	OP_READ,
	OP_WRITE,
	NR_KINDS
};

static const char *const kind_names[NR_KINDS] = {
	"work",  "user", "log",   "wake",  "line", "block",	 "sleep",    "yield",	  "cond_resched",
	"pin",   "spawn", "timer", "queue", "call_rcu", "synchronize_rcu", "seq_read", "preempt_off", "irq_off",
	"rcu",   "spin", "spin_irq", "spin_try", "seq_write", "mutex", "mutex_try", "down_read", "down_write",
};

struct op {
	enum kind kind;
	uint32_t arg;
	uint32_t length; /* of a section */
	sim_time_t d;
	bool dropped; /* by shrinking: its body, if any, stays */
};

struct script {
	uint32_t nr, weight;
	int32_t cpu;
	sim_time_t start;
	bool limited, child; /* has a cpu.max; begins only by OP_SPAWN */
	struct op ops[MAX_OPS];
};

struct program {
	uint64_t seed;
	struct machine machine;
	enum preempt_model preempt;
	bool random_ties;
	uint32_t nr;
	struct script scripts[MAX_TASKS];
};

/* ---- making a program ---- */

static struct stream dice;

static bool one_in(uint64_t n)
{
	return stream_below(&dice, n) == 0;
}

static sim_time_t some_time(void)
{
	switch (stream_below(&dice, 8)) {
	case 0:
		return 0;
	case 1:
		return stream_below(&dice, 10 * SIM_US);
	case 2:
		return 100 * SIM_US * (1 + stream_below(&dice, 4));
	default:
		return SIM_US * (1 + stream_below(&dice, 10));
	}
}

/* What the code around an operation allows. */
struct context {
	bool atomic, rcu; /* may not sleep; may do private work only */
	uint32_t locks;   /* from this number on they may be taken: one order, no deadlock */
};

static bool allowed(enum kind kind, const struct context *c)
{
	switch (kind) {
	case OP_USER:
	case OP_BLOCK:
	case OP_SLEEP:
	case OP_YIELD:
	case OP_RESCHED:
	case OP_PIN:
	case OP_SYNC_RCU:
		return !c->atomic;
	case OP_MUTEX:
	case OP_MUTEX_TRY:
	case OP_READ:
	case OP_WRITE:
		return !c->atomic && c->locks < NR_LOCKS;
	case OP_SPIN:
	case OP_SPIN_IRQ:
	case OP_SPIN_TRY:
	case OP_SEQ_WRITE:
		return c->locks < NR_LOCKS;
	default:
		return true;
	}
}

static void make_ops(struct script *s, uint32_t end, struct context c)
{
	while (s->nr < end) {
		struct op *op = &s->ops[s->nr];
		struct context inner = c;

		do
			op->kind = one_in(3) ? OP_WORK : (enum kind)stream_below(&dice, NR_KINDS);
		while (!allowed(op->kind, &c));
		op->arg = (uint32_t)stream_below(&dice, 1 << 20);
		op->d = some_time();
		s->nr++;
		if (op->kind < OP_SECTIONS)
			continue;
		uint32_t room = end - s->nr;

		op->length = room ? (uint32_t)stream_below(&dice, (room < 8 ? room : 8) + 1) : 0;
		inner.atomic |= op->kind < OP_MUTEX;
		if (op->kind >= OP_SPIN) {
			op->arg = c.locks + op->arg % (NR_LOCKS - c.locks);
			inner.locks = op->arg + 1;
		}
		make_ops(s, s->nr + op->length, inner);
	}
}

static sim_time_t some_cost(void)
{
	return one_in(2) ? 0 : stream_below(&dice, 400 * SIM_NS);
}

static struct machine make_machine(void)
{
	uint32_t nodes = 1 + (uint32_t)stream_below(&dice, 3), cpus = 1 + (uint32_t)stream_below(&dice, 16);

	return (struct machine){
		.cpus = cpus,
		.nodes = nodes < cpus ? nodes : cpus,
		.threads_per_core = 1,
		.line_hit = some_cost(),
		.line_socket = some_cost(),
		.line_remote = some_cost(),
		.line_memory = some_cost(),
		.atomic = some_cost(),
		.context_switch = some_cost(),
		.wakeup = some_cost(),
		.wakeup_remote = some_cost(),
		.migration = some_cost(),
		.slice = (1 + stream_below(&dice, 20)) * SIM_US,
		.latency = (1 + stream_below(&dice, 100)) * SIM_US,
		.wakeup_granularity = stream_below(&dice, 10) * SIM_US,
		.bandwidth_slice = (5 + stream_below(&dice, 20)) * SIM_US,
		.hz = 1000,
		.rcu_read = some_cost(),
		.rcu_gp_start = stream_below(&dice, 10) * SIM_US,
		.rcu_gp_poll = (1 + stream_below(&dice, 10)) * SIM_US,
		.work_dispatch = some_cost(),
		.mutex_slowpath = some_cost(),
	};
}

static void make_program(struct program *p, uint64_t seed)
{
	memset(p, 0, sizeof *p);
	stream_init(&dice, seed, "causality", "program");
	p->seed = seed;
	p->machine = make_machine();
	p->preempt = one_in(2) ? PREEMPT_FULL : PREEMPT_VOLUNTARY;
	p->random_ties = one_in(2);
	p->nr = 1 + (uint32_t)stream_below(&dice, MAX_TASKS);
	for (uint32_t i = 0; i < p->nr; i++) {
		struct script *s = &p->scripts[i];

		s->weight = one_in(3) ? 1 + (uint32_t)stream_below(&dice, 5000) : 1024;
		s->cpu = one_in(4) ? (int32_t)stream_below(&dice, p->machine.cpus) : -1;
		s->start = one_in(2) ? some_time() : 0;
		s->limited = one_in(6);
		s->child = i && one_in(4);
		make_ops(s, 1 + (uint32_t)stream_below(&dice, MAX_OPS), (struct context){ .locks = 0 });
	}
}

/* ---- running it ---- */

struct entry {
	sim_time_t when;
	uint64_t what; /* value seen (32), task (16), CPU (16); or a statistic */
};

struct world {
	const struct program *p;
	struct sim *sim;
	struct entry *log;
	size_t nr, room;
	uint32_t value; /* shared: changed by every action */
	struct task *tasks[MAX_TASKS];
	bool spawned[MAX_TASKS];
	struct bandwidth *limit;
	struct line lines[NR_LOCKS];
	struct spinlock spins[NR_LOCKS];
	struct mutex mutexes[NR_LOCKS];
	struct rwsem rwsems[NR_LOCKS];
	struct seqlock seqlocks[NR_LOCKS];
	struct timer {
		struct slot slot;
		struct world *world;
		uint32_t arg;
	} timers[NR_LOCKS];
	struct workqueue *queues[2];
	struct job {
		struct work work;
		struct world *world;
		sim_time_t d;
	} jobs[NR_LOCKS];
	struct callback {
		struct rcu_head head;
		struct world *world;
		bool queued;
	} callback;
};

struct actor {
	struct world *world;
	uint32_t id;
};

static void write_log(struct world *w, sim_time_t when, uint64_t what)
{
	if (w->nr == w->room) {
		w->room = w->room ? 2 * w->room : 1024;
		w->log = xreallocarray(w->log, w->room, sizeof *w->log);
	}
	w->log[w->nr++] = (struct entry){ when, what };
}

#define NOBODY 0xff

/* A shared action: reads and changes the shared value. */
static void act(struct world *w, uint32_t who, const struct task *t, uint32_t seen)
{
	w->value = (w->value ^ seen ^ who << 8) * 0x9E3779B1u + 1;
	write_log(w, sim_now(w->sim), (uint64_t)w->value << 32 | who << 16 | (t ? t->cpu->id : NOBODY));
}

static void timer_fires(struct sim *sim, struct slot *slot)
{
	struct timer *timer = (struct timer *)(void *)slot;
	struct world *w = timer->world;
	struct task *target = w->tasks[timer->arg % w->p->nr];

	act(w, NOBODY, NULL, timer->arg);
	if (target)
		task_wake(sim, NULL, target);
}

static void job_runs(struct task *t, struct work *work)
{
	struct job *job = (struct job *)(void *)work;

	task_sync(t);
	act(job->world, NOBODY, t, 1);
	cpu_work(t, job->d);
	task_sync(t);
	act(job->world, NOBODY, t, 2);
}

static void grace_period_over(struct sim *sim, struct rcu_head *head)
{
	struct callback *c = (struct callback *)(void *)head;

	(void)sim;
	c->queued = false;
	act(c->world, NOBODY, NULL, 3);
}

static void begin_task(struct world *w, uint32_t id);

static void run_simple(struct task *t, struct world *w, uint32_t me, const struct op *op)
{
	uint32_t target = op->arg % w->p->nr, seen = op->arg;
	uint64_t sequence;

	switch (op->kind) {
	case OP_WORK:
		cpu_work(t, op->d);
		return;
	case OP_USER:
		user_work(t, op->d);
		break;
	case OP_WAKE:
		task_sync(t);
		seen = w->tasks[target] && task_wake(t->sim, t, w->tasks[target]);
		break;
	case OP_LINE:
		if (op->arg & 2)
			line_rmw(t, &w->lines[op->arg % NR_LOCKS]);
		else if (op->arg & 4)
			line_write(t, &w->lines[op->arg % NR_LOCKS]);
		else
			line_read(t, &w->lines[op->arg % NR_LOCKS]);
		break;
	case OP_BLOCK:
		task_sync(t);
		seen = task_block_until(t, sim_now(t->sim) + op->d);
		break;
	case OP_SLEEP:
		task_sleep(t, op->d);
		break;
	case OP_YIELD:
		task_yield(t);
		break;
	case OP_RESCHED:
		cond_resched(t);
		break;
	case OP_PIN:
		task_pin(t, op->arg % w->p->machine.cpus);
		break;
	case OP_SPAWN:
		task_sync(t);
		if (w->p->scripts[target].child && !w->spawned[target])
			begin_task(w, target);
		break;
	case OP_TIMER:
		task_sync(t);
		w->timers[op->arg % NR_LOCKS].arg = op->arg;
		slot_arm(t->sim, &w->timers[op->arg % NR_LOCKS].slot, sim_now(t->sim) + op->d);
		break;
	case OP_QUEUE:
		seen = queue_work_on(t->sim, t, op->arg % w->p->machine.cpus, w->queues[op->arg / 4 % 2],
				     &w->jobs[op->arg / 4 % 2].work);
		break;
	case OP_CALL_RCU:
		task_sync(t);
		if (!w->callback.queued)
			call_rcu(t->sim, &w->callback.head, grace_period_over);
		w->callback.queued = true;
		break;
	case OP_SYNC_RCU:
		synchronize_rcu(t);
		break;
	case OP_SEQ_READ:
		seen = 0;
		do {
			sequence = read_seqbegin(t, &w->seqlocks[op->arg % NR_LOCKS]);
			cpu_work(t, op->d);
			seen++;
		} while (read_seqretry(t, &w->seqlocks[op->arg % NR_LOCKS], sequence));
		break;
	default:
		task_sync(t);
		break;
	}
	act(w, me, t, seen);
}

static bool enter(struct task *t, struct world *w, const struct op *op)
{
	switch (op->kind) {
	case OP_PREEMPT_OFF:
		preempt_disable(t);
		return true;
	case OP_IRQ_OFF:
		local_irq_disable(t);
		return true;
	case OP_RCU:
		rcu_read_lock(t);
		return true;
	case OP_SPIN:
		spin_lock(t, &w->spins[op->arg]);
		return true;
	case OP_SPIN_IRQ:
		spin_lock_irq(t, &w->spins[op->arg]);
		return true;
	case OP_SPIN_TRY:
		return spin_trylock(t, &w->spins[op->arg]);
	case OP_SEQ_WRITE:
		write_seqlock(t, &w->seqlocks[op->arg]);
		return true;
	case OP_MUTEX:
		mutex_lock(t, &w->mutexes[op->arg]);
		return true;
	case OP_MUTEX_TRY:
		return mutex_trylock(t, &w->mutexes[op->arg]);
	case OP_READ:
		down_read(t, &w->rwsems[op->arg]);
		return true;
	default:
		down_write(t, &w->rwsems[op->arg]);
		return true;
	}
}

static void leave(struct task *t, struct world *w, const struct op *op)
{
	switch (op->kind) {
	case OP_PREEMPT_OFF:
		preempt_enable(t);
		break;
	case OP_IRQ_OFF:
		local_irq_enable(t);
		break;
	case OP_RCU:
		rcu_read_unlock(t);
		break;
	case OP_SPIN:
	case OP_SPIN_TRY:
		spin_unlock(t, &w->spins[op->arg]);
		break;
	case OP_SPIN_IRQ:
		spin_unlock_irq(t, &w->spins[op->arg]);
		break;
	case OP_SEQ_WRITE:
		write_sequnlock(t, &w->seqlocks[op->arg]);
		break;
	case OP_MUTEX:
	case OP_MUTEX_TRY:
		mutex_unlock(t, &w->mutexes[op->arg]);
		break;
	case OP_READ:
		up_read(t, &w->rwsems[op->arg]);
		break;
	default:
		up_write(t, &w->rwsems[op->arg]);
		break;
	}
}

static void run_ops(struct task *t, struct world *w, uint32_t me, uint32_t from, uint32_t to)
{
	const struct script *s = &w->p->scripts[me];

	for (uint32_t i = from; i < to; i++) {
		const struct op *op = &s->ops[i];

		if (op->kind < OP_SECTIONS) {
			if (!op->dropped)
				run_simple(t, w, me, op);
			continue;
		}
		bool shared = op->kind != OP_RCU; /* entering a read section is private */
		bool inside = !op->dropped && enter(t, w, op);

		if (!op->dropped && shared)
			act(w, me, t, inside);
		run_ops(t, w, me, i + 1, i + 1 + op->length);
		if (inside) {
			leave(t, w, op);
			if (shared)
				act(w, me, t, 0);
		}
		i += op->length;
	}
}

static void run_script(struct task *t, void *arg)
{
	struct actor *a = arg;

	run_ops(t, a->world, a->id, 0, a->world->p->scripts[a->id].nr);
}

static void script_over(struct task *t)
{
	struct actor *a = t->arg;

	act(a->world, a->id, t, (uint32_t)(t->clocks[CLOCK_SYS] + t->clocks[CLOCK_SPIN] + t->runq_wait + t->switches));
	a->world->tasks[a->id] = NULL;
}

static void begin_task(struct world *w, uint32_t id)
{
	const struct script *s = &w->p->scripts[id];
	struct actor *a = sim_alloc(w->sim, sizeof *a);

	*a = (struct actor){ w, id };
	w->spawned[id] = true;
	w->tasks[id] = task_spawn(w->sim, &(struct task_attr){ .name = "script",
							       .run = run_script,
							       .arg = a,
							       .on_exit = script_over,
							       .weight = s->weight,
							       .cpu = s->cpu,
							       .bandwidth = s->limited ? w->limit : NULL,
							       .start = s->start });
}

static void build(struct world *w, bool naive)
{
	struct sim *sim = sim_create(&(struct sim_config){
		.seed = w->p->seed, .naive = naive, .random_ties = w->p->random_ties, .cross_check = true });

	w->sim = sim;
	sched_init(sim, &(struct sched_config){ .machine = &w->p->machine, .preempt = w->p->preempt });
	w->limit = bandwidth_create(sim, 20 * SIM_US, 100 * SIM_US, bandwidth_create(sim, 50 * SIM_US, 200 * SIM_US, NULL));
	for (int i = 0; i < NR_LOCKS; i++) {
		line_init(&w->lines[i]);
		spin_lock_init(&w->spins[i], lock_class(sim, "spin"));
		mutex_init(&w->mutexes[i], lock_class(sim, "mutex"));
		rwsem_init(&w->rwsems[i], lock_class(sim, "rwsem"));
		seqlock_init(&w->seqlocks[i], lock_class(sim, "seq"));
		slot_init(sim, &w->timers[i].slot, SIM_CLASS_TIMER, timer_fires);
		w->timers[i].world = w;
		work_init(&w->jobs[i].work, job_runs);
		w->jobs[i].world = w;
		w->jobs[i].d = 3 * SIM_US;
	}
	w->queues[0] = workqueue_create(sim, "bound", false, 1);
	w->queues[1] = workqueue_create(sim, "unbound", true, 2);
	w->callback.world = w;
	for (uint32_t i = 0; i < w->p->nr; i++)
		if (!w->p->scripts[i].child)
			begin_task(w, i);
}

static void write_statistics(struct world *w)
{
	const struct sched *s = sim_sched(w->sim);
	sim_time_t clocks[NR_TASK_CLOCKS], busy = 0, used = 0;

	sched_clocks(w->sim, clocks);
	for (int i = 0; i < NR_TASK_CLOCKS; i++) {
		write_log(w, SIM_NEVER, clocks[i]);
		used += clocks[i];
	}
	for (uint32_t i = 0; i < s->nr_cpus; i++) {
		write_log(w, s->cpus[i].switches, cpu_busy(w->sim, &s->cpus[i]));
		busy += cpu_busy(w->sim, &s->cpus[i]);
	}
	write_log(w, s->irq_off->count, (uint64_t)s->irq_off->sum);
	write_log(w, s->preempt_off->count, (uint64_t)s->preempt_off->sum);
	for (const struct lock_class *c = lock_classes(w->sim); c; c = c->next) {
		write_log(w, c->acquisitions, c->wait_total);
		write_log(w, c->contended, c->hold_total);
		write_log(w, (uint64_t)c->queue_area, c->spin_total);
	}
	write_log(w, bandwidth_nr_throttled(w->limit), bandwidth_throttled_time(w->sim, w->limit));
	/* A property of each engine alone: CPU time is neither lost nor invented. */
	if (busy != used)
		sim_fail(w->sim, "CPUs were busy for %ju ps and tasks used %ju ps", (uintmax_t)busy, (uintmax_t)used);
}

/* Runs the program; the text is what went wrong in it (to be freed), or NULL. */
static char *run_engine(struct world *w, const struct program *p, bool naive)
{
	memset(w, 0, sizeof *w);
	w->p = p;
	build(w, naive);
	sim_run(w->sim, HORIZON);
	write_statistics(w);
	char *error = sim_error(w->sim) ? xasprintf("%s engine: %s", naive ? "naive" : "merging", sim_error(w->sim)) : NULL;

	sim_destroy(w->sim);
	return error;
}

/* What is wrong (to be freed), or NULL. */
static char *compare(const struct program *p)
{
	static struct world merging, naive;
	char *error = run_engine(&merging, p, false);

	if (error) {
		free(merging.log);
		return error;
	}
	error = run_engine(&naive, p, true);
	size_t nr = merging.nr < naive.nr ? merging.nr : naive.nr, i = 0;

	while (i < nr && merging.log[i].when == naive.log[i].when && merging.log[i].what == naive.log[i].what)
		i++;
	if (!error && i < nr)
		error = xasprintf("entry %zu of %zu: merging %ju ps task %u CPU %u, naive %ju ps task %u CPU %u (what %jx, %jx)",
				  i, nr, (uintmax_t)merging.log[i].when, (unsigned int)(merging.log[i].what >> 16 & 0xffff),
				  (unsigned int)(merging.log[i].what & 0xffff), (uintmax_t)naive.log[i].when,
				  (unsigned int)(naive.log[i].what >> 16 & 0xffff),
				  (unsigned int)(naive.log[i].what & 0xffff), (uintmax_t)merging.log[i].what,
				  (uintmax_t)naive.log[i].what);
	else if (!error && merging.nr != naive.nr)
		error = xasprintf("%zu entries against %zu", merging.nr, naive.nr);
	free(merging.log);
	free(naive.log);
	return error;
}

/* ---- a failure, made small ---- */

static bool still_fails(const struct program *p)
{
	char *error = compare(p);

	free(error);
	return error;
}

static void shrink(struct program *p)
{
	bool smaller = true;

	while (smaller) {
		smaller = false;
		for (uint32_t i = 0; i < p->nr; i++) {
			struct script *s = &p->scripts[i];
			struct script kept = *s;

			for (uint32_t j = 0; j < s->nr; j++)
				s->ops[j].dropped = true;
			if (!memcmp(s, &kept, sizeof kept))
				continue;
			if (still_fails(p)) {
				smaller = true;
				continue;
			}
			*s = kept;
			for (uint32_t j = 0; j < s->nr; j++) {
				if (s->ops[j].dropped)
					continue;
				s->ops[j].dropped = true;
				if (still_fails(p))
					smaller = true;
				else
					s->ops[j].dropped = false;
			}
		}
	}
}

static void print_program(const struct program *p)
{
	print_message("program %ju: %u CPUs on %u nodes, preempt %s, ties %s\n", (uintmax_t)p->seed, p->machine.cpus,
		      p->machine.nodes, p->preempt == PREEMPT_FULL ? "full" : "voluntary",
		      p->random_ties ? "random" : "by number");
	for (uint32_t i = 0; i < p->nr; i++) {
		const struct script *s = &p->scripts[i];

		print_message("task %u: weight %u, cpu %d, start %ju%s%s\n", i, s->weight, s->cpu, (uintmax_t)s->start,
			      s->limited ? ", limited" : "", s->child ? ", child" : "");
		for (uint32_t j = 0; j < s->nr; j++)
			if (!s->ops[j].dropped)
				print_message("  %u: %s arg %u d %ju length %u\n", j, kind_names[s->ops[j].kind], s->ops[j].arg,
					      (uintmax_t)s->ops[j].d, s->ops[j].length);
	}
}

static uint64_t nr_programs = NR_PROGRAMS, first_program = 1;

static void merging_equals_naive(void **state)
{
	static struct program p;

	(void)state;
	for (uint64_t i = 0; i < nr_programs; i++) {
		make_program(&p, first_program + i);
		char *error = compare(&p);

		if (!error)
			continue;
		print_message("%s\nshrunk to:\n", error);
		free(error);
		shrink(&p);
		error = compare(&p);
		print_program(&p);
		fail_msg("%s", error);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merging_equals_naive),
	};

	if (argc > 1)
		nr_programs = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		first_program = strtoull(argv[2], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
