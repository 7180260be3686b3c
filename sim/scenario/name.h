/*
 * name.h - names with ranges: "child{1..5}" is five names, "a{1..2}b{01..10}" twenty.
 *
 * As in a shell: several ranges multiply, the last one runs fastest, and an end written with leading zeros
 * pads all numbers to its width. Unlike in a shell a range runs upwards. A name has no '/', is not "." or
 * "..", and is at most 255 bytes long, as the kernel wants of a folder.
 */
#ifndef SIM_SCENARIO_NAME_H
#define SIM_SCENARIO_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/scenario/pool.h"

#define NAME_MOST ((uint64_t)1000000) /* names in a scenario */

struct name_error {
	char text[160];
};

bool name_check(const char *pattern, struct name_error *error);
/* How many names a good pattern stands for. */
uint64_t name_count(const char *pattern);
/* All of them, in the pool. */
const char *const *name_expand(struct pool *pool, const char *pattern);

#endif
