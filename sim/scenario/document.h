/*
 * document.h - a YAML file as a tree in which every node knows its place.
 *
 * Nodes never change. An edit (node_with) makes a new map that shares all but the changed path with the old
 * one, so a variant costs what it changes, and an alias is a pointer to what it names. What a tree would
 * hold if every alias were written out is bounded, which disarms alias bombs, and so is its depth: whoever
 * walks a tree may recurse.
 *
 * Beyond YAML's own rules: keys are scalars and stand once in a map; one document a file; UTF-8 without
 * control characters; no tags.
 */
#ifndef SIM_SCENARIO_DOCUMENT_H
#define SIM_SCENARIO_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/scenario/option.h"
#include "sim/scenario/pool.h"
#include "sim/scenario/scenario.h"

#define DOCUMENT_BYTES ((size_t)16 << 20) /* largest file */
#define DOCUMENT_DEPTH 64                 /* maps and lists within each other */
#define DOCUMENT_NODES ((size_t)1000000)  /* in all files of a scenario, aliases written out */

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct entry {
	const char *key; /* NULL in a list */
	struct where at; /* of the key */
	const struct node *value;
};

struct node {
	enum node_kind kind;
	bool quoted; /* a scalar written with quotes or as a block */
	struct where at;
	const char *text; /* of a scalar */
	const struct entry *entries;
	size_t nr;
	size_t size;     /* nodes below, aliases written out, and itself */
	unsigned height; /* of a scalar: 0 */
};

struct reader {
	struct pool *pool;
	struct complaints *complaints;
	size_t nodes, written_out; /* so far: values read; values with aliases written out */
};

/* The one document in text; NULL after a complaint. `start` is where text[0] stands in the file. */
const struct node *document_parse(struct reader *reader, struct where start, const char *text, size_t length);
/* Complains about the first byte that cannot be in a text file. */
bool document_check_text(struct complaints *c, const char *file, const char *text, size_t length);

const struct node *node_get(const struct node *map, const char *key); /* NULL: has none */
const struct entry *node_entry(const struct node *map, const char *key);
const struct node *node_scalar(struct pool *pool, struct where at, const char *text);
const struct node *node_map(struct pool *pool, struct where at); /* empty */
/* The map with key set to value, in its old place or at the end. */
const struct node *node_with(struct pool *pool, const struct node *map, const char *key, struct where at,
			     const struct node *value);
const struct node *node_without(struct pool *pool, const struct node *map, const char *key);
/* The list (or map) with the value of its i-th entry replaced. */
const struct node *node_replace(struct pool *pool, const struct node *list, size_t i,
				const struct node *value);
const char *node_kind_name(const struct node *node); /* "a map" */

#endif
