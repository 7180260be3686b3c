/*
 * pending_check.c - a pairing heap that shadows the 4-ary heap in debug builds.
 *
 * Nothing is shared with pending.c but the entries: pointers instead of an implicit array, merging instead
 * of sifting. Removal from the middle, which only a rebuild of the other heap asks for, is kept as a debt
 * that is settled when the entry surfaces.
 */
#include "sim/engine/pending_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
	struct pending_entry e;
	struct node *child, *sibling;
};

struct pending_check {
	struct node *root;
	struct node *removed; /* a second heap: entries to ignore when they come up in the first */
};

struct pending_check *pending_check_new(void)
{
	return calloc(1, sizeof(struct pending_check));
}

static bool node_before(const struct node *a, const struct node *b)
{
	return pending_before(a->e.when, a->e.key, &b->e);
}

static struct node *merge(struct node *a, struct node *b)
{
	if (!a || !b)
		return a ? a : b;
	if (node_before(b, a)) {
		struct node *swap = a;

		a = b;
		b = swap;
	}
	b->sibling = a->child;
	a->child = b;
	return a;
}

/* The two passes of a pairing heap, without recursion: pair neighbours, then merge the pairs backwards. */
static struct node *merge_children(struct node *first)
{
	struct node *pairs = NULL, *root = NULL;

	while (first) {
		struct node *a = first, *b = a->sibling;

		first = b ? b->sibling : NULL;
		a->sibling = NULL;
		if (b)
			b->sibling = NULL;
		a = merge(a, b);
		a->sibling = pairs;
		pairs = a;
	}
	while (pairs) {
		struct node *next = pairs->sibling;

		pairs->sibling = NULL;
		root = merge(root, pairs);
		pairs = next;
	}
	return root;
}

static struct node *insert(struct node *root, struct pending_entry e)
{
	struct node *n = calloc(1, sizeof *n);

	if (!n)
		abort();
	n->e = e;
	return merge(root, n);
}

static struct node *pop(struct node *root)
{
	struct node *rest = merge_children(root->child);

	free(root);
	return rest;
}

void pending_check_free(struct pending_check *c)
{
	if (!c)
		return;
	while (c->root)
		c->root = pop(c->root);
	while (c->removed)
		c->removed = pop(c->removed);
	free(c);
}

void pending_check_insert(struct pending_check *c, struct pending_entry e)
{
	if (c)
		c->root = insert(c->root, e);
}

void pending_check_remove(struct pending_check *c, struct pending_entry e)
{
	if (c)
		c->removed = insert(c->removed, e);
}

static bool same(struct pending_entry a, struct pending_entry b)
{
	return a.when == b.when && a.key == b.key;
}

void pending_check_take(struct pending_check *c, struct pending_entry e)
{
	if (!c)
		return;
	while (c->root && c->removed && same(c->root->e, c->removed->e)) {
		c->root = pop(c->root);
		c->removed = pop(c->removed);
	}
	if (!c->root || !same(c->root->e, e)) {
		fprintf(stderr, "pending sets disagree: heap %" PRIu64 " ps key %" PRIx64, e.when, e.key);
		if (c->root)
			fprintf(stderr, ", check %" PRIu64 " ps key %" PRIx64, c->root->e.when,
				c->root->e.key);
		fputc('\n', stderr);
		abort();
	}
	c->root = pop(c->root);
}
