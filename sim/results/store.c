/*
 * store.c - announcing and storing runs. See store.h.
 *
 * Everything of a finished run goes into one transaction: some ten thousand rows through one prepared
 * statement a table, one write to the disk at the end. A write transaction takes its lock at once (BEGIN
 * IMMEDIATE), since one that begins as a reader can be refused it half-way.
 */
#include "sim/engine/xalloc.h"
#include "sim/json.h"
#include "sim/results/provenance.h"
#include "sim/results/record_rows.h"
#include "sim/results/store_internal.h"
#include "sim/results/writer.h"

#define NOW "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"

static const char *const kind_names[] = {
	[METRIC_GAUGE] = "gauge", [METRIC_COUNTER] = "counter",           [METRIC_RATE] = "rate",
	[METRIC_RATIO] = "ratio", [METRIC_DISTRIBUTION] = "distribution",
};

static void bind_text(sqlite3_stmt *stmt, int i, const char *text)
{
	sqlite3_bind_text(stmt, i, text, -1, SQLITE_STATIC);
}

/* Nothing that is counted or timed lies beyond SQLite's integers, but what is as good as endless. */
static void bind_clamped(sqlite3_stmt *stmt, int i, uint64_t value)
{
	sqlite3_bind_int64(stmt, i, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

static bool step_done(sqlite3_stmt *stmt)
{
	bool ok = sqlite3_step(stmt) == SQLITE_DONE;

	return sqlite3_reset(stmt) == SQLITE_OK && ok;
}

static bool begin(struct store *s)
{
	return store_connect(s) && store_execute(s, "BEGIN IMMEDIATE");
}

/* Ends a transaction; if it went wrong, says so and leaves the file as it was before. */
static bool commit(struct store *s, bool ok, const char *what)
{
	if (ok && store_execute(s, "COMMIT"))
		return true;
	if (s->db) {
		store_complain_sqlite(s, what);
		if (!sqlite3_get_autocommit(s->db))
			store_execute(s, "ROLLBACK");
	}
	return false;
}

/* In the transaction that announces its first run, or two programs could choose the same; NULL on failure. */
static char *new_experiment(struct store *s, const char *scenario)
{
	sqlite3_stmt *stmt = store_prepare(s, "SELECT 1 FROM run WHERE experiment = ?");
	char *name = xstrdup(scenario);
	unsigned int n = 1;
	int answer = SQLITE_ERROR;

	while (stmt) {
		bind_text(stmt, 1, name);
		answer = sqlite3_step(stmt);
		sqlite3_reset(stmt);
		if (answer != SQLITE_ROW)
			break;
		free(name);
		name = xasprintf("%s#%u", scenario, ++n);
	}
	sqlite3_finalize(stmt);
	if (answer == SQLITE_DONE)
		return name;
	free(name);
	return NULL;
}

static bool insert_run(struct store *s, const struct store_run *run, const char *experiment,
		       const char *version)
{
	sqlite3_stmt *stmt = store_prepare(
		s, "INSERT INTO run (experiment, scenario, variant, replication, seed,"
		   " params, scenario_yaml, program_version, status, provenance,"
		   " started_at)"
		   " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'running', ?, " NOW ")");
	bool ok;

	if (!stmt)
		return false;
	bind_text(stmt, 1, experiment);
	bind_text(stmt, 2, run->scenario);
	bind_text(stmt, 3, run->variant);
	sqlite3_bind_int64(stmt, 4, run->replication);
	sqlite3_bind_int64(stmt, 5, (int64_t)run->seed);
	bind_text(stmt, 6, run->params);
	bind_text(stmt, 7, run->scenario_yaml);
	bind_text(stmt, 8, version);
	bind_text(stmt, 9, run->provenance);
	ok = step_done(stmt);
	sqlite3_finalize(stmt);
	return ok;
}

int64_t store_begin(struct store *s, const struct store_run *run)
{
	char *version = program_version_text();
	bool begun = begin(s);
	char *experiment = run->experiment ? xstrdup(run->experiment)
			   : begun         ? new_experiment(s, run->scenario)
					   : NULL;
	int64_t id = -1;

	if (commit(s, begun && experiment && insert_run(s, run, experiment, version), "announce a run in it"))
		id = sqlite3_last_insert_rowid(s->db);
	free(experiment);
	free(version);
	return id;
}

static bool insert_metrics(struct store *s, const struct record *r)
{
	sqlite3_stmt *stmt = store_prepare(s,
					   "INSERT INTO metric VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING");
	bool ok = stmt;

	for (uint32_t i = 0; ok && i < r->nr_metrics; i++) {
		bind_text(stmt, 1, r->metrics[i].name);
		bind_text(stmt, 2, r->metrics[i].unit);
		bind_text(stmt, 3, kind_names[r->metrics[i].kind]);
		bind_text(stmt, 4, r->metrics[i].help);
		ok = step_done(stmt);
	}
	sqlite3_finalize(stmt);
	return ok;
}

static bool insert_summaries(struct store *s, int64_t run_id, const struct record *r)
{
	sqlite3_stmt *stmt = store_prepare(s, "INSERT INTO summary VALUES (?, ?, ?, ?)");
	bool ok = stmt;

	for (uint32_t i = 0; ok && i < r->nr_values; i++) {
		sqlite3_bind_int64(stmt, 1, run_id);
		bind_text(stmt, 2, r->metrics[r->values[i].metric].name);
		bind_text(stmt, 3, r->entities[r->values[i].entity]);
		sqlite3_bind_double(stmt, 4, r->values[i].value);
		ok = step_done(stmt);
	}
	sqlite3_finalize(stmt);
	return ok;
}

/* Two rows of a series within one nanosecond are one: the later is what held. */
static bool insert_samples(struct store *s, int64_t run_id, const struct record *r)
{
	sqlite3_stmt *stmt = store_prepare(s, "INSERT OR REPLACE INTO sample VALUES (?, ?, ?, ?, ?)");
	bool ok = stmt;

	for (uint32_t i = 0; ok && i < r->nr_series; i++) {
		const struct series_of *of = &r->series[i];

		for (uint32_t j = 0; ok && j < of->series.nr; j++) {
			sqlite3_bind_int64(stmt, 1, run_id);
			sqlite3_bind_int64(stmt, 2, (int64_t)(of->series.rows[j].t / SIM_NS));
			bind_text(stmt, 3, r->metrics[of->metric].name);
			bind_text(stmt, 4, r->entities[of->entity]);
			sqlite3_bind_double(stmt, 5, of->series.rows[j].value);
			ok = step_done(stmt);
		}
	}
	sqlite3_finalize(stmt);
	return ok;
}

static bool insert_bucket(sqlite3_stmt *stmt, uint64_t lo, uint64_t hi, uint64_t count)
{
	bind_clamped(stmt, 4, lo);
	bind_clamped(stmt, 5, hi);
	bind_clamped(stmt, 6, count);
	return step_done(stmt);
}

/* Values beyond SQLite's integers share one row, [INT64_MAX, INT64_MAX]. */
static bool insert_histogram(sqlite3_stmt *stmt, const struct histogram *h)
{
	uint64_t beyond = 0;

	for (uint32_t b = 0; b < h->nr_buckets; b++) {
		if (histogram_low(b) > INT64_MAX)
			beyond += h->buckets[b];
		else if (h->buckets[b] &&
			 !insert_bucket(stmt, histogram_low(b), histogram_high(b), h->buckets[b]))
			return false;
	}
	return !beyond || insert_bucket(stmt, UINT64_MAX, UINT64_MAX, beyond);
}

static bool insert_histograms(struct store *s, int64_t run_id, const struct record *r)
{
	sqlite3_stmt *stmt = store_prepare(s, "INSERT INTO histogram VALUES (?, ?, ?, ?, ?, ?)");
	bool ok = stmt;

	for (uint32_t i = 0; ok && i < r->nr_histograms; i++) {
		sqlite3_bind_int64(stmt, 1, run_id);
		bind_text(stmt, 2, r->metrics[r->histograms[i].metric].name);
		bind_text(stmt, 3, r->entities[r->histograms[i].entity]);
		ok = insert_histogram(stmt, &r->histograms[i].histogram);
	}
	sqlite3_finalize(stmt);
	return ok;
}

static bool insert_locks(struct store *s, int64_t run_id, const struct record *r)
{
	sqlite3_stmt *stmt = store_prepare(s, "INSERT INTO lock_stat VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
	bool ok = stmt;

	for (uint32_t i = 0; ok && i < r->nr_locks; i++) {
		const struct lock_row *lock = &r->locks[i];

		sqlite3_bind_int64(stmt, 1, run_id);
		bind_text(stmt, 2, r->entities[lock->entity]);
		bind_clamped(stmt, 3, lock->acquisitions);
		bind_clamped(stmt, 4, lock->contended);
		bind_clamped(stmt, 5, lock->wait_total_ns);
		bind_clamped(stmt, 6, lock->wait_max_ns);
		bind_clamped(stmt, 7, lock->hold_total_ns);
		bind_clamped(stmt, 8, lock->hold_max_ns);
		ok = step_done(stmt);
	}
	sqlite3_finalize(stmt);
	return ok;
}

static bool first_of_axis(const struct record *r, uint32_t i)
{
	for (uint32_t j = 0; j < i; j++)
		if (strcmp(r->modules[j].axis, r->modules[i].axis) == 0)
			return false;
	return true;
}

/* {"flush": "unified", "workload": ["anon_churn", "stat_reader"]} */
static char *modules_json(const struct record *r)
{
	char *text;
	size_t size;
	FILE *out = xalloc_checked(open_memstream(&text, &size));

	putc('{', out);
	for (uint32_t i = 0; i < r->nr_modules; i++) {
		uint32_t nr = 0;

		if (!first_of_axis(r, i))
			continue;
		for (uint32_t j = i; j < r->nr_modules; j++)
			nr += strcmp(r->modules[j].axis, r->modules[i].axis) == 0;
		fputs(i ? "," : "", out);
		json_string(out, r->modules[i].axis);
		fputs(nr > 1 ? ":[" : ":", out);
		for (uint32_t j = i; j < r->nr_modules; j++) {
			if (strcmp(r->modules[j].axis, r->modules[i].axis) != 0)
				continue;
			fputs(j > i ? "," : "", out);
			json_string(out, r->modules[j].name);
		}
		fputs(nr > 1 ? "]" : "", out);
	}
	putc('}', out);
	fclose(out);
	return text;
}

/* What went wrong: the run's own error and the invariants it broke; NULL for nothing. */
static char *error_text(const struct record *r)
{
	const char *broken = record_invariants_text(r);
	const char *error = r->end.error ? r->end.error : "";
	char *text = xasprintf("%s%s%s", error, *error && *broken ? "\n" : "", broken);
	size_t length = strlen(text);

	if (!length) {
		free(text);
		return NULL;
	}
	if (text[length - 1] == '\n')
		text[length - 1] = '\0';
	return text;
}

static bool update_run(struct store *s, int64_t run_id, const struct record *r)
{
	sqlite3_stmt *stmt = store_prepare(
		s, "UPDATE run SET status = ?2, error = ?3, sim_time_ns = ?4,"
		   " events = ?5, wall_s = ?6, peak_rss_bytes = ?7, fingerprint = ?8,"
		   " modules = ?9, finished_at = " NOW " WHERE run_id = ?1 AND status = 'running'");
	char *modules, *error, fingerprint[17];
	bool ok;

	if (!stmt)
		return false;
	modules = modules_json(r);
	error = error_text(r);
	snprintf(fingerprint, sizeof(fingerprint), "%016llx", (unsigned long long)r->end.fingerprint);
	sqlite3_bind_int64(stmt, 1, run_id);
	bind_text(stmt, 2, r->end.done ? "done" : "failed");
	bind_text(stmt, 3, error);
	bind_clamped(stmt, 4, r->end.sim_time / SIM_NS);
	bind_clamped(stmt, 5, r->end.events);
	sqlite3_bind_double(stmt, 6, r->end.wall_s);
	bind_clamped(stmt, 7, r->end.peak_rss_bytes);
	bind_text(stmt, 8, fingerprint);
	bind_text(stmt, 9, modules);
	ok = step_done(stmt);
	sqlite3_finalize(stmt);
	free(modules);
	free(error);
	return ok;
}

bool store_finish(struct store *s, int64_t run_id, const struct record *r)
{
	bool ok = begin(s) && insert_metrics(s, r) && insert_summaries(s, run_id, r) &&
		  insert_samples(s, run_id, r) && insert_histograms(s, run_id, r) &&
		  insert_locks(s, run_id, r) && update_run(s, run_id, r);
	char *what = xasprintf("store run %lld in it", (long long)run_id);

	ok = commit(s, ok, what);
	free(what);
	return ok;
}

static bool mark_failed(struct store *s, int64_t run_id, const char *why)
{
	sqlite3_stmt *stmt = store_prepare(s,
					   "UPDATE run SET status = 'failed', error = ?2, finished_at = " NOW
					   " WHERE run_id = ?1 AND status = 'running'");
	bool ok;

	sqlite3_bind_int64(stmt, 1, run_id);
	bind_text(stmt, 2, why);
	ok = stmt && step_done(stmt);
	sqlite3_finalize(stmt);
	return ok;
}

bool store_fail(struct store *s, int64_t run_id, const char *why)
{
	return commit(s, begin(s) && mark_failed(s, run_id, why), "store the end of a run in it");
}

bool store_bury_dead(struct store *s)
{
	sqlite3_stmt *stmt = store_prepare(s, "SELECT run_id, provenance ->> 'boot', provenance ->> 'process'"
					      " FROM run WHERE status = 'running'");
	bool ok = stmt;

	while (ok && sqlite3_step(stmt) == SQLITE_ROW) {
		const char *boot = (const char *)sqlite3_column_text(stmt, 1);

		if (!writer_may_live(boot ? boot : "", sqlite3_column_int64(stmt, 2)))
			ok = mark_failed(s, sqlite3_column_int64(stmt, 0),
					 "never finished: its program ended");
	}
	/* Now, since SQLite forgets why it failed when the outer statement ends without fault. */
	if (!ok)
		store_complain_sqlite(s, "mark dead runs in it");
	if (sqlite3_finalize(stmt) == SQLITE_OK || !ok)
		return ok;
	store_complain_sqlite(s, "look for dead runs in it");
	return false;
}
