/*
 * emit.h - trees as text.
 */
#ifndef SIM_SCENARIO_EMIT_H
#define SIM_SCENARIO_EMIT_H

#include <stdio.h>

#include "sim/scenario/document.h"

/* A document that reads back as the same tree. In the pool. */
const char *emit_yaml(struct pool *pool, const struct node *root);
/* On one line: "{exponential: 10ms}". A scalar is quoted where it has to be. */
void emit_flow(FILE *out, const struct node *node);
void emit_scalar(FILE *out, const char *text);
/* The same as JSON; what looks like a JSON number is one. */
void emit_json(FILE *out, const struct node *node);

#endif
