/*
 * slab_rcu.c - objects that are freed later: after a grace period, or with others in a batch.
 *
 * kvfree_rcu() puts pointers into a page; the page is worked off when it is full or some time after its first
 * (kernel/rcu/tree.c, in mm/slab_common.c since 6.14: 20 ms, from 6.2 on, 51824b780b71, 5 s). So a loop that
 * makes and removes cgroups has hundreds of such objects more than cgroups. All CPUs count as one here, and
 * whether the time is over is looked at when the next object comes.
 *
 * The page begins with struct kvfree_rcu_bulk_data: a pointer and a number up to 6.2; since then a list_head,
 * a number and a grace period, which is a word at first and from 6.5 on two (rcu_gp_oldstate).
 */
#include <string.h>

#include "models/cgroup/memcg.h"
#include "models/host/slab.h"
#include "sim/hw/rcu.h"

#define BULK_BYTES 4096u
#define BULK_MOST  (BULK_BYTES / 8)

struct late_puts {
	struct rcu_head rcu; /* first */
	struct host *host;
	uint32_t nr;
	struct late_objects objects[];
};

struct slab_rcu {
	sim_time_t drain; /* KFREE_DRAIN_JIFFIES */
	uint32_t most;    /* KVFREE_BULK_MAX_ENTR: pointers in a page */
	sim_time_t first; /* when the first of those pending came */
	uint32_t nr;
	struct late_objects pending[BULK_MOST];
};

static void put_late(struct sim *sim, struct rcu_head *head)
{
	struct late_puts *late = (struct late_puts *)(void *)head;

	for (uint32_t i = 0; i < late->nr; i++)
		for (uint32_t k = 0; k < late->objects[i].nr; k++)
			slab_put(late->host, late->objects[i].node, late->objects[i].bytes);
	sim_free(sim, late, sizeof *late + late->nr * sizeof late->objects[0]);
}

void slab_put_rcu(struct host *host, const struct late_objects *objects, uint32_t nr_kinds)
{
	struct late_puts *late = sim_alloc(host->sim, sizeof *late + nr_kinds * sizeof *objects);

	late->host = host;
	late->nr = nr_kinds;
	memcpy(late->objects, objects, nr_kinds * sizeof *objects);
	call_rcu(host->sim, &late->rcu, put_late);
}

void slab_kvfree_rcu(struct task *t, struct host *host, uint32_t node, uint32_t bytes)
{
	struct slab_rcu *s = slab_rcu(host);

	shared_step(t);
	if (s->nr == s->most || (s->nr && t->clock - s->first >= s->drain)) {
		slab_put_rcu(host, s->pending, s->nr);
		s->nr = 0;
	}
	if (!s->nr)
		s->first = t->clock;
	s->pending[s->nr++] = (struct late_objects){ node, bytes, 1 };
}

struct slab_rcu *slab_rcu_new(struct host *host)
{
	struct slab_rcu *s = sim_alloc(host->sim, sizeof *s);

	uint32_t header = host->kernel_version < 603 ? 16 : host->kernel_version < 605 ? 32 : 40;

	s->most = (BULK_BYTES - header) / 8;
	s->drain = host->kernel_version < 602 ? 20 * SIM_MS : 5 * SIM_SEC;
	return s;
}
