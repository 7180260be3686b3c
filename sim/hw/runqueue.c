/*
 * runqueue.c - the tasks that wait for a CPU, in the order in which they will run.
 *
 * A pairing heap by (vruntime, time of queueing, id) whose links are in the tasks: the kernel's red-black
 * tree, where an equal goes behind, without its balancing, since all that is asked of it is the first, and to
 * take one out from anywhere. Equals are common: sleepers that are placed with the same credit.
 */
#include "sim/hw/bitmap.h"
#include "sim/hw/sched.h"

static struct task *queue_merge(struct task *a, struct task *b)
{
	if (!a || !b)
		return a ? a : b;
	if (runs_before(b, a)) {
		struct task *swap = a;

		a = b;
		b = swap;
	}
	b->heap_prev = a;
	b->heap_next = a->heap_child;
	if (a->heap_child)
		a->heap_child->heap_prev = b;
	a->heap_child = b;
	return a;
}

static struct task *queue_merge_children(struct task *t)
{
	struct task *first = t->heap_child, *pairs = NULL, *root = NULL;

	while (first) {
		struct task *a = first, *b = a->heap_next;

		first = b ? b->heap_next : NULL;
		a->heap_next = a->heap_prev = NULL;
		if (b)
			b->heap_next = b->heap_prev = NULL;
		a = queue_merge(a, b);
		a->heap_next = pairs;
		pairs = a;
	}
	while (pairs) {
		struct task *next = pairs->heap_next;

		pairs->heap_next = NULL;
		root = queue_merge(root, pairs);
		pairs = next;
	}
	t->heap_child = NULL;
	return root;
}

void runqueue_add(struct sched *s, struct cpu *cpu, struct task *t)
{
	t->heap_child = t->heap_next = t->heap_prev = NULL;
	cpu->queue = queue_merge(cpu->queue, t);
	t->on_queue = true;
	cpu->nr_queued++;
	if (!t->pinned && ++cpu->nr_movable == 1)
		bit_set(s->loaded, cpu->id);
}

void runqueue_remove(struct sched *s, struct cpu *cpu, struct task *t)
{
	if (t == cpu->queue) {
		cpu->queue = queue_merge_children(t);
	} else {
		if (t->heap_prev->heap_child == t)
			t->heap_prev->heap_child = t->heap_next;
		else
			t->heap_prev->heap_next = t->heap_next;
		if (t->heap_next)
			t->heap_next->heap_prev = t->heap_prev;
		cpu->queue = queue_merge(cpu->queue, queue_merge_children(t));
	}
	if (cpu->queue)
		cpu->queue->heap_prev = cpu->queue->heap_next = NULL;
	t->on_queue = false;
	cpu->nr_queued--;
	if (!t->pinned && --cpu->nr_movable == 0)
		bit_clear(s->loaded, cpu->id);
}

struct task *runqueue_movable(const struct cpu *cpu)
{
	struct task *t = cpu->queue;

	while (t && t->pinned) {
		if (t->heap_child) {
			t = t->heap_child;
			continue;
		}
		while (t && !t->heap_next) { /* up to the nearest ancestor with a younger sibling */
			while (t->heap_prev && t->heap_prev->heap_child != t)
				t = t->heap_prev;
			t = t->heap_prev;
		}
		t = t ? t->heap_next : NULL;
	}
	return t;
}
