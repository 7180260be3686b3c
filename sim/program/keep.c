/*
 * keep.c - from the executor into the store. See keep.h.
 */
#include "sim/program/keep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/xalloc.h"
#include "sim/experiment/progress.h"
#include "sim/program/command.h"

#define PARAM_TIES  "\"--tie-order\":\"random\""
#define PARAM_NAIVE "\"--naive\":true"

struct same {
	const char *text;
	char *experiment;
};

static void remember_same(const struct store_entry *e, void *arg)
{
	struct same *same = arg;

	if (strcmp(e->scenario_yaml, same->text) != 0)
		return;
	free(same->experiment);
	same->experiment = xstrdup(e->experiment);
}

char *keep_same_experiment(struct store *store, const struct scenario_set *set)
{
	struct same same = { .text = scenario_text(set) };

	store_each(store, NULL, remember_same, &same);
	return same.experiment;
}

char *keep_params(const struct scenario *s, bool random_ties, bool naive)
{
	const char *own = scenario_params(s);
	const char *end = strrchr(own, '}');
	bool empty = !strchr(own, ':');
	char *text;

	if (asprintf(&text, "%.*s%s%s%s%s}", (int)(end - own), own,
		     empty || !(random_ties || naive) ? "" : ",", random_ties ? PARAM_TIES : "",
		     random_ties && naive ? "," : "", naive ? PARAM_NAIVE : "") < 0)
		xalloc_checked(NULL);
	return text;
}

void keep_params_read(const char *params, bool *random_ties, bool *naive)
{
	/* Quotes within a value are escaped, so these can only be keys. */
	*random_ties = strstr(params, PARAM_TIES);
	*naive = strstr(params, PARAM_NAIVE);
}

struct missing {
	const struct keep *keep;
	struct job *jobs;
	size_t nr;
};

static bool is_run_of(const struct keep *k, const struct job *job, const struct store_entry *e)
{
	char *params = keep_params(job->scenario, k->random_ties, k->naive);
	bool same = job->replication == e->replication && job->seed == e->seed &&
		    !strcmp(scenario_variant_name(job->scenario), e->variant) && !strcmp(params, e->params);

	free(params);
	return same;
}

static void strike_out(const struct store_entry *e, void *arg)
{
	struct missing *m = arg;

	if (strcmp(e->status, "done") != 0 || strcmp(e->scenario_yaml, scenario_text(m->keep->set)) != 0)
		return;
	for (size_t i = 0; i < m->nr; i++) {
		if (!is_run_of(m->keep, &m->jobs[i], e))
			continue;
		memmove(&m->jobs[i], &m->jobs[i + 1], (m->nr - i - 1) * sizeof(*m->jobs));
		m->nr--;
		return;
	}
}

size_t keep_missing(const struct keep *k, struct job *jobs, size_t nr)
{
	struct missing m = { .keep = k, .jobs = jobs, .nr = nr };

	store_each(k->store, k->experiment, strike_out, &m);
	return m.nr;
}

static bool store_went_wrong(const struct keep *k)
{
	progress_clear(k->progress);
	note("%s", store_error(k->store));
	return false;
}

static void remember_experiment(const struct store_entry *e, void *arg)
{
	struct keep *k = arg;

	k->experiment = xstrdup(e->experiment);
}

bool keep_started(void *arg, const struct job *job)
{
	struct keep *k = arg;
	struct kept *run = &k->runs[job - k->jobs];
	char *params = keep_params(job->scenario, k->random_ties, k->naive);

	run->run_id = store_begin(k->store, &(struct store_run){
						    .experiment = k->experiment,
						    .scenario = scenario_name(k->set),
						    .variant = scenario_variant_name(job->scenario),
						    .replication = job->replication,
						    .seed = job->seed,
						    .params = params,
						    .scenario_yaml = scenario_text(k->set),
						    .provenance = k->provenance,
					    });
	free(params);
	if (run->run_id < 0 ||
	    (!k->experiment && !store_visit(k->store, run->run_id, remember_experiment, k)))
		return store_went_wrong(k);
	run->state = KEPT_RUNNING;
	return true;
}

static void report_failure(const struct keep *k, const struct job *job, const struct record *record)
{
	progress_clear(k->progress);
	note("variant %s, replication %u failed: %s", scenario_variant_name(job->scenario), job->replication,
	     record_ended(record)->error);
	if (record_invariants_broken(record))
		fputs(record_invariants_text(record), stderr);
}

/* Once a variant: its replications break the same. */
static void report_known(const struct keep *k, const struct job *job, const struct record *record)
{
	progress_clear(k->progress);
	note("variant %s breaks invariants, as it is known to:", scenario_variant_name(job->scenario));
	fputs(record_known_text(record), stderr);
}

bool keep_finished(void *arg, const struct job *job, struct record *record)
{
	struct keep *k = arg;
	struct kept *run = &k->runs[job - k->jobs];
	const struct record_end *end = record_ended(record);
	bool stored = store_finish(k->store, run->run_id, record);

	if (!stored) {
		store_went_wrong(k);
	} else {
		run->state = end->done ? KEPT_DONE : KEPT_FAILED;
		run->fingerprint = end->fingerprint;
		k->invariants_held += record_invariants_held(record);
		k->invariants_broken += record_invariants_broken(record);
		k->invariants_known += record_invariants_known(record);
		if (!end->done)
			report_failure(k, job, record);
		else if (record_invariants_known(record) && !job->replication)
			report_known(k, job, record);
	}
	record_free(record);
	return stored;
}

void keep_interrupted(struct keep *k)
{
	for (size_t i = 0; i < k->nr_jobs; i++)
		if (k->runs[i].state == KEPT_RUNNING)
			store_fail(k->store, k->runs[i].run_id, "interrupted");
}

size_t keep_count(const struct keep *k, enum kept_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < k->nr_jobs; i++)
		n += k->runs[i].state == state;
	return n;
}

/* Whether two variants have runs of the same replications and each pair is alike. */
static bool identical(const struct keep *k, const struct scenario *a, const struct scenario *b)
{
	size_t pairs = 0;

	for (size_t i = 0; i < k->nr_jobs; i++) {
		for (size_t j = 0; j < k->nr_jobs; j++) {
			if (k->jobs[i].scenario != a || k->jobs[j].scenario != b ||
			    k->jobs[i].replication != k->jobs[j].replication)
				continue;
			if (k->runs[i].state != KEPT_DONE || k->runs[j].state != KEPT_DONE ||
			    k->runs[i].fingerprint != k->runs[j].fingerprint)
				return false;
			pairs++;
		}
	}
	return pairs > 0;
}

/* One line for all that ran like variant i: in a sweep many may, and their pairs would be a page. */
static void report_alike(const struct keep *k, size_t i, size_t n, bool *told)
{
	const struct scenario *first = scenario_variant(k->set, i);
	char *names = NULL;
	size_t size;
	FILE *out = xalloc_checked(open_memstream(&names, &size));
	size_t last = i;

	fputs(scenario_variant_name(first), out);
	for (size_t j = i + 1; j < n; j++) {
		if (told[j] || !identical(k, first, scenario_variant(k->set, j)))
			continue;
		told[j] = true;
		if (last != i)
			fprintf(out, ", %s", scenario_variant_name(scenario_variant(k->set, last)));
		last = j;
	}
	fclose(out);
	if (last != i)
		note("variants %s and %s ran identically: the setting under test did nothing", names,
		     scenario_variant_name(scenario_variant(k->set, last)));
	free(names);
}

void keep_report_identical(const struct keep *k)
{
	size_t n = scenario_nr_variants(k->set);
	bool *told = xcalloc(n, sizeof(*told));

	for (size_t i = 0; i < n; i++) {
		if (!told[i])
			report_alike(k, i, n, told);
	}
	free(told);
}
