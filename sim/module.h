/*
 * module.h - the registry: all that a part of the simulator needs to include to exist.
 *
 * A module is one constant structure, announced with MODULE(). Nobody lists modules: the linker collects
 * them, in the program and in every shared object loaded with --plugin, and the registry checks each (ABI
 * number, missing operations, duplicate names) before the first is used.
 *
 *	static const struct flush_ops unified_ops = { .flush = unified_flush, ... };
 *	MODULE(unified) = {
 *		.abi = MEMCGSIM_ABI, .kind = MODULE_POLICY, .axis = "flush", .name = "unified",
 *		.help = "one flusher for the whole tree; losers go on with what is there",
 *		.source = "Linux 5.16-6.7, fd25a9e0e23b",
 *		.options = &unified_options, .ops = &unified_ops, .state_size = sizeof(struct unified),
 *	};
 */
#ifndef SIM_MODULE_H
#define SIM_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/scenario/option.h"

/* Raised whenever a public structure changes; a plug-in built against another number is refused. */
#define MEMCGSIM_ABI 4

enum module_kind {
	MODULE_SECTION,  /* a top-level key of the scenario; .options describes its map, or its list's */
	MODULE_COSTS,    /* a group below `costs:` of a machine file: .options */
	MODULE_AXIS,     /* a key below `policies:`; .ops: const struct axis * */
	MODULE_POLICY,   /* a value of an axis */
	MODULE_WORKLOAD, /* a value of `workload:`; .ops: of the model that runs it */
	MODULE_DEVICE,
	MODULE_METRICS, /* .ops: const struct metric_table * (sim/results/record.h) */
	MODULE_MODEL,   /* builds what is simulated; .ops: const struct model_ops * (sim/experiment/run.h) */
	MODULE_SUMMARY, /* a table printed after `run`; .ops: const struct summary_table * */
	NR_MODULE_KINDS
};

struct module {
	uint32_t abi;
	enum module_kind kind;
	const char *name;
	const char *axis;   /* MODULE_POLICY: the axis it is a value of; MODULE_DEVICE: its sort */
	const char *help;   /* one line */
	const char *source; /* kernel versions, commit, function: what it follows */
	const struct option_table *options; /* NULL: none */
	const void *ops;
	size_t state_size; /* of a policy: a zeroed block of this size is its state in each simulation */
	uint32_t order;    /* MODULE_MODEL, MODULE_SECTION: lower ones first */
	bool list;         /* MODULE_SECTION: a list of maps */
};

struct axis {
	const char
		*fallback; /* the value when neither scenario nor kernel bundle names one; NULL: required */
};

#define MODULE(ident)                                                                 \
	static const struct module module_##ident;                                    \
	static const struct module *const module_ptr_##ident                          \
		__attribute__((section("memcgsim_modules"), used)) = &module_##ident; \
	static const struct module module_##ident
/* Begin the initialiser with .abi = MEMCGSIM_ABI. */

/*
 * What a shared object has to export to be loaded with --plugin: write PLUGIN; once, in any of its files, and
 * compile with -fPIC -shared against these headers (tests/plugin_example.c). The ends of its module list are
 * hidden, so that they are its own and not those of the program it is loaded into; the number is looked at
 * before anything else of it is.
 */
struct plugin {
	uint32_t abi;
	const struct module *const *begin, *const *end;
};
#define PLUGIN PLUGIN_ABI(MEMCGSIM_ABI)
#define PLUGIN_ABI(abi_)                                                                                    \
	extern const struct module *const __start_memcgsim_modules[] __attribute__((visibility("hidden"))); \
	extern const struct module *const __stop_memcgsim_modules[] __attribute__((visibility("hidden")));  \
	__attribute__((visibility("default")))                                                              \
	const struct plugin memcgsim_plugin = { (abi_), __start_memcgsim_modules, __stop_memcgsim_modules }

/*
 * Collects and checks the modules of the program: ABI number, operations, duplicates, and every default and
 * bound in every option table. On failure prints why and returns false. Further calls do nothing.
 */
bool modules_init(void);
/* Adds a shared object's; false with a message, and nothing added, when it cannot be loaded or is refused. */
bool modules_load(const char *path);

/* All modules of a kind, by order, then axis, then name; *n gets their number. Alive for ever. */
const struct module *const *modules_of(enum module_kind kind, size_t *n);
/* NULL when there is none. `axis` NULL: any. */
const struct module *module_find(enum module_kind kind, const char *axis, const char *name);
const char *module_kind_name(enum module_kind kind);

#endif
