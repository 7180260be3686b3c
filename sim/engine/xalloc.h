/*
 * xalloc.h - heap memory that is never NULL.
 *
 * For what outlives a simulation or never was part of one: records, scenarios, the program's own lists. As in
 * the arena, running out of memory ends the process with a message and status 1.
 */
#ifndef SIM_ENGINE_XALLOC_H
#define SIM_ENGINE_XALLOC_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void *xalloc_checked(void *block)
{
	if (!block) {
		fprintf(stderr, "memcgsim: out of memory\n");
		exit(1);
	}
	return block;
}

static inline void *xcalloc(size_t n, size_t size)
{
	return xalloc_checked(calloc(n ? n : 1, size ? size : 1));
}

static inline void *xreallocarray(void *block, size_t n, size_t size)
{
	return xalloc_checked(reallocarray(block, n ? n : 1, size ? size : 1));
}

static inline char *xstrdup(const char *s)
{
	return xalloc_checked(strdup(s));
}

static inline char *__attribute__((format(printf, 1, 0))) xvasprintf(const char *format, va_list args)
{
	char *text;

	return xalloc_checked(vasprintf(&text, format, args) < 0 ? NULL : text);
}

static inline char *__attribute__((format(printf, 1, 2))) xasprintf(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	return text;
}

#endif
