/*
 * store.h - the result store: one SQLite file, the runs of one or many experiments.
 *
 * A run is announced (status `running`), happens, and is stored in one transaction with everything it has to
 * say (status `done` or `failed`). Whatever kills the program, runs stored before stay whole, and one that
 * never finished keeps the status `running`, with which no view, table or figure shows it; the next program
 * that writes to the file marks it as failed if it can tell that its writer is gone.
 *
 * A file that does not exist is made when the first run is announced, under another name, and appears whole.
 * Several programs may write to one file; they wait for each other.
 *
 * The tables are described in the manual page; the text that makes them is in store_schema.c.
 */
#ifndef SIM_RESULTS_STORE_H
#define SIM_RESULTS_STORE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/results/record.h"

#define STORE_FORMAT 2 /* PRAGMA user_version */

struct store;

enum store_mode { STORE_READ, STORE_WRITE };

/*
 * NULL, and the reason on the heap in *error, when the path cannot be read (or written, in STORE_WRITE), is
 * no result store, or is one of a newer version. Does not create the file, but makes sure that it could.
 */
struct store *store_open(const char *path, enum store_mode mode, char **error);
void store_close(struct store *s);
/* Why the last call on this store failed, with the file's name. */
const char *store_error(const struct store *s);

/* What is known of a run before it happens. */
struct store_run {
	const char *experiment; /* NULL: a new one, NAME or NAME#2, NAME#3... of the scenario */
	const char *scenario, *variant;
	uint32_t replication;
	uint64_t seed;
	const char *params;        /* JSON */
	const char *scenario_yaml; /* with everything included */
	const char *provenance;    /* JSON, of provenance_json() */
};

/* The number of the new run; -1 on failure. */
int64_t store_begin(struct store *s, const struct store_run *run);
/* Everything in the record, whose run has ended. On failure nothing of it is in the file. */
bool store_finish(struct store *s, int64_t run_id, const struct record *r);
/* A run that left no record: its process died, or the user gave up. */
bool store_fail(struct store *s, int64_t run_id, const char *why);

/* Reading back. Strings live until the call returns. */
struct store_entry {
	int64_t run_id;
	const char *experiment, *scenario, *variant;
	uint32_t replication;
	uint64_t seed;
	const char *params, *scenario_yaml, *program_version;
	const char *status, *error; /* error: NULL for none */
	sim_time_t sim_time;        /* this and the following are 0 unless it ended */
	uint64_t events, fingerprint;
	double wall_s;
};

/* All runs in order, or those of one experiment (NULL: all). */
bool store_each(struct store *s, const char *experiment,
		void (*visit)(const struct store_entry *e, void *arg), void *arg);
/* One run; false, with store_error(), if there is none of that number. */
bool store_visit(struct store *s, int64_t run_id, void (*visit)(const struct store_entry *e, void *arg),
		 void *arg);
/* The experiment of the newest run, on the heap; NULL if there is no run. */
char *store_last_experiment(struct store *s);

/* For queries; NULL as long as the file does not exist. */
sqlite3 *store_database(const struct store *s);

#endif
