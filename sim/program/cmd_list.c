/*
 * cmd_list.c - memcgsim list: the modules that are really there, in the program and in plug-ins, and the
 * figures that `plot` can draw.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/datadir.h"
#include "sim/module.h"
#include "sim/program/input.h"
#include "sim/results/plot.h"

enum { FLAG_FORMAT = FLAG_LONG };
enum { FORMAT_TEXT, FORMAT_CSV };

static const char *const formats[] = { "text", "csv", NULL };

static const struct flag flags[] = {
	{ FLAG_FORMAT, "format", "FORMAT", "text or csv" },
	INPUT_PLUGIN_FLAG,
};

static bool take(void *into, int key, const char *value)
{
	struct input none = { 0 };
	bool good = true;

	if (key == FLAG_FORMAT)
		return flag_choice("--format", value, formats, into);
	input_take(&none, key, value, &good);
	return good;
}

/* As RFC 4180 has it. */
static void print_quoted(const char *text)
{
	putchar('"');
	for (const char *c = text ? text : ""; *c; c++) {
		if (*c == '"')
			putchar('"');
		putchar(*c);
	}
	putchar('"');
}

static void print_csv(const struct module *m)
{
	printf("%s,%s,%s,", module_kind_name(m->kind), m->axis ? m->axis : "", m->name);
	print_quoted(m->help);
	putchar(',');
	print_quoted(m->source);
	putchar('\n');
}

static void print_text(const struct module *m)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s%s", m->axis ? m->axis : "", m->axis ? ": " : "", m->name);
	printf("  %-42s %s\n", name, m->help ? m->help : "");
}

static bool list_kind(enum module_kind kind, int format)
{
	size_t n;
	const struct module *const *modules = modules_of(kind, &n);

	if (n && format == FORMAT_TEXT)
		printf("%s\n", module_kind_name(kind));
	for (size_t i = 0; i < n; i++) {
		if (format == FORMAT_TEXT)
			print_text(modules[i]);
		else
			print_csv(modules[i]);
	}
	return n > 0;
}

/* As modules are listed. The first line of what a figure shows is "NAME.sql - ...". */
static bool list_figures(int format)
{
	char *folder = data_path("analysis");
	size_t nr = 0;
	char **figures = folder ? plot_figures(folder, &nr) : NULL;

	if (nr && format == FORMAT_TEXT)
		puts("figure");
	for (size_t i = 0; i < nr; i++) {
		char *about = plot_about(folder, figures[i]);
		char *text = about ? strstr(about, " - ") : NULL;

		if (text) {
			size_t length = strcspn(text += 3, "\n");

			text[length && text[length - 1] == '.' ? length - 1 : length] = '\0';
		}
		struct module as = { .kind = 0, .name = figures[i], .help = text ? text : "" };

		if (format == FORMAT_TEXT) {
			print_text(&as);
		} else {
			printf("figure,,%s,", as.name);
			print_quoted(as.help);
			puts(",\"\"");
		}
		free(about);
		free(figures[i]);
	}
	free(figures);
	free(folder);
	return nr > 0;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct operands operands;
	int format = FORMAT_TEXT;
	int status;
	bool any = false;

	if (!parse_command_line(self, argc, argv, take, &format, 0, 1, &operands, &status))
		return status;
	if (format == FORMAT_CSV)
		puts("kind,axis,name,help,source");
	for (int kind = 0; kind < NR_MODULE_KINDS; kind++)
		if (!operands.nr || !strcmp(operands.words[0], module_kind_name((enum module_kind)kind)))
			any |= list_kind((enum module_kind)kind, format);
	if (!operands.nr || !strcmp(operands.words[0], "figure"))
		any |= list_figures(format);
	if (any || !operands.nr)
		return STATUS_DONE;
	note("list: there is nothing of kind '%s'", operands.words[0]);
	return STATUS_WRONG;
}

const struct command command_list = {
	.name = "list",
	.operands = "[KIND]",
	.help = "lists the modules that are there, kind by kind, and the figures",
	.flags = flags,
	.nr_flags = sizeof(flags) / sizeof(flags[0]),
	.run = run,
};
