/*
 * cmd_explain.c - memcgsim explain, schema, reference: three renderings of the option tables.
 */
#include <stdio.h>

#include "sim/program/input.h"

static const struct flag flags[] = { INPUT_PLUGIN_FLAG };

static bool take(void *into, int key, const char *value)
{
	struct input none = { 0 };
	bool good = true;

	(void)into;
	input_take(&none, key, value, &good);
	return good;
}

static int explain(const struct command *self, int argc, char **argv)
{
	struct operands operands;
	int status;

	if (!parse_command_line(self, argc, argv, take, NULL, 1, 1, &operands, &status))
		return status;
	if (scenario_explain(operands.words[0], stdout))
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
	.help = "explains a module or a key of the scenario, option by option",
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
