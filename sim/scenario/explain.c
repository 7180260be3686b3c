/*
 * explain.c - `memcgsim explain NAME`: a module, a path of keys, or a key wherever it stands.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/scenario/bind.h"
#include "sim/scenario/describe.h"
#include "sim/scenario/each.h"

static void print_option(const struct option *row, FILE *out)
{
	char type[TYPE_TEXT], range[RANGE_TEXT];

	fprintf(out, "    %-20s %s\n", row->name, row->help);
	fprintf(out, "    %-20s %s; default: %s", "", describe_type(row, type), describe_default(row));
	if (row->min || row->max)
		fprintf(out, "; allowed: %s", range_text(row, range));
	if (row->with)
		fprintf(out, "; only with %s: %s", row->with, row->with_value);
	if (row->source)
		fprintf(out, "\n    %-20s from: %s", "", row->source);
	fputc('\n', out);
	for (const struct enum_name *n = row->type == OPT_ENUM ? row->names : NULL; n && n->name; n++)
		fprintf(out, "    %-20s   %-12s %s\n", "", n->name, n->help ? n->help : "");
}

static void print_table(const struct option_table *table, FILE *out)
{
	for (size_t i = 0; table && i < table->nr; i++)
		print_option(&table->rows[i], out);
}

static void print_module(struct pool *pool, const struct module *module, FILE *out)
{
	const struct module *const *policies;
	size_t nr;

	fprintf(out, "%s: %s\n", describe_owner(pool, module), module->help ? module->help : "");
	if (module->source)
		fprintf(out, "  follows: %s\n", module->source);
	print_table(module->options, out);
	policies = modules_of(MODULE_POLICY, &nr);
	for (size_t i = 0; i < nr && module->kind == MODULE_AXIS; i++) {
		if (!strcmp(policies[i]->axis, module->name))
			fprintf(out, "    %-20s %s\n", policies[i]->name,
				policies[i]->help ? policies[i]->help : "");
	}
	fputc('\n', out);
}

/* host.cpus, costs.hw.line_hit, tasks.count: at each level the longest key that fits. */
static const struct option *find_path(const struct option_table *table, const char *path)
{
	const struct option *row = NULL;

	while (table) {
		size_t longest = 0;

		row = NULL;
		for (size_t i = 0; i < table->nr; i++) {
			size_t length = strlen(table->rows[i].name);

			if (strncmp(table->rows[i].name, path, length) ||
			    (path[length] && path[length] != '.') || length < longest)
				continue;
			longest = length;
			row = &table->rows[i];
		}
		if (!row || !path[longest])
			return row;
		path += longest + 1;
		table = row->sub;
	}
	return NULL;
}

bool scenario_explain(const char *name, FILE *out)
{
	struct pool *pool = pool_new();
	const struct language *language = language_new(pool);
	const struct option *row = find_path(&language->top, name);
	const struct option_table *const *tables;
	const struct module *const *modules;
	size_t nr, nr_tables = table_collect(&language->top, &tables);
	bool found = false;

	for (enum module_kind kind = 0; kind < NR_MODULE_KINDS; kind++) {
		modules = modules_of(kind, &nr);
		for (size_t i = 0; i < nr; i++) {
			if (strcmp(modules[i]->name, name))
				continue;
			print_module(pool, modules[i], out);
			found = true;
		}
	}
	if (!strcmp(name, "each")) {
		fprintf(out, "each: in an item of any list\n    %s\n", each_help);
		found = true;
	}
	if (row && !found) {
		fprintf(out, "%s\n", name);
		print_option(row, out);
		print_table(row->sub, out);
		found = true;
	}
	for (size_t t = 0; t < nr_tables; t++) {
		const struct option *other = table_row(tables[t], name);

		if (!other || other == row)
			continue;
		fprintf(out, "in %s:\n", tables[t]->name);
		print_option(other, out);
		found = true;
	}
	free((void *)tables);
	pool_free(pool);
	return found;
}
