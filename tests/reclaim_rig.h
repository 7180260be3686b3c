/*
 * reclaim_rig.h - a task that reads, touches and charges in a cgroup of a host made from a few lines, for
 * tests of reclaim.
 */
#ifndef TESTS_RECLAIM_RIG_H
#define TESTS_RECLAIM_RIG_H

#include "models/page/page_impl.h"
#include "models/reclaim/reclaim.h"
#include "models/stat/stat.h"
#include "tests/draw.h"
#include "tests/host_fixture.h"

#define RIG_HOST(cpus_, memory_, kernel_)                                                         \
	"schema: 1\nscenario: test\nhost: { cpus: " #cpus_ ", nodes: 1, memory: " #memory_ " }\n" \
	"kernel: " kernel_ "\n"

struct rig {
	struct fixture f;
	struct host *host;
	bool done;
};

/* A task of a cgroup, as the memory model sees it. */
struct actor {
	struct cgroup_task task; /* first: task.owner points to it */
	struct rig *rig;
	struct memcg *memcg;
	void (*act)(struct task *t, struct actor *a);
	void *arg;
	bool ended;
};

static inline void rig_open(struct rig *r, const char *text, uint32_t version)
{
	memset(r, 0, sizeof *r);
	fixture_open(&r->f, text);
	r->host = r->f.host;
	if (version)
		r->host->kernel_version = version;
}

static inline void actor_main(struct task *t, void *arg)
{
	struct actor *a = arg;

	a->act(t, a);
	a->ended = true;
}

static inline void actor_exit(struct task *t)
{
	cgroup_task_exit(t->owner);
}

static inline void rig_actor_on(struct rig *r, struct actor *a, const char *path, int32_t cpu,
				void (*act)(struct task *t, struct actor *a))
{
	*a = (struct actor){ .rig = r, .memcg = memcg_find(r->host, path), .act = act, .arg = a->arg };
	assert_non_null(a->memcg);
	cgroup_task_attach(&a->task, a->memcg);
	a->task.task = task_spawn(r->host->sim, &(struct task_attr){
							.name = path,
							.run = actor_main,
							.arg = a,
							.owner = a,
							.on_exit = actor_exit,
							.cpu = cpu,
						});
}

static inline void rig_actor(struct rig *r, struct actor *a, const char *path,
			     void (*act)(struct task *t, struct actor *a))
{
	rig_actor_on(r, a, path, 0, act);
}

/* Lets so many seconds pass; ends with the invariants. */
static inline void rig_run(struct rig *r, unsigned int seconds)
{
	sim_run(r->host->sim, sim_now(r->host->sim) + seconds * SIM_SEC);
	assert_null(sim_error(r->host->sim));
}

static inline void rig_close(struct rig *r)
{
	assert_true(fixture_holds(&r->f));
	fixture_close(&r->f);
}

/* |value - published| within a share of it. */
static inline void assert_near(double value, double published, double share)
{
	if (value < published * (1 - share) || value > published * (1 + share))
		fail_msg("%g, expected %g within %g %%", value, published, 100 * share);
}

#endif
