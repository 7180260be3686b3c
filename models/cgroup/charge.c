/*
 * charge.c - charging and uncharging pages, after try_charge_memcg() and uncharge_batch() of mm/memcontrol.c,
 * Linux 6.1.
 *
 * A charge takes pages from the CPU's stock; else it charges a whole batch on the counters and puts the
 * surplus into the stock. What cannot be charged raises a `max` event at the level in the way, drains the
 * stocks of that subtree once, and tries again as often as the kernel does: 18 attempts in all.
 *
 * Left out: reclaim, so an attempt that fails changes nothing but the count; memory.high, whose only means
 * is reclaim and the wait for it. The root's own pages are not counted, as on cgroup v2.
 */
#include "models/cgroup/stock.h"

#define MAX_RETRIES 16

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

static bool charge_slowly(struct task *t, struct memcg *m, uint32_t nr, struct memcg **failed)
{
	const struct host *host = m->host;
	uint32_t batch = nr > host->charge_batch ? nr : host->charge_batch;
	struct page_counter *over;
	bool drained = false;

	for (int retries = MAX_RETRIES;;) {
		if (try_counters(t, m, batch, &over)) {
			settle(t, m, nr, batch);
			return true;
		}
		struct memcg *level = counter_owner(over);

		if (batch > nr) {
			batch = nr;
		} else if (!may_block(t)) {
			return fail(level, failed);
		} else {
			memcg_event(level, EVENT_MAX);
			if (over->usage + nr <= over->max) {
				/* Room was made meanwhile; this attempt is not counted. */
			} else if (!drained) {
				memcg_drain_all_stock(t, level);
				drained = true;
			} else if (!retries--) {
				memcg_event(level, EVENT_OOM);
				return fail(level, failed);
			}
		}
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

void memcg_uncharge(struct task *t, struct memcg *m, uint64_t nr)
{
	struct cgroup_state *cgroups = m->host->cgroups;

	shared_step(t);
	m->nr_charged -= nr;
	cpu_defer(t, nr * m->host->costs->uncharge);
	if (memcg_is_root(m))
		return;
	m->memory.in_flight += (int64_t)nr;
	cgroups->walks++;
	page_counter_uncharge(t, &m->memory, nr);
	cgroups->walks--;
}

uint64_t memcg_current(const struct memcg *m)
{
	return m->memory.usage;
}
