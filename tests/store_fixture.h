/*
 * store_fixture.h - runs to put into a store, and questions to ask it.
 */
#ifndef TESTS_STORE_FIXTURE_H
#define TESTS_STORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "sim/results/provenance.h"
#include "sim/results/record_rows.h"
#include "sim/results/store.h"
#include "tests/scratch.h"

static const struct metric latency = { "stat.read_latency", "ns", METRIC_DISTRIBUTION, "time of a read" };
static const struct metric pages = { "staleness.pages", "pages", METRIC_GAUGE, "reported against true" };

static inline struct store *open_or_fail(const char *path, enum store_mode mode)
{
	char *error = NULL;
	struct store *s = store_open(path, mode, &error);

	if (!s)
		fail_msg("%s", error);
	return s;
}

static inline void refuses(const char *path, enum store_mode mode, const char *reason)
{
	char *error = NULL;
	struct store *s = store_open(path, mode, &error);

	assert_null(s);
	if (strncmp(error, path, strlen(path)) != 0 || !strstr(error, reason))
		fail_msg("\"%s\" does not say \"%s: ... %s\"", error, path, reason);
	free(error);
}

static inline int64_t announce(struct store *s, const char *variant, uint64_t seed)
{
	char *argv[] = { "memcgsim", "run", "a \"b\".yaml", "\xff" };
	char *provenance = provenance_json(4, argv);
	int64_t id = store_begin(s, &(struct store_run){ .experiment = "exp-1",
							 .scenario = "readers",
							 .variant = variant,
							 .replication = 2,
							 .seed = seed,
							 .params = "{\"policies.flush\":\"unified\"}",
							 .scenario_yaml = "scenario: readers\n",
							 .provenance = provenance });

	free(provenance);
	return id;
}

static inline struct record *make_record(uint32_t entities)
{
	struct record *r = record_new(100);
	struct histogram h;
	char name[32];

	histogram_init(&h, NULL);
	histogram_add(&h, 100, 3);
	histogram_add(&h, 5000, 1);
	for (uint32_t i = 0; i < entities; i++) {
		snprintf(name, sizeof(name), "/parent%u", i);
		record_histogram(r, &latency, name, &h);
		for (uint32_t j = 0; j < 20; j++)
			record_sample(r, &pages, name, j * SIM_MS, j + i);
	}
	record_put_lock(r, &(struct lock_row){ record_entity(r, "lru_lock"), 10, 4, 300, 100, 500, 60 });
	record_module(r, "flush", "unified");
	record_module(r, "workload", "anon_churn");
	record_module(r, "workload", "stat_reader");
	record_finish(r, &(struct record_end){ .done = true,
					       .sim_time = 5 * SIM_SEC,
					       .events = 77,
					       .fingerprint = 0x8000000000000001,
					       .wall_s = 0.25,
					       .peak_rss_bytes = 4096 });
	histogram_release(&h);
	return r;
}

static inline void store_one(struct store *s, const char *variant, uint32_t entities)
{
	struct record *r = make_record(entities);
	int64_t id = announce(s, variant, 1);

	if (id < 0 || !store_finish(s, id, r))
		fail_msg("%s", store_error(s));
	record_free(r);
}

/* The single value of a query, as text. */
static inline char *query(struct store *s, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	char *text = NULL;

	if (sqlite3_prepare_v2(store_database(s), sql, -1, &stmt, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(store_database(s)));
	if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_text(stmt, 0))
		text = xstrdup((const char *)sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	return text ? text : xstrdup("(none)");
}

static inline void assert_query(struct store *s, const char *sql, const char *expected)
{
	char *text = query(s, sql);

	if (strcmp(text, expected) != 0)
		fail_msg("%s: %s, should be %s", sql, text, expected);
	free(text);
}

static inline void count_entry(const struct store_entry *e, void *arg)
{
	(void)e;
	++*(int *)arg;
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

#endif
