/*
 * effective.c - the scenario that really runs: every key of every table, with its value and its origin.
 *
 * What is printed is YAML again, and a scenario that gives the same run. It comes from the tree rather than
 * from the bound structures, so that values stand as they were written.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/engine/xalloc.h"
#include "sim/scenario/emit.h"
#include "sim/scenario/set.h"

#define ORIGIN_COLUMN 44

struct printer {
	FILE *out;
	struct pool *pool;
	struct complaints *ignored; /* defaults were checked at start */
	int indent;
	bool dash; /* the next line begins an item of a list */
};

static void print_map(struct printer *p, const struct option_table *table, const struct node *map);

/* "  key: value        # file:3". Value and origin may be empty. */
static void print_line(struct printer *p, const char *key, const char *value, const char *origin)
{
	int width = p->indent - (p->dash ? 2 : 0);
	int length;

	length = fprintf(p->out, "%*s%s", width, "", p->dash ? "- " : "");
	emit_scalar(p->out, key);
	length += (int)strlen(key) + fprintf(p->out, ":%s%s", *value ? " " : "", value);
	p->dash = false;
	if (*origin)
		fprintf(p->out, "%*s # %s", length < ORIGIN_COLUMN ? ORIGIN_COLUMN - length : 0, "", origin);
	fputc('\n', p->out);
}

static void print_value(struct printer *p, const struct option *row, const struct node *value)
{
	char *text = NULL;
	size_t length;
	FILE *out = xalloc_checked(open_memstream(&text, &length));
	const char *origin;

	emit_flow(out, value);
	fclose(out);
	if (value->at.line)
		origin = pool_printf(p->pool, "%s:%u", value->at.file, value->at.line);
	else
		origin = row->source ? pool_printf(p->pool, "default; %s", row->source) : "default";
	print_line(p, row->name, text, origin);
	free(text);
}

/* A line for a key without value or default; as a comment, since it has nothing to say. */
static void print_absent(struct printer *p, const struct option *row)
{
	fprintf(p->out, "%*s%s# %s: none\n", p->indent - (p->dash ? 2 : 0), "", p->dash ? "- " : "",
		row->name);
	p->dash = false;
}

static void print_list(struct printer *p, const struct option *row, const struct node *list)
{
	if (!list || !list->nr) {
		print_line(p, row->name, "[]", list ? "" : "default");
		return;
	}
	print_line(p, row->name, "", "");
	p->indent += 4;
	for (size_t i = 0; i < list->nr; i++) {
		p->dash = true;
		print_map(p, row->sub, list->entries[i].value);
	}
	p->indent -= 4;
}

static void print_policy(struct printer *p, const struct option *row, const struct node *value)
{
	static const struct option name_row = { .name = "name", .type = OPT_STRING };
	const struct module *module = named_module(row, value);
	const struct node *name = value->kind == NODE_MAP ? node_get(value, "name") : value;

	if (!module || !module->options) {
		print_value(p, row, name);
		return;
	}
	print_line(p, row->name, "", "");
	p->indent += 2;
	print_value(p, &name_row, name);
	print_map(p, module->options, value);
	p->indent -= 2;
}

static void print_row(struct printer *p, const struct option *row, const struct node *map)
{
	const struct node *value = node_get(map, row->name);

	if (row->type == OPT_MAP || row->type == OPT_REF) {
		if (!row->sub->nr)
			return;
		print_line(p, row->name, "", "");
		p->indent += 2;
		print_map(p, row->sub, value);
		p->indent -= 2;
		return;
	}
	if (row->type == OPT_LIST) {
		print_list(p, row, value);
		return;
	}
	value = value ? value : fallback_node(p->pool, row, p->ignored);
	if (!value)
		print_absent(p, row);
	else if (row->type == OPT_POLICY)
		print_policy(p, row, value);
	else
		print_value(p, row, value);
}

static void print_map(struct printer *p, const struct option_table *table, const struct node *map)
{
	for (size_t i = 0; i < table->nr; i++) {
		const struct option *row = &table->rows[i];
		const struct module *module;

		print_row(p, row, map);
		if (row->type != OPT_MODULE)
			continue;
		module = named_module(row, node_get(map, row->name));
		if (module && module->options)
			print_map(p, module->options, map);
	}
}

void scenario_print_effective(const struct scenario *s, FILE *out)
{
	static const char *const resolved[] = { "include", "variants", "kernels", "machines" };
	struct printer p = { .out = out, .pool = pool_new(), .ignored = complaints_new() };

	for (size_t i = 0; i < s->language->top.nr; i++) {
		const struct option *row = &s->language->top.rows[i];
		bool skip = false;

		for (size_t r = 0; r < sizeof(resolved) / sizeof(resolved[0]); r++)
			skip |= !strcmp(row->name, resolved[r]);
		if (!skip)
			print_row(&p, row, s->tree);
	}
	complaints_free(p.ignored);
	pool_free(p.pool);
}
