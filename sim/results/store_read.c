/*
 * store_read.c - reading runs back, for lists and for running them again. See store.h.
 */
#include "sim/engine/xalloc.h"
#include "sim/results/store_internal.h"

#define COLUMNS                                                                                    \
	"SELECT run_id, experiment, scenario, variant, replication, seed, params, scenario_yaml, " \
	"program_version, status, error, sim_time_ns, events, fingerprint, wall_s FROM run "

static const char *optional_text(sqlite3_stmt *stmt, int column)
{
	return (const char *)sqlite3_column_text(stmt, column);
}

/* Of a column that has no NULL, unless the file is damaged. */
static const char *text(sqlite3_stmt *stmt, int column)
{
	const char *value = optional_text(stmt, column);

	return value ? value : "";
}

static void visit_row(sqlite3_stmt *stmt, void (*visit)(const struct store_entry *e, void *arg), void *arg)
{
	const struct store_entry e = {
		.run_id = sqlite3_column_int64(stmt, 0),
		.experiment = text(stmt, 1),
		.scenario = text(stmt, 2),
		.variant = text(stmt, 3),
		.replication = (uint32_t)sqlite3_column_int64(stmt, 4),
		.seed = (uint64_t)sqlite3_column_int64(stmt, 5),
		.params = text(stmt, 6),
		.scenario_yaml = text(stmt, 7),
		.program_version = text(stmt, 8),
		.status = text(stmt, 9),
		.error = optional_text(stmt, 10),
		.sim_time = (sim_time_t)sqlite3_column_int64(stmt, 11) * SIM_NS,
		.events = (uint64_t)sqlite3_column_int64(stmt, 12),
		.fingerprint = strtoull(text(stmt, 13), NULL, 16),
		.wall_s = sqlite3_column_double(stmt, 14),
	};

	visit(&e, arg);
}

/* Visits all rows of a statement, which it finalizes; -1 on failure, else their number. */
static int64_t visit_all(struct store *s, sqlite3_stmt *stmt,
			 void (*visit)(const struct store_entry *e, void *arg), void *arg)
{
	int64_t nr = 0;

	while (stmt && sqlite3_step(stmt) == SQLITE_ROW) {
		visit_row(stmt, visit, arg);
		nr++;
	}
	if (stmt && sqlite3_finalize(stmt) == SQLITE_OK)
		return nr;
	store_complain_sqlite(s, "read its runs");
	return -1;
}

bool store_each(struct store *s, const char *experiment,
		void (*visit)(const struct store_entry *e, void *arg), void *arg)
{
	sqlite3_stmt *stmt;

	if (!s->db)
		return true;
	stmt = store_prepare(s, COLUMNS "WHERE ?1 IS NULL OR experiment = ?1 ORDER BY run_id");
	if (stmt)
		sqlite3_bind_text(stmt, 1, experiment, -1, SQLITE_STATIC);
	return visit_all(s, stmt, visit, arg) >= 0;
}

bool store_visit(struct store *s, int64_t run_id, void (*visit)(const struct store_entry *e, void *arg),
		 void *arg)
{
	sqlite3_stmt *stmt = s->db ? store_prepare(s, COLUMNS "WHERE run_id = ?1") : NULL;
	int64_t nr;

	if (stmt)
		sqlite3_bind_int64(stmt, 1, run_id);
	nr = s->db ? visit_all(s, stmt, visit, arg) : 0;
	if (nr == 0)
		store_complain(s, "has no run %lld", (long long)run_id);
	return nr > 0;
}

char *store_last_experiment(struct store *s)
{
	sqlite3_stmt *stmt;
	char *experiment = NULL;

	if (!s->db)
		return NULL;
	stmt = store_prepare(s, "SELECT experiment FROM run ORDER BY run_id DESC LIMIT 1");
	if (stmt && sqlite3_step(stmt) == SQLITE_ROW)
		experiment = xstrdup(text(stmt, 0));
	sqlite3_finalize(stmt);
	return experiment;
}
