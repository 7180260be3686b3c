/*
 * life.c - cgroups come and go. See life.h.
 *
 * Follows cgroup_mkdir(), cgroup_destroy_locked(), css_killed_work_fn(), css_release_work_fn() and
 * css_free_rwork_fn() of kernel/cgroup/cgroup.c, Linux 6.1: one queue for all of the work
 * (cgroup_destroy_wq), at most one item at a time on a CPU, and cgroup_mutex around offlining, release and
 * the last of it. So a storm of rmdir is worked off one by one, and meets whoever makes, removes or moves.
 *
 * References are not counted one by one: pages charged, slots of swap, stocks and children are known anyway.
 * Whoever takes the last of these away says so (memcg_ref_gone()).
 *
 * Left out: cgroups of other controllers, which have no effect of their own here, and the files of a
 * cgroup beyond the time it takes to make and remove them.
 */
#include "models/cgroup/life.h"

#include <string.h>

#include "models/cgroup/life_impl.h"
#include "models/cgroup/siblings.h"
#include "models/cgroup/stock.h"
#include "models/host/ledger.h"
#include "models/list_lru/list_lru.h"
#include "models/page/page_impl.h"
#include "models/page/reparent.h"
#include "models/pressure/pressure.h"
#include "models/reclaim/reclaim.h"

/* ---- the end of the end ---- */

static void end_struct(struct task *t, struct work *work)
{
	struct cgroup_end *end = end_of_work(work);
	struct memcg *m = end->memcg;
	struct obj_cgroup *objcg = m->objcg;

	task_sync(t);
	sim_free(t->sim, end, sizeof *end);
	memcg_destroy(m);
	objcg_put(t, objcg);
}

/* css_release_work_fn() of the cgroup itself: only now it counts as dying no longer. */
static void end_cgroup(struct task *t, struct work *work)
{
	struct cgroup_end *end = end_of_work(work);
	struct memcg *m = end->memcg, *parent = m->parent;
	struct cgroup_life *life = m->host->cgroups->life;

	mutex_lock(t, &life->mutex);
	task_sync(t);
	for (struct memcg *above = parent; above; above = above->parent)
		above->nr_dying_descendants--;
	life->freed++;
	histogram_add(&life->dying, (t->clock - end->removed) / SIM_NS, 1);
	mutex_unlock(t, &life->mutex);
	task_sync(t);
	parent->nr_children--;
	memcg_ref_gone(t, parent);
	work_init(&end->work, end_struct);
	end->cpu = t->cpu->id;
	call_rcu(t->sim, &end->rcu, grace_over);
}

/* mem_cgroup_css_free() */
static void end_css(struct task *t, struct work *work)
{
	struct cgroup_end *end = end_of_work(work);
	struct memcg *m = end->memcg;

	task_sync(t);
	if (!stat_free_memcg(m)) { /* a flusher has it in hand */
		call_rcu(t->sim, &end->rcu, grace_over);
		return;
	}
	cpu_defer(t, m->host->costs->cgroup_free);
	psi_free_memcg(m);
	lruvecs_free(m);
	ledger_free(t, m);
	task_sync(t);
	work_init(&end->work, end_cgroup);
	queue_work_on(t->sim, t, t->cpu->id, m->host->cgroups->life->queue, &end->work);
}

void grace_over(struct sim *sim, struct rcu_head *head)
{
	struct cgroup_end *end = (struct cgroup_end *)(void *)head;

	queue_work_on(sim, NULL, end->cpu, end->memcg->host->cgroups->life->queue, &end->work);
}

/* ---- release ---- */

/* invalidate_reclaim_iterators() */
static void forget_position(struct memcg *m)
{
	for (struct memcg *above = m; above; above = above->parent)
		for (uint32_t node = 0; above->lruvecs && node < m->host->nr_nodes; node++) {
			struct lruvec *lruvec = above->lruvecs[node];

			if (lruvec && lruvec->iter.position == m)
				lruvec->iter.position = NULL;
		}
}

static void release(struct task *t, struct work *work)
{
	struct cgroup_end *end = end_of_work(work);
	struct memcg *m = end->memcg;
	const struct reclaim_ops *ops = reclaim_ops(m->host);

	mutex_lock(t, &m->host->cgroups->life->mutex);
	stat_release(t, m);
	task_sync(t);
	for (uint32_t node = 0; ops->lruvec_release && m->lruvecs && node < m->host->nr_nodes; node++)
		if (m->lruvecs[node])
			ops->lruvec_release(t, m->lruvecs[node]);
	forget_position(m);
	stat_leave(m);
	assert(!m->memory.usage && !m->nr_charged && !m->swap.usage);
	memcg_leave(m);
	memcg_put_css_id(m); /* memcg_id: until_freed */
	m->life = MEMCG_GONE;
	mutex_unlock(t, &m->host->cgroups->life->mutex);
	task_sync(t);
	work_init(&end->work, end_css);
	end->cpu = t->cpu->id;
	call_rcu(t->sim, &end->rcu, grace_over);
}

/* ---- references ---- */

static bool is_kept(const struct memcg *m)
{
	return m->nr_charged > m->nr_kmem || m->nr_children || m->nr_stocks || m->nr_swap;
}

static bool is_referenced(const struct memcg *m)
{
	return m->nr_pins || is_kept(m);
}

void memcg_unreferenced(struct task *t, struct memcg *m)
{
	struct cgroup_end *end = m->end;

	if (m->life != MEMCG_OFFLINE || is_referenced(m))
		return;
	m->life = MEMCG_RELEASED;
	siblings_changed(m);
	work_init(&end->work, release);
	queue_work_on(t->sim, t, t->cpu->id, m->host->cgroups->life->queue, &end->work);
}

bool memcg_tryget(struct memcg *m)
{
	if (m->life >= MEMCG_RELEASED)
		return false;
	m->nr_pins++;
	return true;
}

void memcg_put(struct task *t, struct memcg *m)
{
	assert(m->nr_pins);
	m->nr_pins--;
	memcg_ref_gone(t, m);
}

bool memcg_is_last_ref(const struct memcg *m)
{
	return m->life == MEMCG_OFFLINE && m->nr_pins == 1 && !is_kept(m);
}

/* ---- offline ---- */

static void unprotect(struct page_counter *c)
{
	c->parent->children_min_usage -= c->min_usage;
	c->parent->children_low_usage -= c->low_usage;
	c->min = c->low = c->min_usage = c->low_usage = 0;
}

/* Seed 4: a grace period after offline nobody uses the CPUs' counters. They are spilled and freed. */
static void release_percpu(struct task *t, struct work *work)
{
	char *early = (char *)work;
	struct cgroup_end *end = (struct cgroup_end *)(void *)(early - offsetof(struct cgroup_end, early));
	struct memcg *m = end->memcg;

	stat_release(t, m);
	task_sync(t);
	ledger_release_percpu(t, m);
	task_sync(t);
	memcg_put(t, m);
}

static void early_grace_over(struct sim *sim, struct rcu_head *head)
{
	struct memcg *m = ((struct early_grace *)(void *)head)->m;

	queue_work_on(sim, NULL, m->end->cpu, m->host->cgroups->life->queue, &m->end->early);
}

/* mem_cgroup_css_offline() */
static void css_offline(struct task *t, struct memcg *m)
{
	struct host *host = m->host;
	const struct reclaim_ops *ops = reclaim_ops(host);

	task_sync(t);
	unprotect(&m->memory);
	memcg_offline_kmem(t, m, memcg_reparent_owners);
	if (host->reparent_local)
		stat_reparent_local(t, m);
	task_sync(t);
	reparent_shrinker_deferred(m);
	for (uint32_t node = 0; ops->lruvec_offline && m->lruvecs && node < host->nr_nodes; node++)
		if (m->lruvecs[node])
			ops->lruvec_offline(t, m->lruvecs[node]);
	memcg_drain_all_stock(t, m);
	task_sync(t);
	if (!m->nr_swap && !host->ids_until_freed)
		memcg_put_css_id(m);
	if (ledger_releases_early(m)) {
		m->nr_pins++;
		work_init(&m->end->early, release_percpu);
		m->end->rcu_early.m = m;
		call_rcu(t->sim, &m->end->rcu_early.rcu, early_grace_over);
	}
}

/* css_killed_work_fn(): a cgroup goes offline when all below it are, and may take its parent along. */
static void offline(struct task *t, struct work *work)
{
	struct memcg *m = end_of_work(work)->memcg, *parent;
	struct cgroup_life *life = m->host->cgroups->life;

	mutex_lock(t, &life->mutex);
	do {
		parent = m->parent;
		sim_time_t began = t->clock;

		cpu_work(t, m->host->costs->cgroup_offline);
		css_offline(t, m);
		histogram_add(&life->css_offline, (t->clock - began) / SIM_NS, 1);
		histogram_add(&life->offline, (t->clock - m->end->removed) / SIM_NS, 1);
		ledger_offline(m);
		m->life = MEMCG_OFFLINE;
		m->host->cgroups->nr_dying--;
		memcg_unreferenced(t, m);
		m = parent;
	} while (m && !--m->nr_online);
	mutex_unlock(t, &life->mutex);
}

/* css_killed_ref_fn(), when the grace periods are over */
static void kill(struct sim *sim, struct task *t, struct cgroup_end *end)
{
	if (!--end->memcg->nr_online)
		queue_work_on(sim, t, end->cpu, end->memcg->host->cgroups->life->queue, &end->work);
}

static void killed(struct sim *sim, struct rcu_head *head)
{
	struct cgroup_end *end = (struct cgroup_end *)(void *)head;

	if (--end->grace_periods)
		call_rcu(sim, &end->rcu, killed);
	else
		kill(sim, NULL, end);
}

/* ---- rmdir ---- */

static bool is_busy(const struct memcg *m)
{
	bool busy = m->tasks || m->nr_away;

	for (const struct memcg *child = m->first_child; child && !busy; child = child->next_sibling)
		busy = child->life == MEMCG_ONLINE;
	return busy;
}

static void destroy(struct task *t, struct memcg *m)
{
	struct cgroup_end *end = sim_alloc(t->sim, sizeof *end);

	end->memcg = m;
	end->cpu = t->cpu->id;
	end->removed = t->clock;
	work_init(&end->work, offline);
	m->end = end;
	m->life = MEMCG_DYING;
	m->host->cgroups->nr_dying++;
	for (struct memcg *above = m->parent; above; above = above->parent) {
		above->nr_descendants--;
		above->nr_dying_descendants++;
	}
	ledger_rmdir(t, m);
	m->host->cgroups->life->removed++;
	end->grace_periods = m->host->grace_periods;
	if (end->grace_periods)
		call_rcu(t->sim, &end->rcu, killed);
	else
		kill(t->sim, t, end);
}

enum cgroup_error cgroup_rmdir(struct task *t, struct memcg *m)
{
	struct host *host = m->host;
	struct cgroup_life *life = host->cgroups->life;
	enum cgroup_error error = CGROUP_OK;

	cpu_work(t, host->costs->syscall);
	mutex_lock(t, &life->mutex);
	cpu_work(t, host->costs->cgroup_remove);
	task_sync(t);
	if (m->life == MEMCG_ONLINE && is_busy(m)) /* cgroup_kn_lock_live() */
		error = CGROUP_BUSY;
	else if (m->life == MEMCG_ONLINE)
		destroy(t, m);
	life_refused(host, error, t->clock);
	mutex_unlock(t, &life->mutex);
	return error;
}

/* ---- mkdir ---- */

static struct memcg *make(struct memcg *parent, const char *name)
{
	struct memcg *m = memcg_create(parent, name);

	m->name = m->path + strlen(m->path) - strlen(name);
	m->transient = true;
	m->weight = parent->weight;
	stat_build_memcg(m);
	return m;
}

enum cgroup_error cgroup_mkdir(struct task *t, struct memcg *parent, const char *name, struct memcg **made)
{
	struct host *host = parent->host;
	struct cgroup_life *life = host->cgroups->life;
	enum cgroup_error error = CGROUP_OK;

	*made = NULL;
	cpu_work(t, host->costs->syscall);
	mutex_lock(t, &life->mutex);
	cpu_work(t, host->costs->cgroup_create);
	task_sync(t);
	if (parent->life != MEMCG_ONLINE)
		error = CGROUP_GONE;
	else if (host->cgroups->nr_css_ids == MOST_CSS_IDS)
		error = CGROUP_NO_ID;
	else
		*made = make(parent, name);
	if (*made) {
		error = ledger_make(t, *made);
		task_sync(t);
		if (error == CGROUP_OK && !memcg_online_kmem(t, *made))
			error = CGROUP_NO_PAGE;
	}
	if (*made && error != CGROUP_OK) {
		destroy(t, *made); /* it never was online: as removed, in the kernel's own way */
		life->removed--;
		*made = NULL;
	}
	if (*made) {
		memcg_tryget(*made);
		life->made++;
	}
	life_refused(host, error, t->clock);
	mutex_unlock(t, &life->mutex);
	return error;
}

void cgroup_exit(struct task *t, struct cgroup_task *ct)
{
	struct memcg *m = ct->memcg;

	cgroup_task_exit(ct);
	if (!m->tasks && !m->nr_away)
		ledger_depopulate(t, m);
}

enum cgroup_error cgroup_move(struct task *t, struct cgroup_task *ct, struct memcg *to)
{
	struct host *host = to->host;
	enum cgroup_error error = CGROUP_OK;

	cpu_work(t, host->costs->syscall);
	mutex_lock(t, &host->cgroups->life->mutex);
	cpu_work(t, host->costs->cgroup_attach);
	task_sync(t);
	if (to->life != MEMCG_ONLINE)
		error = CGROUP_GONE;
	else if (!ledger_populate(t, to))
		error = CGROUP_NO_PAGE;
	if (error == CGROUP_OK && ct->memcg != to) {
		psi_move_task(ct->task, to);
		cgroup_exit(t, ct);
		cgroup_task_attach(ct, to);
	}
	mutex_unlock(t, &host->cgroups->life->mutex);
	return error;
}

void life_build(struct host *host)
{
	struct cgroup_life *life = sim_alloc(host->sim, sizeof *life);

	host->cgroups->life = life;
	mutex_init(&life->mutex, lock_class(host->sim, "cgroup_mutex"));
	life->queue = workqueue_create(host->sim, "cgroup_destroy", false, 1);
	histogram_init(&life->offline, sim_arena(host->sim));
	histogram_init(&life->css_offline, sim_arena(host->sim));
	histogram_init(&life->dying, sim_arena(host->sim));
}
