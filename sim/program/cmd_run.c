/*
 * cmd_run.c - memcgsim run: every variant of a scenario, as often as it says, and the table that compares
 * them.
 *
 * What the command line changes in the scenario (--set, --seed, --replications) becomes part of the text that
 * is stored with each run, so a run can be repeated from the database alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim/engine/xalloc.h"
#include "sim/experiment/progress.h"
#include "sim/program/input.h"
#include "sim/program/keep.h"
#include "sim/results/provenance.h"
#include "sim/results/summary.h"
#include "sim/scenario/hint.h"

enum {
	FLAG_SEED = FLAG_LONG,
	FLAG_REPLICATIONS,
	FLAG_VARIANT,
	FLAG_TIES,
	FLAG_NAIVE,
	FLAG_RESUME,
	FLAG_FORMAT
};

static const struct flag flags[] = {
	{ 'o', "output", "FILE", "the database; default: the scenario's name and .db" },
	{ 'j', "jobs", "N", "runs at a time; default 1" },
	{ FLAG_SEED, "seed", "N", "same as --set run.seed=N" },
	{ FLAG_REPLICATIONS, "replications", "N", "same as --set run.replications=N" },
	{ FLAG_VARIANT, "variant", "NAME", "only this variant; repeatable" },
	{ FLAG_TIES, "tie-order", "ORDER", "of simultaneous events: sequence (default) or random" },
	{ FLAG_NAIVE, "naive", NULL, "synchronise at every step: slow, same results" },
	{ FLAG_RESUME, "resume", NULL, "skip runs that the database already has" },
	{ FLAG_FORMAT, "format", "FORMAT", "of the table: text, csv or json" },
	{ 'q', "quiet", NULL, "no progress" },
	INPUT_FLAGS,
};

static const char *const tie_orders[] = { "sequence", "random", NULL };
static const char *const formats[] = { "text", "csv", "json", NULL };

struct arguments {
	struct input input;
	struct words variants;
	const char *output;
	uint64_t at_once;
	int tie_order, format;
	bool naive, resume, quiet;
	int argc;
	char **argv;
};

static bool take_number(struct arguments *a, const char *flag, const char *path, uint64_t max,
			const char *value)
{
	uint64_t number;

	if (!flag_u64(flag, value, path ? 0 : 1, max, &number))
		return false;
	if (path)
		input_set_u64(&a->input, path, number);
	else
		a->at_once = number;
	return true;
}

static bool take(void *into, int key, const char *value)
{
	struct arguments *a = into;
	bool good = true;

	switch (key) {
	case 'o':
		a->output = value;
		return true;
	case 'j':
		return take_number(a, "--jobs", NULL, 1024, value);
	case FLAG_SEED:
		return take_number(a, "--seed", "run.seed", UINT64_MAX, value);
	case FLAG_REPLICATIONS:
		return take_number(a, "--replications", "run.replications", UINT32_MAX, value);
	case FLAG_VARIANT:
		words_add(&a->variants, value);
		return true;
	case FLAG_TIES:
		return flag_choice("--tie-order", value, tie_orders, &a->tie_order);
	case FLAG_FORMAT:
		return flag_choice("--format", value, formats, &a->format);
	case FLAG_NAIVE:
		a->naive = true;
		return true;
	case FLAG_RESUME:
		a->resume = true;
		return true;
	case 'q':
		a->quiet = true;
		return true;
	default:
		input_take(&a->input, key, value, &good);
		return good;
	}
}

static bool known_variant(const struct scenario_set *set, const char *name)
{
	struct hint hint = hint_for(name);
	char text[HINT_TEXT];

	for (size_t i = 0; i < scenario_nr_variants(set); i++) {
		const char *known = scenario_variant_name(scenario_variant(set, i));

		if (!strcmp(known, name))
			return true;
		hint_offer(&hint, known);
	}
	note("the scenario has no variant '%s'%s", name, hint_text(&hint, text));
	return false;
}

static bool chosen(const struct words *variants, const struct scenario *s)
{
	for (size_t i = 0; i < variants->nr; i++)
		if (!strcmp(variants->list[i], scenario_variant_name(s)))
			return true;
	return !variants->nr;
}

/* Replication by replication, so that an experiment that is cut short has something of every variant. */
static size_t make_jobs(const struct scenario_set *set, const struct words *variants, struct job **jobs)
{
	size_t nr = 0;
	bool more = true;

	*jobs = NULL;
	for (uint32_t k = 0; more; k++) {
		more = false;
		for (size_t i = 0; i < scenario_nr_variants(set); i++) {
			const struct scenario *s = scenario_variant(set, i);
			const struct run_options *o = scenario_run(s);

			if (!chosen(variants, s) || k >= o->replications)
				continue;
			*jobs = xreallocarray(*jobs, nr + 1, sizeof(**jobs));
			(*jobs)[nr++] = (struct job){ .scenario = s, .replication = k, .seed = o->seed + k };
			more = true;
		}
	}
	return nr;
}

static void print_word(FILE *out, const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:@%+#";

	if (*word && word[strspn(word, plain)] == '\0') {
		fprintf(out, " %s", word);
		return;
	}
	fputs(" '", out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\'", out);
		putc(*word, out);
	}
	putc('\'', out);
}

static void say_how_to_go_on(const struct arguments *a, const struct keep *k)
{
	note("interrupted; %zu of %zu runs are complete and kept. To go on:", keep_count(k, KEPT_DONE),
	     k->nr_jobs);
	fputs(" memcgsim", stderr);
	for (int i = 0; i < a->argc; i++)
		print_word(stderr, a->argv[i]);
	fputs(a->resume ? "\n" : " --resume\n", stderr);
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static enum execute_end execute_all(const struct arguments *a, struct keep *k)
{
	if (!a->quiet)
		k->progress = progress_new(stderr, isatty(STDERR_FILENO), k->nr_jobs, seconds_now());
	enum execute_end end = execute(&(struct execute_setup){
		.jobs = k->jobs,
		.nr_jobs = k->nr_jobs,
		.at_once = (uint32_t)a->at_once,
		.random_ties = k->random_ties,
		.naive = k->naive,
		.progress = k->progress,
		.started = keep_started,
		.finished = keep_finished,
		.arg = k,
	});

	progress_free(k->progress);
	k->progress = NULL;
	return end;
}

static void print_invariants(const struct keep *k)
{
	printf("invariants: %llu ok", (unsigned long long)k->invariants_held);
	if (k->invariants_known)
		printf(", %llu broken as the variants are known to", (unsigned long long)k->invariants_known);
	if (k->invariants_broken)
		printf(", %llu broken", (unsigned long long)k->invariants_broken);
	putchar('\n');
}

static int finish(const struct arguments *a, struct keep *k, enum execute_end end)
{
	bool failed = end != EXECUTE_DONE || keep_count(k, KEPT_FAILED);

	if (end == EXECUTE_STOPPED)
		return STATUS_FAILED;
	if (end == EXECUTE_INTERRUPTED) {
		keep_interrupted(k);
		say_how_to_go_on(a, k);
		return STATUS_FAILED;
	}
	keep_report_identical(k);
	if (a->format == SUMMARY_TEXT && k->nr_jobs) /* of these runs; those that were there have said so */
		print_invariants(k);
	if (!summary_print(k->store, k->experiment, (enum summary_format)a->format, stdout)) {
		note("%s", store_error(k->store));
		failed = true;
	}
	return failed ? STATUS_FAILED : STATUS_DONE;
}

static int run_in_store(const struct arguments *a, struct keep *k)
{
	struct job *jobs;

	k->experiment = a->resume ? keep_same_experiment(k->store, k->set) : NULL;
	size_t wanted = make_jobs(k->set, &a->variants, &jobs);

	k->nr_jobs = k->experiment ? keep_missing(k, jobs, wanted) : wanted;
	if (k->nr_jobs < wanted && !a->quiet)
		note("%zu of %zu runs are there already", wanted - k->nr_jobs, wanted);
	k->jobs = jobs;
	k->runs = xcalloc(k->nr_jobs, sizeof(*k->runs));

	int status = finish(a, k, execute_all(a, k));

	free(k->experiment);
	free(k->runs);
	free(jobs);
	return status;
}

static int run_set(const struct arguments *a, const struct scenario_set *set)
{
	char *path, *error;

	for (size_t i = 0; i < a->variants.nr; i++)
		if (!known_variant(set, a->variants.list[i]))
			return STATUS_WRONG;
	if (a->output)
		path = xstrdup(a->output);
	else if (asprintf(&path, "%s.db", scenario_name(set)) < 0)
		xalloc_checked(NULL);

	char *provenance = provenance_json(a->argc, a->argv);
	struct keep k = {
		.store = store_open(path, STORE_WRITE, &error),
		.set = set,
		.provenance = provenance,
		.random_ties = a->tie_order == 1,
		.naive = a->naive,
	};
	int status = STATUS_WRONG;

	if (k.store) {
		status = run_in_store(a, &k);
		store_close(k.store);
	} else {
		note("%s", error);
		free(error);
	}
	free(provenance);
	free(path);
	return status;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct arguments a = { .at_once = 1, .argc = argc, .argv = argv };
	struct operands operands;
	int status;

	if (parse_command_line(self, argc, argv, take, &a, 1, 1, &operands, &status)) {
		struct scenario_set *set = input_load(&a.input, operands.words[0], NULL);

		status = set ? run_set(&a, set) : STATUS_WRONG;
		if (set)
			scenario_free(set);
	}
	input_free(&a.input);
	words_free(&a.variants);
	return status;
}

const struct command command_run = {
	.name = "run",
	.operands = "SCENARIO",
	.help = "simulates every variant of a scenario and compares them",
	.flags = flags,
	.nr_flags = sizeof(flags) / sizeof(flags[0]),
	.run = run,
};
