/*
 * each.c - see each.h.
 *
 * Worked out on the tree, before anything is bound: what comes out is a scenario that could have been written
 * by hand, and is what the results keep. A node without names below it and without `each` is shared, not
 * copied.
 */
#include "sim/scenario/each.h"

#include <stdlib.h>
#include <string.h>

#include "sim/engine/xalloc.h"
#include "sim/scenario/each_impl.h"
#include "sim/scenario/emit.h"

#define MOST_ITEMS 100000

const char each_help[] =
	"makes many items of one, for all combinations of values: each: { limit: [ 64, 128 ] }, "
	"and then name: \"${limit}M\"; see docs/scenario.md";

/* A list or map under construction. */
struct parts {
	struct entry *entries;
	size_t nr, capacity;
};

static void add(struct parts *parts, struct entry entry)
{
	if (parts->nr == parts->capacity) {
		parts->capacity = parts->capacity ? 2 * parts->capacity : 8;
		parts->entries = xreallocarray(parts->entries, parts->capacity, sizeof(*parts->entries));
	}
	parts->entries[parts->nr++] = entry;
}

static const struct node *finish(struct pool *pool, const struct node *like, struct parts *parts)
{
	struct node *node = pool_alloc(pool, sizeof(*node));
	struct entry *entries = pool_alloc(pool, (parts->nr + 1) * sizeof(*entries));

	*node = *like;
	node->nr = parts->nr;
	node->size = 1;
	node->height = 1;
	for (size_t i = 0; i < parts->nr; i++) {
		entries[i] = parts->entries[i];
		node->size += entries[i].value->size;
		if (node->height <= entries[i].value->height)
			node->height = entries[i].value->height + 1;
	}
	node->entries = entries;
	free(parts->entries);
	return node;
}

/* ---- the product of the values of `each` ---- */

struct product {
	const struct node *each, *item;
	size_t next; /* entry of `each` to bind */
	struct parts *list;
	size_t first; /* of the list, that came from this item */
};

static void bind_from(struct expansion *x, void *arg);

static bool there_already(const struct product *p, const struct node *made)
{
	char *text = NULL, *other = NULL;
	size_t length, other_length;
	FILE *out = xalloc_checked(open_memstream(&text, &length));
	bool same = false;

	emit_flow(out, made);
	fclose(out);
	for (size_t i = p->first; i < p->list->nr && !same; i++) {
		if (p->list->entries[i].value->size != made->size)
			continue;
		out = xalloc_checked(open_memstream(&other, &other_length));
		emit_flow(out, p->list->entries[i].value);
		fclose(out);
		same = length == other_length && !memcmp(text, other, length);
		free(other);
	}
	free(text);
	return same;
}

static void emit_item(struct expansion *x, struct product *p)
{
	const struct node *made = each_write(x, p->item);

	if (!made || there_already(p, made))
		return;
	if (x->made++ == MOST_ITEMS) {
		complain(x->complaints, p->item->at, "'each' gives more than %d items", MOST_ITEMS);
		x->failed = true;
		return;
	}
	add(p->list, (struct entry){ .at = p->item->at, .value = made });
}

static void bind_member(struct expansion *x, const char *name, const struct node *map)
{
	for (size_t i = 0; i < map->nr; i++) {
		const struct entry *e = &map->entries[i];
		const struct node *value = each_write(x, e->value);

		if (!value)
			return;
		if (value->kind == NODE_SCALAR) {
			environment_bind(&x->env, pool_printf(x->pool, "%s.%s", name, e->key), value->text);
			continue;
		}
		complain(x->complaints, value->at, "a single value is expected, not %s",
			 node_kind_name(value));
		x->failed = true;
	}
}

/* One of the values that a name takes, and then all that follows. */
static void bind_value_of(struct expansion *x, struct product *p, const char *name, const struct node *value)
{
	size_t bound = x->env.nr;

	value = value->kind == NODE_MAP ? value : each_write(x, value);
	if (!value)
		return;
	if (value->kind == NODE_MAP)
		bind_member(x, name, value);
	else if (value->kind == NODE_SCALAR)
		environment_bind(&x->env, name, value->text);
	else
		complain(x->complaints, value->at, "a list within a list");
	x->failed |= value->kind == NODE_LIST;
	bind_from(x, p);
	x->env.nr = bound;
}

static void bind_from(struct expansion *x, void *arg)
{
	struct product *p = arg;

	if (x->failed)
		return;
	if (p->next == p->each->nr) {
		emit_item(x, p);
		return;
	}
	const struct entry *e = &p->each->entries[p->next++];

	if (e->value->kind == NODE_MAP)
		each_row(x, e->value, bind_from, p);
	else if (e->value->kind == NODE_SCALAR)
		bind_value_of(x, p, e->key, e->value);
	else
		for (size_t i = 0; i < e->value->nr && !x->failed; i++)
			bind_value_of(x, p, e->key, e->value->entries[i].value);
	p->next--;
}

static void add_items(struct expansion *x, struct parts *list, const struct entry *entry)
{
	const struct node *each = entry->value->kind == NODE_MAP ? node_get(entry->value, "each") : NULL;
	const struct node *made;

	if (!each) {
		made = each_write(x, entry->value);
		if (made)
			add(list, (struct entry){ .at = entry->at, .value = made });
		return;
	}
	if (each->kind != NODE_MAP) {
		complain(x->complaints, each->at, "each: a map from names to values is expected, not %s",
			 node_kind_name(each));
		x->failed = true;
		return;
	}
	bind_from(x, &(struct product){ .each = each,
					.item = node_without(x->pool, entry->value, "each"),
					.list = list,
					.first = list->nr });
}

/* ---- the tree ---- */

static const struct node *write_scalar(struct expansion *x, const struct node *node)
{
	const char *text;
	struct node *made;

	if (!x->env.nr || !strstr(node->text, "${"))
		return node;
	text = expression_replace(&x->env, node->at, node->text);
	if (!text) {
		x->failed = true;
		return NULL;
	}
	made = pool_alloc(x->pool, sizeof(*made));
	*made = *node;
	made->text = text;
	return made;
}

static void write_member(struct expansion *x, struct parts *parts, const struct entry *entry)
{
	const char *key = x->env.nr && strstr(entry->key, "${")
				  ? expression_replace(&x->env, entry->at, entry->key)
				  : entry->key;
	const struct node *value = each_write(x, entry->value);

	x->failed |= !key || !value;
	if (!x->failed)
		add(parts, (struct entry){ .key = key, .at = entry->at, .value = value });
}

const struct node *each_write(struct expansion *x, const struct node *node)
{
	struct parts parts = { 0 };
	bool same = true;

	if (x->failed)
		return NULL;
	if (node->kind == NODE_SCALAR)
		return write_scalar(x, node);
	for (size_t i = 0; i < node->nr && !x->failed; i++) {
		if (node->kind == NODE_LIST)
			add_items(x, &parts, &node->entries[i]);
		else
			write_member(x, &parts, &node->entries[i]);
	}
	same = !x->failed && parts.nr == node->nr;
	for (size_t i = 0; same && i < node->nr; i++)
		same = parts.entries[i].value == node->entries[i].value &&
		       parts.entries[i].key == node->entries[i].key;
	if (x->failed || same) {
		free(parts.entries);
		return x->failed ? NULL : node;
	}
	return finish(x->pool, node, &parts);
}

const struct node *each_expand(struct pool *pool, struct complaints *c, const struct node *tree)
{
	struct expansion x = {
		.pool = pool,
		.complaints = c,
		.env = { .pool = pool, .complaints = c },
	};

	return each_write(&x, tree);
}
