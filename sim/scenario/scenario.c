/*
 * scenario.c - what a bound scenario says.
 */
#include "sim/scenario/scenario.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/scenario/name.h"
#include "sim/scenario/set.h"

void scenario_free(struct scenario_set *set)
{
	if (set)
		pool_free(set->pool);
}

const char *scenario_name(const struct scenario_set *set)
{
	return set->name;
}

const char *scenario_text(const struct scenario_set *set)
{
	return set->text;
}

size_t scenario_nr_variants(const struct scenario_set *set)
{
	return set->nr;
}

const struct scenario *scenario_variant(const struct scenario_set *set, size_t i)
{
	return &set->variants[i];
}

const char *scenario_variant_name(const struct scenario *s)
{
	return s->name;
}

const char *scenario_params(const struct scenario *s)
{
	return s->params;
}

static const struct option *row_of(const struct option_table *table, const char *name)
{
	const struct option *row = table_row(table, name);

	if (!row) {
		fprintf(stderr, "memcgsim: nobody has registered '%s' of %s\n", name, table->name);
		abort();
	}
	return row;
}

const void *top_value(const struct scenario *s, const char *key)
{
	return (const char *)s->top + row_of(&s->language->top, key)->offset;
}

const void *scenario_section(const struct scenario *s, const char *name)
{
	const void *value = top_value(s, name);

	return row_of(&s->language->top, name)->type == OPT_LIST ? value : *(const void *const *)value;
}

const void *scenario_costs(const struct scenario *s, const char *group)
{
	const struct option *row = row_of(&s->language->costs, group);

	return *(const void *const *)((const char *)s->top->costs + row->offset);
}

const struct module_use *scenario_policy(const struct scenario *s, const char *axis)
{
	const struct option *row = row_of(&s->language->policies, axis);

	return (const struct module_use *)((const char *)s->top->policies + row->offset);
}

struct where scenario_policy_where(const struct scenario *s, const char *axis)
{
	return option_where(s->top->policies, axis);
}

const char *scenario_kernel(const struct scenario *s)
{
	return s->top->kernel ? s->top->kernel : "none";
}

uint32_t scenario_kernel_version(const struct scenario *s)
{
	return s->kernel_version;
}

bool scenario_allow_unreal(const struct scenario *s)
{
	return s->top->allow_unreal;
}

const struct machine *scenario_machine(const struct scenario *s)
{
	return &s->machine;
}

const struct run_options *scenario_run(const struct scenario *s)
{
	return scenario_section(s, "run");
}

size_t scenario_expand_name(const struct scenario *s, const char *pattern, const char *const **names)
{
	*names = name_expand(s->pool, pattern);
	return *names ? (size_t)name_count(pattern) : 0;
}
