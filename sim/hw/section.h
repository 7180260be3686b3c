/*
 * section.h - the beginning and the end of sections with preemption or interrupts off, inline: every lock
 * opens and closes one or two of them, so they are a good part of what a simulated kernel path costs.
 */
#ifndef SIM_HW_SECTION_H
#define SIM_HW_SECTION_H

#include "sim/hw/sched.h"

/* Gives way if asked to meanwhile; task.c. */
void section_ended(struct task *t);

static inline void section_record(struct histogram *lengths, sim_time_t from, sim_time_t to)
{
	histogram_add_one(lengths, (to - from) / SIM_NS);
}

static inline const struct sched *section_sched(const struct task *t)
{
	return t->sim->state[SIM_STATE_SCHED];
}

static inline void section_preempt_off(struct task *t)
{
	task_sync(t);
	if (!t->preempt_count++)
		t->preempt_since = t->sim->now;
}

static inline void section_preempt_on(struct task *t)
{
	task_sync(t);
	if (--t->preempt_count)
		return;
	section_record(section_sched(t)->preempt_off, t->preempt_since, t->sim->now);
	if (t->cpu->need_resched)
		section_ended(t);
}

static inline void section_irq_off(struct task *t)
{
	task_sync(t);
	if (!t->irq_count++)
		t->irq_since = t->sim->now;
}

static inline void section_irq_on(struct task *t)
{
	task_sync(t);
	if (--t->irq_count)
		return;
	section_record(section_sched(t)->irq_off, t->irq_since, t->sim->now);
	if (t->cpu->need_resched)
		section_ended(t);
}

#endif
