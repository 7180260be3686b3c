/*
 * charge.c - charging and uncharging pages, after try_charge_memcg() and uncharge_batch() of mm/memcontrol.c,
 * Linux 6.1.
 *
 * A charge takes pages from the CPU's stock; else it charges a whole batch on the counters and puts the
 * surplus into the stock. What cannot be charged, not even without the surplus, raises a `max` event at the
 * level in the way and reclaims there; the stocks of that subtree are drained once. A charge that nothing
 * helps makes 18 attempts before the OOM killer is called, and begins anew when that has killed somebody: 17
 * more if the charger itself is the victim, who then fails.
 *
 * What was charged above memory.high is noted for the way back to user mode (high.c). The root's own pages
 * are not counted, as on cgroup v2.
 */
#include "models/cgroup/stock.h"
#include "models/pressure/pressure.h"
#include "models/reclaim/reclaim.h"

#define COSTLY_PAGES 8u /* 1 << PAGE_ALLOC_COSTLY_ORDER */

static struct memcg *counter_owner(struct page_counter *c)
{
	return (struct memcg *)(void *)((char *)c - offsetof(struct memcg, memory));
}

/* gfpflags_allow_blocking() of who gets here with preemption or interrupts off. */
static bool may_block(const struct task *t)
{
	return !t->preempt_count && !t->irq_count;
}

static bool try_counters(struct task *t, struct memcg *m, uint64_t nr, struct page_counter **over)
{
	struct cgroup_state *cgroups = m->host->cgroups;

	cgroups->walks++;
	bool charged = page_counter_try_charge(t, &m->memory, nr, over);

	cgroups->walks--;
	return charged;
}

/* The pages on the counters become nr of the caller's, and stock. */
static void settle(struct task *t, struct memcg *m, uint32_t nr, uint32_t batch)
{
	if (batch > nr)
		stock_refill(t, m, batch - nr);
	m->memory.in_flight -= nr;
	m->nr_charged += nr;
}

static bool fail(struct memcg *level, struct memcg **failed)
{
	if (failed)
		*failed = level;
	return false;
}

/* Beyond the limit: for who reclaims, to whom nobody can make room. */
static bool force(struct task *t, struct memcg *m, uint32_t nr)
{
	m->host->cgroups->walks++;
	page_counter_charge(t, &m->memory, nr);
	m->host->cgroups->walks--;
	settle(t, m, nr, nr);
	return true;
}

/* One charge that did not go through at once. */
struct attempt {
	struct memcg *memcg;
	uint32_t nr;
	int retries;
	bool drained, passed_oom;
};

/* Room for nr pages is wanted below `level`; false when there is no hope left. */
static bool make_room(struct task *t, struct attempt *a, struct memcg *level)
{
	uint64_t reclaimed;

	memcg_event(level, EVENT_MAX);
	bool outer = psi_memstall_enter(t);

	reclaimed = reclaim_memcg(t, level, a->nr, true, false);
	task_sync(t);
	psi_memstall_leave(t, outer);
	if (level->memory.usage + a->nr <= level->memory.max)
		return true;
	if (!a->drained) {
		memcg_drain_all_stock(t, level);
		a->drained = true;
		return true;
	}
	if ((reclaimed && a->nr <= COSTLY_PAGES) || a->retries--)
		return true;
	if (a->passed_oom && task_killed(t))
		return false;
	if (!memcg_out_of_memory(t, level, a->nr))
		return false;
	a->passed_oom = true;
	a->retries = MAX_RECLAIM_RETRIES;
	return true;
}

static bool charge_slowly(struct task *t, struct memcg *m, uint32_t nr, struct memcg **failed)
{
	const struct host *host = m->host;
	uint32_t batch = nr > host->charge_batch ? nr : host->charge_batch;
	struct attempt a = { .memcg = m, .nr = nr, .retries = MAX_RECLAIM_RETRIES };
	struct page_counter *over;

	for (;;) {
		if (try_counters(t, m, batch, &over)) {
			if (batch > nr)
				stock_refill(t, m, batch - nr);
			m->host->cgroups->walks++; /* it may reclaim, and the pages are nobody's yet */
			memcg_note_high(t, m, batch);
			m->host->cgroups->walks--;
			settle(t, m, nr, nr);
			return true;
		}
		struct memcg *level = counter_owner(over);

		if (batch > nr)
			batch = nr;
		else if (task_reclaims(t))
			return force(t, m, nr);
		else if (!may_block(t) || !make_room(t, &a, level))
			return fail(level, failed);
		task_sync(t);
		if (stock_consume(t, m, nr)) {
			m->nr_charged += nr;
			return true;
		}
	}
}

bool memcg_charge(struct task *t, struct memcg *m, uint32_t nr, struct memcg **failed)
{
	shared_step(t);
	if (memcg_is_root(m) || (nr <= m->host->charge_batch && stock_consume(t, m, nr))) {
		m->nr_charged += nr;
		return true;
	}
	return charge_slowly(t, m, nr, failed);
}

/* Pages that are nobody's any more leave the counters of m and above. */
static void leave_counters(struct task *t, struct memcg *m, uint64_t nr)
{
	struct cgroup_state *cgroups = m->host->cgroups;

	m->memory.in_flight += (int64_t)nr;
	cgroups->walks++;
	m->nr_pins++;
	page_counter_uncharge(t, &m->memory, nr);
	m->nr_pins--;
	cgroups->walks--;
	memcg_ref_gone(t, m);
}

void memcg_uncharge(struct task *t, struct memcg *m, uint64_t nr)
{
	shared_step(t);
	m->nr_charged -= nr;
	cpu_defer(t, nr * m->host->costs->uncharge);
	if (!memcg_is_root(m))
		leave_counters(t, m, nr);
}

void memcg_uncharge_inherited(struct task *t, struct memcg *root, uint64_t nr)
{
	shared_step(t);
	root->nr_charged -= nr;
	root->nr_inherited -= nr;
	cpu_defer(t, nr * root->host->costs->uncharge);
	leave_counters(t, root, nr);
}

/*
 * So many pages of m's are those of an ancestor. The kernel leaves the counters in between as they are; above
 * them nothing changes. No file shows those any more, but mem_cgroup_below_min() still compares
 * emin with them, so to the kernel's reclaim a reparented cgroup looks larger than it does here.
 */
static void hand_over(struct memcg *m, struct memcg *to, uint64_t nr)
{
	for (struct memcg *level = m; level != to; level = level->parent)
		page_counter_forget(&level->memory, nr);
	m->nr_charged -= nr;
	to->nr_charged += nr;
	if (memcg_is_root(to))
		to->nr_inherited += nr;
}

void memcg_charges_reparent(struct memcg *m)
{
	hand_over(m, m->parent, m->nr_charged - m->nr_kmem);
}

void memcg_charge_outlasted(struct memcg *m)
{
	if (m->objcg->memcg != m)
		hand_over(m, m->objcg->memcg, 1);
}

uint64_t memcg_current(const struct memcg *m)
{
	return m->memory.usage;
}
