/*
 * command.c - parsing a subcommand's command line, and its --help. See command.h.
 */
#include "sim/program/command.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/xalloc.h"

#define KEY_HELP 'h'

void note(const char *format, ...)
{
	va_list ap;

	fputs("memcgsim: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static void print_flag(int key, const char *name, const char *argument, const char *help)
{
	char left[48];

	if (key < FLAG_LONG)
		snprintf(left, sizeof(left), "-%c, --%s%s%s", key, name, argument ? " " : "",
			 argument ? argument : "");
	else
		snprintf(left, sizeof(left), "    --%s%s%s", name, argument ? " " : "",
			 argument ? argument : "");
	printf("  %-27s %s\n", left, help);
}

static void print_help(const struct command *c)
{
	printf("usage: memcgsim %s [OPTION]...%s%s\n%c%s.\n\n", c->name, *c->operands ? " " : "", c->operands,
	       toupper(c->help[0]), c->help + 1);
	for (size_t i = 0; i < c->nr_flags; i++)
		print_flag(c->flags[i].key, c->flags[i].name, c->flags[i].argument, c->flags[i].help);
	print_flag(KEY_HELP, "help", NULL, "this text");
}

/* The tables of getopt_long(), made from ours. The caller frees both. */
static void getopt_tables(const struct command *c, struct option **longs, char **shorts)
{
	char *s = xcalloc(2 * c->nr_flags + 3, 1);

	*longs = xcalloc(c->nr_flags + 2, sizeof(**longs));
	*shorts = s;
	*s++ = ':';
	*s++ = KEY_HELP;
	(*longs)[c->nr_flags] = (struct option){ .name = "help", .val = KEY_HELP };
	for (size_t i = 0; i < c->nr_flags; i++) {
		const struct flag *f = &c->flags[i];

		(*longs)[i] = (struct option){
			.name = f->name,
			.has_arg = f->argument ? required_argument : no_argument,
			.val = f->key,
		};
		if (f->key >= FLAG_LONG)
			continue;
		*s++ = (char)f->key;
		if (f->argument)
			*s++ = ':';
	}
}

static bool wrong(const struct command *c, int *status, const char *what, const char *word)
{
	note("%s: %s '%s'; see 'memcgsim %s --help'", c->name, what, word, c->name);
	*status = STATUS_WRONG;
	return false;
}

static bool take_flags(const struct command *c, int argc, char **argv,
		       bool (*take)(void *into, int key, const char *value), void *into,
		       const struct option *longs, const char *shorts, int *status)
{
	int key;

	opterr = 0;
	optind = 1;
	while ((key = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (key == KEY_HELP) {
			print_help(c);
			*status = STATUS_DONE;
			return false;
		}
		if (key == ':')
			return wrong(c, status, "a value is missing after", argv[optind - 1]);
		if (key == '?')
			return wrong(c, status, "unknown option", argv[optind - 1]);
		if (!take(into, key, optarg)) {
			*status = STATUS_WRONG;
			return false;
		}
	}
	return true;
}

bool parse_command_line(const struct command *c, int argc, char **argv,
			bool (*take)(void *into, int key, const char *value), void *into, size_t min,
			size_t max, struct operands *operands, int *status)
{
	struct option *longs;
	char *shorts;

	getopt_tables(c, &longs, &shorts);
	bool good = take_flags(c, argc, argv, take, into, longs, shorts, status);

	free(longs);
	free(shorts);
	if (!good)
		return false;
	*operands = (struct operands){ .words = argv + optind, .nr = (size_t)(argc - optind) };
	if (operands->nr < min) {
		note("%s: %s is missing; see 'memcgsim %s --help'", c->name, c->operands, c->name);
		*status = STATUS_WRONG;
		return false;
	}
	if (operands->nr > max)
		return wrong(c, status, "what is", operands->words[max]);
	return true;
}

bool flag_u64(const char *flag, const char *value, uint64_t min, uint64_t max, uint64_t *result)
{
	char *end;

	errno = 0;
	*result = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || *result < min || *result > max) {
		note("%s takes a number from %llu to %llu, not '%s'", flag, (unsigned long long)min,
		     (unsigned long long)max, value);
		return false;
	}
	return true;
}

bool flag_choice(const char *flag, const char *value, const char *const *choices, int *result)
{
	char all[128] = "";

	for (int i = 0; choices[i]; i++) {
		if (!strcmp(choices[i], value)) {
			*result = i;
			return true;
		}
		size_t used = strlen(all);

		snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "", choices[i]);
	}
	note("%s takes one of %s, not '%s'", flag, all, value);
	return false;
}
