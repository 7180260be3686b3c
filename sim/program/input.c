/*
 * input.c - reading the scenario a command is given. See input.h.
 *
 * --plugin acts at once, since a scenario can only be read when all its modules are known; so it must stand
 * on the same command line as what uses it, in any place.
 */
#include "sim/program/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/xalloc.h"
#include "sim/module.h"

void words_add(struct words *w, const char *word)
{
	w->list = xreallocarray(w->list, w->nr + 1, sizeof(*w->list));
	w->list[w->nr++] = xstrdup(word);
}

void words_free(struct words *w)
{
	for (size_t i = 0; i < w->nr; i++)
		free(w->list[i]);
	free(w->list);
}

bool input_take(struct input *in, int key, const char *value, bool *good)
{
	*good = true;
	switch (key) {
	case INPUT_SET:
		words_add(&in->sets, value);
		return true;
	case INPUT_PATH:
		words_add(&in->paths, value);
		return true;
	case INPUT_PLUGIN:
		*good = modules_load(value);
		return true;
	default:
		return false;
	}
}

void input_free(struct input *in)
{
	words_free(&in->sets);
	words_free(&in->paths);
}

void input_set_u64(struct input *in, const char *path, uint64_t value)
{
	char text[128];

	snprintf(text, sizeof(text), "%s=%llu", path, (unsigned long long)value);
	words_add(&in->sets, text);
}

/* What memcgsim run writes is easily named where a scenario is wanted. */
static bool is_database(const char *path)
{
	static const char magic[] = "SQLite format 3";
	char head[sizeof(magic)] = "";
	FILE *in = fopen(path, "re");
	bool is = in && fread(head, 1, sizeof(head), in) == sizeof(head) &&
		  !memcmp(head, magic, sizeof(magic));

	if (in)
		fclose(in);
	return is;
}

struct scenario_set *input_load(const struct input *in, const char *path, const char *text)
{
	if (!text && is_database(path)) {
		note("%s: this is a database of results, and what is wanted here is a scenario (YAML)", path);
		return NULL;
	}
	struct complaints *c = complaints_new();
	struct scenario_set *set = scenario_load(
		&(struct scenario_source){
			.path = path,
			.text = text,
			.sets = (const char *const *)in->sets.list,
			.nr_sets = in->sets.nr,
			.paths = (const char *const *)in->paths.list,
			.nr_paths = in->paths.nr,
		},
		c);

	complaints_print(c, stderr);
	complaints_free(c);
	return set;
}
