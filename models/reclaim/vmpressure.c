/*
 * vmpressure.c - the worker that reclaim wakes every 512 pages it has scanned, after mm/vmpressure.c of Linux
 * 6.1 (vmpressure, vmpressure_prio, vmpressure_work_fn), unchanged from 3.10 to 6.18 in what matters here.
 *
 * It is there to tell listeners of cgroup v1, and has nothing to do without them; but it is queued all the
 * same, and so a long call of reclaim gives up its CPU in between. MGLRU takes that for a sign that the
 * process has run, and walks its page tables again at the next aging (mglru_walk.c): short calls age twice
 * and walk once, long ones walk each time.
 *
 * Not modelled: what is counted memcg by memcg besides (socket_pressure).
 */
#include "models/reclaim/reclaim_impl.h"
#include "sim/hw/work.h"

#define WINDOW        512u /* vmpressure_win: 16 times SWAP_CLUSTER_MAX */
#define CRITICAL_PRIO 3    /* vmpressure_level_critical_prio */

struct pressure_work {
	struct work work;
	struct memcg *memcg;
};

static void tell(struct task *t, struct work *work)
{
	struct pressure_work *w = (struct pressure_work *)(void *)work;

	task_sync(t);
	w->memcg->pressure_scanned = 0;
	w->memcg->pressure_queued = false;
	memcg_put(t, w->memcg);
	sim_free(t->sim, w, sizeof *w);
}

static void account(struct task *t, struct memcg *m, uint64_t scanned)
{
	struct host *host = m->host;

	task_sync(t);
	m->pressure_scanned += scanned;
	if (m->pressure_scanned < WINDOW || m->pressure_queued || !memcg_tryget(m))
		return;
	struct pressure_work *w = sim_alloc(t->sim, sizeof *w);

	w->memcg = m;
	m->pressure_queued = true;
	work_init(&w->work, tell);
	queue_work_on(t->sim, t, t->cpu->id, host->reclaim->events, &w->work);
}

/* After a pass over a node. Proactive reclaim is left out since 73b73bac90d9 (6.0). */
void vmpressure(struct task *t, const struct scan_control *sc, uint64_t scanned)
{
	if (scanned && (!sc->proactive || sc->target->host->kernel_version < 600))
		account(t, sc->target, scanned);
}

/* Before a pass: one that is this desperate counts as a whole window. */
void vmpressure_prio(struct task *t, const struct scan_control *sc)
{
	if (sc->priority <= CRITICAL_PRIO && (!sc->proactive || sc->target->host->kernel_version < 600))
		account(t, sc->target, WINDOW);
}
