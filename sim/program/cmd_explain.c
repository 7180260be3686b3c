/*
 * cmd_explain.c - memcgsim explain, schema, reference: three renderings of the option tables.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/datadir.h"
#include "sim/program/input.h"
#include "sim/results/record.h"

static const struct flag flags[] = { INPUT_PLUGIN_FLAG };

static bool take(void *into, int key, const char *value)
{
	struct input none = { 0 };
	bool good = true;

	(void)into;
	input_take(&none, key, value, &good);
	return good;
}

static bool explain_metrics(const char *name)
{
	static const char *const kinds[] = { "gauge", "counter", "rate", "ratio", "distribution" };
	const struct module *const *modules;
	size_t nr;
	bool found = false;

	modules = modules_of(MODULE_METRICS, &nr);
	for (size_t i = 0; i < nr; i++) {
		const struct metric_table *table = modules[i]->ops;

		for (size_t k = 0; k < table->nr; k++) {
			const struct metric *m = &table->rows[k];

			if (strcmp(m->name, name) != 0)
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

static int explain(const struct command *self, int argc, char **argv)
{
	struct operands operands;
	int status;

	if (!parse_command_line(self, argc, argv, take, NULL, 1, 1, &operands, &status))
		return status;
	bool found = scenario_explain(operands.words[0], stdout);

	found |= explain_metrics(operands.words[0]);
	found |= explain_bundle("kernels", operands.words[0]);
	found |= explain_bundle("machines", operands.words[0]);
	if (found)
		return STATUS_DONE;
	note("nothing is called '%s'; 'memcgsim list' shows what there is", operands.words[0]);
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
	.help = "explains a module, a key of the scenario, a metric, a kernel or a machine",
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
