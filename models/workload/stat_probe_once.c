/*
 * stat_probe_once.c - single measurements of stat_probe: until when an update stays unseen (visible, E5b),
 * and how many (cgroup, CPU) pairs a read flushes (fanout, E5c). See stat_probe.c.
 */
#include "models/workload/stat_probe.h"

#define FANOUT_SPARE 4 /* pages of a file to one that is dropped: no page-cache node becomes empty */

/* ---- visible ---- */

void probe_visible(struct probe *p)
{
	const struct stat_probe *o = p->o;
	struct memcg *m = p->w->memcg, *above = m->parent ? m->parent : m;
	struct anon_object *memory = anon_create(p->w->host, m, o->memory);
	struct stat_read read;

	task_pin(p->t, 0);
	if (!probe_touch(p, memory, 0))
		return;
	probe_wait_for_flush(p);
	task_sleep(p->t, o->phase);
	cpu_stat_read(p->t, above);
	int64_t base = probe_read_anon(p, &read);

	for (uint64_t i = 1; i <= o->step; i++)
		if (!probe_touch(p, memory, i))
			return;
	sim_time_t begin = p->t->clock;

	while (probe_read_anon(p, &read) < base + (int64_t)o->step) {
		if (p->t->clock - begin >= GIVE_UP)
			return;
		task_sleep(p->t, o->poll);
	}
	probe_record(p, NULL, VISIBLE_AFTER, sim_nanoseconds(p->t->clock - begin));
	anon_unmap(p->t, memory);
}

/* ---- fanout ---- */

struct leaves {
	struct memcg **all;
	struct file_object **files;
	uint32_t nr;
};

static bool fill(struct probe *p, struct leaves *leaves)
{
	struct host *host = p->w->host;
	uint64_t pages = p->o->step * host->nr_cpus * FANOUT_SPARE;

	leaves->all = sim_alloc(host->sim, host->cgroups->nr * sizeof(struct memcg *));
	leaves->nr = memcg_match(host, p->o->of, leaves->all);
	leaves->files = sim_alloc(host->sim, leaves->nr * sizeof(struct file_object *));
	for (uint32_t i = 0; i < leaves->nr; i++) {
		leaves->files[i] = file_create(host, pages);
		for (uint64_t k = 0; k < pages; k++) {
			struct memcg *level;

			if (file_read(p->t, leaves->all[i], leaves->files[i], k, &level) == FILE_NOMEM) {
				workload_out_of_memory(p->w, level);
				return false;
			}
			p->w->ops++;
		}
	}
	return true;
}

static void read_target(struct probe *p, uint64_t *flushes, uint64_t *pairs)
{
	const struct flush_count *count = stat_flush_count(p->w->host);
	struct flush_count before = *count;
	struct stat_read read;

	if (p->o->file == CPU_STAT)
		cpu_stat_read(p->t, p->target);
	else
		memory_stat_read(p->t, p->target, &read);
	*flushes = count->flushes - before.flushes;
	*pairs = count->pairs - before.pairs;
}

void probe_fanout(struct probe *p)
{
	uint64_t step = p->o->step, flushes, pairs;
	struct leaves leaves;

	task_pin(p->t, 0);
	if (!fill(p, &leaves))
		return;
	lru_add_drain_all(p->t);
	probe_settle(p, leaves.all[0]->parent);
	for (uint32_t cpu = 0; cpu < p->w->host->nr_cpus; cpu++) {
		task_pin(p->t, cpu);
		for (uint32_t i = 0; i < leaves.nr; i++)
			file_drop(p->t, leaves.files[i], cpu * step * FANOUT_SPARE, step);
	}
	task_pin(p->t, 0);
	read_target(p, &flushes, &pairs);
	probe_record(p, NULL, FLUSH_CALLS, (double)flushes);
	probe_record(p, NULL, PAIRS_FIRST, (double)pairs);
	read_target(p, &flushes, &pairs);
	probe_record(p, NULL, PAIRS_SECOND, (double)pairs);
}
