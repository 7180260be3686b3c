/*
 * pool.c - a chain of blocks, and a chain of things to do before they are freed.
 */
#include "sim/scenario/pool.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/xalloc.h"

struct block {
	struct block *next;
	_Alignas(max_align_t) unsigned char bytes[];
};

struct release {
	struct release *next;
	void (*release)(void *arg);
	void *arg;
};

struct pool {
	struct block *blocks;
	struct release *releases;
};

struct pool *pool_new(void)
{
	return xcalloc(1, sizeof(struct pool));
}

void pool_free(struct pool *pool)
{
	if (!pool)
		return;
	for (struct release *r = pool->releases; r; r = r->next)
		r->release(r->arg);
	for (struct block *b = pool->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	free(pool);
}

void *pool_alloc(struct pool *pool, size_t size)
{
	struct block *b = xcalloc(1, sizeof(*b) + size);

	b->next = pool->blocks;
	pool->blocks = b;
	return b->bytes;
}

char *pool_text(struct pool *pool, const char *text, size_t length)
{
	char *copy = pool_alloc(pool, length + 1);

	return memcpy(copy, text, length);
}

char *pool_printf(struct pool *pool, const char *format, ...)
{
	char *made = NULL, *text;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&made, format, args);
	va_end(args);
	if (length < 0)
		xalloc_checked(NULL);
	text = pool_text(pool, made, (size_t)length);
	free(made);
	return text;
}

void pool_on_free(struct pool *pool, void (*release)(void *arg), void *arg)
{
	struct release *r = pool_alloc(pool, sizeof(*r));

	*r = (struct release){ .next = pool->releases, .release = release, .arg = arg };
	pool->releases = r;
}
