/*
 * burst.c - a process that runs for a moment in some cgroup. See burst.h.
 */
#include "models/workload/burst.h"

#include <stdio.h>
#include <string.h>

#include "models/page/page_impl.h"
#include "sim/module.h"

#define RETRY (100 * SIM_MS) /* of a removal: when a container runtime tries again, no cost of the machine */

enum { LATENCY, FAILED, OOM_KILLED };

static const struct metric metrics[] = {
	[LATENCY] = { "burst.latency", "ns", METRIC_DISTRIBUTION,
		      "from when a probe or a service was due until it was done; of a pod, until it ran" },
	[FAILED] = { "burst.failed", "1", METRIC_COUNTER,
		     "that did not come so far: no cgroup, no memory, killed" },
	[OOM_KILLED] = { "burst.oom_killed", "1", METRIC_COUNTER, "processes that were killed" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(burst_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "burst",
	.help = "short-lived processes of pods, timers and probes",
	.ops = &table,
};

void burst_declare(struct workload_task *w, const struct burst_options *o)
{
	struct burst_record *record = sim_alloc(w->host->sim, sizeof *record);

	histogram_init(&record->latency, sim_arena(w->host->sim));
	stream_init(&record->fates, sim_seed(w->host->sim), w->name, "fates");
	w->state = record;
	if (o->program_pages)
		workload_file_declare(w, o->program, o->program_pages);
}

void burst_init(struct burst *b, struct task *t, struct workload_task *w, const struct burst_options *o)
{
	*b = (struct burst){ .t = t, .w = w, .o = o };
	task_sync(t);
	b->program = o->program_pages ? workload_file(w->host, w->memcg, o->program) : NULL;
	if (o->new_pages)
		b->file = file_create(w->host, o->file_pages);
	if (o->anon_pages)
		b->anon = anon_create(w->host, w->memcg, o->anon_pages);
}

static bool read_pages(struct burst *b, struct file_object *file, uint64_t from, uint64_t nr)
{
	struct memcg *failed;

	for (uint64_t i = 0; i < nr; i++) {
		enum file_result result = file_read(b->t, b->memcg, file, (from + i) % file_size(file),
						    &failed);

		if (result == FILE_NOMEM)
			return false;
		workload_count_read(b->w, result);
	}
	return true;
}

static bool touch_all(struct burst *b)
{
	struct memcg *failed;

	for (uint64_t i = 0; i < b->o->anon_pages; i++)
		if (!anon_touch(b->t, b->anon, i, &failed))
			return false;
	return true;
}

bool burst_begin(struct burst *b, struct memcg *m)
{
	const struct burst_options *o = b->o;
	struct burst_record *record = b->w->state;
	bool done;

	if (!workload_leave_for(b->t, b->w, m)) {
		record->failed++;
		return false;
	}
	b->memcg = m;
	if (b->anon)
		page_object_move((struct page_object *)b->anon, m);
	done = read_pages(b, b->program, 0, o->program_pages) && touch_all(b) &&
	       read_pages(b, b->file, b->at, o->new_pages);
	b->at = (b->at + o->new_pages) % o->file_pages;
	workload_return(b->t, b->w);
	if (done && o->work)
		user_work(b->t, o->work);
	record->failed += !done;
	return done;
}

/* Whatever it was that it left there: nobody in the kernel gives it back. */
static void leave_pin(struct burst *b)
{
	struct burst_record *record = b->w->state;

	task_sync(b->t);
	if (stream_uniform(&record->fates) < b->o->pinned)
		memcg_tryget(b->memcg);
}

void burst_end(struct burst *b)
{
	struct burst_record *record = b->w->state;

	if (b->memcg)
		leave_pin(b);
	if (b->anon) {
		anon_unmap(b->t, b->anon);
		task_sync(b->t);
		page_object_move((struct page_object *)b->anon, b->w->memcg);
	}
	if (b->w->task.memcg == b->memcg)
		cgroup_move(b->t, &b->w->task, b->w->memcg);
	task_sync(b->t);
	b->w->memcg->nr_away--;
	b->memcg = NULL;
	record->oom_killed += task_killed(b->t);
	cgroup_task_again(b->t, &b->w->task);
}

bool burst_run_until(struct burst *b, sim_time_t until)
{
	while (b->t->clock < until && !task_killed(b->t))
		task_block_until(b->t, until);
	return !task_killed(b->t);
}

void burst_done(struct burst *b, sim_time_t due)
{
	struct burst_record *record = b->w->state;

	b->w->ops++;
	if (b->w->host->run->measuring)
		histogram_add(&record->latency, (b->t->clock - due) / SIM_NS, 1);
}

struct memcg *burst_mkdir(struct burst *b, struct memcg *parent, const char *stem, uint64_t number)
{
	struct burst_record *record = b->w->state;
	struct memcg *m;
	char name[64];

	snprintf(name, sizeof name, "%.20s%u-%llu", stem, b->w->index, (unsigned long long)number);
	record->failed += cgroup_mkdir(b->t, parent, name, &m) != CGROUP_OK;
	workload_return(b->t, b->w);
	return m;
}

void burst_rmdir(struct burst *b, struct memcg *m)
{
	while (cgroup_rmdir(b->t, m) == CGROUP_BUSY)
		task_sleep(b->t, RETRY);
	task_sync(b->t);
	memcg_put(b->t, m);
}

/* ---- results ---- */

static void record_name(struct host *host, const struct workload_task *tasks, uint32_t first, uint32_t nr)
{
	struct record *record = host->run->record;
	const char *label = tasks[first].label;
	struct burst_record all = { 0 };

	histogram_init(&all.latency, sim_arena(host->sim));
	for (uint32_t i = first; i < nr; i++) {
		const struct burst_record *one = tasks[i].state;

		if (!workload_shares(&tasks[i], &tasks[first]))
			continue;
		histogram_merge(&all.latency, &one->latency);
		all.failed += one->failed;
		all.oom_killed += one->oom_killed;
	}
	record_histogram(record, &metrics[LATENCY], label, &all.latency);
	record_summary(record, &metrics[FAILED], label, (double)all.failed);
	record_summary(record, &metrics[OOM_KILLED], label, (double)all.oom_killed);
}

void burst_finish(struct host *host, const struct module *self)
{
	uint32_t nr;
	const struct workload_task *tasks = workload_tasks(host, &nr);

	for (uint32_t i = 0; i < nr; i++)
		if (workload_is(&tasks[i], self) && workload_leads(tasks, i))
			record_name(host, tasks, i, nr);
}
