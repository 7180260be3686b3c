/*
 * threshold.c - the threshold of each memcg, as Linux 6.8 and later have it; shared by the policies of that
 * line.
 *
 * memcg_rstat_updated(), memcg_vmstats_needs_flush() and __mem_cgroup_flush_stats() of mm/memcontrol.c.
 * Every level from the memcg to the root counts in a per-CPU counter; one that reaches B moves to the
 * level's own word, unless that already says that a flush is due (6.8 to 6.15: the word is looked at then and
 * only then). From 6.16 on the word is looked at first and the walk ends where a flush is due; that is in
 * update/rstat_memcg_threshold_cached_stop.c. A flush of a pair clears the pair's counter and the memcg's
 * word (mem_cgroup_css_rstat_flush()). Sub-page updates count as at least one page.
 *
 * flush_last_time belongs to flushes of the root alone, so a ratelimited caller is a no-op as long as the
 * worker keeps up, and everybody's call becomes a flush at once when it does not.
 */
#include "models/stat/stat_impl.h"

void memcg_update_move(struct task *t, struct stat_pair *pair)
{
	struct memcg_stat *s = pair->memcg->stat;

	line_touch_rmw(t, &s->line);
	s->stats_updates += pair->updates;
	pair->updates = 0;
}

void memcg_update_batch(struct task *t, struct stat_pair *pair)
{
	if (memcg_needs_flush(t, pair->memcg->host, pair->memcg))
		pair->updates = 0;
	else
		memcg_update_move(t, pair);
}

/*
 * As posted (seed 3): a level costs three loads that depend on each other, memcg->vmstats_percpu, the CPU's
 * stats_updates in that block, and the parent in memcg->css, each a line of its own. The word,
 * memcg->vmstats->stats_updates, is one pointer away.
 */
void memcg_update_posted(struct task *t, struct stat_pair *pair, enum stat_item item, uint64_t pages)
{
	(void)item;
	for (; pair; pair = pair->parent) {
		memcg_update_loads(t, pair);
		if (!memcg_update_count(t, pair, pages))
			continue;
		cpu_defer(t, line_cost_near(t, &pair->near_word));
		memcg_update_batch(t, pair);
	}
}

void memcg_word_flushed(struct task *t, struct stat_pair *pair)
{
	struct memcg_stat *s = pair->memcg->stat;

	if (s->stats_updates) {
		line_touch(t, &s->line, true);
		s->stats_updates = 0;
	}
}

void memcg_update_flushed(struct task *t, struct stat_pair *pair)
{
	pair->updates = 0;
	memcg_word_flushed(t, pair);
}

static bool worker_late(const struct task *t, const struct host *host)
{
	return t->clock > stat_of(host)->flush_late;
}

void memcg_flush_now(struct task *t, struct flush *f)
{
	struct stat_state *st = stat_of(f->memcg->host);

	if (!f->memcg->parent)
		st->flush_late = t->clock + 2 * FLUSH_TIME;
	rstat_flush(t, f, f->memcg, true);
}

bool memcg_flush_wanted(struct task *t, const struct flush *f, bool ratelimit_reclaim)
{
	const struct host *host = f->memcg->host;

	task_sync(t);
	switch (f->caller) {
	case FLUSH_PERIODIC:
	case FLUSH_ZSWAP:
	case FLUSH_CPU_STAT:
	case FLUSH_RELEASE:
		return true;
	case FLUSH_RECLAIM:
		if (ratelimit_reclaim && !worker_late(t, host))
			return false;
		break;
	case FLUSH_REFAULT:
	case FLUSH_SHRINKER:
	case FLUSH_WRITEBACK:
		if (!worker_late(t, host))
			return false;
		break;
	default:
		break;
	}
	return memcg_needs_flush(t, host, f->memcg);
}

void memcg_flush(struct task *t, struct flush *f, bool ratelimit_reclaim)
{
	if (memcg_flush_wanted(t, f, ratelimit_reclaim))
		memcg_flush_now(t, f);
	else
		stat_of(f->memcg->host)->count.skipped++;
}
