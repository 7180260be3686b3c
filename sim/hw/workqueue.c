/*
 * workqueue.c - work queues, after kernel/workqueue.c of Linux 6.1. See work.h.
 *
 * A queue has a pool of workers for each CPU, or a single one if it is unbound. Queued work goes to a worker
 * that sleeps, the one that fell asleep last (first_idle_worker), or to a new one, or waits on the pool's
 * list while max_active workers are at work. A worker that has done its work takes the next from the list and
 * sleeps only when there is none.
 *
 * Work is never run by two workers at a time (find_worker_executing_work): what is queued while it still runs
 * is put behind it on the worker that runs it. The worker does not touch a work item after having called it,
 * since it may be gone; it is recognised by its address and function, as in the kernel.
 *
 * Simpler than the kernel: pools are not shared between queues, and workers of one CPU's pool run side by
 * side under the scheduler instead of one taking over when another sleeps. A new worker costs its maker no
 * more than waking one would, and is placed as one that slept: a pool always has one that does.
 */
#include "sim/hw/work.h"

#define MAX_ACTIVE 256 /* WQ_DFL_ACTIVE */

struct work_list {
	struct work *first, **last;
};

struct worker {
	struct task *task;
	struct pool *pool;
	struct worker *next;   /* among the idle or the busy ones of the pool */
	struct work_list list; /* to be run by it and nobody else; the first is its next */
	struct work *running;  /* or NULL; compared with, never followed */
	void (*func)(struct task *t, struct work *work);
};

struct pool {
	struct workqueue *wq;
	struct worker *idle, *busy;
	uint32_t nr_busy;
	int32_t cpu;           /* -1: unbound */
	struct work_list list; /* waits for a worker */
};

struct workqueue {
	const char *name;
	uint32_t max_active;
	bool unbound;
	struct pool *pools; /* one, or one a CPU */
};

static void list_init(struct work_list *list)
{
	list->first = NULL;
	list->last = &list->first;
}

static void list_add(struct work_list *list, struct work *work)
{
	work->next = NULL;
	*list->last = work;
	list->last = &work->next;
}

static struct work *list_take(struct work_list *list)
{
	struct work *work = list->first;

	if (work) {
		list->first = work->next;
		if (!list->first)
			list->last = &list->first;
	}
	return work;
}

/* ---- workers ---- */

static void worker_idle(struct worker *w)
{
	struct pool *pool = w->pool;
	struct worker **at = &pool->busy;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	pool->nr_busy--;
	w->next = pool->idle;
	pool->idle = w;
}

static void worker_main(struct task *t, void *arg)
{
	struct worker *w = arg;

	for (;;) {
		task_sync(t);
		struct work *work = list_take(&w->list);

		if (!work)
			work = list_take(&w->pool->list);
		if (!work) {
			worker_idle(w);
			while (!w->list.first)
				task_block(t);
			continue;
		}
		work->queued = false;
		w->running = work;
		w->func = work->func;
		cpu_work(t, sim_sched(t->sim)->machine->work_dispatch);
		w->func(t, work);
		task_sync(t);
		w->running = NULL;
	}
}

/* Gives the work to a worker that has none. The last action of a step: `t`, if any, pays for the wake-up. */
static void start(struct sim *sim, struct pool *pool, struct task *t, struct work *work)
{
	struct worker *w = pool->idle;
	bool is_new = !w;

	if (is_new) {
		w = sim_alloc(sim, sizeof *w);
		w->pool = pool;
		list_init(&w->list);
	} else {
		pool->idle = w->next;
	}
	w->next = pool->busy;
	pool->busy = w;
	pool->nr_busy++;
	list_add(&w->list, work);
	if (!is_new) {
		task_wake(sim, t, w->task);
		return;
	}
	const struct task_attr attr = {
		.name = pool->wq->name,
		.run = worker_main,
		.arg = w,
		.cpu = pool->cpu,
		.slept = true,
	};

	w->task = task_spawn(sim, &attr);
	if (t)
		cpu_defer(t, sim_sched(sim)->machine->wakeup);
}

/* ---- queues ---- */

static void pool_init(struct pool *pool, struct workqueue *wq, int32_t cpu)
{
	*pool = (struct pool){ .wq = wq, .cpu = cpu };
	list_init(&pool->list);
}

struct workqueue *workqueue_create(struct sim *sim, const char *name, bool unbound, uint32_t max_active)
{
	struct workqueue *wq = sim_alloc(sim, sizeof *wq);
	uint32_t nr = unbound ? 1 : sim_sched(sim)->nr_cpus;

	wq->name = name;
	wq->unbound = unbound;
	wq->max_active = max_active ? max_active : MAX_ACTIVE;
	wq->pools = arena_array(sim_arena(sim), nr, sizeof *wq->pools);
	for (uint32_t i = 0; i < nr; i++)
		pool_init(&wq->pools[i], wq, unbound ? -1 : (int32_t)i);
	return wq;
}

void work_init(struct work *work, void (*func)(struct task *t, struct work *work))
{
	*work = (struct work){ .func = func };
}

static struct worker *who_runs(struct pool *pool, const struct work *work)
{
	struct worker *w = pool->busy;

	while (w && (w->running != work || w->func != work->func))
		w = w->next;
	return w;
}

static void insert(struct sim *sim, struct workqueue *wq, struct task *t, struct work *work)
{
	struct pool *pool = &wq->pools[wq->unbound ? 0 : work->cpu];
	struct worker *w = who_runs(pool, work);

	if (w)
		list_add(&w->list, work);
	else if (pool->nr_busy < wq->max_active)
		start(sim, pool, t, work);
	else
		list_add(&pool->list, work);
}

bool queue_work_on(struct sim *sim, struct task *t, uint32_t cpu, struct workqueue *wq, struct work *work)
{
	if (t)
		task_sync(t);
	if (work->queued)
		return false;
	work->queued = true;
	work->cpu = cpu;
	insert(sim, wq, t, work);
	return true;
}

/* ---- delayed work ---- */

static void delay_over(struct sim *sim, struct ktimer *timer)
{
	struct delayed_work *dw = (struct delayed_work *)(void *)((char *)timer -
								  offsetof(struct delayed_work, timer));

	insert(sim, dw->wq, NULL, &dw->work);
}

void delayed_work_init(struct sim *sim, struct delayed_work *dw, bool deferrable,
		       void (*func)(struct task *t, struct work *work))
{
	work_init(&dw->work, func);
	ktimer_init(sim, &dw->timer, delay_over);
	dw->timer.deferrable = deferrable;
}

void queue_delayed_work(struct sim *sim, uint32_t cpu, struct workqueue *wq, struct delayed_work *dw,
			sim_time_t delay)
{
	uint32_t hz = sim_sched(sim)->machine->hz;
	uint64_t ticks = delay / SIM_SEC * hz + (delay % SIM_SEC * hz + SIM_SEC - 1) / SIM_SEC;

	if (dw->work.queued)
		return;
	if (!delay) {
		queue_work_on(sim, NULL, cpu, wq, &dw->work);
		return;
	}
	dw->work.queued = true;
	dw->work.cpu = cpu;
	dw->wq = wq;
	ktimer_arm(&dw->timer, cpu, ticks);
}
