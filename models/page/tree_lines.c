/*
 * tree_lines.c - what moves from CPU to CPU with the tree of a file.
 *
 * Whoever puts a page into a tree, or takes one out, writes the word with the lock and the head (its line is
 * the lock's, sim/hw/lock.h), the number of pages, which lies a line further (struct address_space,
 * include/linux/fs.h), and two lines of the leaf: that of the counts and that of the slot (struct xa_node,
 * include/linux/xarray.h; all as in Linux 6.6). Of a file that one task uses all of them are at hand. Not so
 * where a page is evicted: whoever reclaims comes to files that other CPUs have written to, and to the swap
 * cache, whose spaces all CPUs share.
 *
 * cache_add and cache_remove of the cost table are work on lines that are at hand; charged here is what they
 * cost beyond that. A new node comes from the CPU's own slab. Nodes above the leaves change only when a leaf
 * comes or goes, and slots that somebody only looks up are not told apart: both are left out.
 */
#include "models/page/page_impl.h"

#define LEAF_LINES 2u

/* It is another CPU's. */
void tree_move_leaf(struct task *t, struct shadow_node *leaf)
{
	const struct machine *m = sim_sched(t->sim)->machine;
	uint32_t cpu = t->cpu->id;

	cpu_stall(t, LEAF_LINES * (machine_transfer(m, leaf->cpu, cpu) - m->line_hit));
	leaf->cpu = (uint16_t)cpu;
}
