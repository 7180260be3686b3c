/*
 * merge.c - two parts of a scenario made one.
 *
 * Guided by the option tables, because a map is not always a map of options: { exponential: 2ms } over
 * { uniform: [1ms, 3ms] } replaces it. Lists are replaced as a whole.
 */
#include <string.h>

#include "sim/scenario/source.h"

static const char *policy_name(const struct node *policy)
{
	const struct node *name = policy->kind == NODE_MAP ? node_get(policy, "name") : policy;

	return name && name->kind == NODE_SCALAR ? name->text : NULL;
}

/* Options without a name belong to the policy that is named below; those of another policy fall with it. */
static const struct node *merge_policy(struct pool *pool, const struct node *over, const struct node *under)
{
	const char *name = policy_name(over), *below = policy_name(under);

	if (over->kind != NODE_MAP || !below || (name && strcmp(name, below)))
		return over;
	if (!name)
		over = node_with(pool, over, "name", under->at,
				 under->kind == NODE_MAP ? node_get(under, "name") : under);
	for (size_t i = 0; under->kind == NODE_MAP && i < under->nr; i++) {
		const struct entry *e = &under->entries[i];

		if (!node_get(over, e->key))
			over = node_with(pool, over, e->key, e->at, e->value);
	}
	return over;
}

static const struct node *merge_value(struct pool *pool, const struct option *row, const struct node *over,
				      const struct node *under)
{
	bool maps = over->kind == NODE_MAP && under->kind == NODE_MAP;

	if (row && row->type == OPT_POLICY)
		return merge_policy(pool, over, under);
	if (row && maps && (row->type == OPT_MAP || row->type == OPT_REF))
		return source_merge(pool, row->sub, over, under);
	if (row && maps && row->type == OPT_TREE) {
		for (size_t i = 0; i < under->nr; i++) {
			const struct entry *e = &under->entries[i];

			if (!node_get(over, e->key))
				over = node_with(pool, over, e->key, e->at, e->value);
		}
	}
	return over;
}

const struct node *source_merge(struct pool *pool, const struct option_table *table, const struct node *over,
				const struct node *under)
{
	for (size_t i = 0; i < under->nr; i++) {
		const struct entry *e = &under->entries[i], *own = node_entry(over, e->key);
		const struct node *value = own ? merge_value(pool, table_row(table, e->key), own->value,
							     e->value)
					       : e->value;

		if (!own || value != own->value)
			over = node_with(pool, over, e->key, own ? own->at : e->at, value);
	}
	return over;
}
