/*
 * bind.c - maps, lists and defaults; what a single text means is in bind_scalar.c.
 *
 * Recursion here goes as deep as the document (bounded by DOCUMENT_DEPTH) and as tables embed each other
 * (option_table_check() refuses a table that embeds itself other than through a list).
 */
#include "sim/scenario/bind.h"

#include <assert.h>
#include <string.h>

#include "sim/scenario/hint.h"
#include "sim/scenario/name.h"
#include "sim/scenario/table.h"

#define BOUND UINT64_C(0x6d656d6367626e64)

struct bound {
	_Alignas(16) const struct node *map;
	const struct option_table *table;
	uint64_t mark; /* that this is a bound block at all */
};

void *bind_new(struct binder *b, const struct option_table *table, const struct node *map)
{
	struct bound *bound = pool_alloc(b->pool, sizeof(*bound) + table->size);

	*bound = (struct bound){ .map = map, .table = table, .mark = BOUND };
	return bound + 1;
}

/* "reclaim.batch" may be a key, or the key of a map within. */
static const struct node *find(const struct node *map, const char *key)
{
	const struct node *value = node_get(map, key);

	for (size_t i = 0; !value && map->kind == NODE_MAP && i < map->nr; i++) {
		size_t length = strlen(map->entries[i].key);

		if (!strncmp(map->entries[i].key, key, length) && key[length] == '.')
			value = find(map->entries[i].value, key + length + 1);
	}
	return value;
}

struct where option_where(const void *block, const char *key)
{
	const struct bound *bound = (const struct bound *)block - 1;
	const struct node *value = key ? find(bound->map, key) : bound->map;

	assert(bound->mark == BOUND);
	return value ? value->at : (struct where){ .file = bound->map->at.file };
}

const struct node *fallback_node(struct pool *pool, const struct option *row, struct complaints *c)
{
	struct reader reader = { .pool = pool, .complaints = c };

	if (!row->fallback)
		return NULL;
	if (*row->fallback == '{' || *row->fallback == '[')
		return document_parse(&reader, (struct where){ 0 }, row->fallback, strlen(row->fallback));
	return node_scalar(pool, (struct where){ 0 }, row->fallback);
}

static void bind_strings(struct binder *b, const struct option *row, const struct node *value,
			 struct option_list *list)
{
	struct entry one = { .value = value };
	const struct entry *entries = value->kind == NODE_LIST ? value->entries : &one;

	list->nr = value->kind == NODE_LIST ? value->nr : 1;
	list->items = pool_alloc(b->pool, list->nr * sizeof(*list->items));
	for (size_t i = 0; i < list->nr; i++) {
		const struct node *item = entries[i].value;
		const char *text = item->kind == NODE_SCALAR ? item->text : "";

		if (item->kind != NODE_SCALAR)
			complain(b->complaints, item->at, "%s: a text or a list of texts is expected, not %s",
				 row->name, node_kind_name(item));
		list->items[i] = pool_text(b->pool, text, strlen(text));
	}
}

/* How many names an item of a list stands for, by its OPT_NAME; 1 for what has no name. */
static uint64_t item_names(struct binder *b, const struct option_table *table, const struct node *map)
{
	for (size_t i = 0; i < table->nr; i++) {
		const struct node *name = node_get(map, table->rows[i].name);
		uint64_t count;

		if (table->rows[i].type != OPT_NAME || !name || name->kind != NODE_SCALAR)
			continue;
		count = name_count(name->text);
		b->names += b->times * count;
		if (b->names > NAME_MOST && !b->names_refused) {
			b->names_refused = true;
			complain(b->complaints, name->at, "'%s': with it the names of the scenario pass %llu",
				 name->text, (unsigned long long)NAME_MOST);
		}
		return count && b->times * count <= NAME_MOST ? count : 1;
	}
	return 1;
}

static void bind_list(struct binder *b, const struct option *row, const struct node *value,
		      struct option_list *list)
{
	if (value->kind != NODE_LIST) {
		complain(b->complaints, value->at, "%s: a list of maps is expected, not %s", row->name,
			 node_kind_name(value));
		return;
	}
	list->items = pool_alloc(b->pool, value->nr * sizeof(*list->items));
	for (size_t i = 0; i < value->nr; i++) {
		const struct node *item = value->entries[i].value;
		uint64_t times = b->times;

		if (item->kind != NODE_MAP) {
			complain(b->complaints, item->at, "%s: a map is expected here, not %s", row->name,
				 node_kind_name(item));
			continue;
		}
		b->times *= item_names(b, row->sub, item);
		list->items[list->nr++] = bind_block(b, row->sub, item);
		b->times = times;
	}
}

static void bind_map(struct binder *b, const struct option *row, const struct node *map,
		     const struct node *value, void *to)
{
	const struct node *from = value && value->kind == NODE_MAP ? value : node_map(b->pool, map->at);
	bool partial = b->partial;

	if (value && value != from) {
		complain(b->complaints, value->at, "%s: a map is expected, not %s", row->name,
			 node_kind_name(value));
		b->partial = true; /* that its keys are missing goes without saying */
	}
	if (row->type == OPT_REF) {
		*(void **)to = bind_block(b, row->sub, from);
	} else {
		struct known_keys keys = { 0 };

		bind_fields(b, row->sub, from, to);
		known_keys(&keys, row->sub, from);
		check_keys(b, from, row->sub->name, &keys);
	}
	b->partial = partial;
}

static void bind_tree(struct binder *b, const struct option *row, const struct node *value,
		      const struct node **to)
{
	bool partial = b->partial;

	*to = value;
	if (value->kind != NODE_MAP)
		complain(b->complaints, value->at, "%s: a map is expected, not %s", row->name,
			 node_kind_name(value));
	b->partial = true; /* such values are parts, as the files are that may stand for them */
	for (size_t i = 0; row->sub && value->kind == NODE_MAP && i < value->nr; i++) {
		struct option item = { .name = value->entries[i].key, .type = OPT_REF, .sub = row->sub };
		const void *unused = NULL;

		bind_map(b, &item, value, value->entries[i].value, &unused);
	}
	b->partial = partial;
}

void bind_value(struct binder *b, const struct option *row, const struct node *map, const struct node *value,
		void *to)
{
	if (value && value->kind == NODE_SCALAR && !value->quoted && !*value->text) {
		complain(b->complaints, value->at, "key '%s' has no value", row->name);
		return;
	}
	if (row->type == OPT_MAP || row->type == OPT_REF) {
		bind_map(b, row, map, value, to);
		return;
	}
	if (!value)
		value = fallback_node(b->pool, row, b->complaints);
	if (!value)
		return;
	switch (row->type) {
	case OPT_STRINGS:
		bind_strings(b, row, value, to);
		break;
	case OPT_LIST:
		bind_list(b, row, value, to);
		break;
	case OPT_TREE:
		bind_tree(b, row, value, to);
		break;
	case OPT_POLICY:
		bind_policy(b, row, value, to);
		break;
	case OPT_MODULE:
		bind_module(b, row, map, value, to);
		break;
	case OPT_DIST:
	case OPT_DIST_DURATION:
	case OPT_DIST_BYTES:
		bind_dist(b, row, value, to);
		break;
	default:
		bind_scalar(b, row, value, to);
	}
}

/* Whoever named no kernel misses one policy after the other, and wants the kernel. */
static void complain_missing(struct binder *b, const struct option_table *table, const struct option *row,
			     const struct node *map)
{
	if (row->type == OPT_POLICY)
		complain(b->complaints, map->at,
			 "no policy of axis '%s': name a 'kernel', which has all, or one under policies",
			 row->name);
	else
		complain(b->complaints, map->at, "key '%s' of %s is missing", row->name, table->name);
}

/* A key that is given, and whose effect hangs on the value of another. */
static void remark_without(struct binder *b, const struct option_table *table, const struct option *row,
			   const struct node *map, const struct node *value)
{
	const struct node *other = node_get(map, row->with);
	const char *text = other && other->kind == NODE_SCALAR ? other->text
							       : table_row(table, row->with)->fallback;

	remark(b->complaints, value->at, text && !strcmp(text, row->with_value),
	       "%s has no effect without '%s: %s'", row->name, row->with, row->with_value);
}

void bind_fields(struct binder *b, const struct option_table *table, const struct node *map, void *to)
{
	for (size_t i = 0; i < table->nr; i++) {
		const struct option *row = &table->rows[i];
		const struct node *value = node_get(map, row->name);

		if (!value && row->required && !b->partial)
			complain_missing(b, table, row, map);
		if (value && row->with)
			remark_without(b, table, row, map, value);
		bind_value(b, row, map, value, (char *)to + row->offset);
	}
}

void *bind_block(struct binder *b, const struct option_table *table, const struct node *map)
{
	void *block = bind_new(b, table, map);
	struct known_keys keys = { 0 };

	bind_fields(b, table, map, block);
	known_keys(&keys, table, map);
	check_keys(b, map, table->name, &keys);
	return block;
}
