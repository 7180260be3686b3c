/*
 * bind_module.c - values that name a module: `flush: unified`, `workload: anon_churn`.
 *
 * A policy stands alone or in a map of its own, { name: unified, batch: 64 }. A workload stands among the
 * options of the map that names it, because a task is one thing to whoever writes it.
 */
#include <string.h>

#include "sim/module.h"
#include "sim/scenario/bind.h"
#include "sim/scenario/hint.h"

static const struct module *find(const struct option *row, const char *name)
{
	if (row->type == OPT_POLICY)
		return module_find(MODULE_POLICY, row->axis, name);
	return module_find((enum module_kind)row->kind, NULL, name);
}

const struct module *named_module(const struct option *row, const struct node *value)
{
	if (value && value->kind == NODE_MAP && row->type == OPT_POLICY)
		value = node_get(value, "name");
	if (value)
		return value->kind == NODE_SCALAR ? find(row, value->text) : NULL;
	return row->fallback ? find(row, row->fallback) : NULL;
}

static const struct module *find_or_complain(struct binder *b, const struct option *row,
					     const struct node *name)
{
	enum module_kind kind = row->type == OPT_POLICY ? MODULE_POLICY : (enum module_kind)row->kind;
	const struct module *module = find(row, name->text);
	const struct module *const *known;
	struct hint hint = hint_for(name->text);
	char buf[HINT_TEXT];
	size_t nr;

	if (module)
		return module;
	known = modules_of(kind, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (row->type != OPT_POLICY || !strcmp(known[i]->axis, row->axis))
			hint_offer(&hint, known[i]->name);
	}
	complain(b->complaints, name->at, "unknown %s '%.100s'%s%s%s%s", module_kind_name(kind), name->text,
		 row->axis ? " of axis '" : "", row->axis ? row->axis : "", row->axis ? "'" : "",
		 hint_text(&hint, buf));
	return NULL;
}

void bind_policy(struct binder *b, const struct option *row, const struct node *value, void *to)
{
	const struct node *name = value->kind == NODE_MAP ? node_get(value, "name") : value;
	const struct node *map = value->kind == NODE_MAP ? value : node_map(b->pool, value->at);
	struct known_keys keys = { .extra = "name" };
	struct module_use *use = to;

	if (!name || name->kind != NODE_SCALAR) {
		if (!b->partial || name)
			complain(b->complaints, value->at,
				 "%s: the name of a policy is expected, or { name: ... }", row->name);
		return;
	}
	use->module = find_or_complain(b, row, name);
	if (!use->module)
		return;
	if (use->module->options) {
		use->options = bind_new(b, use->module->options, map);
		bind_fields(b, use->module->options, map, (void *)use->options);
		known_keys(&keys, use->module->options, map);
	}
	check_keys(b, map, use->module->name, &keys);
}

void bind_module(struct binder *b, const struct option *row, const struct node *map, const struct node *value,
		 void *to)
{
	struct module_use *use = to;

	if (value->kind != NODE_SCALAR) {
		complain(b->complaints, value->at, "%s: a name is expected, not %s", row->name,
			 node_kind_name(value));
		return;
	}
	use->module = find_or_complain(b, row, value);
	if (use->module && use->module->options) {
		use->options = bind_new(b, use->module->options, map);
		bind_fields(b, use->module->options, map, (void *)use->options);
	}
}
