/*
 * pool.h - memory that is freed all at once.
 *
 * A scenario is built once and then constant, so nothing in it is freed alone: nodes, texts and bound
 * structures hang from one pool. Every block is a malloc of its own, so that the sanitizers see its ends.
 */
#ifndef SIM_SCENARIO_POOL_H
#define SIM_SCENARIO_POOL_H

#include <stddef.h>

struct pool;

struct pool *pool_new(void);
void pool_free(struct pool *pool);
void *pool_alloc(struct pool *pool, size_t size); /* zeroed, aligned for anything */
char *pool_text(struct pool *pool, const char *text, size_t length);
char *pool_printf(struct pool *pool, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Calls release(arg) when the pool is freed, before its blocks go. */
void pool_on_free(struct pool *pool, void (*release)(void *arg), void *arg);

#endif
