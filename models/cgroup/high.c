/*
 * high.c - memory.high: who is above it reclaims, and is slowed down if that does not help; and
 * memory.reclaim. After mem_cgroup_handle_over_high(), reclaim_high(), calculate_high_delay() and
 * memory_reclaim() of mm/memcontrol.c, Linux 6.1 and 6.12.
 *
 * A charge that ends above some level's memory.high notes its batch for the task. On its way back to user
 * mode the task reclaims that much from every level that is above. It sleeps only if nothing more can be
 * reclaimed and the usage is so far above that the penalty exceeds 10 ms: (usage / high - 1)^2 x 64 s for a
 * batch of charges, two seconds at most. So as long as reclaim makes progress nobody ever waits.
 */
#include "models/cgroup/memcg.h"
#include "models/page/page.h"
#include "models/pressure/pressure.h"
#include "models/reclaim/reclaim.h"

#define PRECISION_SHIFT 20 /* MEMCG_DELAY_PRECISION_SHIFT */
#define SCALING_SHIFT   14 /* MEMCG_DELAY_SCALING_SHIFT */

void memcg_note_high(struct task *t, struct memcg *m, uint32_t batch)
{
	struct cgroup_task *ct = cgroup_task_of(t);

	if (!ct)
		return;
	for (; m; m = m->parent)
		if (m->memory.usage > m->memory.high) {
			ct->over_high += batch;
			break;
		}
	if (ct->over_high <= ct->memcg->host->charge_batch || t->preempt_count || t->irq_count)
		return;
	memcg_handle_over_high(t);
	task_sync(t);
}

static uint64_t reclaim_high(struct task *t, struct memcg *m, uint64_t nr)
{
	uint64_t reclaimed = 0;

	for (; !memcg_is_root(m); m = m->parent) {
		task_sync(t);
		if (m->memory.usage <= m->memory.high)
			continue;
		memcg_event(m, EVENT_HIGH);
		bool outer = psi_memstall_enter(t);

		reclaimed += reclaim_memcg(t, m, nr, true, false);
		task_sync(t);
		psi_memstall_leave(t, outer);
	}
	return reclaimed;
}

/* calculate_overage(): how far usage is above high, as a binary fraction of it. */
static uint64_t overage(const struct page_counter *c)
{
	if (c->usage <= c->high)
		return 0;
	return ((c->usage - c->high) << PRECISION_SHIFT) / (c->high ? c->high : 1);
}

static uint64_t penalty_ticks(const struct memcg *m, uint64_t nr, uint32_t hz)
{
	uint32_t batch = m->host->charge_batch;
	uint64_t most = 0, ticks;

	for (; !memcg_is_root(m); m = m->parent)
		if (overage(&m->memory) > most)
			most = overage(&m->memory);
	if (most > (uint64_t)1 << 28)
		return 2 * hz; /* far beyond the cap, and the square would not fit */
	ticks = (most * most * hz >> PRECISION_SHIFT >> SCALING_SHIFT) * nr / batch;
	return ticks < 2 * hz ? ticks : 2 * hz;
}

/* schedule_timeout_killable(): as late as the timer wheel makes it. */
static void sleep_ticks(struct task *t, uint64_t ticks, uint32_t hz)
{
	uint64_t now = t->clock / (SIM_SEC / hz);
	sim_time_t deadline = ktimer_wheel(now, now + ticks) * (SIM_SEC / hz);
	bool outer = psi_memstall_enter(t);

	while (t->clock < deadline && !task_killed(t))
		task_block_until(t, deadline);
	task_sync(t);
	psi_memstall_leave(t, outer);
}

void memcg_handle_over_high(struct task *t)
{
	struct cgroup_task *ct = cgroup_task_of(t);
	uint64_t nr = ct ? ct->over_high : 0;
	uint32_t retries = MAX_RECLAIM_RETRIES, hz;
	uint64_t want = nr;

	if (!nr)
		return;
	ct->over_high = 0;
	hz = ct->memcg->host->machine->hz;
	for (;;) {
		uint64_t reclaimed = reclaim_high(t, ct->memcg, want);

		task_sync(t);
		uint64_t ticks = penalty_ticks(ct->memcg, nr, hz);

		if (ticks <= hz / 100)
			return;
		if (!reclaimed && !retries--) {
			sleep_ticks(t, ticks, hz);
			return;
		}
		want = SWAP_CLUSTER_MAX;
	}
}

bool memcg_proactive_reclaim(struct task *t, struct memcg *m, uint64_t nr)
{
	uint32_t version = m->host->kernel_version;
	uint32_t retries = MAX_RECLAIM_RETRIES;
	uint64_t done = 0;

	while (done < nr) {
		uint64_t want = nr - done, reclaimed;

		if (task_killed(t))
			return false;
		if (!retries)
			lru_add_drain_all(t); /* last attempt: pages in others' batches too */
		if (version >= 609) /* a call takes 32 at least, whatever it is asked for */
			want /= 4;
		else if (version >= 607 && want > SWAP_CLUSTER_MAX)
			want = SWAP_CLUSTER_MAX;
		reclaimed = reclaim_memcg(t, m, want, true, true);
		if (!reclaimed && !retries--)
			return false;
		done += reclaimed;
	}
	return true;
}
