/*
 * seqlock.c - a spinlock for writers and a count for readers, after include/linux/seqlock.h of Linux 6.1.
 *
 * The count is odd while a writer is inside. A reader waits for it to be even, reads, and reads again if the
 * count has moved meanwhile. Lock and count are on lines of their own here: the readers share the count's.
 *
 * A waiting reader spins in the kernel by loading the count again and again. Here it queues up and is let go
 * when the writer leaves; its next load then fetches the line, as the last of the kernel's loads would.
 */
#include "sim/hw/lock_impl.h"

void seqlock_init(struct seqlock *s, struct lock_class *class)
{
	*s = (struct seqlock){ .sequence = 0 };
	spin_lock_init(&s->lock, class);
	line_init(&s->line);
}

void write_seqlock(struct task *t, struct seqlock *s)
{
	spin_lock(t, &s->lock);
	line_write(t, &s->line);
	s->sequence++;
}

void write_sequnlock(struct task *t, struct seqlock *s)
{
	struct task *reader;

	line_write(t, &s->line);
	s->sequence++;
	while ((reader = lock_queue_pop(&s->readers)))
		task_grant(t->sim, reader, t->clock);
	spin_unlock(t, &s->lock);
}

uint64_t read_seqbegin(struct task *t, struct seqlock *s)
{
	line_read(t, &s->line);
	while (s->sequence & 1) {
		preempt_disable(t); /* the writer does not sleep */
		if (s->sequence & 1) {
			lock_queue_push(&s->readers, t);
			task_spin(t);
		}
		preempt_enable(t);
		line_read(t, &s->line);
	}
	return s->sequence;
}

bool read_seqretry(struct task *t, struct seqlock *s, uint64_t sequence)
{
	line_read(t, &s->line);
	return s->sequence != sequence;
}
