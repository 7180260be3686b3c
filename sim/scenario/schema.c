/*
 * schema.c - the language as a JSON Schema (draft 2020-12), for editors that complete and check YAML.
 *
 * Every option table is a definition, so tables that hold themselves through a list are no problem. A table
 * in which a key names a module (workload: NAME) takes the keys of that module in as well, by an if/then for
 * each; that is why unknown keys are refused with unevaluatedProperties.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/json.h"
#include "sim/scenario/bind.h"
#include "sim/scenario/each.h"
#include "sim/scenario/table.h"
#include "sim/scenario/units.h"

struct schema {
	FILE *out;
	const struct option_table *const *tables;
	size_t nr;
};

/* The name of a table's definition: its own, with a number where two tables share it. */
static void put_ref(struct schema *s, const struct option_table *table, bool reference)
{
	char name[120];
	unsigned before = 0;

	for (size_t i = 0; i < s->nr && s->tables[i] != table; i++)
		before += !strcmp(s->tables[i]->name, table->name);
	snprintf(name, sizeof(name), before ? "%s%.80s-%u" : "%s%.80s", reference ? "#/$defs/" : "",
		 table->name, before + 1);
	json_string(s->out, name);
}

static void put_text(struct schema *s, const char *key, const char *text)
{
	fprintf(s->out, ", \"%s\": ", key);
	json_string(s->out, text);
}

static void put_bound(struct schema *s, const struct option *row, const char *key, const char *text)
{
	struct unit_error error;
	uint64_t integer;
	double real;

	if (!text)
		return;
	if (unit_is_integer(row->type) && unit_integer(row->type, text, &integer, &error))
		fprintf(s->out, ", \"%s\": %llu", key, (unsigned long long)integer);
	else if (!unit_is_integer(row->type) && unit_real(row->type, text, &real, &error))
		fprintf(s->out, ", \"%s\": %.17g", key, real);
}

/* Bounds hold for bare numbers; a text with a unit is held to its pattern only. */
static void put_number(struct schema *s, const struct option *row)
{
	bool bare = row->type != OPT_DURATION && row->type != OPT_RATE;
	const char *word = row->never ? row->never : row->allow_max ? "max" : NULL;

	if (word) {
		fputs("\"anyOf\": [{\"const\": ", s->out);
		json_string(s->out, word);
		fputs("}, {", s->out);
	}
	fprintf(s->out, "\"type\": [\"string\", \"%s\"]", unit_is_integer(row->type) ? "integer" : "number");
	put_text(s, "pattern", unit_pattern(row->type));
	if (bare) {
		put_bound(s, row, row->above_min ? "exclusiveMinimum" : "minimum",
			  row->min || row->type == OPT_NUMBER ? row->min : "0");
		put_bound(s, row, "maximum", row->max);
	} else {
		fputs(", \"minimum\": 0, \"maximum\": 0", s->out);
	}
	if (word)
		fputs("}]", s->out);
}

static void put_dist(struct schema *s, const struct option *row)
{
	struct option value = { .type = row->type == OPT_DIST_DURATION ? OPT_DURATION
					: row->type == OPT_DIST_BYTES  ? OPT_BYTES
								       : OPT_NUMBER };

	const char *name, *arguments;

	fputs("\"anyOf\": [{", s->out);
	put_number(s, &value);
	fputs("}, {\"type\": \"object\", \"minProperties\": 1, \"maxProperties\": 1, \"properties\": {",
	      s->out);
	for (size_t i = 0; (name = dist_form(i, &arguments)); i++) {
		fputs(i ? ", " : "", s->out);
		json_string(s->out, name);
		fputs(": {\"description\": ", s->out);
		json_string(s->out, arguments);
		fputs("}", s->out);
	}
	fputs("}, \"additionalProperties\": false}]", s->out);
}

/* "64" in quotes and 64 without are the same name. */
static void put_name(struct schema *s, const char *name, bool first)
{
	if (!first)
		fputs(", ", s->out);
	json_string(s->out, name);
	if (*name && strspn(name, "0123456789") == strlen(name) && (name[0] != '0' || !name[1]))
		fprintf(s->out, ", %s", name);
}

static bool chosen(const struct option *row, const struct module *module)
{
	return row->type == OPT_MODULE || !strcmp(module->axis, row->axis);
}

static const struct module *const *choices(const struct option *row, size_t *nr)
{
	return modules_of(row->type == OPT_POLICY ? MODULE_POLICY : (enum module_kind)row->kind, nr);
}

static void put_choices(struct schema *s, const struct option *row)
{
	const struct module *const *modules;
	bool first = true;
	size_t nr;

	modules = choices(row, &nr);
	fputs("\"enum\": [", s->out);
	for (size_t i = 0; i < nr; i++) {
		if (!chosen(row, modules[i]))
			continue;
		put_name(s, modules[i]->name, first);
		first = false;
	}
	fputs("]", s->out);
}

static void put_policy(struct schema *s, const struct option *row)
{
	const struct module *const *modules;
	size_t nr;

	modules = choices(row, &nr);
	fputs("\"anyOf\": [{", s->out);
	put_choices(s, row);
	fputs("}", s->out);
	for (size_t i = 0; i < nr; i++) {
		if (!chosen(row, modules[i]))
			continue;
		fputs(", {\"type\": \"object\", \"properties\": {\"name\": {\"enum\": [", s->out);
		put_name(s, modules[i]->name, true);
		fputs("]}}, \"required\": [\"name\"]", s->out);
		if (modules[i]->options) {
			fputs(", \"$ref\": ", s->out);
			put_ref(s, modules[i]->options, true);
		}
		fputs(", \"unevaluatedProperties\": false}", s->out);
	}
	fputs("]", s->out);
}

static void put_enum(struct schema *s, const struct option *row)
{
	fputs("\"enum\": [", s->out);
	for (const struct enum_name *n = row->names; n->name; n++)
		put_name(s, n->name, n == row->names);
	fputs("]", s->out);
}

static void put_type(struct schema *s, const struct option *row)
{
	switch (row->type) {
	case OPT_BOOL:
		fputs("\"enum\": [true, false, \"on\", \"off\", \"yes\", \"no\"]", s->out);
		break;
	case OPT_STRING:
	case OPT_NAME:
		fputs("\"type\": [\"string\", \"number\", \"boolean\"]", s->out);
		break;
	case OPT_STRINGS:
		fputs("\"type\": [\"string\", \"array\"], \"items\": {\"type\": \"string\"}", s->out);
		break;
	case OPT_ENUM:
		put_enum(s, row);
		break;
	case OPT_DIST:
	case OPT_DIST_DURATION:
	case OPT_DIST_BYTES:
		put_dist(s, row);
		break;
	case OPT_POLICY:
		put_policy(s, row);
		break;
	case OPT_MODULE:
		put_choices(s, row);
		break;
	case OPT_MAP:
	case OPT_REF:
		fputs("\"unevaluatedProperties\": false, \"$ref\": ", s->out);
		put_ref(s, row->sub, true);
		break;
	case OPT_LIST:
		/* An item with `each` holds expressions in place of values. */
		fputs("\"type\": \"array\", \"items\": {\"if\": {\"required\": [\"each\"]}, \"then\": "
		      "{\"properties\": {\"each\": {\"type\": \"object\", \"description\": ",
		      s->out);
		json_string(s->out, each_help);
		fputs("}}}, \"else\": {\"unevaluatedProperties\": false, \"$ref\": ", s->out);
		put_ref(s, row->sub, true);
		fputs("}}", s->out);
		break;
	case OPT_TREE:
		fputs("\"type\": \"object\"", s->out);
		if (row->sub) {
			fputs(", \"additionalProperties\": {\"$ref\": ", s->out);
			put_ref(s, row->sub, true);
			fputs("}", s->out);
		}
		break;
	default:
		put_number(s, row);
	}
}

static void put_modules(struct schema *s, const struct option *row, bool first)
{
	const struct module *const *modules;
	size_t nr;

	modules = choices(row, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (!modules[i]->options)
			continue;
		fprintf(s->out, "%s{\"if\": {\"properties\": {\"%s\": {\"const\": ", first ? "" : ",\n\t\t\t",
			row->name);
		json_string(s->out, modules[i]->name);
		fprintf(s->out, "}}, \"required\": [\"%s\"]}, \"then\": {\"$ref\": ", row->name);
		put_ref(s, modules[i]->options, true);
		fputs("}}", s->out);
		first = false;
	}
}

static void put_table(struct schema *s, const struct option_table *table)
{
	const char *comma = "";

	fputs("{\"type\": \"object\", \"properties\": {", s->out);
	for (size_t i = 0; i < table->nr; i++) {
		const struct option *row = &table->rows[i];

		fputs(i ? ",\n\t\t\t" : "\n\t\t\t", s->out);
		json_string(s->out, row->name);
		fputs(": {", s->out);
		put_type(s, row);
		put_text(s, "description", row->help);
		if (row->fallback)
			put_text(s, "default", row->fallback);
		fputs("}", s->out);
	}
	fputs("}", s->out);
	for (size_t i = 0; i < table->nr; i++) {
		if (table->rows[i].type == OPT_MODULE) {
			fputs(",\n\t\t\"allOf\": [", s->out);
			put_modules(s, &table->rows[i], true);
			fputs("]", s->out);
			break;
		}
	}
	/* What a kernel or a machine may give, an editor cannot miss: only the top level's are told. */
	fputs(",\n\t\t\"required\": [", s->out);
	for (size_t i = 0; i < table->nr && table == s->tables[0]; i++) {
		if (!table->rows[i].required)
			continue;
		fputs(comma, s->out);
		json_string(s->out, table->rows[i].name);
		comma = ", ";
	}
	fputs("]}", s->out);
}

void scenario_print_schema(FILE *out)
{
	struct pool *pool = pool_new();
	const struct option_table *const *tables;
	struct schema s = { .out = out };

	s.nr = table_collect(&language_new(pool)->top, &tables);
	s.tables = tables;
	fputs("{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
	      "\t\"title\": \"memcgsim scenario\", \"$ref\": ",
	      out);
	put_ref(&s, tables[0], true);
	fputs(", \"unevaluatedProperties\": false,\n\t\"$defs\": {", out);
	for (size_t i = 0; i < s.nr; i++) {
		fputs(i ? ",\n\t" : "\n\t", out);
		put_ref(&s, tables[i], false);
		fputs(": ", out);
		put_table(&s, tables[i]);
	}
	fputs("}}\n", out);
	free((void *)tables);
	pool_free(pool);
}
