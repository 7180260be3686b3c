/*
 * module.c - the registry.
 *
 * The linker gathers the pointers that MODULE() puts into the section memcgsim_modules, and gives its ends
 * names, since the section's name is a C identifier. The registry is one sorted array of them. It is the only
 * state that the whole process shares: it is made before anything else, and grows only by plug-ins. An array
 * that was handed out stays alive when a plug-in makes the next one, hence the chain.
 */
#include "sim/module.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/xalloc.h"
#include "sim/scenario/table.h"

struct registry {
	struct registry *older;
	size_t nr, begin[NR_MODULE_KINDS + 1]; /* modules of a kind: [begin[kind], begin[kind + 1]) */
	const struct module *modules[];
};

static struct registry *registry;

/*
 * Weak: a program may have no module. Hidden: a program that has this one as a shared library, as the tests
 * do, may have a section of that name too. It announces it as a plug-in does.
 */
extern const struct module *const __start_memcgsim_modules[] __attribute__((weak, visibility("hidden")));
extern const struct module *const __stop_memcgsim_modules[] __attribute__((weak, visibility("hidden")));
extern const struct plugin memcgsim_plugin __attribute__((weak));

static const struct {
	const char *name;
	bool ops, options, axis;
} kinds[NR_MODULE_KINDS] = {
	[MODULE_SECTION] = { .name = "section", .options = true },
	[MODULE_COSTS] = { .name = "costs", .options = true },
	[MODULE_AXIS] = { .name = "axis", .ops = true },
	[MODULE_POLICY] = { .name = "policy", .axis = true },
	[MODULE_WORKLOAD] = { .name = "workload", .ops = true },
	[MODULE_DEVICE] = { .name = "device" },
	[MODULE_METRICS] = { .name = "metrics", .ops = true },
	[MODULE_MODEL] = { .name = "model", .ops = true },
	[MODULE_SUMMARY] = { .name = "summary", .ops = true },
};

const char *module_kind_name(enum module_kind kind)
{
	return kinds[kind].name;
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare(const void *a, const void *b)
{
	const struct module *x = *(const struct module *const *)a, *y = *(const struct module *const *)b;
	int order;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	order = compare_text(x->axis, y->axis);
	return order ? order : strcmp(x->name, y->name);
}

static bool refuse(const char *from, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(const char *from, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "memcgsim: %s: ", from);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return false;
}

/* What can be seen from the module alone. */
static bool check_module(const struct module *m, const char *from)
{
	const char *name = m->name ? m->name : "";

	/* The number comes first in the structure, so that it can be read whatever has become of the rest. */
	if (m->abi != MEMCGSIM_ABI)
		return refuse(from, "a module of ABI %u: this program has %u", m->abi, MEMCGSIM_ABI);
	if (m->kind >= NR_MODULE_KINDS)
		return refuse(from, "module '%s' is of no known kind", name);
	if (!*name)
		return refuse(from, "a %s without a name", module_kind_name(m->kind));
	if (kinds[m->kind].ops && !m->ops)
		return refuse(from, "%s '%s' has no operations", module_kind_name(m->kind), name);
	if (kinds[m->kind].options && !m->options)
		return refuse(from, "%s '%s' has no options", module_kind_name(m->kind), name);
	if (kinds[m->kind].axis && !m->axis)
		return refuse(from, "%s '%s' has no axis", module_kind_name(m->kind), name);
	return true;
}

/* What can be seen only beside all others. */
static bool check_registry(const char *from)
{
	const struct option_table *const *tables;
	struct pool *pool = pool_new();
	char text[TABLE_TEXT];
	const char *fault = NULL;
	bool good = true;
	size_t nr;

	for (size_t i = 0; i < registry->nr && good; i++) {
		const struct module *m = registry->modules[i];

		for (size_t j = i + 1; j < registry->begin[m->kind + 1] && good; j++) {
			const struct module *other = registry->modules[j];

			if (!compare_text(m->axis, other->axis) && !strcmp(m->name, other->name))
				good = refuse(from, "two modules are %s '%s'", module_kind_name(m->kind),
					      m->name);
		}
		if (good && m->kind == MODULE_POLICY && !module_find(MODULE_AXIS, NULL, m->axis))
			good = refuse(from, "policy '%s' is of axis '%s', which nobody has", m->name,
				      m->axis);
	}
	if (good && !module_find(MODULE_SECTION, NULL, "host"))
		good = refuse(from, "there is no section 'host'");
	nr = good ? table_collect(&language_new(pool)->top, &tables) : 0;
	for (size_t i = 0; i < nr && !fault; i++)
		fault = table_check(tables[i], text);
	if (good)
		free((void *)tables);
	for (size_t i = 0; i < registry->nr && good && !fault; i++)
		fault = registry->modules[i]->options ? table_check(registry->modules[i]->options, text)
						      : NULL;
	pool_free(pool);
	return fault ? refuse(from, "%s", fault) : good;
}

/* A registry of what was known and the modules of [begin, end); the old one on failure. */
static bool add(const struct module *const *begin, const struct module *const *end, const char *from)
{
	size_t old = registry ? registry->nr : 0, added = (size_t)(end - begin);
	struct registry *next = xcalloc(1, sizeof(*next) + (old + added) * sizeof(next->modules[0]));

	next->older = registry;
	next->nr = old + added;
	if (old)
		memcpy(next->modules, registry->modules, old * sizeof(next->modules[0]));
	for (size_t i = 0; i < added; i++) {
		if (!check_module(begin[i], from)) {
			free(next);
			return false;
		}
		next->modules[old + i] = begin[i];
	}
	qsort(next->modules, next->nr, sizeof(next->modules[0]), compare);
	for (size_t kind = 0, i = 0; kind <= NR_MODULE_KINDS; kind++) {
		while (i < next->nr && next->modules[i]->kind < kind)
			i++;
		next->begin[kind] = i;
	}
	registry = next;
	if (check_registry(from))
		return true;
	registry = next->older;
	free(next);
	return false;
}

bool modules_init(void)
{
	static const char *const here = "this program";

	if (registry)
		return true;
	return add(__start_memcgsim_modules, __stop_memcgsim_modules, here) &&
	       (!&memcgsim_plugin || add(memcgsim_plugin.begin, memcgsim_plugin.end, here));
}

bool modules_load(const char *path)
{
	const struct plugin *plugin;
	/* dlopen() looks for a bare name everywhere but here. */
	char *place = xasprintf("%s%s", strchr(path, '/') ? "" : "./", path);
	void *handle = dlopen(place, RTLD_NOW | RTLD_LOCAL);

	free(place);
	if (!handle)
		return refuse(path, "%s", dlerror());
	plugin = dlsym(handle, "memcgsim_plugin");
	if (!plugin)
		refuse(path, "not a plug-in: it does not export memcgsim_plugin (write PLUGIN; in it)");
	else if (plugin->abi != MEMCGSIM_ABI)
		refuse(path, "built for ABI %u: this program has %u", plugin->abi, MEMCGSIM_ABI);
	else if (add(plugin->begin, plugin->end, path))
		return true;
	dlclose(handle);
	return false;
}

const struct module *const *modules_of(enum module_kind kind, size_t *n)
{
	*n = registry->begin[kind + 1] - registry->begin[kind];
	return registry->modules + registry->begin[kind];
}

const struct module *module_find(enum module_kind kind, const char *axis, const char *name)
{
	for (size_t i = registry->begin[kind]; i < registry->begin[kind + 1]; i++) {
		const struct module *m = registry->modules[i];

		if (!strcmp(m->name, name) && (!axis || !compare_text(m->axis, axis)))
			return m;
	}
	return NULL;
}
