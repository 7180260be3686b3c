/*
 * life_rig.h - for tests of cgroups that come and go: one that nobody holds, and the time until all that
 * follows a removal is over.
 */
#ifndef TESTS_LIFE_RIG_H
#define TESTS_LIFE_RIG_H

#include "models/cgroup/life.h"
#include "tests/host_fixture.h"

static inline void settle(struct task *t)
{
	task_sleep(t, 300 * SIM_MS);
	task_sync(t);
}

static inline struct memcg *made(struct task *t, struct memcg *parent, const char *name)
{
	struct memcg *m;

	assert_int_equal(cgroup_mkdir(t, parent, name, &m), CGROUP_OK);
	task_sync(t);
	memcg_put(t, m); /* nobody else removes it */
	return m;
}

#endif
