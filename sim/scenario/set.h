/*
 * set.h - what a loaded scenario is made of. For the files of sim/scenario only.
 */
#ifndef SIM_SCENARIO_SET_H
#define SIM_SCENARIO_SET_H

#include "sim/scenario/bind.h"
#include "sim/scenario/source.h"
#include "sim/scenario/table.h"

struct scenario {
	struct pool *pool; /* of the set */
	const struct language *language;
	const char *name; /* of the variant */
	const char *params;
	const struct node *tree; /* with kernel and machine under it */
	const struct top *top;
	struct machine machine;
	uint32_t kernel_version;
};

struct scenario_set {
	struct pool *pool;
	const char *name, *text;
	struct scenario *variants;
	size_t nr;
};

/* The value of a key of the top level. */
const void *top_value(const struct scenario *s, const char *key);
/* What only a look at several keys can tell, and struct machine. finish.c */
void scenario_finish(struct scenario *s, struct complaints *c);

#endif
