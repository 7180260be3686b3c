/*
 * input.h - the flags by which every command that reads a scenario takes it.
 */
#ifndef SIM_PROGRAM_INPUT_H
#define SIM_PROGRAM_INPUT_H

#include "sim/program/command.h"
#include "sim/scenario/scenario.h"

/* A growing list of words, copies of its own. */
struct words {
	char **list;
	size_t nr;
};
void words_add(struct words *w, const char *word);
void words_free(struct words *w);

struct input {
	struct words sets, paths;
};

enum { INPUT_SET = FLAG_LONG + 100, INPUT_PATH, INPUT_PLUGIN };

#define INPUT_PLUGIN_FLAG                                                             \
	{                                                                             \
		INPUT_PLUGIN, "plugin", "FILE", "load the modules of a shared object" \
	}
#define INPUT_FLAGS                                                                                      \
	{ INPUT_SET, "set", "PATH=VALUE", "change the scenario: run.seed=7, policies.flush=unified" },   \
		{ INPUT_PATH, "path", "DIR", "look here too for included files, kernels and machines" }, \
		INPUT_PLUGIN_FLAG

/* Whether the flag is one of these; *good: whether its value is. */
bool input_take(struct input *in, int key, const char *value, bool *good);
void input_free(struct input *in);

/* Adds a --set by name and number, so that it is part of the scenario's text: "run.seed". */
void input_set_u64(struct input *in, const char *path, uint64_t value);

/* NULL when the scenario has mistakes, which are then on standard error. */
struct scenario_set *input_load(const struct input *in, const char *path, const char *text);

#endif
