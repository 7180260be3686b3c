/*
 * skip_if_ongoing.c - flush: who finds its subtree in the middle of a flush waits for that one instead.
 *
 * Proposed in 2024 against kswapd threads that all flush the root at once; not in a kernel. The flusher
 * that finds no other becomes the ongoing one. A caller whose memcg is that one's or below it has its flush
 * done by somebody else: it sleeps until the flush is over, 100 ms at most. Callers that can do with old
 * values (`relaxed`: those in the kernel) do not even wait. All others flush on their own, by the threshold
 * of Linux 6.8.
 */
#include "models/cgroup/memcg.h"
#include "models/stat/stat_impl.h"

#define LONGEST_WAIT (100 * SIM_MS)

struct skip_options {
	bool relaxed;
};

/* Who waits. */
struct waiter {
	struct task *task;
	struct waiter *next, **link; /* link NULL: off the list */
};

struct skip_state {
	struct memcg *ongoing;
	struct waiter *waiters;
};

static void wait_for_flush(struct task *t, struct skip_state *s)
{
	sim_time_t deadline = t->clock + LONGEST_WAIT;
	struct waiter *w = sim_alloc(t->sim, sizeof *w);

	*w = (struct waiter){ .task = t, .next = s->waiters, .link = &s->waiters };
	if (w->next)
		w->next->link = &w->next;
	s->waiters = w;
	while (w->link && t->clock < deadline)
		task_block_until(t, deadline);
	if (w->link) {
		*w->link = w->next;
		if (w->next)
			w->next->link = w->link;
	}
	sim_free(t->sim, w, sizeof *w);
}

/* Those that wait now: who comes while they are woken waits for a later flush. */
static void wake_waiters(struct task *t, struct skip_state *s)
{
	struct waiter *list = s->waiters;

	s->waiters = NULL;
	if (list)
		list->link = &list;
	while (list) {
		struct waiter *w = list;

		list = w->next;
		if (list)
			list->link = &list;
		w->link = NULL;
		task_wake(t->sim, t, w->task);
	}
}

static bool is_relaxed(const struct skip_options *options, enum flush_caller caller)
{
	return options->relaxed && caller != FLUSH_READER && caller != FLUSH_CPU_STAT;
}

static void flush(struct task *t, struct flush *f)
{
	struct stat_state *st = stat_of(f->memcg->host);
	struct skip_state *s = st->policy[AXIS_FLUSH].state;

	if (!memcg_flush_wanted(t, f, true)) {
		st->count.skipped++;
		return;
	}
	if (s->ongoing && memcg_is_descendant(f->memcg, s->ongoing)) {
		st->count.skipped++;
		if (!is_relaxed(st->policy[AXIS_FLUSH].options, f->caller))
			wait_for_flush(t, s);
		return;
	}
	bool first = !s->ongoing;

	if (first)
		s->ongoing = f->memcg;
	memcg_flush_now(t, f);
	if (first) {
		s->ongoing = NULL;
		wake_waiters(t, s);
	}
}

static const struct option rows[] = {
	OPTION(struct skip_options, relaxed, OPT_BOOL, .fallback = "true",
	       .help = "callers in the kernel skip without waiting, as in the later versions"),
};
static const struct option_table options = OPTION_TABLE("skip_if_ongoing", struct skip_options, rows);

static const struct flush_ops ops = { .flush = flush };

MODULE(flush_skip_if_ongoing) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "flush",
	.name = "skip_if_ongoing",
	.help = "who is covered by a flush under way waits for it, or skips",
	.source = "proposal of 2024, versions 1 to 11, not in any kernel",
	.options = &options,
	.ops = &ops,
	.state_size = sizeof(struct skip_state),
};
