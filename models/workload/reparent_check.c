/*
 * reparent_check.c - what parent and child count of pages while the child is removed: the accounting check of
 * seed 1 (w3), whose script is not published.
 *
 * Below its own cgroup the task makes `levels` cgroups, one in the other, reads `pages` pages of a file in
 * each, and removes all from the lowest up, so that several are dying together. Meanwhile another task, of
 * the parent, maps these pages one after the other: each is an update of a cgroup that is about to go. Then
 * half of the file is dropped from the page cache, and then the rest. After each stage the parent is flushed
 * and looked at: entity NAME/STAGE, with STAGE
 *
 *	live, removed, offline, half, none
 *
 * The removed cgroups are held until the end, as by a socket in each, so that they can be looked at too.
 */
#include <stdio.h>

#include "models/cgroup/life.h"
#include "models/page/page_impl.h"
#include "models/reclaim/reclaim.h"
#include "models/workload/workload.h"
#include "sim/module.h"

#define MOST_LEVELS 16u

struct reparent_check {
	uint64_t pages;
	uint32_t levels;
	sim_time_t map_every;
};

static const struct option rows[] = {
	OPTION(struct reparent_check, pages, OPT_U64, .fallback = "1000", .min = "2", .max = "1M",
	       .help = "pages of a file that each cgroup reads"),
	OPTION(struct reparent_check, levels, OPT_U32, .fallback = "1", .min = "1", .max = "16",
	       .help = "cgroups, one in the other, that are removed together"),
	OPTION(struct reparent_check, map_every, OPT_DURATION, .fallback = "0s",
	       .help = "another task maps one of the pages at this interval while they are removed; 0: none"),
};
static const struct option_table options = OPTION_TABLE("reparent_check", struct reparent_check, rows);

enum { PARENT_LOCAL, PARENT_LRU, PARENT_TOTAL, MAPPED_LOCAL, MAPPED, CHILD_LOCAL, CHILD_LRU, DYING };

static const struct metric metrics[] = {
	[PARENT_LOCAL] = { "reparent.parent_local", "pages", METRIC_GAUGE,
			   "LRU pages that the parent counts for itself; a reader sees 0 where it is below" },
	[PARENT_LRU] = { "reparent.parent_lru", "pages", METRIC_GAUGE, "pages on the parent's LRU lists" },
	[PARENT_TOTAL] = { "reparent.parent_total", "pages", METRIC_GAUGE,
			   "LRU pages in the parent's memory.stat, children included" },
	[MAPPED_LOCAL] = { "reparent.mapped_local", "pages", METRIC_GAUGE,
			   "mapped file pages that the parent counts for itself" },
	[MAPPED] = { "reparent.mapped", "pages", METRIC_GAUGE, "pages of the file that are mapped" },
	[CHILD_LOCAL] = { "reparent.child_local", "pages", METRIC_GAUGE,
			  "LRU pages that the cgroups below count for themselves" },
	[CHILD_LRU] = { "reparent.child_lru", "pages", METRIC_GAUGE, "pages on their LRU lists" },
	[DYING] = { "reparent.nr_dying", "1", METRIC_GAUGE, "nr_dying_descendants of the parent" },
};
static const struct metric_table table = { metrics, sizeof metrics / sizeof metrics[0] };

MODULE(reparent_check_metrics) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_METRICS,
	.name = "reparent_check",
	.help = "counters of parent and child while the child is removed",
	.ops = &table,
};

struct check {
	struct task *t;
	struct workload_task *w;
	const struct reparent_check *o;
	struct memcg *levels[MOST_LEVELS];
	struct file_object *file;
	bool mapping, mapped; /* the other task is at it; it is done */
};

/* ---- looking ---- */

static int64_t local_lru(const struct memcg *m)
{
	int64_t sum = 0;

	for (int i = NR_INACTIVE_ANON; i <= NR_UNEVICTABLE; i++)
		sum += stat_local_exact(m, (enum stat_item)i);
	return sum;
}

static int64_t total_lru(const struct memcg *m)
{
	int64_t sum = 0;

	for (int i = NR_INACTIVE_ANON; i <= NR_UNEVICTABLE; i++)
		sum += stat_reported(m, (enum stat_item)i);
	return sum;
}

static uint64_t on_lists(const struct memcg *m)
{
	uint64_t nr = 0;

	for (uint32_t node = 0; m->lruvecs && node < m->host->nr_nodes; node++)
		for (enum lru_list lru = 0; m->lruvecs[node] && lru < NR_LRU_LISTS; lru++)
			nr += reclaim_ops(m->host)->size(m->lruvecs[node], lru);
	return nr;
}

static uint64_t nr_mapped(const struct check *c)
{
	uint64_t nr = 0;

	for (uint64_t i = 0; i < file_size(c->file); i++) {
		frame_t frame = slot_frame(c->file->object.slots[i]);

		nr += frame && page_of(c->w->host, frame)->flags & PG_MAPPED;
	}
	return nr;
}

static void look(struct check *c, const char *stage)
{
	struct record *record = c->w->host->run->record;
	const struct memcg *p = c->w->memcg;
	int64_t local = 0;
	uint64_t lists = 0;
	char entity[256];

	stat_flush(c->t, c->w->memcg, FLUSH_ZSWAP); /* which no policy puts off, as it may a reader's */
	task_sync(c->t);
	for (uint32_t i = 0; i < c->o->levels; i++) {
		local += local_lru(c->levels[i]);
		lists += on_lists(c->levels[i]);
	}
	snprintf(entity, sizeof entity, "%s/%s", c->w->label, stage);
	record_summary(record, &metrics[PARENT_LOCAL], entity, (double)local_lru(p));
	record_summary(record, &metrics[PARENT_LRU], entity, (double)on_lists(p));
	record_summary(record, &metrics[PARENT_TOTAL], entity, (double)total_lru(p));
	record_summary(record, &metrics[MAPPED_LOCAL], entity, (double)stat_local_exact(p, NR_FILE_MAPPED));
	record_summary(record, &metrics[MAPPED], entity, (double)nr_mapped(c));
	record_summary(record, &metrics[CHILD_LOCAL], entity, (double)local);
	record_summary(record, &metrics[CHILD_LRU], entity, (double)lists);
	record_summary(record, &metrics[DYING], entity, p->nr_dying_descendants);
}

/* ---- the course of it ---- */

/* Up to the time when the cgroups are offline. */
static void map_pages(struct task *t, void *arg)
{
	struct check *c = arg;
	struct memcg *failed;

	for (uint64_t i = 0; c->mapping && i < file_size(c->file); i++) {
		file_touch(t, c->w->memcg, c->file, i, &failed);
		task_sleep(t, c->o->map_every);
		task_sync(t);
	}
	c->mapped = true;
}

/* There and back again. */
static bool read_in(struct check *c, struct memcg *m, uint64_t *index)
{
	struct memcg *failed;
	bool done = workload_leave_for(c->t, c->w, m);

	for (uint64_t k = 0; k < c->o->pages && done; k++)
		done = file_read(c->t, m, c->file, (*index)++, &failed) != FILE_NOMEM;
	workload_come_home(c->t, c->w);
	return done;
}

static bool make_and_read(struct check *c)
{
	struct memcg *above = c->w->memcg;
	uint64_t index = 0;

	for (uint32_t i = 0; i < c->o->levels; i++) {
		if (cgroup_mkdir(c->t, above, "child", &c->levels[i]) != CGROUP_OK)
			return false;
		above = c->levels[i];
		if (!read_in(c, above, &index))
			return false;
	}
	lru_add_drain_all(c->t);
	return true;
}

static void remove_all(struct check *c)
{
	if (c->o->map_every) {
		c->mapping = true;
		task_spawn(c->t->sim,
			   &(struct task_attr){ .name = "mapper", .run = map_pages, .arg = c, .cpu = -1 });
		task_sleep(c->t, 20 * c->o->map_every);
	}
	for (uint32_t i = c->o->levels; i--;)
		cgroup_rmdir(c->t, c->levels[i]);
	look(c, "removed");
	task_sleep(c->t, SIM_SEC);
	task_sync(c->t);
	c->mapping = false;
	while (c->o->map_every && !c->mapped)
		task_sleep(c->t, c->o->map_every);
	look(c, "offline");
}

static void run(struct task *t, struct workload_task *w)
{
	struct check *c = sim_alloc(t->sim, sizeof *c);
	const struct reparent_check *o = w->own;
	uint64_t half = o->pages * o->levels / 2;

	*c = (struct check){ .t = t, .w = w, .o = o };
	c->file = file_create(w->host, o->pages * o->levels);
	if (!make_and_read(c)) {
		w->failed = true;
		return;
	}
	look(c, "live");
	remove_all(c);
	file_unmap(t, c->file);
	file_drop(t, c->file, 0, half);
	look(c, "half");
	file_drop(t, c->file, half, file_size(c->file) - half);
	look(c, "none");
	for (uint32_t i = o->levels; i--;) {
		task_sync(t);
		memcg_put(t, c->levels[i]);
	}
	w->ops++;
}

static bool ends(const void *own)
{
	(void)own;
	return true;
}

static const struct workload_ops ops = { .ends = ends, .run = run };

MODULE(reparent_check) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_WORKLOAD,
	.name = "reparent_check",
	.help = "removes cgroups with page cache, and compares what parent and child count with it",
	.source = "w3 of seed 1",
	.options = &options,
	.ops = &ops,
};
