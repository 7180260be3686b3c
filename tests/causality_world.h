/*
 * causality_world.h - what the tasks of a random program act upon, and a run of the program on one engine.
 *
 * Every shared action reads and changes one value and writes the time, the CPU, the task and the value into
 * the log: two runs with equal logs have done the same in the same order. Where a primitive leaves its caller
 * in a step the action belongs to that step; nothing here synchronises more than a model would.
 */
#ifndef TESTS_CAUSALITY_WORLD_H
#define TESTS_CAUSALITY_WORLD_H

#include "tests/causality_program.h"

#include "sim/engine/xalloc.h"

#define HORIZON (20 * SIM_MS)

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

static inline void write_log(struct world *w, sim_time_t when, uint64_t what)
{
	if (w->nr == w->room) {
		w->room = w->room ? 2 * w->room : 1024;
		w->log = xreallocarray(w->log, w->room, sizeof *w->log);
	}
	w->log[w->nr++] = (struct entry){ when, what };
}

#define NOBODY 0xff

/* A shared action: reads and changes the shared value. */
static inline void act(struct world *w, uint32_t who, const struct task *t, uint32_t seen)
{
	w->value = (w->value ^ seen ^ who << 8) * 0x9E3779B1u + 1;
	write_log(w, sim_now(w->sim), (uint64_t)w->value << 32 | who << 16 | (t ? t->cpu->id : NOBODY));
}

static inline void timer_fires(struct sim *sim, struct slot *slot)
{
	struct timer *timer = (struct timer *)(void *)slot;
	struct world *w = timer->world;
	struct task *target = w->tasks[timer->arg % w->p->nr];

	act(w, NOBODY, NULL, timer->arg);
	if (target)
		task_wake(sim, NULL, target);
}

static inline void job_runs(struct task *t, struct work *work)
{
	struct job *job = (struct job *)(void *)work;

	task_sync(t);
	act(job->world, NOBODY, t, 1);
	cpu_work(t, job->d);
	task_sync(t);
	act(job->world, NOBODY, t, 2);
}

static inline void grace_period_over(struct sim *sim, struct rcu_head *head)
{
	struct callback *c = (struct callback *)(void *)head;

	(void)sim;
	c->queued = false;
	act(c->world, NOBODY, NULL, 3);
}

static inline void begin_task(struct world *w, uint32_t id);

static inline void run_simple(struct task *t, struct world *w, uint32_t me, const struct op *op)
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

static inline bool enter(struct task *t, struct world *w, const struct op *op)
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

static inline void leave(struct task *t, struct world *w, const struct op *op)
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

static inline void run_ops(struct task *t, struct world *w, uint32_t me, uint32_t from, uint32_t to)
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

static inline void run_script(struct task *t, void *arg)
{
	struct actor *a = arg;

	run_ops(t, a->world, a->id, 0, a->world->p->scripts[a->id].nr);
}

static inline void script_over(struct task *t)
{
	struct actor *a = t->arg;

	act(a->world, a->id, t,
	    (uint32_t)(t->clocks[CLOCK_SYS] + t->clocks[CLOCK_SPIN] + t->runq_wait + t->switches));
	a->world->tasks[a->id] = NULL;
}

static inline void begin_task(struct world *w, uint32_t id)
{
	const struct script *s = &w->p->scripts[id];
	struct actor *a = sim_alloc(w->sim, sizeof *a);

	*a = (struct actor){ w, id };
	w->spawned[id] = true;
	w->tasks[id] = task_spawn(w->sim, &(struct task_attr){ .name = "script",
							       .run = run_script,
							       .arg = a,
							       .owner = id % 3 ? &w->tasks[id % 2] : NULL,
							       .on_exit = script_over,
							       .weight = s->weight,
							       .cpu = s->cpu,
							       .bandwidth = s->limited ? w->limit : NULL,
							       .start = s->start });
}

static inline void build(struct world *w, bool naive)
{
	struct sim *sim = sim_create(&(struct sim_config){
		.seed = w->p->seed, .naive = naive, .random_ties = w->p->random_ties, .cross_check = true });

	w->sim = sim;
	sched_init(sim, &(struct sched_config){ .machine = &w->p->machine, .preempt = w->p->preempt });
	w->limit = bandwidth_create(sim, 20 * SIM_US, 100 * SIM_US,
				    bandwidth_create(sim, 50 * SIM_US, 200 * SIM_US, NULL));
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

static inline void write_statistics(struct world *w)
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
		sim_fail(w->sim, "CPUs were busy for %ju ps and tasks used %ju ps", (uintmax_t)busy,
			 (uintmax_t)used);
}

/* Runs the program; the text is what went wrong in it (to be freed), or NULL. */
static inline char *run_engine(struct world *w, const struct program *p, bool naive)
{
	memset(w, 0, sizeof *w);
	w->p = p;
	build(w, naive);
	sim_run(w->sim, HORIZON);
	write_statistics(w);
	char *error = sim_error(w->sim)
			      ? xasprintf("%s engine: %s", naive ? "naive" : "merging", sim_error(w->sim))
			      : NULL;

	sim_destroy(w->sim);
	return error;
}

#endif
