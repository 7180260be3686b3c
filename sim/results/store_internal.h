/*
 * store_internal.h - what the files of the store share.
 */
#ifndef SIM_RESULTS_STORE_INTERNAL_H
#define SIM_RESULTS_STORE_INTERNAL_H

#include "sim/results/store.h"

struct store {
	sqlite3 *db; /* NULL: the file does not exist yet */
	char *path;
	char *error;
	enum store_mode mode;
};

/* The text of all tables and views. */
extern const char store_schema[];

/* Keeps printf text as the store's error, after the path. */
void store_complain(struct store *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same with SQLite's own words: "PATH: cannot WHAT: REASON". */
void store_complain_sqlite(struct store *s, const char *what);

/* Marks runs as failed whose writer has died; false after store_complain(). */
bool store_bury_dead(struct store *s);

/* Opens s->path, making the file first if there is none. */
bool store_connect(struct store *s);

sqlite3_stmt *store_prepare(struct store *s, const char *sql);
/* Runs SQL text without results. */
bool store_execute(struct store *s, const char *sql);

#endif
