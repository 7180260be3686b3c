/*
 * table.c - the tables of the language. See table.h.
 */
#include "sim/scenario/table.h"

#include <stdlib.h>
#include <string.h>

#include "sim/engine/xalloc.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static const struct option variant_rows[] = {
	OPTION(struct variant_options, name, OPT_NAME, .required = true, .help = "in tables and figures"),
	OPTION(struct variant_options, description, OPT_STRING, .help = "what it stands for"),
	OPTION(struct variant_options, set, OPT_TREE,
	       .help = "paths and their values: { policies.flush: unified, \"tasks[0].interval\": 2s }"),
};
static const struct option_table variant_table = OPTION_TABLE("variants", struct variant_options,
							      variant_rows);

static const struct option first_rows[] = {
	OPTION(struct top, schema, OPT_U32, .required = true, .min = SCHEMA_VERSION, .max = SCHEMA_VERSION,
	       .help = "version of the scenario language"),
	OPTION_AS("scenario", struct top, name, OPT_NAME, .required = true,
		  .help = "name; the results go to NAME.db"),
	OPTION(struct top, description, OPT_STRING, .help = "what the scenario shows"),
	OPTION(struct top, include, OPT_STRINGS,
	       .help = "files to take in; what stands here has precedence, then the later file"),
	OPTION(struct top, kernel, OPT_STRING, .help = "bundle of policies: scenarios/kernels/NAME.yaml"),
	OPTION(struct top, policies, OPT_REF, .help = "single policies, over those of the kernel"),
	OPTION(struct top, costs, OPT_REF, .help = "single costs, over those of the machine"),
	OPTION(struct top, allow_unreal, OPT_BOOL, .fallback = "false",
	       .help = "allow combinations of policies that no kernel can have"),
	OPTION(struct top, variants, OPT_LIST, .sub = &variant_table,
	       .help = "what is compared: the scenario with something changed"),
	OPTION(struct top, kernels, OPT_TREE, .help = "kernel bundles by name, instead of files"),
	OPTION(struct top, machines, OPT_TREE, .help = "machines by name, instead of files"),
};

static const struct option kernel_version_rows[] = {
	OPTION_AS("version", struct kernel_file, kernel.version, OPT_STRING, .required = true,
		  .help = "major and minor number: 6.6"),
	OPTION_AS("description", struct kernel_file, kernel.description, OPT_STRING, .help = "what is in it"),
};
/* Embedded at offset 0, so that its rows may count from the start of the file's structure. */
static const struct option_table kernel_version_table = OPTION_TABLE("kernel", struct kernel_file,
								     kernel_version_rows);

static const struct option kernel_file_rows[] = {
	OPTION(struct kernel_file, schema, OPT_U32, .max = SCHEMA_VERSION,
	       .help = "version of the scenario language"),
	{ .name = "kernel", .type = OPT_MAP, .sub = &kernel_version_table, .help = "which kernel it is" },
	OPTION(struct kernel_file, policies, OPT_REF, .help = "its value of each axis"),
};

static const struct option machine_file_rows[] = {
	OPTION(struct machine_file, schema, OPT_U32, .max = SCHEMA_VERSION,
	       .help = "version of the scenario language"),
	OPTION(struct machine_file, description, OPT_STRING,
	       .help = "which machine, and how it was measured"),
	OPTION(struct machine_file, host, OPT_REF, .help = "its shape, where the scenario does not give it"),
	OPTION(struct machine_file, costs, OPT_REF, .help = "what operations cost on it"),
};

static void set_table(struct option_table *table, const char *name, size_t size, const struct option *rows,
		      size_t nr)
{
	*table = (struct option_table){ .name = name, .size = size, .rows = rows, .nr = nr };
}

static void policies_table(struct pool *pool, struct option_table *table)
{
	size_t nr;
	const struct module *const *axes = modules_of(MODULE_AXIS, &nr);
	struct option *rows = pool_alloc(pool, nr * sizeof(*rows));

	for (size_t i = 0; i < nr; i++) {
		const struct axis *axis = axes[i]->ops;

		rows[i] = (struct option){ .name = axes[i]->name,
					   .type = OPT_POLICY,
					   .axis = axes[i]->name,
					   .offset = i * sizeof(struct module_use),
					   .fallback = axis->fallback,
					   .required = !axis->fallback,
					   .help = axes[i]->help,
					   .source = axes[i]->source };
	}
	set_table(table, "policies", nr * sizeof(struct module_use), rows, nr);
}

static void costs_table(struct pool *pool, struct option_table *table)
{
	size_t nr;
	const struct module *const *groups = modules_of(MODULE_COSTS, &nr);
	struct option *rows = pool_alloc(pool, nr * sizeof(*rows));

	for (size_t i = 0; i < nr; i++)
		rows[i] = (struct option){ .name = groups[i]->name,
					   .type = OPT_REF,
					   .sub = groups[i]->options,
					   .offset = i * sizeof(void *),
					   .help = groups[i]->help,
					   .source = groups[i]->source };
	set_table(table, "costs", nr * sizeof(void *), rows, nr);
}

static void top_table(struct pool *pool, struct language *language)
{
	size_t nr_sections, nr = 0, offset = sizeof(struct top);
	const struct module *const *sections = modules_of(MODULE_SECTION, &nr_sections);
	struct option *rows = pool_alloc(pool, (nr_sections + COUNT(first_rows)) * sizeof(*rows));

	for (size_t i = 0; i < COUNT(first_rows); i++) {
		const struct option *row = &first_rows[i];

		/* The sections stand before the variants, which speak of them. */
		for (size_t s = 0; s < nr_sections && !strcmp(row->name, "variants"); s++) {
			rows[nr++] = (struct option){ .name = sections[s]->name,
						      .offset = offset,
						      .type = sections[s]->list ? OPT_LIST : OPT_REF,
						      .sub = sections[s]->options,
						      .help = sections[s]->help,
						      .source = sections[s]->source };
			offset += sections[s]->list ? sizeof(struct option_list) : sizeof(void *);
		}
		rows[nr] = *row;
		if (!strcmp(row->name, "policies"))
			rows[nr].sub = &language->policies;
		else if (!strcmp(row->name, "costs"))
			rows[nr].sub = &language->costs;
		else if (!strcmp(row->name, "kernels"))
			rows[nr].sub = &language->kernel_file;
		else if (!strcmp(row->name, "machines"))
			rows[nr].sub = &language->machine_file;
		nr++;
	}
	set_table(&language->top, "scenario", offset, rows, nr);
}

const struct language *language_new(struct pool *pool)
{
	struct language *language = pool_alloc(pool, sizeof(*language));
	struct option *kernel = pool_alloc(pool, sizeof(kernel_file_rows));
	struct option *machine = pool_alloc(pool, sizeof(machine_file_rows));
	const struct module *host = module_find(MODULE_SECTION, NULL, "host");

	policies_table(pool, &language->policies);
	costs_table(pool, &language->costs);
	memcpy(kernel, kernel_file_rows, sizeof(kernel_file_rows));
	kernel[2].sub = &language->policies;
	set_table(&language->kernel_file, "kernels", sizeof(struct kernel_file), kernel,
		  COUNT(kernel_file_rows));
	memcpy(machine, machine_file_rows, sizeof(machine_file_rows));
	machine[2].sub = host->options;
	machine[3].sub = &language->costs;
	set_table(&language->machine_file, "machines", sizeof(struct machine_file), machine,
		  COUNT(machine_file_rows));
	top_table(pool, language);
	return language;
}

const struct option *table_row(const struct option_table *table, const char *name)
{
	for (size_t i = 0; i < table->nr; i++) {
		if (!strcmp(table->rows[i].name, name))
			return &table->rows[i];
	}
	return NULL;
}

struct collection {
	const struct option_table **tables;
	size_t nr, room;
};

static void collect(struct collection *c, const struct option_table *table)
{
	for (size_t i = 0; i < c->nr; i++) {
		if (c->tables[i] == table)
			return;
	}
	if (!table)
		return;
	if (c->nr == c->room) {
		c->room = c->room ? 2 * c->room : 32;
		c->tables = xreallocarray(c->tables, c->room, sizeof(*c->tables));
	}
	c->tables[c->nr++] = table;
}

static void collect_modules(struct collection *c, const struct option *row)
{
	enum module_kind kind = row->type == OPT_POLICY ? MODULE_POLICY : (enum module_kind)row->kind;
	const struct module *const *modules;
	size_t nr;

	modules = modules_of(kind, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (row->type == OPT_MODULE || !strcmp(modules[i]->axis, row->axis))
			collect(c, modules[i]->options);
	}
}

size_t table_collect(const struct option_table *table, const struct option_table *const **tables)
{
	struct collection c = { 0 };

	collect(&c, table);
	for (size_t t = 0; t < c.nr; t++) {
		for (size_t i = 0; i < c.tables[t]->nr; i++) {
			const struct option *row = &c.tables[t]->rows[i];

			collect(&c, row->sub);
			if (row->type == OPT_POLICY || row->type == OPT_MODULE)
				collect_modules(&c, row);
		}
	}
	*tables = c.tables;
	return c.nr;
}
