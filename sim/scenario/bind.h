/*
 * bind.h - from nodes to the structures that option tables describe.
 *
 * Every bound block is preceded by a header that remembers its table and the map it was read from: that is
 * how option_where() works, and why a bound structure cannot be copied away from where it is.
 */
#ifndef SIM_SCENARIO_BIND_H
#define SIM_SCENARIO_BIND_H

#include "sim/scenario/document.h"

struct binder {
	struct pool *pool;
	struct complaints *complaints;
	bool partial;       /* a part of a scenario: required keys may stand elsewhere */
	uint64_t names;     /* that all OPT_NAME of list items stand for, each times those of its parents */
	uint64_t times;     /* names of the parents */
	bool names_refused; /* said once a scenario */
};

/* A block of table's structure, filled from a map, with a complaint for each mistake. */
void *bind_block(struct binder *b, const struct option_table *table, const struct node *map);
/* One value, or its default where value is NULL. `map` is the map it stands in. */
void bind_value(struct binder *b, const struct option *row, const struct node *map, const struct node *value,
		void *to);

/* Types that are one text; false after a complaint. bind_scalar.c */
bool bind_scalar(struct binder *b, const struct option *row, const struct node *value, void *to);
/* "1 to 65536", or "" without bounds. */
#define RANGE_TEXT 128
const char *range_text(const struct option *row, char buf[RANGE_TEXT]);
bool in_range_integer(const struct option *row, enum opt_type type, uint64_t value);
bool in_range_real(const struct option *row, enum opt_type type, double value);

/* Distributions. bind_dist.c */
void bind_dist(struct binder *b, const struct option *row, const struct node *value, void *to);
/* The i-th distribution: its name, or NULL behind the last, and its arguments in words. */
const char *dist_form(size_t i, const char **arguments);

/* A value of an axis, or a module of a kind by the map's own options. bind_module.c */
void bind_policy(struct binder *b, const struct option *row, const struct node *value, void *to);
void bind_module(struct binder *b, const struct option *row, const struct node *map, const struct node *value,
		 void *to);
/* The module that a value of an OPT_POLICY or OPT_MODULE row names; NULL: none of that name. */
const struct module *named_module(const struct option *row, const struct node *value);

/* A block with its header but without values; its fields from a map, unknown keys not looked for. */
void *bind_new(struct binder *b, const struct option_table *table, const struct node *map);
void bind_fields(struct binder *b, const struct option_table *table, const struct node *map, void *to);

/* The keys that may stand in a map: those of its table and of the modules that the map itself names. */
struct known_keys {
	const struct option_table *tables[8];
	size_t nr;
	const char *extra; /* NULL, or one key more */
	bool open;         /* a module is not known, and so neither are its keys */
};
void known_keys(struct known_keys *keys, const struct option_table *table, const struct node *map);
const struct option *known_key(const struct known_keys *keys, const char *name, size_t length);
/* Complains about a key that is none of them. `what` says where it was looked for. */
void complain_unknown_key(struct complaints *c, struct where at, const char *key, const char *what,
			  const struct known_keys *keys);
void check_keys(struct binder *b, const struct node *map, const char *what, const struct known_keys *keys);

/* The text of a default as a node without a place. */
const struct node *fallback_node(struct pool *pool, const struct option *row, struct complaints *c);

#endif
