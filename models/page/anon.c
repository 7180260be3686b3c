/*
 * anon.c - anonymous memory: fault, zap, unmap, after mm/memory.c and mm/mmu_gather.c of Linux 6.1
 * (handle_mm_fault, do_anonymous_page, zap_pte_range, tlb_batch_pages_flush, free_pgtables). Faults on what
 * was swapped out are in anon_swap.c.
 *
 * A fault that finds everything at hand (stock, free frame, room in the batch, the memcg on the updated
 * list) is one step with its costs paid behind it. A zap first takes the pages out of the page tables and
 * then, TLB batch by TLB batch, releases them: 8 in the gather itself, then pages of 510 pointers, flushed
 * at the latest when 19 of those are full.
 *
 * The lowest page tables are charged as pages of kernel memory, 512 pages each, and stay until the range is
 * unmapped. They take no frame: what is modelled is their charge and their statistics. Upper tables are few
 * and left out; so are huge pages and the zero page.
 */
#include "models/cgroup/stock.h"
#include "models/page/anon_impl.h"
#include "models/page/swap_cache.h"

#define GATHER_FIRST   8u   /* MMU_GATHER_BUNDLE */
#define GATHER_BATCH   510u /* MAX_GATHER_BATCH: pointers in a page, less its header */
#define GATHER_BATCHES 19u  /* MAX_GATHER_BATCH_COUNT */

struct anon_object *anon_create(struct host *host, struct memcg *m, uint64_t nr_pages)
{
	struct anon_object *a = sim_alloc(host->sim, sizeof *a);

	page_object_init(host, &a->object, OBJECT_ANON, nr_pages);
	a->memcg = m;
	a->mapping = mapping_create(&a->object, m);
	return a;
}

void anon_place(struct anon_object *a, uint32_t offset)
{
	mapping_place(a->mapping, offset);
}

uint64_t anon_present(const struct anon_object *a)
{
	return a->object.present;
}

bool anon_is_present(const struct anon_object *a, uint64_t index)
{
	return slot_is_frame(a->object.slots[index]);
}

/* ---- fault ---- */

static bool have_table(struct task *t, struct anon_object *a, uint64_t index, struct memcg **failed)
{
	uint64_t table = mapping_table(a->mapping, index);

	return a->mapping->tables[table] || mapping_add_table(t, a->mapping, table, failed);
}

/* A page of m that is mapped from now on, where the page-table entry was empty or named a swap slot. */
void anon_install(struct task *t, struct anon_object *a, uint64_t index, frame_t frame)
{
	struct memcg *m = a->memcg;
	struct host *host = m->host;

	a->object.slots[index] = slot_of_frame(frame);
	a->object.present++;
	cpu_defer(t, host->costs->charge_commit);
	page_map(t, host, frame);
	mapping_touch(t, a->mapping, index, page_of(host, frame));
	count_memcg_events(t, m, PGPGIN, 1);
}

/* pagefault_out_of_memory(): a task that nobody may kill has its fault again, until others make room. */
static bool faults_again(const struct task *t)
{
	return t->owner && cgroup_task_of(t)->oom_score_adj == OOM_SCORE_ADJ_MIN;
}

frame_t anon_frame(struct task *t, struct anon_object *a, uint64_t index, struct memcg **failed)
{
	struct host *host = a->memcg->host;
	frame_t frame = frame_alloc(t, host);

	if (!frame)
		return NO_FRAME;
	while (!memcg_charge(t, a->memcg, 1, failed)) {
		if (!faults_again(t)) {
			frame_free(t, host, frame);
			return NO_FRAME;
		}
		cpu_work(t, host->costs->fault_entry);
		cond_resched(t);
	}
	page_charged(host, frame, a->memcg, a->object.id, (uint32_t)index, PG_ANON | PG_SWAPBACKED);
	return frame;
}

static bool anonymous_page(struct task *t, struct anon_object *a, uint64_t index, struct memcg **failed)
{
	struct host *host = a->memcg->host;
	frame_t frame;

	page_clear(t, host);
	frame = anon_frame(t, a, index, failed);
	if (!frame)
		return false;
	anon_install(t, a, index, frame);
	page_add_lru(t, host, frame);
	return true;
}

/*
 * do_swap_page() of a page that reclaim has just unmapped: its slot is given up, and reclaim gives it up too.
 */
static void map_again(struct task *t, struct anon_object *a, uint64_t index, frame_t frame)
{
	struct host *host = a->memcg->host;

	page_map(t, host, frame);
	mapping_touch(t, a->mapping, index, page_of(host, frame));
}

static bool fault(struct task *t, struct anon_object *a, uint64_t index, struct memcg **failed)
{
	slot_t slot = a->object.slots[index];

	if (slot_is_frame(slot)) {
		map_again(t, a, index, slot_frame(slot));
		return true;
	}
	if (slot_is_swap(slot))
		return swap_cached(a->memcg->host, slot_swap(slot)) ? anon_from_cache(t, a, index, failed)
								    : anon_swap_in(t, a, index, failed);
	return have_table(t, a, index, failed) && anonymous_page(t, a, index, failed);
}

bool anon_touch(struct task *t, struct anon_object *a, uint64_t index, struct memcg **failed)
{
	struct host *host = a->memcg->host;
	const struct kernel_costs *costs = host->costs;
	frame_t frame;

	if (failed)
		*failed = NULL;
	task_sync(t);
	frame = slot_frame(a->object.slots[index]);
	if (frame && page_of(host, frame)->flags & PG_MAPPED) {
		mapping_touch(t, a->mapping, index, page_of(host, frame));
		cpu_defer(t, costs->touch);
		return true;
	}
	if (task_killed(t))
		return false;
	page_object_own(t, &a->object);
	if (need_resched(t)) /* the way back to user mode of whatever it did before */
		cond_resched(t);
	cpu_defer(t, costs->fault_entry);
	count_memcg_events(t, a->memcg, PGFAULT, 1);
	a->faulting++;
	bool served = fault(t, a, index, failed);

	a->faulting--;
	if (!served)
		return false;
	memcg_handle_over_high(t);
	cpu_defer(t, costs->touch);
	return true;
}

/* ---- zap ---- */

/*
 * zap_pte_range() of one entry; false: there is nothing for the gather. A page that reclaim has unmapped and
 * just writes out has no entry any more: its swap cache lets go of it when it is written. Nor has one that
 * reclaim could not write, or kept because a batch had it too, and that nobody has touched since.
 */
static bool zap_one(struct task *t, struct anon_object *a, uint64_t index)
{
	struct host *host = a->memcg->host;
	slot_t slot = a->object.slots[index];
	frame_t frame = slot_frame(slot);
	struct page *page = page_of(host, frame);

	if (slot_is_swap(slot)) {
		a->object.slots[index] = SLOT_EMPTY;
		swap_cache_forget(t, host, slot_swap(slot));
	} else if (frame && page->flags & PG_MAPPED) {
		page->batched++; /* the gather's reference: reclaim leaves it alone */
		page_unmap(t, host, frame);
		return true;
	} else if (frame) {
		a->object.slots[index] = SLOT_EMPTY;
		a->object.present--;
		if (!swap_cache_holds(host, frame))
			pages_release(t, host, &frame, 1);
	}
	return false;
}

/* zap_pte_range() of [from, to): out of the page tables. Returns where the gather is full, or `to`. */
static uint64_t unmap(struct task *t, struct anon_object *a, uint64_t from, uint64_t to)
{
	uint64_t room = GATHER_FIRST + GATHER_BATCHES * GATHER_BATCH;
	uint64_t i;

	for (i = from; i < to && room; i++) {
		if (i % PAGES_PER_TABLE == 0)
			cond_resched(t);
		task_sync(t);
		room -= zap_one(t, a, i);
	}
	return i;
}

/* tlb_batch_pages_flush(): what is in [from, to) of the object is let go. */
static void release(struct task *t, struct anon_object *a, uint64_t from, uint64_t to)
{
	struct host *host = a->memcg->host;
	frame_t frames[GATHER_BATCH];
	uint32_t nr = 0, size = GATHER_FIRST;

	for (uint64_t i = from; i < to; i++) {
		task_sync(t);
		frame_t frame = slot_frame(a->object.slots[i]);

		if (frame && !(page_of(host, frame)->flags & PG_MAPPED)) {
			page_of(host, frame)->batched--;
			if (!swap_cache_holds(host, frame)) /* else it goes when it is written */
				frames[nr++] = frame;
			a->object.slots[i] = SLOT_EMPTY;
			a->object.present--;
		}
		if (nr == size || (nr && i + 1 == to)) {
			lru_add_drain(t); /* free_pages_and_swap_cache() begins so */
			task_sync(t);
			pages_release(t, host, frames, nr);
			nr = 0;
			size = GATHER_BATCH;
		}
	}
}

static void zap(struct task *t, struct anon_object *a, uint64_t from, uint64_t to)
{
	cpu_work(t, a->memcg->host->costs->syscall);
	lru_add_drain(t);
	while (from < to) {
		uint64_t end = unmap(t, a, from, to);

		release(t, a, from, end);
		from = end;
	}
}

/*
 * A task that is killed has its memory given back for it (models/cgroup/oom.c), perhaps while it is about to
 * do that itself. What the gather of one has taken is not the other's: the kernel has the mmap lock for this.
 * False: somebody is at it.
 */
static bool begin_zap(struct task *t, struct anon_object *a)
{
	task_sync(t);
	if (a->zapping)
		return false;
	a->zapping = true;
	return true;
}

void anon_zap(struct task *t, struct anon_object *a, uint64_t from, uint64_t nr)
{
	if (!begin_zap(t, a))
		return; /* all of it goes */
	zap(t, a, from, from + nr);
	a->zapping = false;
}

/* Waits for whoever gives it back already, and looks for what was faulted in behind him. */
void anon_unmap(struct task *t, struct anon_object *a)
{
	while (!begin_zap(t, a))
		task_sleep(t, SIM_MS);
	zap(t, a, 0, a->object.nr_pages);
	mapping_drop_tables(t, a->mapping, 0, a->mapping->nr_tables);
	a->zapping = false;
}

/*
 * Of a task that is killed. If it is at it itself, it will come to the rest. So it will to page tables, if it
 * is in a fault that goes on with them: the OOM reaper takes pages only, tables wait for exit_mmap().
 */
void anon_exit(struct task *t, struct page_object *object)
{
	struct anon_object *a = (struct anon_object *)(void *)object;

	if (!begin_zap(t, a))
		return;
	zap(t, a, 0, a->object.nr_pages);
	if (!a->faulting)
		mapping_drop_tables(t, a->mapping, 0, a->mapping->nr_tables);
	a->zapping = false;
}
