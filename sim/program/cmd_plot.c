/*
 * cmd_plot.c - memcgsim plot: figures of a result database, as files or as text on the terminal.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/datadir.h"
#include "sim/engine/xalloc.h"
#include "sim/program/command.h"
#include "sim/results/plot.h"
#include "sim/scenario/hint.h"

enum { FLAG_FIGURE = FLAG_LONG, FLAG_FORMAT, FLAG_EXPERIMENT, FLAG_ENTITY, FLAG_FOLDER };

static const struct flag flags[] = {
	{ FLAG_FIGURE, "figure", "NAME", "one of the figures; default: all" },
	{ FLAG_FORMAT, "format", "FORMAT", "text (default), png or svg" },
	{ 'o', "output", "DIR", "folder for the files, which is made; default: the current one" },
	{ FLAG_EXPERIMENT, "experiment", "NAME", "default: that of the newest run" },
	{ FLAG_ENTITY, "entity", "NAME", "whose values, where a figure shows one entity's" },
	{ FLAG_FOLDER, "figures", "DIR", "where the figures are; default: those of the program" },
};

static const char *const formats[] = { "text", "png", "svg", NULL };

struct plot {
	const char *figure, *output, *experiment, *entity, *folder;
	int format;
};

static bool take(void *into, int key, const char *value)
{
	struct plot *p = into;

	switch (key) {
	case FLAG_FIGURE:
		p->figure = strcmp(value, "all") ? value : NULL;
		return true;
	case FLAG_FORMAT:
		return flag_choice("--format", value, formats, &p->format);
	case 'o':
		p->output = value;
		return true;
	case FLAG_EXPERIMENT:
		p->experiment = value;
		return true;
	case FLAG_ENTITY:
		p->entity = value;
		return true;
	default:
		p->folder = value;
		return true;
	}
}

/* PNG and SVG go to a file named after the figure; text to standard output, unless a folder is given. */
static char *file_name(const struct plot *p, const char *figure)
{
	const char *suffix = p->format == PLOT_TEXT ? "txt" : formats[p->format];
	char *name;

	if (p->format == PLOT_TEXT && !p->output)
		return NULL;
	if (asprintf(&name, "%s/%s.%s", p->output ? p->output : ".", figure, suffix) < 0)
		xalloc_checked(NULL);
	return name;
}

enum drawn { DRAWN, NO_DATA, NOT_DRAWN };

/* A figure that was asked for by name has to be there; of all, those that the database has data for. */
static enum drawn draw(const struct plot *p, struct store *store, const char *folder, const char *figure)
{
	char *file = file_name(p, figure), *error;
	bool empty = false;
	bool drawn = plot_figure(store,
				 &(struct plot_request){
					 .folder = folder,
					 .figure = figure,
					 .experiment = p->experiment,
					 .entity = p->entity,
					 .format = (enum plot_format)p->format,
					 .output = file,
					 .text = stdout,
					 .empty = &empty,
				 },
				 &error);

	if (!drawn) {
		if (!empty || p->figure)
			note("%s", error);
		free(error);
	} else if (file) {
		printf("%s\n", file);
	}
	free(file);
	return drawn ? DRAWN : empty && !p->figure ? NO_DATA : NOT_DRAWN;
}

static int draw_all(const struct plot *p, struct store *store, const char *folder)
{
	size_t nr;
	char **figures = plot_figures(folder, &nr);
	struct hint hint = hint_for(p->figure ? p->figure : "");
	char text[HINT_TEXT];
	size_t chosen = 0, drawn = 0;
	bool good = true;

	/* What is wrong with the first (no gnuplot, no disk) is wrong with all; with a later one, alone. */
	for (size_t i = 0; i < nr && (good || drawn); i++) {
		hint_offer(&hint, figures[i]);
		if (p->figure && strcmp(p->figure, figures[i]) != 0)
			continue;
		chosen++;
		enum drawn result = draw(p, store, folder, figures[i]);

		drawn += result == DRAWN;
		good &= result != NOT_DRAWN;
	}
	if (chosen && good && !drawn) {
		note("nothing to draw: no complete run has data for any figure");
		good = false;
	}
	if (!chosen)
		note("no figure '%s' in '%s'%s", p->figure ? p->figure : "all", folder,
		     hint_text(&hint, text));
	for (size_t i = 0; i < nr; i++)
		free(figures[i]);
	free(figures);
	if (!chosen)
		return STATUS_WRONG;
	return good ? STATUS_DONE : STATUS_FAILED;
}

static bool make_folder(const char *path)
{
	struct stat st;

	if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
		return true;
	note("%s: cannot be made: %s", path, strerror(errno));
	return false;
}

static int plot_database(const struct plot *p, const char *path)
{
	char *folder = p->folder ? xstrdup(p->folder) : data_path("analysis");
	char *error;
	struct store *store = store_open(path, STORE_READ, &error);
	int status = STATUS_WRONG;

	if (!store) {
		note("%s", error);
		free(error);
	} else if (!folder) {
		note("the folder of the figures, analysis/, is not where the program is");
		status = STATUS_FAILED;
	} else if (!p->output || make_folder(p->output)) {
		status = draw_all(p, store, folder);
	}
	if (store)
		store_close(store);
	free(folder);
	return status;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct plot p = { .format = PLOT_TEXT };
	struct operands operands;
	int status;

	if (!parse_command_line(self, argc, argv, take, &p, 1, 1, &operands, &status))
		return status;
	return plot_database(&p, operands.words[0]);
}

const struct command command_plot = {
	.name = "plot",
	.operands = "DATABASE",
	.help = "draws figures from a result database",
	.flags = flags,
	.nr_flags = sizeof(flags) / sizeof(flags[0]),
	.run = run,
};
