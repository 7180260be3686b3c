/*
 * module.h - the registry: all that a part of the simulator needs to include to exist.
 *
 * A module is one constant structure, announced with MODULE(). Nobody lists modules: the linker collects
 * them, in the program and in every shared object loaded with --plugin, and the registry checks each (ABI
 * number, missing operations, duplicate names) before the first is used.
 *
 *	static const struct flush_ops unified_ops = { .flush = unified_flush, ... };
 *	MODULE(unified) = {
 *		.kind = MODULE_POLICY, .axis = "flush", .name = "unified",
 *		.help = "one flusher for the whole tree; losers go on with what is there",
 *		.source = "Linux 5.16-6.7, fd25a9e0e23b",
 *		.options = &unified_options, .ops = &unified_ops, .state_size = sizeof(struct unified),
 *	};
 */
#ifndef SIM_MODULE_H
#define SIM_MODULE_H

#include <stddef.h>
#include <stdint.h>

#include "sim/scenario/option.h"

/* Raised whenever a public structure changes; a plug-in built against another number is refused. */
#define MEMCGSIM_ABI 1

enum module_kind {
	MODULE_SECTION,  /* a top-level key of the scenario; .options describes its map, or the maps of its list */
	MODULE_COSTS,    /* a group below `costs:` of a machine file: .options */
	MODULE_AXIS,     /* a key below `policies:`; .ops: const struct axis * */
	MODULE_POLICY,   /* a value of an axis */
	MODULE_WORKLOAD, /* a value of `workload:`; .ops: of the model that runs it */
	MODULE_DEVICE,
	MODULE_METRICS,  /* .ops: const struct metric_table * (sim/results/record.h) */
	MODULE_MODEL,    /* builds what is simulated; .ops: const struct model_ops * (sim/experiment/run.h) */
	MODULE_SUMMARY,  /* a table printed after `run`; .ops: const struct summary_table * */
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
	size_t state_size;  /* of a policy: a zeroed block of this size is its state in each simulation */
	uint32_t order;     /* MODULE_MODEL, MODULE_SECTION: lower ones first */
	bool list;          /* MODULE_SECTION: a list of maps */
};

struct axis {
	const char *fallback; /* the value when neither scenario nor kernel bundle names one; NULL: required */
};

#define MODULE(ident)                                                                                  \
	static const struct module module_##ident;                                                     \
	static const struct module *const module_ptr_##ident                                           \
		__attribute__((section("memcgsim_modules"), used)) = &module_##ident;                  \
	static const struct module module_##ident
/* Begin the initialiser with .abi = MEMCGSIM_ABI. */

/* Collects and checks the modules of the program. On failure prints why and returns false. Once. */
bool modules_init(void);
/* Adds a shared object's; false with a message when it cannot be loaded or its ABI is another. */
bool modules_load(const char *path);

/* All modules of a kind, by order, then name; *n gets their number. Alive for ever. */
const struct module *const *modules_of(enum module_kind kind, size_t *n);
/* NULL when there is none. `axis` NULL: any. */
const struct module *module_find(enum module_kind kind, const char *axis, const char *name);
const char *module_kind_name(enum module_kind kind);

#endif
