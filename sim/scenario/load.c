/*
 * load.c - from a file to bound variants.
 *
 * A variant is made by editing a tree, not by binding twice: the file and its includes give one tree, --set
 * edits it, each variant's `set` edits a copy, and only then are the kernel and the machine that the variant
 * names laid under it. So a variant may name another kernel, and a single policy it sets still wins.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/datadir.h"
#include "sim/engine/xalloc.h"
#include "sim/scenario/each.h"
#include "sim/scenario/emit.h"
#include "sim/scenario/path.h"
#include "sim/scenario/set.h"

#define MOST_VARIANTS 1000

struct loader {
	struct sources sources;
	struct scenario_set *set;
	struct pool *pool;
	struct complaints *complaints;
	const struct language *language;
	const struct node *base;               /* the scenario with --set, before variants */
	const struct node *params;             /* what --set set */
	const struct node *kernels, *machines; /* bundles met so far, by name */
};

static const struct node *edit(const struct loader *l, const struct node *tree, const char *path,
			       struct where at, const struct node *value)
{
	struct editor editor = { .pool = l->pool, .complaints = l->complaints, .table = &l->language->top };

	return path_set(&editor, tree, path, at, value);
}

/* Behind the path of "path=value"; an '=' may stand in the name of an item: groups[a=b]. */
static const char *find_equals(const char *set)
{
	bool inside = false;

	for (; *set && (*set != '=' || inside); set++)
		inside = *set == '[' || (inside && *set != ']');
	return *set ? set : NULL;
}

static void apply_set(struct loader *l, const char *set)
{
	struct where at = { "--set", 1, 1 };
	const char *equals = find_equals(set), *path, *text;
	const struct node *value;

	if (!equals || equals == set || !equals[1]) {
		complain(l->complaints, at, "'%.150s': path=value is expected", set);
		return;
	}
	path = pool_text(l->pool, set, (size_t)(equals - set));
	text = equals + 1;
	if (!document_check_text(l->complaints, at.file, set, strlen(set)))
		return;
	at.column = (uint32_t)(text - set) + 1;
	/* A plain text is taken as it stands, without YAML's rules for what may begin one. */
	value = strchr("{[\"'", *text) ? document_parse(&l->sources.reader, at, text, strlen(text))
				       : node_scalar(l->pool, at, text);
	at.column = 1;
	if (!value)
		return;
	l->base = edit(l, l->base, path, at, value);
	l->params = node_with(l->pool, l->params, path, at, value);
}

/* The bundle that a key of the tree names; NULL: none is named, or after a complaint. */
static const struct node *bundle(struct loader *l, const struct option_table *table, const char *kind,
				 const struct node **known, const struct node *name)
{
	/* A bundle need not say all: the rest stands in the scenario. */
	struct binder b = { .pool = l->pool, .complaints = l->complaints, .times = 1, .partial = true };
	const struct node *found;

	if (!name || name->kind != NODE_SCALAR || (!*name->text && !name->quoted))
		return NULL;
	found = source_bundle(&l->sources, table, kind, name, *known);
	if (!found || node_get(*known, name->text))
		return found;
	*known = node_with(l->pool, *known, name->text, found->at, found);
	bind_block(&b, table, found);
	return found;
}

static const struct node *lay_under(struct loader *l, const struct node *tree, const struct node *found,
				    const char *key)
{
	const struct entry *e = node_entry(found, key);
	const struct node *part;

	if (!e || e->value->kind != NODE_MAP)
		return tree;
	part = node_with(l->pool, node_map(l->pool, found->at), key, e->at, e->value);
	return source_merge(l->pool, &l->language->top, tree, part);
}

static uint32_t kernel_version(struct loader *l, const struct node *kernel)
{
	const struct node *version = node_get(node_get(kernel, "kernel"), "version");
	unsigned major, minor;
	char behind;

	if (version && version->kind == NODE_SCALAR &&
	    sscanf(version->text, "%3u.%2u%c", &major, &minor, &behind) >= 2)
		return major * 100 + minor;
	complain(l->complaints, version ? version->at : kernel->at,
		 "a kernel needs a version like { version: \"6.6\" } under 'kernel'");
	return 0;
}

static void make_variant(struct loader *l, struct scenario *s, const struct variant_options *options,
			 const struct node *set)
{
	size_t before = complaints_raised(l->complaints);
	const struct node *tree = l->base, *params = l->params, *kernel, *machine;
	struct binder b = { .pool = l->pool, .complaints = l->complaints, .times = 1 };
	char *json = NULL;
	size_t length;
	FILE *out;

	for (size_t i = 0; set && set->kind == NODE_MAP && i < set->nr; i++) {
		const struct entry *e = &set->entries[i];

		tree = edit(l, tree, e->key, e->at, e->value);
		params = node_with(l->pool, params, e->key, e->at, e->value);
	}
	kernel = bundle(l, &l->language->kernel_file, "kernels", &l->kernels, node_get(tree, "kernel"));
	machine = bundle(l, &l->language->machine_file, "machines", &l->machines,
			 node_get(node_get(tree, "host"), "machine"));
	/* Without its bundles a scenario lacks much, which is not to be told one by one. */
	b.partial = (!kernel && node_get(tree, "kernel")) ||
		    (!machine && node_get(node_get(tree, "host"), "machine"));
	tree = kernel ? lay_under(l, tree, kernel, "policies") : tree;
	tree = machine ? lay_under(l, lay_under(l, tree, machine, "costs"), machine, "host") : tree;

	out = xalloc_checked(open_memstream(&json, &length));
	emit_json(out, params);
	fclose(out);
	*s = (struct scenario){ .pool = l->pool,
				.language = l->language,
				.tree = tree,
				.name = options ? options->name : "base",
				.params = pool_text(l->pool, json, length),
				.kernel_version = kernel ? kernel_version(l, kernel) : 0 };
	free(json);
	s->top = bind_block(&b, &l->language->top, tree);
	if (complaints_raised(l->complaints) == before)
		scenario_finish(s, l->complaints);
}

static void check_names(struct loader *l, const struct option_list *variants)
{
	const struct variant_options *const *v = (const struct variant_options *const *)variants->items;

	for (size_t i = 0; i < variants->nr; i++) {
		for (size_t j = 0; j < i && v[i]->name; j++) {
			if (v[j]->name && !strcmp(v[i]->name, v[j]->name))
				complain(l->complaints, option_where(v[i], "name"),
					 "variant '%.100s' stands already in line %u", v[i]->name,
					 option_where(v[j], "name").line);
		}
	}
}

static void make_variants(struct loader *l)
{
	const struct option *row = table_row(&l->language->top, "variants");
	struct binder b = { .pool = l->pool, .complaints = l->complaints, .times = 1 };
	const struct node *node = node_get(l->base, "variants");
	struct option_list variants = { 0 };

	if (node && node->kind == NODE_LIST && node->nr > MOST_VARIANTS) {
		complain(l->complaints, node->at, "more than %d variants", MOST_VARIANTS);
		return;
	}
	if (node)
		bind_value(&b, row, l->base, node, &variants);
	check_names(l, &variants);
	l->set->nr = variants.nr ? variants.nr : 1;
	l->set->variants = pool_alloc(l->pool, l->set->nr * sizeof(*l->set->variants));
	for (size_t i = 0; i < l->set->nr; i++) {
		const struct variant_options *v = variants.nr ? variants.items[i] : NULL;

		make_variant(l, &l->set->variants[i], v, v ? v->set : NULL);
	}
}

static const char *self_contained(struct loader *l)
{
	const struct node *tree = l->base;

	if (l->kernels->nr)
		tree = node_with(l->pool, tree, "kernels", tree->at, l->kernels);
	if (l->machines->nr)
		tree = node_with(l->pool, tree, "machines", tree->at, l->machines);
	return emit_yaml(l->pool, tree);
}

static const struct node *own_bundles(struct loader *l, const char *key)
{
	const struct node *own = node_get(l->base, key);

	return own && own->kind == NODE_MAP ? own : node_map(l->pool, l->base->at);
}

struct scenario_set *scenario_load(const struct scenario_source *source, struct complaints *c)
{
	struct pool *pool = pool_new();
	struct scenario_set *set = pool_alloc(pool, sizeof(*set));
	struct loader l = { .set = set, .pool = pool, .complaints = c, .language = language_new(pool) };
	const char *slash = strrchr(source->path, '/');
	char *data = data_path("scenarios");
	size_t before = complaints_raised(c);

	set->pool = pool;
	l.sources = (struct sources){ .reader = { .pool = pool, .complaints = c },
				      .paths = source->paths,
				      .nr_paths = source->nr_paths };
	l.sources.folder = pool_text(pool, source->path, slash ? (size_t)(slash + 1 - source->path) : 0);
	l.sources.data = data ? pool_text(pool, data, strlen(data)) : NULL;
	free(data);
	l.base = source->text ? source_text(&l.sources, &l.language->top, source->path, source->text,
					    strlen(source->text))
			      : source_file(&l.sources, &l.language->top, source->path);
	l.base = l.base ? each_expand(pool, c, l.base) : NULL;
	if (l.base) {
		l.params = node_map(pool, l.base->at);
		for (size_t i = 0; i < source->nr_sets; i++)
			apply_set(&l, source->sets[i]);
		l.kernels = own_bundles(&l, "kernels");
		l.machines = own_bundles(&l, "machines");
		make_variants(&l);
	}
	if (!l.base || complaints_raised(c) != before) {
		pool_free(pool);
		return NULL;
	}
	set->name = set->variants[0].top->name;
	set->text = self_contained(&l);
	return set;
}
