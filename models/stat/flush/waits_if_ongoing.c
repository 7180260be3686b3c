/*
 * waits_if_ongoing.c - flush: as unified, but who finds a flush under way waits for its end, and does not
 * make one of its own.
 *
 * After the patch before seed 5, which its cover letter links to: "mm: memcg: provide accurate stats for
 * userspace reads" (August 2023, not merged). That one's readers also flush below the threshold; here the
 * threshold stays, so it is not the patch but its way of waiting. A reader that comes while the tree is
 * flushed spins, giving way where it is asked to, until the flag falls, and goes on with what that flush has
 * left; callers in the kernel skip as ever. With `everyone` these wait in the same way, which is one reading
 * of the attempt "where everyone waits" (docs/seed-5.md). The threshold is not cleared before a flush ends,
 * so until then all who ask find it passed and are held up, but unlike in everyone_waits.c and
 * unified_waits.c have no flush to pay for.
 */
#include "models/stat/stat_impl.h"
#include "sim/hw/lock_impl.h"

struct ongoing_options {
	bool everyone;
};

struct ongoing_state {
	struct lock_queue waiting; /* who spins */
};

/* Looked at in the step in which the caller then goes to wait, so that it cannot miss the end. */
static bool still_ongoing(struct task *t, struct stat_state *st)
{
	line_read(t, &st->line);
	task_sync(t);
	return st->flush_ongoing;
}

static void wait_for_flag(struct task *t, struct stat_state *st, struct ongoing_state *s)
{
	while (still_ongoing(t, st)) {
		lock_queue_push(&s->waiting, t);
		task_spin(t);
		lock_queue_remove(&s->waiting, t);
		cond_resched(t);
	}
}

/*
 * Who is let go leaves the queue and reads the flag once more, one after the other as the line comes. Who
 * does not spin there has been asked to give way in this instant, and will find out by itself.
 */
static void let_go(struct task *t, const struct ongoing_state *s)
{
	for (struct task *waiter = s->waiting.head; waiter; waiter = waiter->next)
		if (waiter->state == TASK_SPINNING)
			task_grant(t->sim, waiter, t->clock);
}

static void flush_or_wait(struct task *t, struct flush *f)
{
	struct stat_state *st = stat_of(f->memcg->host);
	const struct ongoing_options *options = st->policy[AXIS_FLUSH].options;
	struct ongoing_state *s = st->policy[AXIS_FLUSH].state;

	if (unified_flag(t, f)) {
		let_go(t, s);
		return;
	}
	st->count.skipped++;
	if (options->everyone || f->caller == FLUSH_READER)
		wait_for_flag(t, st, s);
}

static void flush(struct task *t, struct flush *f)
{
	unified_ask(t, f, flush_or_wait);
}

static const struct option rows[] = {
	OPTION(struct ongoing_options, everyone, OPT_BOOL, .fallback = "false",
	       .help = "callers in the kernel wait too, and not only readers of files"),
};
static const struct option_table options = OPTION_TABLE("waits_if_ongoing", struct ongoing_options, rows);

static const struct flush_ops ops = { .flush = flush };

MODULE(flush_waits_if_ongoing) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_POLICY,
	.axis = "flush",
	.name = "waits_if_ongoing",
	.help = "as unified, but readers wait for the end of a flush that is under way",
	.source = "how the patch before seed 5 waits (August 2023), with the threshold; not in any kernel",
	.options = &options,
	.ops = &ops,
	.state_size = sizeof(struct ongoing_state),
};
