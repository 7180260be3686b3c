/*
 * unified.c - the unified flush of Linux 5.16 to 6.7, for every policy that keeps it for callers in the
 * kernel.
 *
 * One flusher at a time, and it flushes the whole tree; who comes meanwhile goes on with what is there and
 * does not wait. fd25a9e0e23b; __mem_cgroup_flush_stats(), later do_flush_stats(), of mm/memcontrol.c.
 *
 * Up to 6.3 the gate is a trylock of a spinlock with interrupts off, and the flush may not sleep:
 * interrupts stay off for all of it. From 6.4 it is an atomic flag, and the flush yields where the lock
 * policy lets it. The threshold is cleared after the flush, by the flusher of the root alone; version 2 and
 * later of seed 5 clear it before, so that what is counted during the flush counts towards the next one.
 */
#include "models/stat/stat_impl.h"

bool unified_due(struct task *t, const struct host *host)
{
	struct stat_state *st = stat_of(host);

	line_read(t, &st->line);
	return st->flush_threshold > host->nr_cpus;
}

bool unified_late(const struct task *t, const struct host *host)
{
	return t->clock > stat_of(host)->flush_late;
}

void unified_clear(struct task *t, const struct host *host)
{
	struct stat_state *st = stat_of(host);

	line_write(t, &st->line);
	st->flush_late = t->clock + 2 * FLUSH_TIME;
	st->flush_threshold = 0;
}

void unified_flush(struct task *t, struct flush *f, bool may_sleep)
{
	struct host *host = f->memcg->host;
	struct stat_state *st = stat_of(host);

	if (st->root_clears_first)
		unified_clear(t, host);
	else
		st->flush_late = t->clock + 2 * FLUSH_TIME;
	rstat_flush(t, f, host->cgroups->root, may_sleep);
	if (st->root_clears_first)
		return;
	line_touch(t, &st->line, true);
	st->flush_threshold = 0;
}

static bool gate_trylock(struct task *t, struct flush *f)
{
	struct spinlock *gate = &stat_of(f->memcg->host)->flush_lock;

	local_irq_disable(t);
	if (!spin_trylock(t, gate)) {
		local_irq_enable(t);
		return false;
	}
	unified_flush(t, f, false);
	spin_unlock_irq(t, gate);
	return true;
}

bool unified_flag(struct task *t, struct flush *f)
{
	struct stat_state *st = stat_of(f->memcg->host);

	line_read(t, &st->line);
	if (st->flush_ongoing)
		return false;
	line_touch_rmw(t, &st->line);
	st->flush_ongoing = true;
	unified_flush(t, f, true);
	st->flush_ongoing = false;
	return true;
}

void unified_try(struct task *t, struct flush *f)
{
	const struct host *host = f->memcg->host;

	if (!(host->kernel_version < 604 ? gate_trylock : unified_flag)(t, f))
		stat_of(host)->count.skipped++;
}

void unified_ask(struct task *t, struct flush *f, void (*flush)(struct task *t, struct flush *f))
{
	const struct host *host = f->memcg->host;
	/* A refault goes by the threshold alone before 9b3016154c91 (5.18). */
	bool late_only = f->caller == FLUSH_REFAULT && host->kernel_version >= 518;

	switch (f->caller) {
	case FLUSH_CPU_STAT:
	case FLUSH_ZSWAP:
	case FLUSH_RELEASE:
		rstat_flush(t, f, f->memcg, true);
		return;
	case FLUSH_PERIODIC: /* looks at the threshold in 5.16 only (5b3be698a872) */
		if (host->kernel_version >= 517) {
			flush(t, f);
			return;
		}
		break;
	default:
		break;
	}
	if ((!late_only || unified_late(t, host)) && unified_due(t, host))
		flush(t, f);
	else
		stat_of(host)->count.skipped++;
}

void unified_kernel(struct task *t, struct flush *f)
{
	unified_ask(t, f, unified_try);
}
