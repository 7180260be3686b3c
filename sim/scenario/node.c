/*
 * node.c - reading and editing trees whose nodes never change.
 */
#include <string.h>

#include "sim/scenario/document.h"

const struct entry *node_entry(const struct node *map, const char *key)
{
	if (!map || map->kind != NODE_MAP)
		return NULL;
	for (size_t i = 0; i < map->nr; i++) {
		if (!strcmp(map->entries[i].key, key))
			return &map->entries[i];
	}
	return NULL;
}

const struct node *node_get(const struct node *map, const char *key)
{
	const struct entry *entry = node_entry(map, key);

	return entry ? entry->value : NULL;
}

const struct node *node_scalar(struct pool *pool, struct where at, const char *text)
{
	struct node *node = pool_alloc(pool, sizeof(*node));

	*node = (struct node){ .kind = NODE_SCALAR, .at = at, .size = 1 };
	node->text = pool_text(pool, text, strlen(text));
	return node;
}

const struct node *node_map(struct pool *pool, struct where at)
{
	struct node *node = pool_alloc(pool, sizeof(*node));

	*node = (struct node){ .kind = NODE_MAP, .at = at, .size = 1, .height = 1 };
	return node;
}

/* A copy with room for one entry more, and the entries to write to. */
static struct node *copy(struct pool *pool, const struct node *from, struct entry **entries)
{
	struct node *node = pool_alloc(pool, sizeof(*node));

	*entries = pool_alloc(pool, (from->nr + 1) * sizeof(**entries));
	if (from->nr)
		memcpy(*entries, from->entries, from->nr * sizeof(**entries));
	*node = *from;
	node->entries = *entries;
	return node;
}

const struct node *node_with(struct pool *pool, const struct node *map, const char *key, struct where at,
			     const struct node *value)
{
	const struct entry *old = node_entry(map, key);
	struct entry *entries;
	struct node *node = copy(pool, map, &entries);
	size_t i = old ? (size_t)(old - map->entries) : node->nr++;

	entries[i] = (struct entry){ .key = old ? old->key : pool_text(pool, key, strlen(key)),
				     .at = at,
				     .value = value };
	return node;
}

const struct node *node_without(struct pool *pool, const struct node *map, const char *key)
{
	const struct entry *old = node_entry(map, key);
	struct entry *entries;
	struct node *node;
	size_t i;

	if (!old)
		return map;
	node = copy(pool, map, &entries);
	i = (size_t)(old - map->entries);
	node->nr--;
	memmove(entries + i, entries + i + 1, (node->nr - i) * sizeof(*entries));
	return node;
}

const struct node *node_replace(struct pool *pool, const struct node *list, size_t i,
				const struct node *value)
{
	struct entry *entries;
	struct node *node = copy(pool, list, &entries);

	entries[i].value = value;
	return node;
}

const char *node_kind_name(const struct node *node)
{
	static const char *const names[] = {
		[NODE_SCALAR] = "a single value",
		[NODE_LIST] = "a list",
		[NODE_MAP] = "a map",
	};

	return names[node->kind];
}
