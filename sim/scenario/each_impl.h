/*
 * each_impl.h - what the two files of `each` share.
 */
#ifndef SIM_SCENARIO_EACH_IMPL_H
#define SIM_SCENARIO_EACH_IMPL_H

#include "sim/scenario/expression.h"

struct expansion {
	struct pool *pool;
	struct complaints *complaints;
	struct environment env;
	size_t made; /* items, in all lists */
	bool failed;
};

/* The tree with the names that are bound put in. */
const struct node *each_write(struct expansion *x, const struct node *node);
/* Calls then(x, arg) once for each row of the table that `map` describes, with its names bound. */
void each_row(struct expansion *x, const struct node *map, void (*then)(struct expansion *x, void *arg),
	      void *arg);

#endif
