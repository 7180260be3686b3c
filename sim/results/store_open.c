/*
 * store_open.c - opening a result store, and making one. See store.h.
 *
 * A new file gets its tables under a name of its own in the same folder and is then renamed, so that nobody
 * ever sees a part of it, and a program that is killed in between leaves no result file rather than a broken
 * one. Two programs that make the same file at once cannot overwrite each other: the rename fails for the
 * second, which then uses the file of the first. An empty file (of mktemp, say) counts as none.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/engine/xalloc.h"
#include "sim/results/store_internal.h"

/* "mcgs" in ASCII: with it a result file is told from any other database. */
#define APPLICATION_ID 0x6d636773

#define BUSY_MS 60000

void store_complain(struct store *s, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	free(s->error);
	s->error = xasprintf("%s: %s", s->path, text);
	free(text);
}

/* SQLite's words for what goes wrong with a disk are about SQLite; these are about the disk. */
static const char *reason(sqlite3 *db)
{
	switch (sqlite3_errcode(db)) {
	case SQLITE_FULL:
		return "no space left";
	case SQLITE_BUSY:
		return "another program keeps it locked";
	case SQLITE_IOERR:
		return sqlite3_system_errno(db) ? strerror(sqlite3_system_errno(db)) : "input/output error";
	case SQLITE_CANTOPEN:
		return sqlite3_system_errno(db) ? strerror(sqlite3_system_errno(db)) : "cannot be opened";
	default:
		return sqlite3_errmsg(db);
	}
}

void store_complain_sqlite(struct store *s, const char *what)
{
	store_complain(s, "cannot %s: %s", what, s->db ? reason(s->db) : "out of memory");
}

const char *store_error(const struct store *s)
{
	return s->error ? s->error : "";
}

sqlite3_stmt *store_prepare(struct store *s, const char *sql)
{
	sqlite3_stmt *stmt = NULL;

	return sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) == SQLITE_OK ? stmt : NULL;
}

bool store_execute(struct store *s, const char *sql)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static bool pragma_number(struct store *s, const char *sql, int *value)
{
	sqlite3_stmt *stmt = store_prepare(s, sql);
	bool ok = stmt && sqlite3_step(stmt) == SQLITE_ROW;

	*value = ok ? sqlite3_column_int(stmt, 0) : 0;
	sqlite3_finalize(stmt);
	return ok;
}

/* Whether what was opened is a result store of a version that this program knows. */
static bool recognise(struct store *s)
{
	int id, version;

	if (!pragma_number(s, "PRAGMA application_id", &id) ||
	    !pragma_number(s, "PRAGMA user_version", &version)) {
		if (sqlite3_errcode(s->db) == SQLITE_NOTADB)
			store_complain(s, "is not a memcgsim result file");
		else
			store_complain_sqlite(s, "read it");
		return false;
	}
	if (id != APPLICATION_ID) {
		store_complain(s, "is a database of another program, not a memcgsim result file");
		return false;
	}
	if (version == STORE_FORMAT)
		return true;
	store_complain(s, "has result format %d; this program knows format %d%s", version, STORE_FORMAT,
		       version > STORE_FORMAT ? " (use a newer memcgsim)" : "");
	return false;
}

static void disconnect(struct store *s)
{
	sqlite3_close(s->db);
	s->db = NULL;
}

static bool open_existing(struct store *s)
{
	const char *pragmas = s->mode == STORE_WRITE ? "PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL"
						     : "PRAGMA query_only = ON";

	/* Readers, too, may have to roll back what a killed writer left. */
	if (sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
		store_complain_sqlite(s, "open it");
		disconnect(s);
		return false;
	}
	sqlite3_busy_timeout(s->db, BUSY_MS);
	if (!recognise(s)) {
		disconnect(s);
		return false;
	}
	bool ready = store_execute(s, pragmas);

	if (!ready)
		store_complain_sqlite(s, "prepare it");
	if (ready && (s->mode != STORE_WRITE || store_bury_dead(s)))
		return true;
	disconnect(s);
	return false;
}

static bool fill(struct store *s, const char *path)
{
	struct store part = { .path = s->path };
	char *marks = xasprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION_ID,
				STORE_FORMAT);
	bool ok;

	ok = sqlite3_open_v2(path, &part.db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
	     store_execute(&part, "BEGIN") && store_execute(&part, marks) &&
	     store_execute(&part, store_schema) && store_execute(&part, "COMMIT");
	free(marks);
	if (!ok) {
		store_complain_sqlite(&part, "make it");
		free(s->error);
		s->error = part.error;
	}
	sqlite3_close(part.db);
	return ok;
}

/* Gives the finished file its name; an existing one stays unless it is empty. */
static bool publish(struct store *s, const char *part)
{
	struct stat st;

	if (renameat2(AT_FDCWD, part, AT_FDCWD, s->path, RENAME_NOREPLACE) == 0)
		return true;
	if (errno == EEXIST && stat(s->path, &st) == 0 && st.st_size > 0) {
		unlink(part);
		return true;
	}
	/* An empty file, or a file system that knows no rename without replacing. */
	if ((errno == EEXIST || errno == EINVAL) && rename(part, s->path) == 0)
		return true;
	store_complain(s, "cannot make it: %s", strerror(errno));
	return false;
}

static bool create(struct store *s)
{
	char *part = xasprintf("%s.new-%ld", s->path, (long)getpid());
	int fd = open(part, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	bool ok;

	if (fd < 0) {
		store_complain(s, "cannot make it: %s", strerror(errno));
		free(part);
		return false;
	}
	close(fd);
	ok = fill(s, part) && publish(s, part);
	if (!ok)
		unlink(part);
	free(part);
	return ok;
}

static bool missing(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? S_ISREG(st.st_mode) && st.st_size == 0 : errno == ENOENT;
}

bool store_connect(struct store *s)
{
	if (s->db)
		return true;
	return (!missing(s->path) || create(s)) && open_existing(s);
}

/* Why no file can be made in a folder; NULL if one can. Tried with a nameless file: nothing stays behind. */
static const char *folder_fault(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	if (fd >= 0) {
		close(fd);
		return NULL;
	}
	/* Where there is no such thing as a nameless file, permissions have to do. */
	if ((errno == EOPNOTSUPP || errno == EISDIR) && access(folder, W_OK | X_OK) == 0)
		return NULL;
	return strerror(errno);
}

/* Finds a path that will not work before hours of simulation do. */
static bool writable(struct store *s)
{
	char *copy = xstrdup(s->path);
	const char *folder = dirname(copy);
	const char *fault = folder_fault(folder);
	struct stat st;

	if (fault)
		store_complain(s, "cannot be written: folder %s: %s", folder, fault);
	else if (lstat(s->path, &st) == 0 && S_ISLNK(st.st_mode) && missing(s->path))
		/* The finished file would take the place of the link. */
		store_complain(s, "%s", fault = "is a link to a file that is missing or empty");
	else if (access(s->path, F_OK) == 0 && access(s->path, W_OK) != 0)
		store_complain(s, "cannot be written: %s", fault = strerror(errno));
	free(copy);
	return !fault;
}

struct store *store_open(const char *path, enum store_mode mode, char **error)
{
	struct store *s = xcalloc(1, sizeof(*s));
	struct stat st;
	bool ok;

	s->mode = mode;
	/* SQLite gives names like ":memory:" and "file:x?mode=ro" a meaning of their own. */
	s->path = path[0] == ':' || !strncmp(path, "file:", 5) ? xasprintf("./%s", path) : xstrdup(path);
	if (!*path) {
		store_complain(s, "the name is empty");
		ok = false;
	} else if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		store_complain(s, "is not a file");
		ok = false;
	} else if (mode == STORE_WRITE) {
		ok = writable(s) && (missing(s->path) || open_existing(s));
	} else if (stat(path, &st) != 0) {
		store_complain(s, "cannot be read: %s", strerror(errno));
		ok = false;
	} else if (missing(path)) {
		store_complain(s, "is empty");
		ok = false;
	} else {
		ok = open_existing(s);
	}
	if (ok)
		return s;
	*error = s->error;
	s->error = NULL;
	store_close(s);
	return NULL;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	sqlite3_close(s->db);
	free(s->path);
	free(s->error);
	free(s);
}

sqlite3 *store_database(const struct store *s)
{
	return s->db;
}
