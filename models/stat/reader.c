/*
 * reader.c - reading memory.stat and cpu.stat.
 *
 * memory_stat_show() of mm/memcontrol.c: a flush by policy, then the text is made from the aggregated
 * values, negative ones as 0. cpu_stat_show() of kernel/cgroup/cgroup.c: up to 6.15 the subtree is flushed
 * exactly, whatever the policies say, except for the root, whose CPU time comes from elsewhere.
 *
 * A read opens and closes a file, whose memory is freed after a grace period: an RCU callback on the reader's
 * CPU, which keeps that CPU's tick going.
 *
 * What a reader sees is compared with the truth at the instant at which the values are copied.
 */
#include "models/stat/stat_impl.h"
#include "sim/hw/rcu.h"

static int64_t shown(const struct memcg *m, enum stat_item item)
{
	int64_t value = m->stat->value[item];

	return value > 0 ? value : 0;
}

static uint64_t difference(int64_t a, int64_t b)
{
	return (uint64_t)(a > b ? a - b : b - a);
}

void stat_look(const struct memcg *m, sim_time_t now, struct stat_read *out)
{
	sim_time_t flushed = 0;

	for (const struct memcg *up = m; up; up = up->parent)
		if (up->stat->flushed_at > flushed)
			flushed = up->stat->flushed_at;
	out->age = now - flushed;
	out->anon = shown(m, NR_ANON_MAPPED);
	out->anon_truth = m->stat->truth[NR_ANON_MAPPED];
	out->file = shown(m, NR_FILE_PAGES);
	out->file_truth = m->stat->truth[NR_FILE_PAGES];
	uint64_t anon = difference(out->anon, out->anon_truth), file = difference(out->file, out->file_truth);

	out->error = anon > file ? anon : file;
	out->pending = m->stat->unflushed;
}

static void file_free(struct sim *sim, struct rcu_head *head)
{
	sim_free(sim, head, sizeof *head);
}

/* fput(): file_free_rcu() after a grace period. */
static void close_file(struct task *t)
{
	call_rcu_on(t->sim, t->cpu->id, sim_alloc(t->sim, sizeof(struct rcu_head)), file_free);
}

void memory_stat_read(struct task *t, struct memcg *m, struct stat_read *out)
{
	struct host *host = m->host;
	struct stat_state *st = stat_of(host);
	struct flush f = { .memcg = m, .caller = FLUSH_READER };

	task_sync(t);
	sim_time_t start = t->clock;

	cpu_work(t, host->costs->read_open);
	st->count.calls[FLUSH_READER]++;
	st->flush->flush(t, &f);
	task_sync(t);
	stat_look(m, t->clock, out);
	cpu_work(t, host->costs->read_format);
	task_sync(t);
	close_file(t);
	out->latency = t->clock - start;
	out->flushes = f.flushes;
	out->pairs = f.pairs;
	stat_metrics_read(host, m, out);
}

void cpu_stat_read(struct task *t, struct memcg *m)
{
	struct stat_state *st = stat_of(m->host);
	struct flush f = { .memcg = m, .caller = FLUSH_CPU_STAT };

	cpu_work(t, m->host->costs->read_open);
	st->count.calls[FLUSH_CPU_STAT]++;
	if (m->parent)
		rstat_flush(t, &f, m, true);
	task_sync(t);
	close_file(t);
}
