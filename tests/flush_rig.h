/*
 * flush_rig.h - a root, a parent and two leaves on four CPUs, and who updates, reads or flushes them: what
 * tests of flush policies have in common.
 */
#ifndef TESTS_FLUSH_RIG_H
#define TESTS_FLUSH_RIG_H

#include "tests/stat_rig.h"

#define CPUS  4
#define BATCH 64

struct play {
	struct rig *rig;
	struct memcg *root, *parent, *leaf, *other;
	struct stat_read read;
	enum flush_caller caller;
	struct memcg *of;
	sim_time_t begin, end;
	int64_t pages;
};

static inline void raise(struct play *p, const struct rig_config *config)
{
	*p = (struct play){ .rig = rig_new(config) };
	p->root = p->rig->host.cgroups->root;
	p->parent = rig_memcg(p->rig, NULL, "p");
	p->leaf = rig_memcg(p->rig, p->parent, "l");
	p->other = rig_memcg(p->rig, p->parent, "o");
}

static inline void update(struct task *t, void *arg)
{
	struct play *p = arg;

	for (int64_t i = 0; i < p->pages; i++)
		rig_update(t, p->of, 1);
}

static inline void read(struct task *t, void *arg)
{
	struct play *p = arg;

	p->begin = t->clock;
	memory_stat_read(t, p->of, &p->read);
	p->end = t->clock;
}

static inline void call(struct task *t, void *arg)
{
	struct play *p = arg;

	p->begin = t->clock;
	stat_flush(t, p->of, p->caller);
	task_sync(t);
	p->end = t->clock;
}

static inline void nothing(struct task *t, void *arg)
{
	(void)t;
	(void)arg;
}

/* A simulation stands still when nothing is to happen, so something has to. */
static inline void wait_a_bit(struct play *p, sim_time_t d)
{
	sim_time_t until = sim_now(p->rig->sim) + d;

	task_spawn(p->rig->sim,
		   &(struct task_attr){ .name = "end", .run = nothing, .cpu = 3, .start = until });
	rig_run(p->rig, until);
}

static inline void do_update(struct play *p, struct memcg *m, int64_t pages)
{
	p->of = m;
	p->pages = pages;
	rig_task(p->rig, 0, update, p);
	wait_a_bit(p, 10 * SIM_MS);
}

static inline uint64_t flushes_of_read(struct play *p, struct memcg *m)
{
	p->of = m;
	rig_task(p->rig, 1, read, p);
	wait_a_bit(p, 10 * SIM_MS);
	return p->read.flushes;
}

static inline uint64_t flushes_of_call(struct play *p, struct memcg *m, enum flush_caller caller)
{
	uint64_t before = p->rig->host.stat->count.flushes;

	p->of = m;
	p->caller = caller;
	rig_task(p->rig, 1, call, p);
	wait_a_bit(p, 10 * SIM_MS);
	return p->rig->host.stat->count.flushes - before;
}

#endif
