/*
 * path.h - "set": one value of a scenario changed by its path.
 *
 *	policies.lock                     a key of a map
 *	costs.hw.line_hit
 *	tasks[0].interval                 an item of a list by its number, from 0
 *	groups[parent{1..50}].size.max    or by its name as written; the key is size.max
 *	groups[a].children[0].tasks[0].count
 *	policies.lock.batch               an option of a policy
 *
 * Keys may hold dots themselves, so at each level the longest known key is taken.
 */
#ifndef SIM_SCENARIO_PATH_H
#define SIM_SCENARIO_PATH_H

#include "sim/scenario/table.h"

struct editor {
	struct pool *pool;
	struct complaints *complaints;
	const struct option_table *table; /* of the top level */
};

/* The tree with `value` at `path`; the same tree after a complaint, at `at`. */
const struct node *path_set(const struct editor *editor, const struct node *root, const char *path,
			    struct where at, const struct node *value);

#endif
