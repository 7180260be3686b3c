/*
 * keys.c - which keys may stand in a map, and what is said of one that may not.
 */
#include <string.h>

#include "sim/scenario/bind.h"
#include "sim/scenario/hint.h"

void known_keys(struct known_keys *keys, const struct option_table *table, const struct node *map)
{
	if (keys->nr < sizeof(keys->tables) / sizeof(keys->tables[0]))
		keys->tables[keys->nr++] = table;
	for (size_t i = 0; i < table->nr; i++) {
		const struct option *row = &table->rows[i];
		const struct node *value = node_get(map, row->name);
		const struct module *module;

		if (row->type != OPT_MODULE || (!value && !row->fallback && !row->required))
			continue;
		module = named_module(row, value);
		if (!module)
			keys->open = true;
		else if (module->options)
			known_keys(keys, module->options, map);
	}
}

const struct option *known_key(const struct known_keys *keys, const char *name, size_t length)
{
	for (size_t t = 0; t < keys->nr; t++) {
		for (size_t i = 0; i < keys->tables[t]->nr; i++) {
			const char *known = keys->tables[t]->rows[i].name;

			if (!strncmp(known, name, length) && !known[length])
				return &keys->tables[t]->rows[i];
		}
	}
	return NULL;
}

void complain_unknown_key(struct complaints *c, struct where at, const char *key, const char *what,
			  const struct known_keys *keys)
{
	struct hint hint = hint_for(key);
	char buf[HINT_TEXT];

	for (size_t t = 0; t < keys->nr; t++) {
		for (size_t i = 0; i < keys->tables[t]->nr; i++)
			hint_offer(&hint, keys->tables[t]->rows[i].name);
	}
	if (keys->extra)
		hint_offer(&hint, keys->extra);
	complain(c, at, "unknown key '%.100s' in %s%s", key, what, hint_text(&hint, buf));
}

void check_keys(struct binder *b, const struct node *map, const char *what, const struct known_keys *keys)
{
	for (size_t i = 0; !keys->open && i < map->nr; i++) {
		const struct entry *e = &map->entries[i];

		if (!known_key(keys, e->key, strlen(e->key)) &&
		    !(keys->extra && !strcmp(keys->extra, e->key)))
			complain_unknown_key(b->complaints, e->at, e->key, what, keys);
	}
}
