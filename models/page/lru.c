/*
 * lru.c - the per-CPU batches in front of the LRU lists, after mm/swap.c of Linux 6.1 (folio_add_lru,
 * folio_batch_move_lru, release_pages). The lists are the LRU's own (models/reclaim).
 *
 * Pages wait in a batch of their CPU and are put on their lists together, under the lruvec's lock, with the
 * statistics updates of LRU sizes inside it. A batch holds a reference: a page that is let go meanwhile stays
 * charged until its batch is drained. The lock is held over neighbours of the same lruvec, and over at most
 * SWAP_CLUSTER_MAX of them when pages are released.
 *
 * A batch is emptied in one step before its pages are moved, where the kernel keeps others of its CPU out
 * with a local lock. Left out: unevictable pages, and huge ones.
 */
#include <string.h>

#include "models/page/page_impl.h"
#include "models/reclaim/reclaim.h"

struct page_drain {
	struct task *task;
	uint32_t pending; /* CPUs that are still to do theirs */
};

struct lruvec *lruvec_create(struct memcg *m, uint32_t node)
{
	struct host *host = m->host;
	struct lruvec *lruvec = sim_alloc(host->sim, sizeof *lruvec);

	if (!m->lruvecs)
		m->lruvecs = sim_alloc(host->sim, host->nr_nodes * sizeof *m->lruvecs);
	m->lruvecs[node] = lruvec;
	lruvec->memcg = m;
	lruvec->node = node;
	spin_lock_init(&lruvec->own_lock, host->pages->lru_class);
	line_init(&lruvec->list_line);
	line_init(&lruvec->size_line);
	lruvec->lock = host->pages->node_lock ? &host->pages->nodes[node].lru_lock : &lruvec->own_lock;
	lruvec->policy = sim_alloc(host->sim, reclaim_ops(host)->lruvec_size);
	if (reclaim_ops(host)->lruvec_init)
		reclaim_ops(host)->lruvec_init(lruvec);
	return lruvec;
}

void lruvecs_free(struct memcg *m)
{
	struct host *host = m->host;

	for (uint32_t node = 0; m->lruvecs && node < host->nr_nodes; node++) {
		struct lruvec *lruvec = m->lruvecs[node];

		if (!lruvec)
			continue;
		line_release(host->sim, &lruvec->own_lock.line);
		sim_free(host->sim, lruvec->policy, reclaim_ops(host)->lruvec_size);
		sim_free(host->sim, lruvec, sizeof *lruvec);
	}
	if (m->lruvecs)
		sim_free(host->sim, m->lruvecs, host->nr_nodes * sizeof *m->lruvecs);
	m->lruvecs = NULL;
}

struct lruvec *lruvec_relock_irq(struct task *t, struct host *host, const struct page *page,
				 struct lruvec *locked)
{
	for (;;) {
		struct lruvec *lruvec = memcg_lruvec(page_memcg(host, page), page->node);

		if (locked && lruvec->lock == locked->lock)
			return lruvec;
		if (locked)
			spin_unlock_irq(t, locked->lock);
		spin_lock_irq(t, lruvec->lock);
		locked = lruvec; /* and once more: it may have been reparented while this one waited */
	}
}

/* ---- batches ---- */

static void drain(struct task *t, struct host *host, struct folio_batch *from,
		  void (*move)(struct task *t, struct lruvec *lruvec, frame_t frame))
{
	struct folio_batch batch;
	struct lruvec *locked = NULL;
	uint32_t orphans = 0;

	if (!from->nr)
		return;
	batch.nr = from->nr;
	memcpy(batch.frames, from->frames, from->nr * sizeof(frame_t));
	from->nr = 0;
	for (uint32_t i = 0; i < batch.nr; i++) {
		locked = lruvec_relock_irq(t, host, page_of(host, batch.frames[i]), locked);
		move(t, locked, batch.frames[i]);
	}
	spin_unlock_irq(t, locked->lock);
	for (uint32_t i = 0; i < batch.nr; i++) {
		if (page_put(page_of(host, batch.frames[i])))
			batch.frames[orphans++] = batch.frames[i];
	}
	if (orphans)
		pages_release(t, host, batch.frames, orphans);
}

static bool batch_add(struct task *t, struct host *host, struct folio_batch *batch, frame_t frame)
{
	cpu_defer(t, host->costs->batch_add);
	page_of(host, frame)->batched++;
	batch->frames[batch->nr++] = frame;
	return batch->nr == host->pages->batch;
}

void page_add_lru(struct task *t, struct host *host, frame_t frame)
{
	struct folio_batch *batch = &page_cpu(host, t)->add;

	shared_step(t);
	if (batch_add(t, host, batch, frame))
		drain(t, host, batch, reclaim_ops(host)->add);
}

bool page_in_add_batch(const struct host *host, const struct task *t, frame_t frame)
{
	const struct folio_batch *batch = &page_cpu(host, t)->add;

	for (uint32_t i = batch->nr; i--;)
		if (batch->frames[i] == frame)
			return true;
	return false;
}

void page_activate_later(struct task *t, struct host *host, frame_t frame)
{
	struct folio_batch *batch = &page_cpu(host, t)->activate;

	shared_step(t);
	if (batch_add(t, host, batch, frame))
		drain(t, host, batch, reclaim_ops(host)->activate);
}

static void rotate(struct task *t, struct lruvec *lruvec, frame_t frame)
{
	struct host *host = lruvec->memcg->host;

	if (!(page_of(host, frame)->flags & PG_LRU) || !reclaim_ops(host)->rotate)
		return;
	reclaim_ops(host)->rotate(t, lruvec, frame);
	host->reclaim->calls.rotated++;
}

/* The interrupt's CPU need not be that of the task which stands for it. */
void page_rotate_later(struct task *t, struct host *host, frame_t frame, uint32_t cpu)
{
	struct folio_batch *batch = &host->pages->cpus[cpu].rotate;

	shared_step(t);
	if (batch_add(t, host, batch, frame))
		drain(t, host, batch, rotate);
}

void page_mark_accessed(struct task *t, struct host *host, frame_t frame)
{
	shared_step(t);
	reclaim_ops(host)->mark_accessed(t, host, frame);
}

void lru_add_drain(struct task *t)
{
	struct host *host = host_of(t);

	task_sync(t);
	drain(t, host, &page_cpu(host, t)->add, reclaim_ops(host)->add);
	drain(t, host, &page_cpu(host, t)->rotate, rotate);
	drain(t, host, &page_cpu(host, t)->activate, reclaim_ops(host)->activate);
}

static void drain_work(struct task *t, struct work *work)
{
	struct page_cpu *cpu = (struct page_cpu *)(void *)((char *)work - offsetof(struct page_cpu, drain));

	lru_add_drain(t);
	task_sync(t);
	if (!--cpu->waiting->pending)
		task_wake(t->sim, t, cpu->waiting->task);
}

void lru_add_drain_all(struct task *t)
{
	struct host *host = host_of(t);
	struct page_state *ps = host->pages;
	struct page_drain wait = { .task = t };

	mutex_lock(t, &ps->drain_mutex);
	for (uint32_t i = 0; i < host->nr_cpus; i++) {
		struct page_cpu *cpu = &ps->cpus[i];

		task_sync(t);
		if (!cpu->add.nr && !cpu->activate.nr && !cpu->rotate.nr)
			continue;
		cpu->waiting = &wait;
		wait.pending++;
		queue_work_on(host->sim, t, i, ps->queue, &cpu->drain);
	}
	task_sync(t);
	while (wait.pending)
		task_block(t);
	mutex_unlock(t, &ps->drain_mutex);
}

/* ---- letting go ---- */

/* mem_cgroup_uncharge_list(): neighbours of one memcg in one operation, and one event. */
static void uncharge(struct task *t, struct host *host, const frame_t *frames, uint32_t nr)
{
	for (uint32_t i = 0, run; i < nr; i += run) {
		uint32_t charged = page_of(host, frames[i])->memcg;
		struct memcg *m = page_memcg(host, page_of(host, frames[i]));

		for (run = 0; i + run < nr && page_of(host, frames[i + run])->memcg == charged; run++)
			page_of(host, frames[i + run])->flags &= (uint16_t)~PG_CHARGED;
		if (m->id != charged && memcg_is_root(m))
			memcg_uncharge_inherited(t, m, run);
		else
			memcg_uncharge(t, m, run);
		count_memcg_events(t, m, PGPGOUT, run);
		if (host->cgroups->lru_reparent)
			objcg_put_many(t, objcg_by_id(host, charged), run);
	}
}

void pages_release(struct task *t, struct host *host, frame_t *frames, uint32_t nr)
{
	struct lruvec *locked = NULL;
	uint32_t nr_free = 0, held = 0;

	shared_step(t);
	for (uint32_t i = 0; i < nr; i++) {
		struct page *page = page_of(host, frames[i]);

		page->flags |= PG_ORPHAN; /* from here on nobody isolates it: page_try_get() */
		if (page->batched)
			continue;
		if (page->flags & PG_LRU) {
			struct lruvec *before = locked;

			locked = lruvec_relock_irq(t, host, page, locked);
			if (!before || locked->lock != before->lock)
				held = 0;
			reclaim_ops(host)->del(t, locked, frames[i]);
			if (++held == SWAP_CLUSTER_MAX) {
				spin_unlock_irq(t, locked->lock);
				locked = NULL;
			}
		}
		frames[nr_free++] = frames[i];
	}
	if (locked)
		spin_unlock_irq(t, locked->lock);
	uncharge(t, host, frames, nr_free);
	for (uint32_t i = 0; i < nr_free; i++)
		frame_free(t, host, frames[i]);
}

void lru_build(struct host *host)
{
	struct page_state *ps = host->pages;

	ps->node_lock = lru_lock_per_node(host);
	ps->lru_class = lock_class(host->sim, ps->node_lock ? "pgdat->lru_lock" : "lruvec->lru_lock");
	for (uint32_t i = 0; ps->node_lock && i < host->nr_nodes; i++)
		spin_lock_init(&ps->nodes[i].lru_lock, ps->lru_class);
	ps->batch = host->kernel_version < 609 ? 15 : PAGE_BATCH_MOST;
	ps->cpus = arena_array(sim_arena(host->sim), host->nr_cpus, sizeof *ps->cpus);
	ps->queue = workqueue_create(host->sim, "mm_percpu_wq", false, 0);
	mutex_init(&ps->drain_mutex, lock_class(host->sim, "lru_add_drain_all"));
	for (uint32_t i = 0; i < host->nr_cpus; i++)
		work_init(&ps->cpus[i].drain, drain_work);
}
