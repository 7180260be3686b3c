/*
 * describe.h - options in words, shared by `explain` and the reference page.
 */
#ifndef SIM_SCENARIO_DESCRIBE_H
#define SIM_SCENARIO_DESCRIBE_H

#include <stdio.h>

#include "sim/scenario/table.h"

#define TYPE_TEXT 200
/* "a size in bytes", "one of voluntary, full". */
const char *describe_type(const struct option *row, char buf[TYPE_TEXT]);
/* The default as written, "required", or "-". */
const char *describe_default(const struct option *row);
/* The name a table has in a page: "tasks", "policy flush: unified". Pooled. */
const char *describe_owner(struct pool *pool, const struct module *module);

#endif
