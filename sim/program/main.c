/*
 * main.c - memcgsim: which subcommand, and what went wrong when it is none.
 *
 * Exit status: 0 done, 1 a run failed, 2 wrong usage or input.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/module.h"
#include "sim/program/command.h"
#include "sim/results/provenance.h"
#include "sim/scenario/hint.h"

static const struct command *const commands[] = {
	&command_run,  &command_check,   &command_plot,   &command_rerun,     &command_validate,
	&command_list, &command_explain, &command_schema, &command_reference,
};
#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_usage(FILE *out)
{
	fputs("usage: memcgsim COMMAND [OPTION]... [OPERAND]...\n"
	      "Predicts what a Linux host will do under a named kernel variant.\n\n",
	      out);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->help);
	fputs("\n'memcgsim COMMAND --help' lists the options of one.\n"
	      "Exit status: 0 done, 1 a run failed, 2 wrong usage or input.\n",
	      out);
}

static const struct command *find(const char *name)
{
	struct hint hint = hint_for(name);
	char text[HINT_TEXT];

	for (size_t i = 0; i < NR_COMMANDS; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
		hint_offer(&hint, commands[i]->name);
	}
	note("no command '%s'%s", name, hint_text(&hint, text));
	return NULL;
}

/* A file that is opened in the place of a closed one would get what is printed. Its use still fails. */
static void occupy_closed_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return;
}

static int run(int argc, char **argv)
{
	if (argc < 2) {
		print_usage(stderr);
		return STATUS_WRONG;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_usage(stdout);
		return STATUS_DONE;
	}
	if (!strcmp(argv[1], "--version")) {
		char *version = program_version_text();

		printf("memcgsim %s\n", version);
		free(version);
		return STATUS_DONE;
	}

	const struct command *c = find(argv[1]);

	if (!c)
		return STATUS_WRONG;
	/* A limit on the size of files is then an error of writing, like a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	if (!modules_init())
		return STATUS_FAILED;
	return c->run(c, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	occupy_closed_streams();

	int status = run(argc, argv);

	if (fflush(stdout) || ferror(stdout)) {
		note("standard output could not be written");
		return status ? status : STATUS_FAILED;
	}
	return status;
}
