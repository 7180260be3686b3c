/*
 * path.c - see path.h.
 *
 * One level a call: edit_map() takes a key off the path, edit_list() an index, and each rebuilds its node
 * around the changed one. A path is short and each level takes a character at least, but its depth is
 * bounded all the same.
 */
#include "sim/scenario/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/scenario/bind.h"
#include "sim/scenario/hint.h"

struct edit {
	const struct editor *editor;
	const char *path; /* whole, for messages */
	struct where at;
	const struct node *value;
	unsigned depth;
};

static const struct node *edit_map(struct edit *e, const struct known_keys *keys, const char *what,
				   const struct node *map, const char *rest);

static const struct node *refuse(const struct edit *e, const char *why)
{
	complain(e->editor->complaints, e->at, "path '%.150s': %s", e->path, why);
	return NULL;
}

/* The longest known key that `rest` begins with. */
static const struct option *take_key(const struct known_keys *keys, const char *rest, size_t *length)
{
	for (size_t i = strlen(rest) + 1; i-- > 0;) {
		const struct option *row;

		if (rest[i] && rest[i] != '.' && rest[i] != '[')
			continue;
		row = known_key(keys, rest, i);
		*length = i;
		if (row)
			return row;
	}
	*length = strcspn(rest, ".[");
	return NULL;
}

static const struct node *edit_item(struct edit *e, const struct option *row, const struct node *item,
				    const char *rest)
{
	struct known_keys keys = { 0 };

	if (!*rest)
		return e->value;
	if (*rest != '.')
		return refuse(e, "a '.' and a key are expected behind ']'");
	if (item->kind != NODE_MAP)
		return refuse(e, "the item is not a map");
	known_keys(&keys, row->sub, item);
	return edit_map(e, &keys, row->sub->name, item, rest + 1);
}

/* The item of a list that [index] names, or -1 after a complaint. */
static long find_item(struct edit *e, const struct option *row, const struct node *list, const char *index,
		      size_t length)
{
	char name[120];
	char buf[HINT_TEXT];
	struct hint hint;

	snprintf(name, sizeof(name), "%.*s", (int)length, index);
	hint = hint_for(name);
	if (length && length < 7 && strspn(name, "0123456789") == length) {
		if ((size_t)atol(name) < list->nr)
			return atol(name);
		complain(e->editor->complaints, e->at, "path '%.150s': %s has %zu items, numbered from 0",
			 e->path, row->name, list->nr);
		return -1;
	}
	for (size_t i = 0; i < list->nr; i++) {
		const struct node *own = node_get(list->entries[i].value, "name");

		if (!own || own->kind != NODE_SCALAR)
			continue;
		if (strlen(own->text) == length && !strncmp(own->text, index, length))
			return (long)i;
		hint_offer(&hint, own->text);
	}
	complain(e->editor->complaints, e->at, "path '%.150s': no item of %s is named '%s'%s", e->path,
		 row->name, name, hint_text(&hint, buf));
	return -1;
}

static const struct node *edit_list(struct edit *e, const struct option *row, const struct node *list,
				    const char *rest)
{
	const char *end = strchr(rest, ']');
	const struct node *item;
	long i;

	if (!end)
		return refuse(e, "a '[' is not closed");
	if (row->type != OPT_LIST || !list || list->kind != NODE_LIST) {
		complain(e->editor->complaints, e->at, "path '%.150s': there is no list '%s' here", e->path,
			 row->name);
		return NULL;
	}
	i = find_item(e, row, list, rest + 1, (size_t)(end - rest - 1));
	if (i < 0)
		return NULL;
	item = edit_item(e, row, list->entries[i].value, end + 1);
	return item ? node_replace(e->editor->pool, list, (size_t)i, item) : NULL;
}

/*
 * An option of a policy. The policy may be named here, or below in the kernel bundle, where it is not known
 * yet: then any policy of the axis that has such an option will do, and the binder has the last word.
 */
static const struct node *edit_policy(struct edit *e, const struct option *row, const struct node *policy,
				      const char *key)
{
	const struct module *const *modules;
	struct known_keys keys = { .extra = "name" };
	size_t nr, room = sizeof(keys.tables) / sizeof(keys.tables[0]);
	const struct node *map = policy;

	if (!policy || policy->kind == NODE_SCALAR)
		map = node_map(e->editor->pool, policy ? policy->at : e->at);
	if (policy && policy->kind == NODE_SCALAR)
		map = node_with(e->editor->pool, map, "name", policy->at, policy);
	if (map->kind != NODE_MAP)
		return refuse(e, "its policy is a list");
	modules = modules_of(MODULE_POLICY, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (strcmp(modules[i]->axis, row->axis) || !modules[i]->options)
			continue;
		if (table_row(modules[i]->options, key) || !strcmp(key, "name"))
			return node_with(e->editor->pool, map, key, e->at, e->value);
		if (keys.nr < room)
			keys.tables[keys.nr++] = modules[i]->options;
	}
	complain_unknown_key(e->editor->complaints, e->at, key, row->name, &keys);
	return NULL;
}

static const struct node *edit_value(struct edit *e, const struct option *row, const struct node *map,
				     const struct node *value, const char *rest)
{
	struct known_keys keys = { 0 };

	if (!*rest)
		return e->value;
	if (*rest == '[')
		return edit_list(e, row, value, rest);
	if (row->type == OPT_POLICY)
		return edit_policy(e, row, value, rest + 1);
	if (row->type != OPT_MAP && row->type != OPT_REF) {
		complain(e->editor->complaints, e->at, "path '%.150s': '%s' has no keys", e->path, row->name);
		return NULL;
	}
	if (!value || value->kind != NODE_MAP)
		value = node_map(e->editor->pool, map->at);
	known_keys(&keys, row->sub, value);
	return edit_map(e, &keys, row->sub->name, value, rest + 1);
}

static const struct node *edit_map(struct edit *e, const struct known_keys *keys, const char *what,
				   const struct node *map, const char *rest)
{
	const struct option *row;
	const struct entry *entry;
	const struct node *value;
	size_t length;

	if (++e->depth > DOCUMENT_DEPTH)
		return refuse(e, "too deep");
	row = take_key(keys, rest, &length);
	if (!row && keys->open)
		return map; /* the binder says which module is unknown, and more cannot be known */
	if (!row) {
		const char *key = pool_text(e->editor->pool, rest, length);

		complain_unknown_key(e->editor->complaints, e->at, key, what, keys);
		return NULL;
	}
	entry = node_entry(map, row->name);
	value = edit_value(e, row, map, entry ? entry->value : NULL, rest + length);
	return value ? node_with(e->editor->pool, map, row->name, entry ? entry->at : e->at, value) : NULL;
}

const struct node *path_set(const struct editor *editor, const struct node *root, const char *path,
			    struct where at, const struct node *value)
{
	static const char *const fixed[] = { "schema",   "scenario", "include",
					     "variants", "kernels",  "machines" };
	struct edit e = { .editor = editor, .path = path, .at = at, .value = value };
	struct known_keys keys = { .tables = { editor->table }, .nr = 1 };
	const struct node *changed;

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		size_t length = strlen(fixed[i]);

		if (!strncmp(path, fixed[i], length) && strchr(".[", path[length])) {
			refuse(&e, "is the same in all variants");
			return root;
		}
	}
	changed = edit_map(&e, &keys, "the scenario", root, path);
	return changed ? changed : root;
}
