/*
 * causality_program.h - random programs of tasks, for test_causality.c.
 *
 * A program is data: a machine, and for each task a script of operations. Sections (a lock held, preemption
 * off) are an operation with the number of those that follow inside it, so shrinking can drop one of them and
 * leave its body. Scripts keep the rules of the kernel: no sleep in atomic sections, one order of locks.
 */
#ifndef TESTS_CAUSALITY_PROGRAM_H
#define TESTS_CAUSALITY_PROGRAM_H

#include "tests/hw_host.h"

#include <string.h>

#include "sim/engine/random.h"

#define MAX_TASKS 12
#define MAX_OPS   40
#define NR_LOCKS  2 /* of each kind */

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
	"work",      "user",        "log",       "wake",         "line",
	"block",     "sleep",       "yield",     "cond_resched", "pin",
	"spawn",     "timer",       "queue",     "call_rcu",     "synchronize_rcu",
	"seq_read",  "preempt_off", "irq_off",   "rcu",          "spin",
	"spin_irq",  "spin_try",    "seq_write", "mutex",        "mutex_try",
	"down_read", "down_write",
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

static inline bool one_in(struct stream *dice, uint64_t n)
{
	return stream_below(dice, n) == 0;
}

static inline sim_time_t some_time(struct stream *dice)
{
	switch (stream_below(dice, 8)) {
	case 0:
		return 0;
	case 1:
		return stream_below(dice, 10 * SIM_US);
	case 2:
		return 100 * SIM_US * (1 + stream_below(dice, 4));
	default:
		return SIM_US * (1 + stream_below(dice, 10));
	}
}

/* What the code around an operation allows. */
struct context {
	bool atomic, rcu; /* may not sleep; may do private work only */
	uint32_t locks;   /* from this number on they may be taken: one order, no deadlock */
};

static inline bool allowed(enum kind kind, const struct context *c)
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

static inline void make_ops(struct stream *dice, struct script *s, uint32_t end, struct context c)
{
	while (s->nr < end) {
		struct op *op = &s->ops[s->nr];
		struct context inner = c;

		do
			op->kind = one_in(dice, 3) ? OP_WORK : (enum kind)stream_below(dice, NR_KINDS);
		while (!allowed(op->kind, &c));
		op->arg = (uint32_t)stream_below(dice, 1 << 20);
		op->d = some_time(dice);
		s->nr++;
		if (op->kind < OP_SECTIONS)
			continue;
		uint32_t room = end - s->nr;

		op->length = room ? (uint32_t)stream_below(dice, (room < 8 ? room : 8) + 1) : 0;
		inner.atomic |= op->kind < OP_MUTEX;
		if (op->kind >= OP_SPIN) {
			op->arg = c.locks + op->arg % (NR_LOCKS - c.locks);
			inner.locks = op->arg + 1;
		}
		make_ops(dice, s, s->nr + op->length, inner);
	}
}

static inline sim_time_t some_cost(struct stream *dice)
{
	return one_in(dice, 2) ? 0 : stream_below(dice, 400 * SIM_NS);
}

static inline struct machine make_machine(struct stream *dice)
{
	uint32_t nodes = 1 + (uint32_t)stream_below(dice, 3),
		 cpus = 1 + (uint32_t)stream_below(dice, one_in(dice, 2) ? 3 : 16);

	return (struct machine){
		.cpus = cpus,
		.nodes = nodes < cpus ? nodes : cpus,
		.threads_per_core = 1,
		.line_hit = some_cost(dice),
		.line_socket = some_cost(dice),
		.line_remote = some_cost(dice),
		.line_memory = some_cost(dice),
		.atomic = some_cost(dice),
		.context_switch = some_cost(dice),
		.space_switch = some_cost(dice),
		.wakeup = some_cost(dice),
		.wakeup_remote = some_cost(dice),
		.migration = some_cost(dice),
		.slice = (1 + stream_below(dice, 20)) * SIM_US,
		.latency = (1 + stream_below(dice, 100)) * SIM_US,
		.wakeup_granularity = stream_below(dice, 10) * SIM_US,
		.bandwidth_slice = (5 + stream_below(dice, 20)) * SIM_US,
		.hz = 1000,
		.rcu_read = some_cost(dice),
		.rcu_gp_start = stream_below(dice, 10) * SIM_US,
		.rcu_gp_poll = (1 + stream_below(dice, 10)) * SIM_US,
		.work_dispatch = some_cost(dice),
		.mutex_slowpath = some_cost(dice),
	};
}

static inline void make_program(struct program *p, uint64_t seed)
{
	struct stream stream, *dice = &stream;

	memset(p, 0, sizeof *p);
	stream_init(dice, seed, "causality", "program");
	p->seed = seed;
	p->machine = make_machine(dice);
	p->preempt = one_in(dice, 2) ? PREEMPT_FULL : PREEMPT_VOLUNTARY;
	p->random_ties = one_in(dice, 2);
	p->nr = 1 + (uint32_t)stream_below(dice, MAX_TASKS);
	for (uint32_t i = 0; i < p->nr; i++) {
		struct script *s = &p->scripts[i];

		s->weight = one_in(dice, 3) ? 1 + (uint32_t)stream_below(dice, 5000) : 1024;
		s->cpu = one_in(dice, 4) ? (int32_t)stream_below(dice, p->machine.cpus) : -1;
		s->start = one_in(dice, 2) ? some_time(dice) : 0;
		s->limited = one_in(dice, 6);
		s->child = i && one_in(dice, 4);
		make_ops(dice, s, 1 + (uint32_t)stream_below(dice, MAX_OPS), (struct context){ .locks = 0 });
	}
}

static inline void print_program(const struct program *p)
{
	print_message("program %ju: %u CPUs on %u nodes, preempt %s, ties %s\n", (uintmax_t)p->seed,
		      p->machine.cpus, p->machine.nodes, p->preempt == PREEMPT_FULL ? "full" : "voluntary",
		      p->random_ties ? "random" : "by number");
	for (uint32_t i = 0; i < p->nr; i++) {
		const struct script *s = &p->scripts[i];

		print_message("task %u: weight %u, cpu %d, start %ju%s%s\n", i, s->weight, s->cpu,
			      (uintmax_t)s->start, s->limited ? ", limited" : "", s->child ? ", child" : "");
		for (uint32_t j = 0; j < s->nr; j++)
			if (!s->ops[j].dropped)
				print_message("  %u: %s arg %u d %ju length %u\n", j,
					      kind_names[s->ops[j].kind], s->ops[j].arg,
					      (uintmax_t)s->ops[j].d, s->ops[j].length);
	}
}

#endif
