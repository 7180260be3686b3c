/*
 * lru.c - LRU lists and the per-CPU batches in front of them, after mm/swap.c of Linux 6.1 (folio_add_lru,
 * folio_batch_move_lru, folio_mark_accessed, release_pages).
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

#define SWAP_CLUSTER_MAX 32

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
	spin_lock_init(&lruvec->lock, host->pages->lru_class);
	return lruvec;
}

static enum lru_list page_lru(const struct page *page)
{
	enum lru_list lru = page->flags & PG_SWAPBACKED ? LRU_INACTIVE_ANON : LRU_INACTIVE_FILE;

	return page->flags & PG_ACTIVE ? lru + 1 : lru;
}

/* ---- under the lruvec's lock ---- */

/* update_lru_size(): the memcg's zone size is exact, the statistics are what was flushed. */
static void update_size(struct task *t, struct lruvec *lruvec, enum lru_list lru, int nr)
{
	lruvec->lru_zone_size[lru] += (uint64_t)(int64_t)nr;
	mod_lruvec_state(t, lruvec->memcg, lruvec->node, NR_INACTIVE_ANON + lru, nr);
}

static void list_add(struct task *t, struct lruvec *lruvec, frame_t frame)
{
	struct page *pages = lruvec->memcg->host->pages->pages, *page = &pages[frame];
	enum lru_list lru = page_lru(page);

	page->prev = NO_FRAME;
	page->next = lruvec->head[lru];
	if (page->next)
		pages[page->next].prev = frame;
	else
		lruvec->tail[lru] = frame;
	lruvec->head[lru] = frame;
	page->flags |= PG_LRU;
	update_size(t, lruvec, lru, 1);
}

static void list_del(struct task *t, struct lruvec *lruvec, frame_t frame)
{
	struct page *pages = lruvec->memcg->host->pages->pages, *page = &pages[frame];
	enum lru_list lru = page_lru(page);

	if (page->prev)
		pages[page->prev].next = page->next;
	else
		lruvec->head[lru] = page->next;
	if (page->next)
		pages[page->next].prev = page->prev;
	else
		lruvec->tail[lru] = page->prev;
	page->flags &= (uint16_t)~PG_LRU;
	update_size(t, lruvec, lru, -1);
}

static void lru_add_fn(struct task *t, struct lruvec *lruvec, frame_t frame)
{
	cpu_defer(t, lruvec->memcg->host->costs->lru_add);
	list_add(t, lruvec, frame);
}

static void activate_fn(struct task *t, struct lruvec *lruvec, frame_t frame)
{
	const struct host *host = lruvec->memcg->host;
	struct page *page = page_of(host, frame);

	if (!(page->flags & PG_LRU) || page->flags & PG_ACTIVE)
		return;
	cpu_defer(t, host->costs->lru_del + host->costs->lru_add);
	list_del(t, lruvec, frame);
	page->flags |= PG_ACTIVE;
	list_add(t, lruvec, frame);
	count_memcg_events(t, lruvec->memcg, PGACTIVATE, 1);
}

/* folio_lruvec_relock_irq() */
static struct lruvec *relock(struct task *t, struct host *host, const struct page *page, struct lruvec *locked)
{
	struct lruvec *lruvec = memcg_lruvec(page_memcg(host, page), page->node);

	if (lruvec == locked)
		return locked;
	if (locked)
		spin_unlock_irq(t, &locked->lock);
	spin_lock_irq(t, &lruvec->lock);
	return lruvec;
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
		locked = relock(t, host, page_of(host, batch.frames[i]), locked);
		move(t, locked, batch.frames[i]);
	}
	spin_unlock_irq(t, &locked->lock);
	for (uint32_t i = 0; i < batch.nr; i++) {
		struct page *page = page_of(host, batch.frames[i]);

		if (!--page->batched && page->flags & PG_ORPHAN)
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
		drain(t, host, batch, lru_add_fn);
}

/* __lru_cache_activate_folio(): not on its list yet, but perhaps in this CPU's batch. */
static void activate_in_batch(const struct host *host, const struct task *t, frame_t frame)
{
	const struct folio_batch *batch = &page_cpu(host, t)->add;

	for (uint32_t i = batch->nr; i--;)
		if (batch->frames[i] == frame) {
			page_of(host, frame)->flags |= PG_ACTIVE;
			return;
		}
}

void page_mark_accessed(struct task *t, struct host *host, frame_t frame)
{
	struct page *page = page_of(host, frame);
	struct folio_batch *batch = &page_cpu(host, t)->activate;

	shared_step(t);
	if (!(page->flags & PG_REFERENCED)) {
		page->flags |= PG_REFERENCED;
		return;
	}
	if (page->flags & PG_ACTIVE)
		return;
	page->flags &= (uint16_t)~PG_REFERENCED;
	if (!(page->flags & PG_LRU))
		activate_in_batch(host, t, frame);
	else if (batch_add(t, host, batch, frame))
		drain(t, host, batch, activate_fn);
}

void lru_add_drain(struct task *t)
{
	struct host *host = host_of(t);

	task_sync(t);
	drain(t, host, &page_cpu(host, t)->add, lru_add_fn);
	drain(t, host, &page_cpu(host, t)->activate, activate_fn);
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
		if (!cpu->add.nr && !cpu->activate.nr)
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
		struct memcg *m = page_memcg(host, page_of(host, frames[i]));

		for (run = 0; i + run < nr && page_of(host, frames[i + run])->memcg == m->id; run++)
			page_of(host, frames[i + run])->flags &= (uint16_t)~PG_CHARGED;
		memcg_uncharge(t, m, run);
		count_memcg_events(t, m, PGPGOUT, run);
	}
}

void pages_release(struct task *t, struct host *host, frame_t *frames, uint32_t nr)
{
	struct lruvec *locked = NULL;
	uint32_t nr_free = 0, held = 0;

	shared_step(t);
	for (uint32_t i = 0; i < nr; i++) {
		struct page *page = page_of(host, frames[i]);

		if (page->batched) {
			page->flags |= PG_ORPHAN;
			continue;
		}
		if (page->flags & PG_LRU) {
			struct lruvec *before = locked;

			locked = relock(t, host, page, locked);
			if (locked != before)
				held = 0;
			cpu_defer(t, host->costs->lru_del);
			list_del(t, locked, frames[i]);
			if (++held == SWAP_CLUSTER_MAX) {
				spin_unlock_irq(t, &locked->lock);
				locked = NULL;
			}
		}
		frames[nr_free++] = frames[i];
	}
	if (locked)
		spin_unlock_irq(t, &locked->lock);
	uncharge(t, host, frames, nr_free);
	for (uint32_t i = 0; i < nr_free; i++)
		frame_free(t, host, frames[i]);
}

void lru_build(struct host *host)
{
	struct page_state *ps = host->pages;

	ps->lru_class = lock_class(host->sim, "lruvec->lru_lock");
	ps->batch = host->kernel_version < 609 ? 15 : PAGE_BATCH_MOST;
	ps->cpus = arena_array(sim_arena(host->sim), host->nr_cpus, sizeof *ps->cpus);
	ps->queue = workqueue_create(host->sim, "mm_percpu_wq", false, 0);
	mutex_init(&ps->drain_mutex, lock_class(host->sim, "lru_add_drain_all"));
	for (uint32_t i = 0; i < host->nr_cpus; i++)
		work_init(&ps->cpus[i].drain, drain_work);
}
