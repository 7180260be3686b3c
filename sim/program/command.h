/*
 * command.h - subcommands and their flags.
 *
 * A subcommand is one file with a constant `struct command`; main.c has the list. Its flags are a table, from
 * which come the parser and what --help prints. Long options as GNU's getopt_long takes them.
 *
 * This header knows nothing of scenarios: getopt.h and the option tables both call a thing `struct option`.
 */
#ifndef SIM_PROGRAM_COMMAND_H
#define SIM_PROGRAM_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum status {
	STATUS_DONE = 0,
	STATUS_FAILED = 1, /* a run failed, or a result could not be kept or drawn */
	STATUS_WRONG = 2   /* wrong usage or input */
};

struct flag {
	int key; /* the letter of its short form, or FLAG_LONG + n when it has none */
	const char *name, *argument /* NULL: takes none */, *help;
};
#define FLAG_LONG 256

struct command {
	const char *name, *operands, *help;
	const struct flag *flags;
	size_t nr_flags;
	int (*run)(const struct command *self, int argc, char **argv); /* gives enum status */
};

extern const struct command command_run, command_rerun, command_check, command_list, command_explain;
extern const struct command command_schema, command_reference, command_plot, command_validate;

/* The rest of a command line. */
struct operands {
	char **words;
	size_t nr;
};

/*
 * Goes through the flags; take() gets each (value NULL where it takes none) and gives false, after a message,
 * when it does not like it. Checks that at least `min` and at most `max` operands follow. false: the command
 * is over, with *status (that of --help is STATUS_DONE).
 */
bool parse_command_line(const struct command *c, int argc, char **argv,
			bool (*take)(void *into, int key, const char *value), void *into, size_t min,
			size_t max, struct operands *operands, int *status);

/* Numbers and choices as values of flags; false, after a message, when they are none. */
bool flag_u64(const char *flag, const char *value, uint64_t min, uint64_t max, uint64_t *result);
bool flag_choice(const char *flag, const char *value, const char *const *choices, int *result);

/* "memcgsim: " and the text, on standard error. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
