/*
 * cmd_explain.c - memcgsim explain, schema, reference: three renderings of the option tables.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/datadir.h"
#include "sim/program/input.h"
#include "sim/results/plot.h"
#include "sim/results/record.h"
#include "sim/scenario/hint.h"

static const struct flag flags[] = { INPUT_PLUGIN_FLAG };

static bool take(void *into, int key, const char *value)
{
	struct input none = { 0 };
	bool good = true;

	(void)into;
	input_take(&none, key, value, &good);
	return good;
}

/* By its name, or by that of a value that is stored of it. */
static bool is_metric(const struct metric *m, const char *name)
{
	static const char *const stored[] = { ".mean", ".p50", ".p90", ".p99", ".p999", ".max", ".count" };
	size_t length = strlen(m->name);

	if (strncmp(m->name, name, length) != 0)
		return false;
	for (size_t i = 0; m->kind == METRIC_DISTRIBUTION && i < sizeof(stored) / sizeof(stored[0]); i++)
		if (!strcmp(name + length, stored[i]))
			return true;
	return !name[length];
}

static bool explain_metrics(const char *name, struct hint *hint)
{
	static const char *const kinds[] = { "gauge", "counter", "rate", "ratio", "distribution" };
	const struct module *const *modules;
	size_t nr;
	bool found = false;

	modules = modules_of(MODULE_METRICS, &nr);
	for (size_t i = 0; i < nr; i++) {
		const struct metric_table *table = modules[i]->ops;
		bool all = !strcmp(modules[i]->name, name);

		if (all)
			printf("metrics of %s:\n", name);
		for (size_t k = 0; k < table->nr; k++) {
			const struct metric *m = &table->rows[k];

			hint_offer(hint, m->name);
			if (all)
				printf("    %-42s %s\n", m->name, m->help);
			if (!is_metric(m, name))
				continue;
			printf("metric %s: %s\n    %s, in %s; of %s\n", m->name, m->help, kinds[m->kind],
			       strcmp(m->unit, "1") ? m->unit : "counts or shares", modules[i]->name);
			if (m->kind == METRIC_DISTRIBUTION)
				printf("    stored as %s.mean, .p50, .p90, .p99, .p999, .max and .count\n",
				       m->name);
			found = true;
		}
	}
	return found;
}

/* A kernel bundle or a machine explains itself: its comments say where each value comes from. */
static bool explain_bundle(const char *folder, const char *name)
{
	char *below, *path;
	FILE *in = NULL;
	bool found;
	int c;

	if (strchr(name, '/') || asprintf(&below, "scenarios/%s/%s.yaml", folder, name) < 0)
		return false;
	path = data_path(below);
	if (path)
		in = fopen(path, "r");
	found = in;
	if (found) {
		printf("%s:\n", below);
		while ((c = getc(in)) != EOF)
			putchar(c);
		fclose(in);
	}
	free(path);
	free(below);
	return found;
}

static bool explain_figure(const char *name)
{
	char *folder = data_path("analysis");
	char *about = folder && !strchr(name, '/') ? plot_about(folder, name) : NULL;
	bool found = about;

	if (found)
		printf("figure %s:\n%s", name, about);
	free(about);
	free(folder);
	return found;
}

/* Names of modules; those of metrics have been offered. */
static void offer_modules(struct hint *hint)
{
	for (enum module_kind kind = 0; kind < NR_MODULE_KINDS; kind++) {
		const struct module *const *modules;
		size_t nr;

		modules = modules_of(kind, &nr);
		for (size_t i = 0; i < nr; i++)
			hint_offer(hint, modules[i]->name);
	}
}

/* Kernels and machines are files, by name. */
static void offer_bundles(struct hint *hint, const char *folder, struct words *names)
{
	char *path = data_path(folder), *pattern;
	glob_t found;

	if (path && asprintf(&pattern, "%s/*.yaml", path) >= 0) {
		if (glob(pattern, 0, NULL, &found) == 0) {
			for (size_t i = 0; i < found.gl_pathc; i++) {
				char *name = strrchr(found.gl_pathv[i], '/') + 1;

				*strrchr(name, '.') = '\0';
				words_add(names, name);
				hint_offer(hint, names->list[names->nr - 1]);
			}
			globfree(&found);
		}
		free(pattern);
	}
	free(path);
}

static void offer_figures(struct hint *hint, struct words *names)
{
	char *folder = data_path("analysis");
	size_t nr = 0;
	char **figures = folder ? plot_figures(folder, &nr) : NULL;

	for (size_t i = 0; i < nr; i++) {
		words_add(names, figures[i]);
		hint_offer(hint, names->list[names->nr - 1]);
		free(figures[i]);
	}
	free(figures);
	free(folder);
}

static void say_unknown(const char *name, struct hint *hint)
{
	struct words names = { 0 };
	char text[HINT_TEXT];

	offer_modules(hint);
	offer_bundles(hint, "scenarios/kernels", &names);
	offer_bundles(hint, "scenarios/machines", &names);
	offer_figures(hint, &names);
	note("nothing is called '%s'%s", name,
	     hint->best ? hint_text(hint, text) : "; 'memcgsim list' shows what there is");
	words_free(&names);
}

static int explain(const struct command *self, int argc, char **argv)
{
	struct operands operands;
	int status;

	if (!parse_command_line(self, argc, argv, take, NULL, 1, 1, &operands, &status))
		return status;

	struct hint hint = hint_for(operands.words[0]);
	bool found = scenario_explain(operands.words[0], stdout);

	found |= explain_metrics(operands.words[0], &hint);
	found |= explain_bundle("kernels", operands.words[0]);
	found |= explain_bundle("machines", operands.words[0]);
	found |= explain_figure(operands.words[0]);
	if (found)
		return STATUS_DONE;
	say_unknown(operands.words[0], &hint);
	return STATUS_WRONG;
}

static int schema(const struct command *self, int argc, char **argv)
{
	struct operands operands;
	int status;

	if (!parse_command_line(self, argc, argv, take, NULL, 0, 0, &operands, &status))
		return status;
	scenario_print_schema(stdout);
	return STATUS_DONE;
}

static int reference(const struct command *self, int argc, char **argv)
{
	struct operands operands;
	int status;

	if (!parse_command_line(self, argc, argv, take, NULL, 0, 0, &operands, &status))
		return status;
	scenario_print_reference(stdout);
	return STATUS_DONE;
}

#define WITH_FLAGS .flags = flags, .nr_flags = sizeof(flags) / sizeof(flags[0])

const struct command command_explain = {
	.name = "explain",
	.operands = "NAME",
	.help = "explains a module, a key of the scenario, a metric, a figure, a kernel or a machine",
	WITH_FLAGS,
	.run = explain,
};

const struct command command_schema = {
	.name = "schema",
	.operands = "",
	.help = "prints the JSON Schema of the scenario language, for editors",
	WITH_FLAGS,
	.run = schema,
};

const struct command command_reference = {
	.name = "reference",
	.operands = "",
	.help = "prints the reference of all options, as Markdown",
	WITH_FLAGS,
	.run = reference,
};
