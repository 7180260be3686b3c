/*
 * expression.h - arithmetic in scenario texts: "${round(r * L)}".
 *
 * Only where names are bound, which is in items of a list that have `each` (each.h).
 */
#ifndef SIM_SCENARIO_EXPRESSION_H
#define SIM_SCENARIO_EXPRESSION_H

#include "sim/scenario/document.h"

struct binding {
	const char *name, *value;
};

/* What names stand for; the latest binding of a name counts. */
struct environment {
	struct pool *pool;
	struct complaints *complaints;
	struct binding *bindings;
	size_t nr, capacity;
};

void environment_bind(struct environment *env, const char *name, const char *value);
/* The text with every ${...} in it replaced by its value; NULL after a complaint. */
const char *expression_replace(const struct environment *env, struct where at, const char *text);

#endif
