/*
 * option.h - option tables: the only place where a scenario key is known.
 *
 * One row is a key: its name, type with unit, place in the structure it fills, default, range, help and the
 * source of the default. From the tables come the parser, its error texts, `memcgsim explain`, the JSON
 * Schema and docs/options.md.
 *
 *	struct churn { struct dist pause; uint64_t pages; };
 *	static const struct option rows[] = {
 *		OPTION(struct churn, pages, OPT_U64, .fallback = "256", .help = "pages a round"),
 *		OPTION(struct churn, pause, OPT_DIST_DURATION, .fallback = "0s", .help = "between rounds"),
 *	};
 *	static const struct option_table churn_options = OPTION_TABLE("anon_churn", struct churn, rows);
 *
 * A bound structure is allocated by the binder, filled, and constant from then on. option_where() gives the
 * place in the scenario that a value came from, for a model's own complaints.
 */
#ifndef SIM_SCENARIO_OPTION_H
#define SIM_SCENARIO_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/engine/time.h"

struct module;

enum opt_type {
	OPT_BOOL,     /* bool */
	OPT_U32,      /* uint32_t; K, M, G (powers of ten) allowed: 10K */
	OPT_U64,      /* uint64_t */
	OPT_RATIO,    /* double; 0.25 or 25% */
	OPT_NUMBER,   /* double */
	OPT_BYTES,    /* uint64_t; B, K..T (powers of ten), KiB..TiB; `max` where .allow_max: UINT64_MAX */
	OPT_DURATION, /* sim_time_t; ps ns us ms s min h d; a unit is required, but for 0;
	                      the word .never: SIM_NEVER */
	OPT_RATE,     /* double, per second; 100/s, 3M/s, 5/min */
	OPT_STRING,   /* const char *; NULL without a fallback */
	OPT_NAME,     /* const char *: of a folder; may hold ranges {1..50}; no '/', not . or .. (name.h) */
	OPT_ENUM,     /* int, by .names */
	OPT_DIST,     /* struct dist of plain numbers */
	OPT_DIST_DURATION, /* struct dist in ps */
	OPT_DIST_BYTES,    /* struct dist in bytes */
	OPT_POLICY,  /* struct module_use: a module of kind MODULE_POLICY and axis .axis; either a name or a
	                      map { name: N, its own options } */
	OPT_MODULE,  /* struct module_use: a module of kind .kind; its options stand in the same map */
	OPT_STRINGS, /* struct option_list of const char *: one string or a list of them */
	OPT_MAP,     /* a structure of table .sub, embedded at the offset */
	OPT_REF,     /* const void *: the same, but in a block of its own; never NULL */
	OPT_LIST,    /* struct option_list of structures of table .sub */
	OPT_TREE     /* const struct node * (document.h), as written: a map of free keys, each value by
	                      table .sub where there is one; NULL: not there */
};

struct enum_name {
	const char *name;
	int value;
	const char *help;
}; /* a table ends with name == NULL */

struct option {
	const char *name; /* the key */
	enum opt_type type;
	size_t offset;
	const char *fallback;  /* default, as text in the scenario's own language; NULL: zero or empty */
	const char *min, *max; /* inclusive bounds, as text; NULL: none */
	bool required, above_min /* min itself is not allowed */, allow_max;
	const char *never; /* "done" */
	const struct enum_name *names;
	const char *axis;
	int kind; /* enum module_kind */
	const struct option_table *sub;
	const char *help;
	const char *source; /* where the default comes from; "fitted to: ..." marks a fitted constant */
	const char *with, *with_value; /* the value of another key without which this one has no effect */
};

struct option_table {
	const char *name;
	size_t size; /* of the structure */
	const struct option *rows;
	size_t nr;
};

#define OPTION(type_, field_, kind_, ...)                                                        \
	{                                                                                        \
		.name = #field_, .type = (kind_), .offset = offsetof(type_, field_), __VA_ARGS__ \
	}
#define OPTION_AS(key_, type_, field_, kind_, ...)                                              \
	{                                                                                       \
		.name = (key_), .type = (kind_), .offset = offsetof(type_, field_), __VA_ARGS__ \
	}
#define OPTION_TABLE(name_, type_, rows_)                                \
	{                                                                \
		.name = (name_), .size = sizeof(type_), .rows = (rows_), \
		.nr = sizeof(rows_) / sizeof((rows_)[0])                 \
	}

struct option_list {
	void **items; /* bound structures */
	size_t nr;
};

struct module_use {
	const struct module *module;
	const void *options; /* bound structure of module->options, or NULL */
};

struct where {
	const char *file;      /* as the user named it */
	uint32_t line, column; /* from 1; line 0: no line (a default) */
};

/*
 * Where the value of a key of a bound structure was written; line 0 for a default. Key NULL: the map's start.
 * `bound` is what the binder allocated: a section, a costs group, an item of an OPT_LIST, what an OPT_REF or
 * a module_use points to. A key of an embedded OPT_MAP is named from there: "reclaim.batch".
 */
struct where option_where(const void *bound, const char *key);

#endif
