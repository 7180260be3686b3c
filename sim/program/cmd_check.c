/*
 * cmd_check.c - memcgsim check: is this scenario right, and what does it come to?
 */
#include <stdio.h>
#include <string.h>

#include "sim/program/input.h"

enum { FLAG_EFFECTIVE = FLAG_LONG, FLAG_VARIANT };

struct check {
	struct input input;
	bool effective;
	const char *variant;
};

static const struct flag flags[] = {
	{ FLAG_EFFECTIVE, "effective", NULL, "print it with every default, and where each value comes from" },
	{ FLAG_VARIANT, "variant", "NAME", "with --effective: this variant only" },
	INPUT_FLAGS,
};

static bool take(void *into, int key, const char *value)
{
	struct check *check = into;
	bool good = true;

	if (key == FLAG_EFFECTIVE)
		check->effective = true;
	else if (key == FLAG_VARIANT)
		check->variant = value;
	else
		input_take(&check->input, key, value, &good);
	return good;
}

static int print_effective(const struct scenario_set *set, const char *variant)
{
	bool printed = false;

	for (size_t i = 0; i < scenario_nr_variants(set); i++) {
		const struct scenario *s = scenario_variant(set, i);

		if (variant && strcmp(variant, scenario_variant_name(s)) != 0)
			continue;
		printf("%s# variant: %s\n", printed ? "---\n" : "", scenario_variant_name(s));
		scenario_print_effective(s, stdout);
		printed = true;
	}
	if (printed)
		return STATUS_DONE;
	note("the scenario has no variant '%s'", variant);
	return STATUS_WRONG;
}

static int check_file(const struct check *check, const char *path)
{
	struct scenario_set *set = input_load(&check->input, path, NULL);
	int status = STATUS_DONE;

	if (!set)
		return STATUS_WRONG;
	if (check->effective)
		status = print_effective(set, check->variant);
	else
		printf("%s: %zu variant%s, no mistakes\n", scenario_name(set), scenario_nr_variants(set),
		       scenario_nr_variants(set) == 1 ? "" : "s");
	scenario_free(set);
	return status;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct check check = { 0 };
	struct operands operands;
	int status;

	if (parse_command_line(self, argc, argv, take, &check, 1, 1, &operands, &status))
		status = check_file(&check, operands.words[0]);
	input_free(&check.input);
	return status;
}

const struct command command_check = {
	.name = "check",
	.operands = "SCENARIO",
	.help = "reads a scenario and reports every mistake in it",
	.flags = flags,
	.nr_flags = sizeof(flags) / sizeof(flags[0]),
	.run = run,
};
