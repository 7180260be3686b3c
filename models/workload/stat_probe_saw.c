/*
 * stat_probe_saw.c - the mode sawtooth of stat_probe: touch, read, again. See stat_probe.c.
 *
 * What hides in the CPUs' counters, folio batches and stocks when a measurement begins decides the length
 * of its first gap and where memory.current starts, so the history counts: workers come and go as the
 * processes of the bench do, and one measurement goes on where the one before it ended.
 *
 * A worker is forked by the reader and moves into its cgroup. On the way the two copy `reader_pages` pages
 * that they shared; these belong to the root, as do the reader's statistics. In its cgroup the worker is
 * charged a kernel object, a page under every page table of its mapping, so that the steps make none, and
 * `own_pages` others. All of that happens where the reader is, on CPU 0: only the first worker is forked
 * before the reader has bound itself to a CPU, and starts on another one. When a worker ends, its pages
 * leave in large batches.
 */
#include <math.h>

#include "models/cgroup/stock.h"
#include "models/workload/stat_probe.h"

#define SPARE_PAGES  600 /* of the mapping, that no step comes to */
#define BETWEEN	     (20 * SIM_MS) /* a row is printed; RCU is done with the worker by then */
#define OBJECT_BYTES 344 /* measured: what the kernel has in a worker's name, in its stock of bytes */

struct worker {
	struct memcg *memcg;
	struct anon_object *memory, *own, *copied;
	uint64_t position;
	uint32_t cpu, object_node, object_payer;
};

/* Fresh pages, none of them the first of its page table. */
static bool touch_fresh(struct probe *p, struct worker *worker, uint64_t nr)
{
	while (nr--) {
		if (worker->position % TABLE_PAGES == 0)
			worker->position++;
		if (!probe_touch(p, worker->memory, worker->position++))
			return false;
	}
	return true;
}

static void worker_create(struct probe *p, struct worker *worker, const char *path)
{
	struct host *host = p->w->host;
	const struct stat_probe *o = p->o;

	worker->memcg = path ? memcg_find(host, path) : p->w->memcg;
	worker->memory = anon_create(host, worker->memcg, o->memory);
	worker->own = anon_create(host, worker->memcg, o->own_tables * TABLE_PAGES);
	worker->copied = anon_create(host, host->cgroups->root, o->reader_pages);
}

/* As many under tables of their own as there are such tables, the rest where no step comes to. */
static bool own_pages(struct probe *p, struct worker *worker)
{
	const struct stat_probe *o = p->o;

	for (uint64_t i = 0; i < o->own_pages; i++)
		if (!(i < o->own_tables ? probe_touch(p, worker->own, i * TABLE_PAGES)
					: probe_touch(p, worker->memory, o->memory - 1 - i)))
			return false;
	return true;
}

static bool worker_fork(struct probe *p, struct worker *worker, uint32_t cpu)
{
	const struct stat_probe *o = p->o;
	struct memcg *level;

	task_pin(p->t, cpu);
	worker->cpu = cpu;
	worker->position = 0;
	for (uint64_t i = 0; i < o->reader_pages; i++)
		if (!probe_touch(p, worker->copied, i))
			return false;
	task_sync(p->t);
	worker->object_node = p->t->cpu->node;
	worker->object_payer = worker->memcg->objcg->id;
	if (!object_charge(p->t, worker->memcg, worker->object_node, NR_SLAB_UNRECLAIMABLE_B, OBJECT_BYTES,
			   &level))
		return false;
	for (uint64_t i = 0; i < o->memory; i += TABLE_PAGES)
		if (!probe_touch(p, worker->memory, i))
			return false;
	return own_pages(p, worker);
}

static void worker_exit(struct probe *p, struct worker *worker)
{
	task_pin(p->t, worker->cpu);
	anon_unmap(p->t, worker->memory);
	anon_unmap(p->t, worker->own);
	anon_unmap(p->t, worker->copied);
	object_uncharge_rcu(p->t, worker->object_payer, worker->object_node, NR_SLAB_UNRECLAIMABLE_B,
			    OBJECT_BYTES);
}

/* A turn of the worker: `nr` pages, and the CPU time of having waited for it. */
static bool turn(struct probe *p, struct worker *worker, uint32_t cpu, uint64_t nr)
{
	task_pin(p->t, cpu);
	worker->cpu = cpu;
	task_sync(p->t);
	stat_cpu_time(p->t, worker->memcg);
	bool done = touch_fresh(p, worker, nr);

	task_pin(p->t, 0);
	return done;
}

/* The workers of a measurement; the second may be none. */
struct pair {
	struct worker first, second;
	bool has_second;
	uint32_t second_cpu;
};

/* A worker that reads does so at each turn: before these and after the first page. */
static void read_inside(struct probe *p, struct worker *worker, uint32_t times)
{
	struct stat_read read;

	while (times--)
		probe_read_inside(p, worker->memcg, &read);
}

/* New workers, up to the moment at which the measurement begins. */
static bool settle(struct probe *p, const struct saw *saw, struct pair *pair, bool bound)
{
	uint32_t away = !bound && p->w->host->nr_cpus > 1;
	struct memcg *top = pair->first.memcg;

	if (!worker_fork(p, &pair->first, away) ||
	    (pair->has_second && !worker_fork(p, &pair->second, away)) || !turn(p, &pair->first, 0, 1) ||
	    (pair->has_second && !turn(p, &pair->second, pair->second_cpu, 1)))
		return false;
	read_inside(p, &pair->first, saw->inside ? 2 : 0);
	while (top->depth > 1)
		top = top->parent;
	probe_settle(p, top);
	return true;
}

/* One measurement, as it goes. */
struct tooth {
	uint64_t touched, own; /* pages: by all workers, and in what is read */
	uint64_t reads, jumps, flushes, pairs;
	uint64_t last_touched, last_own; /* at the last change of what is read */
	double gap, gap_own, gap_max, stale, stale_max, current_min, current_max;
};

static void look_at_value(struct tooth *one, bool jumped, double stale)
{
	one->reads++;
	one->stale += stale;
	one->stale_max = fmax(one->stale_max, stale);
	if (!jumped)
		return;
	double gap = (double)(one->touched - one->last_touched);

	one->jumps++;
	one->gap += gap;
	one->gap_max = fmax(one->gap_max, gap);
	one->gap_own += (double)(one->own - one->last_own);
	one->last_touched = one->touched;
	one->last_own = one->own;
}

static bool take_turns(struct probe *p, const struct saw *saw, struct pair *pair, struct tooth *one)
{
	uint32_t cpu = saw->spread ? (uint32_t)(one->reads % p->w->host->nr_cpus) : 0;
	bool own_first = memcg_is_descendant(pair->first.memcg, p->target);

	if (!turn(p, &pair->first, cpu, saw->step))
		return false;
	one->touched += saw->step;
	one->own += own_first ? saw->step : 0;
	if (!pair->has_second)
		return true;
	uint64_t nr = saw->both ? saw->step : 0;

	if (!turn(p, &pair->second, pair->second_cpu, nr))
		return false;
	one->touched += nr;
	one->own += memcg_is_descendant(pair->second.memcg, p->target) ? nr : 0;
	return true;
}

static void measure(struct probe *p, const struct saw *saw, struct pair *pair, struct tooth *one)
{
	const struct stat_probe *o = p->o;
	uint64_t room = o->memory > SPARE_PAGES ? o->memory - SPARE_PAGES : o->memory;
	struct stat_read read;
	int64_t base = probe_read_anon(p, &read), last = base;
	int64_t base_current = (int64_t)p->target->memory.usage;

	while (one->reads < o->steps && one->touched < room && take_turns(p, saw, pair, one)) {
		int64_t value = saw->inside ? probe_read_inside(p, pair->first.memcg, &read)
					    : probe_read_anon(p, &read);
		double ahead = memcg_is_root(p->target) ? 0
							: (double)((int64_t)p->target->memory.usage -
								   base_current - (int64_t)one->own);

		one->flushes += read.flushes;
		one->pairs += read.pairs;
		one->current_min = fmin(one->current_min, ahead);
		one->current_max = fmax(one->current_max, ahead);
		look_at_value(one, value != last, (double)(base + (int64_t)one->own - value));
		last = value;
	}
}

/* Sums over the repetitions of a measurement; extremes where the metric is one. */
struct teeth {
	double of[NR_PROBE_METRICS];
	uint32_t measured, with_flushes;
};

static void add_tooth(struct teeth *sum, const struct tooth *one)
{
	double reads = (double)one->reads, jumps = (double)one->jumps, *of = sum->of;

	sum->measured++;
	of[GAP_MEAN] += one->jumps ? one->gap / jumps : 0;
	of[GAP_MEAN_OWN] += one->jumps ? one->gap_own / jumps : 0;
	of[GAP_MAX] = fmax(of[GAP_MAX], one->gap_max);
	of[STALE_MEAN] += one->stale / reads;
	of[STALE_MAX] = fmax(of[STALE_MAX], one->stale_max);
	of[CURRENT_MIN] = fmin(of[CURRENT_MIN], one->current_min);
	of[CURRENT_MAX] = fmax(of[CURRENT_MAX], one->current_max);
	of[TOUCHED] += (double)one->touched;
	of[JUMPS] += jumps;
	of[FLUSHES] += (double)one->flushes;
	of[PAIRS] += (double)one->pairs;
	of[FLUSHES_PER_READ] += (double)one->flushes / reads;
	if (one->flushes) {
		sum->with_flushes++;
		of[PAIRS_PER_FLUSH] += (double)one->pairs / (double)one->flushes;
	}
}

static void record_teeth(struct probe *p, const struct saw *saw, const struct teeth *sum)
{
	for (enum probe_metric i = GAP_MEAN; i <= PAIRS_PER_FLUSH; i++) {
		bool extreme = i == GAP_MAX || i == STALE_MAX || i == CURRENT_MIN || i == CURRENT_MAX;
		uint32_t n = i == PAIRS_PER_FLUSH ? sum->with_flushes : sum->measured;

		if (n)
			probe_record(p, saw->name, i, sum->of[i] / (extreme ? 1 : n));
	}
}

void probe_sawtooth(struct probe *p)
{
	bool bound = false;

	for (size_t i = 0; i < p->o->series.nr; i++) {
		const struct saw *saw = p->o->series.items[i];
		struct teeth sum = { .of = { [CURRENT_MIN] = INFINITY, [CURRENT_MAX] = -INFINITY } };
		struct pair pair = { .has_second = saw->second, .second_cpu = p->w->host->nr_cpus > 1 };

		p->target = memcg_find(p->w->host, saw->target);
		worker_create(p, &pair.first, saw->worker);
		if (pair.has_second)
			worker_create(p, &pair.second, saw->second);
		for (uint32_t k = 0; k < p->o->repeat; k++) {
			struct tooth one = { .current_min = INFINITY, .current_max = -INFINITY };

			if (!settle(p, saw, &pair, bound))
				return;
			bound = true;
			measure(p, saw, &pair, &one);
			if (one.reads)
				add_tooth(&sum, &one);
			worker_exit(p, &pair.first);
			if (pair.has_second)
				worker_exit(p, &pair.second);
			task_pin(p->t, 0);
			task_sleep(p->t, BETWEEN);
		}
		record_teeth(p, saw, &sum);
	}
}
