/*
 * table.h - the tables of the whole language, put together from what the modules announce.
 *
 * The top level of a scenario is itself one option table: the loader's own keys, a key for each
 * MODULE_SECTION, `policies:` with a row for each axis, `costs:` with one for each group. So the binder, the
 * editor of paths, the JSON Schema and the reference page know no special case.
 */
#ifndef SIM_SCENARIO_TABLE_H
#define SIM_SCENARIO_TABLE_H

#include "sim/module.h"
#include "sim/scenario/document.h"

#define SCHEMA_VERSION "1"

/* The loader's own keys of the top level; a section's value follows at an offset of its own. */
struct top {
	uint32_t schema;
	const char *name, *description, *kernel;
	bool allow_unreal;
	struct option_list include, variants;
	const void *policies, *costs;
	const struct node *kernels, *machines;
};

struct variant_options {
	const char *name, *description;
	const struct node *set;
};

/* kernels/NAME.yaml, or a value of `kernels:` */
struct kernel_file {
	uint32_t schema;
	struct {
		const char *version, *description;
	} kernel;
	const void *policies;
};

/* machines/NAME.yaml, or a value of `machines:` */
struct machine_file {
	uint32_t schema;
	const char *description;
	const void *host, *costs;
};

struct language {
	struct option_table top, policies, costs, kernel_file, machine_file;
};

/* In the pool, which it must not outlive. */
const struct language *language_new(struct pool *pool);
const struct option *table_row(const struct option_table *table, const char *name);

/* The table and all that can be reached from it, nearest first. The caller frees *tables. */
size_t table_collect(const struct option_table *table, const struct option_table *const **tables);
/* What is wrong with a table of the program itself: text in buf, or NULL. table_check.c */
#define TABLE_TEXT 300
const char *table_check(const struct option_table *table, char buf[TABLE_TEXT]);

#endif
