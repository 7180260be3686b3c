/*
 * each_row.c - `each` over the rows of a table of measurements. See each.h.
 *
 * So a scenario holds for every setup that was measured, and a new row in the table is a new variant and a
 * new line of `memcgsim validate` without a change of the scenario.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/scenario/counts.h"
#include "sim/scenario/each_impl.h"

struct table_use {
	const char *file, *experiment, *kernel, *lru, *setup;
	const struct node *metrics; /* from the table's names to those of summary values; NULL: all */
};

static bool take(struct expansion *x, const struct entry *e, struct table_use *use)
{
	const struct {
		const char *key, **to;
	} texts[] = {
		{ "counts", &use->file }, { "experiment", &use->experiment },
		{ "setup", &use->setup }, { "kernel", &use->kernel },
		{ "lru", &use->lru },
	};

	if (!strcmp(e->key, "metrics") && e->value->kind == NODE_MAP) {
		use->metrics = e->value;
		return true;
	}
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (!strcmp(e->key, texts[i].key) && e->value->kind == NODE_SCALAR) {
			*texts[i].to = e->value->text;
			return true;
		}
	}
	complain(x->complaints, e->at,
		 "unknown key '%.60s', or not of its kind; a table takes counts, experiment, kernel, lru, "
		 "setup and "
		 "metrics",
		 e->key);
	return false;
}

static const char *bound_to(const struct environment *env, size_t nr, const char *name)
{
	while (nr-- > 0)
		if (!strcmp(env->bindings[nr].name, name))
			return env->bindings[nr].value;
	return NULL;
}

/*
 * Does the text fit the pattern? Then what stands for each ${name}, up to the next ';' at most, is bound. A
 * name that is bound before the row stands for its value: so rows can be chosen by names before.
 */
static bool fits(struct expansion *x, const char *pattern, const char *text)
{
	size_t before = x->env.nr;

	while (*pattern) {
		if (strncmp(pattern, "${", 2)) {
			if (*pattern++ != *text++)
				return false;
			continue;
		}
		const char *end = strchr(pattern, '}'), *name, *wanted;
		size_t length;

		if (!end)
			return false;
		name = pool_text(x->pool, pattern + 2, (size_t)(end - pattern) - 2);
		length = strcspn(text, (const char[]){ ';', end[1], '\0' });
		wanted = bound_to(&x->env, before, name);
		if (wanted && (strlen(wanted) != length || strncmp(wanted, text, length)))
			return false;
		environment_bind(&x->env, name, pool_text(x->pool, text, length));
		text += length;
		pattern = end + 1;
	}
	return !*text;
}

static void bind_field(struct expansion *x, const char *name, const char *value)
{
	environment_bind(&x->env, name, pool_text(x->pool, value, strlen(value)));
}

/* "6.12.117" is release 6.12. */
static void bind_release(struct expansion *x, const char *kernel)
{
	size_t major = strcspn(kernel, "."), minor = kernel[major] ? strcspn(kernel + major + 1, ".") + 1 : 0;

	environment_bind(&x->env, "release", pool_text(x->pool, kernel, major + minor));
}

/* The numbers of a value that holds several: value1, value2. */
static void bind_numbers(struct expansion *x, const char *value)
{
	const char *number = counts_number(value);

	for (int i = 1; *number; i++) {
		size_t length = strcspn(number, ",/]");
		char name[24];

		if (i == 1 && !number[length])
			return;
		snprintf(name, sizeof name, "value%d", i);
		environment_bind(&x->env, pool_text(x->pool, name, strlen(name)),
				 pool_text(x->pool, number, length));
		number = counts_number(number + length);
	}
}

static bool same(const char *wanted, const char *field)
{
	return !wanted || !strcmp(wanted, field);
}

static bool bind_line(struct expansion *x, const struct table_use *use, char *fields[NR_COUNTS_FIELDS])
{
	const struct node *is = use->metrics ? node_get(use->metrics, fields[COUNTS_METRIC]) : NULL;

	if (!same(use->experiment, fields[COUNTS_EXPERIMENT]) || !same(use->kernel, fields[COUNTS_KERNEL]) ||
	    !same(use->lru, fields[COUNTS_LRU]) || (use->metrics && !is) ||
	    (use->setup && !fits(x, use->setup, fields[COUNTS_SETUP])))
		return false;
	bind_field(x, "setup", fields[COUNTS_SETUP]);
	bind_field(x, "kernel", fields[COUNTS_KERNEL]);
	bind_release(x, fields[COUNTS_KERNEL]);
	bind_field(x, "lru", fields[COUNTS_LRU]);
	bind_field(x, "metric", fields[COUNTS_METRIC]);
	bind_field(x, "value", fields[COUNTS_VALUE]);
	bind_numbers(x, fields[COUNTS_VALUE]);
	if (is)
		bind_field(x, "is", is->kind == NODE_SCALAR ? is->text : "");
	return true;
}

static void each_line(struct expansion *x, const struct table_use *use, FILE *in,
		      void (*then)(struct expansion *x, void *arg), void *arg)
{
	char *line = NULL;
	size_t size = 0, bound = x->env.nr;

	while (!x->failed && getline(&line, &size, in) > 0) {
		char *fields[NR_COUNTS_FIELDS];

		if (counts_split(line, fields) && bind_line(x, use, fields))
			then(x, arg);
		x->env.nr = bound;
	}
	free(line);
}

void each_row(struct expansion *x, const struct node *map, void (*then)(struct expansion *x, void *arg),
	      void *arg)
{
	struct table_use use = { 0 };
	FILE *in;

	for (size_t i = 0; i < map->nr; i++)
		x->failed |= !take(x, &map->entries[i], &use);
	if (!x->failed && !use.file) {
		complain(x->complaints, map->at, "'counts', the file of the table, is missing");
		x->failed = true;
	}
	if (x->failed)
		return;
	in = counts_open(use.file);
	if (!in) {
		complain(x->complaints, map->at, "'scenarios/%.200s' cannot be read", use.file);
		x->failed = true;
		return;
	}
	each_line(x, &use, in, then, arg);
	fclose(in);
}
