/*
 * plot.c - figures. See plot.h.
 *
 * gnuplot gets files with names of this program's own choice, and the figure takes its real name only when it
 * is whole. Names of scenarios and variants go through the data file, never into a command, since gnuplot's
 * language can start programs. The user's own settings of gnuplot are left out (-d): they are not part of the
 * figure.
 */
#include "sim/results/plot.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/engine/xalloc.h"

#define NO_PROGRAM 127

static const char *const terminals[] = { [PLOT_TEXT] = "dumb", [PLOT_PNG] = "pngcairo", [PLOT_SVG] = "svg" };

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **plot_figures(const char *folder, size_t *nr)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	char **names = xcalloc(1, sizeof(*names));

	*nr = 0;
	while (dir && (entry = readdir(dir))) {
		size_t length = strlen(entry->d_name);

		if (length <= 4 || strcmp(entry->d_name + length - 4, ".sql") != 0)
			continue;
		names = xreallocarray(names, *nr + 1, sizeof(*names));
		names[(*nr)++] = xasprintf("%.*s", (int)(length - 4), entry->d_name);
	}
	if (dir)
		closedir(dir);
	qsort(names, *nr, sizeof(*names), by_text);
	return names;
}

static char *read_text(const char *path)
{
	FILE *in = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;
	ssize_t length;

	if (!in)
		return NULL;
	length = getdelim(&text, &size, '\0', in);
	fclose(in);
	if (length >= 0)
		return text;
	free(text);
	return NULL;
}

char *plot_about(const char *folder, const char *figure)
{
	char *path = xasprintf("%s/%s.sql", folder, figure), *sql = read_text(path), *about;
	size_t size;
	FILE *out = sql ? xalloc_checked(open_memstream(&about, &size)) : NULL;

	for (const char *line = sql; out && !strncmp(line, "--", 2); line += strspn(line, "\n")) {
		size_t length = strcspn(line, "\n"), mark = line[2] == ' ' ? 3 : 2;

		fprintf(out, "%.*s\n", (int)(length - mark), line + mark);
		line += length;
	}
	free(path);
	free(sql);
	if (!out)
		return NULL;
	fclose(out);
	return about;
}

static void bind(sqlite3_stmt *stmt, const char *name, const char *value)
{
	int i = sqlite3_bind_parameter_index(stmt, name);

	if (i)
		sqlite3_bind_text(stmt, i, value, -1, SQLITE_STATIC);
}

/* A query, and the values of parameters that it is asked with; all on the heap. */
struct query {
	char *sql;
	struct parameter {
		char *name, *value;
	} * parameters;
	size_t nr;
};

static void free_query(struct query *q)
{
	free(q->sql);
	for (size_t i = 0; i < q->nr; i++) {
		free(q->parameters[i].name);
		free(q->parameters[i].value);
	}
	free(q->parameters);
}

/* ":NAME VALUE" */
static void set_parameter(struct query *q, const char *text, size_t length)
{
	const char *blank = memchr(text, ' ', length);

	if (!blank)
		return;
	q->parameters = xreallocarray(q->parameters, q->nr + 1, sizeof(*q->parameters));
	q->parameters[q->nr++] = (struct parameter){
		.name = xasprintf("%.*s", (int)(blank - text), text),
		.value = xasprintf("%.*s", (int)(text + length - blank - 1), blank + 1),
	};
}

/*
 * Figures that differ in the metrics share a query. One says so in commands of the shell of SQLite, each
 * a line that begins with a dot, so that it is of use there too: `.parameter set :NAME VALUE` and `.read
 * FILE`, which is looked for in the folder of the figures, and reads no other. False with errno where a file
 * cannot be read.
 */
static bool read_query(const char *folder, const char *name, bool other, struct query *q)
{
	static const char set[] = ".parameter set ", file[] = ".read ";
	char *path = xasprintf("%s/%s", folder, name);
	char *next = NULL;

	q->sql = read_text(path);
	free(path);
	for (char *line = q->sql; line && *line; line += strspn(line, "\n")) {
		size_t length = strcspn(line, "\n");

		if (!strncmp(line, set, strlen(set))) {
			set_parameter(q, line + strlen(set), length - strlen(set));
		} else if (!strncmp(line, file, strlen(file))) {
			next = xasprintf("%.*s", (int)(length - strlen(file)), line + strlen(file));
			break;
		}
		line += length;
	}
	if (!next || other) {
		free(next);
		return q->sql;
	}
	free(q->sql);
	bool good = read_query(folder, strrchr(next, '/') ? strrchr(next, '/') + 1 : next, true, q);

	free(next);
	return good;
}

/* Writes the rows of all statements, columns separated by blanks; -1 on failure, else their number. */
static long write_rows(struct store *s, const struct query *q, const struct plot_request *r, FILE *out)
{
	const char *sql = q->sql;
	sqlite3_stmt *stmt;
	long rows = 0;

	while (*sql) {
		if (sqlite3_prepare_v2(store_database(s), sql, -1, &stmt, &sql) != SQLITE_OK)
			return -1;
		bind(stmt, ":experiment", r->experiment);
		bind(stmt, ":entity", r->entity);
		for (size_t i = 0; i < q->nr; i++)
			bind(stmt, q->parameters[i].name, q->parameters[i].value);
		while (stmt && sqlite3_step(stmt) == SQLITE_ROW) {
			for (int i = 0; i < sqlite3_column_count(stmt); i++) {
				const char *text = (const char *)sqlite3_column_text(stmt, i);

				fprintf(out, "%s%s", i ? " " : "", text ? text : "");
			}
			putc('\n', out);
			rows++;
		}
		if (sqlite3_finalize(stmt) != SQLITE_OK)
			return -1;
	}
	return rows;
}

static bool write_data(struct store *s, const struct plot_request *r, const char *path, char **error)
{
	char *name = xasprintf("%s.sql", r->figure), *file = xasprintf("%s/%s", r->folder, name);
	struct query query = { 0 };
	bool there = read_query(r->folder, name, false, &query);
	FILE *out = fopen(path, "we");
	long rows = -1;

	if (!there)
		*error = xasprintf("%s: %s", file, strerror(errno));
	else if (!out)
		*error = xasprintf("%s: %s", path, strerror(errno));
	else if (!store_database(s) || (rows = write_rows(s, &query, r, out)) == 0) {
		*error = xasprintf("nothing to draw: no complete run has data for figure %s%s%s", r->figure,
				   r->entity ? " of " : "", r->entity ? r->entity : "");
		if (r->empty)
			*r->empty = true;
	} else if (rows < 0)
		*error = xasprintf("%s: %s", file, sqlite3_errmsg(store_database(s)));
	if (out && (fclose(out) != 0) && rows > 0) {
		*error = xasprintf("%s: %s", path, strerror(errno));
		rows = -1;
	}
	free_query(&query);
	free(file);
	free(name);
	return rows > 0;
}

/* As gnuplot quotes: '' within '...' is one quote. */
static char *quoted(const char *s)
{
	char *text;
	size_t size;
	FILE *out = xalloc_checked(open_memstream(&text, &size));

	putc('\'', out);
	for (; *s; s++) {
		if (*s == '\'')
			putc('\'', out);
		putc(*s, out);
	}
	putc('\'', out);
	fclose(out);
	return text;
}

/* In the child. */
static void become_gnuplot(const char *settings, const char *script, const char *folder, int messages)
{
	setenv("GNUPLOT_LIB", folder, 1);
	dup2(messages, STDERR_FILENO);
	dup2(messages, STDOUT_FILENO);
	execlp("gnuplot", "gnuplot", "-d", "-e", settings, script, (char *)NULL);
	_exit(NO_PROGRAM);
}

/* Runs gnuplot; gives its status and what it said. */
static int run_gnuplot(const char *settings, const char *script, const char *folder, char **said)
{
	int ends[2], status = -1;
	FILE *messages;
	size_t size = 0;
	pid_t child;

	*said = NULL;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	child = fork();
	if (child == 0)
		become_gnuplot(settings, script, folder, ends[1]);
	close(ends[1]);
	messages = xalloc_checked(fdopen(ends[0], "re"));
	if (getdelim(said, &size, '\0', messages) < 0)
		**said = '\0';
	fclose(messages);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static bool draw(const struct plot_request *r, const char *data, const char *out, char **error)
{
	char *script = xasprintf("%s/%s.gp", r->folder, r->figure);
	char *data_quoted = quoted(data), *out_quoted = quoted(out);
	char *settings = xasprintf("data=%s; out=%s; term='%s'", data_quoted, out_quoted,
				   terminals[r->format]);
	struct stat st;
	char *said;
	int status = run_gnuplot(settings, script, r->folder, &said);
	bool ok = status == 0 && stat(out, &st) == 0 && st.st_size > 0;

	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM)
		*error = xasprintf("gnuplot, which draws the figures, is not installed"
				   " (Debian: apt-get install gnuplot-nox)");
	else if (!ok)
		*error = xasprintf("gnuplot cannot draw %s: %s", r->figure, said ? said : strerror(errno));
	free(said);
	free(settings);
	free(out_quoted);
	free(data_quoted);
	free(script);
	return ok;
}

/* gnuplot begins a page and fills it with blanks; a mail needs none, nor empty lines around. */
static void put_trimmed(char *text, FILE *out)
{
	int empty = -1; /* lines not yet put; none before the first that is not empty */

	for (char *line = text, *next; line; line = next) {
		size_t length = strcspn(line, "\n");

		next = line[length] ? line + length + 1 : NULL;
		while (length && isspace((unsigned char)line[length - 1]))
			length--;
		if (!length) {
			empty += empty >= 0;
			continue;
		}
		for (; empty > 0; empty--)
			putc('\n', out);
		empty = 0;
		fprintf(out, "%.*s\n", (int)length, line);
	}
}

static bool copy_out(const char *path, FILE *out, char **error)
{
	char *text = read_text(path);

	if (text)
		put_trimmed(text, out);
	if (text && fflush(out) == 0) {
		free(text);
		return true;
	}
	*error = xasprintf("cannot show the figure: %s", strerror(errno));
	free(text);
	return false;
}

/* An empty file of a name that nobody else has, in the folder for such files. */
static char *temporary(char **error)
{
	const char *folder = getenv("TMPDIR");
	char *path = xasprintf("%s/memcgsim-XXXXXX", folder && *folder ? folder : P_tmpdir);
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd >= 0) {
		close(fd);
		return path;
	}
	*error = xasprintf("%s: %s", path, strerror(errno));
	free(path);
	return NULL;
}

/* Draws into a file beside the output and gives it its name; or into a temporary one and shows it. */
static bool deliver(const struct plot_request *r, const char *data, char **error)
{
	char *part = r->output ? xasprintf("%s.new-%ld", r->output, (long)getpid()) : temporary(error);
	bool ok = part && draw(r, data, part, error);

	if (ok && !r->output) {
		ok = copy_out(part, r->text, error);
	} else if (ok && rename(part, r->output) != 0) {
		*error = xasprintf("%s: %s", r->output, strerror(errno));
		ok = false;
	}
	if (part && (!ok || !r->output))
		unlink(part);
	free(part);
	return ok;
}

static bool known(const struct plot_request *r, char **error)
{
	size_t nr;
	char **names = plot_figures(r->folder, &nr), *list = xstrdup("");
	bool found = false;

	for (size_t i = 0; i < nr; i++) {
		char *longer = xasprintf("%s%s%s", list, i ? ", " : "", names[i]);

		free(list);
		list = longer;
		found |= strcmp(names[i], r->figure) == 0;
		free(names[i]);
	}
	if (!found)
		*error = xasprintf("there is no figure '%s'; there are: %s", r->figure, nr ? list : "none");
	free(names);
	free(list);
	return found;
}

/* A query without a drawing: its rows are the figure. */
static bool is_text(const struct plot_request *r)
{
	char *script = xasprintf("%s/%s.gp", r->folder, r->figure);
	bool missing = access(script, F_OK) != 0;

	free(script);
	return missing;
}

static bool deliver_text(const struct plot_request *r, const char *data, char **error)
{
	FILE *out = r->output ? fopen(r->output, "we") : r->text;
	bool ok = out && copy_out(data, out, error);

	if (!out)
		*error = xasprintf("%s: %s", r->output, strerror(errno));
	if (r->output && out && fclose(out) != 0 && ok) {
		*error = xasprintf("%s: %s", r->output, strerror(errno));
		ok = false;
	}
	return ok;
}

bool plot_figure(struct store *s, const struct plot_request *r, char **error)
{
	char *data;
	bool ok, text;

	if (!known(r, error))
		return false;
	text = is_text(r);
	if (text && r->format != PLOT_TEXT) {
		*error = xasprintf("figure %s is text: there is nothing to draw of it", r->figure);
		if (r->empty)
			*r->empty = true;
		return false;
	}
	data = temporary(error);
	if (!data)
		return false;
	ok = write_data(s, r, data, error) && (text ? deliver_text : deliver)(r, data, error);
	unlink(data);
	free(data);
	return ok;
}
