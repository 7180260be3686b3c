/*
 * each.h - items of a list that stand for many.
 *
 *	variants:
 *	  - each: { limit: [4096, 8192], pattern: [seq, zipf], file: "${round(1.1 * limit)}" }
 *	    name: "${pattern}-${limit}"
 *	    set: { "tasks[0].pattern": "${pattern}", "tasks[0].pages": "${file}" }
 *
 * is four variants. A name of `each` takes a value, a list of values, or a list of maps, whose keys are then
 * names NAME.KEY that change together; or it is a map that names a table of measurements, and then each of
 * the table's rows that fit binds what the pattern for the setup leaves open:
 *
 *   each:
 *     row: { counts: ground-truth/counts.csv, experiment: E1, setup: "L=${limit};pattern=${pattern};r=${r}",
 *            metrics: { miss: pass.miss } }
 *
 * binds limit, pattern and r; kernel ("6.12.117"), release ("6.12"), lru, metric, value; and is
 * ("pass.miss"). A name in the pattern that is bound before stands for its value. Without `metrics` all rows
 * fit. Items that come out the same stand once. Names bound earlier may be used in later values of `each` and
 * everywhere in the item, in keys too.
 */
#ifndef SIM_SCENARIO_EACH_H
#define SIM_SCENARIO_EACH_H

#include "sim/scenario/document.h"

/* In a sentence, for `explain` and the schema. */
extern const char each_help[];

/* The tree with all such items written out; NULL after a complaint. */
const struct node *each_expand(struct pool *pool, struct complaints *c, const struct node *tree);

#endif
