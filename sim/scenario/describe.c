/*
 * describe.c - see describe.h.
 */
#include "sim/scenario/describe.h"

#include <string.h>

static const char *const types[] = {
	[OPT_BOOL] = "true or false",
	[OPT_U32] = "count",
	[OPT_U64] = "count",
	[OPT_RATIO] = "ratio",
	[OPT_NUMBER] = "number",
	[OPT_BYTES] = "size",
	[OPT_DURATION] = "duration",
	[OPT_RATE] = "rate",
	[OPT_STRING] = "text",
	[OPT_NAME] = "name",
	[OPT_ENUM] = "one of",
	[OPT_DIST] = "distribution of numbers",
	[OPT_DIST_DURATION] = "distribution of durations",
	[OPT_DIST_BYTES] = "distribution of sizes",
	[OPT_POLICY] = "policy of axis",
	[OPT_MODULE] = "name of a",
	[OPT_STRINGS] = "text or list of texts",
	[OPT_MAP] = "map",
	[OPT_REF] = "map",
	[OPT_LIST] = "list of maps",
	[OPT_TREE] = "map of free keys",
};

const char *describe_type(const struct option *row, char buf[TYPE_TEXT])
{
	size_t length = (size_t)snprintf(buf, TYPE_TEXT, "%s", types[row->type]);

	if (row->type == OPT_POLICY)
		snprintf(buf + length, TYPE_TEXT - length, " %s", row->axis);
	else if (row->type == OPT_MODULE)
		snprintf(buf + length, TYPE_TEXT - length, " %s",
			 module_kind_name((enum module_kind)row->kind));
	else if (row->allow_max || row->never)
		snprintf(buf + length, TYPE_TEXT - length, ", or %s", row->never ? row->never : "max");
	else if ((row->type == OPT_LIST || row->type == OPT_MAP) && row->sub)
		snprintf(buf + length, TYPE_TEXT - length, ": %s", row->sub->name);
	for (const struct enum_name *n = row->type == OPT_ENUM ? row->names : NULL; n && n->name; n++) {
		length = strlen(buf);
		snprintf(buf + length, TYPE_TEXT - length, "%s %s", n == row->names ? "" : ",", n->name);
	}
	return buf;
}

const char *describe_default(const struct option *row)
{
	return row->fallback ? row->fallback : row->required ? "required" : "-";
}

const char *describe_owner(struct pool *pool, const struct module *module)
{
	if (module->kind == MODULE_POLICY)
		return pool_printf(pool, "policies.%s: %s", module->axis, module->name);
	if (module->kind == MODULE_COSTS)
		return pool_printf(pool, "costs.%s", module->name);
	if (module->kind == MODULE_SECTION)
		return module->name;
	return pool_printf(pool, "%s: %s", module_kind_name(module->kind), module->name);
}
