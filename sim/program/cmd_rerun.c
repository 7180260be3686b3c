/*
 * cmd_rerun.c - memcgsim rerun: repeats a run from the database alone and compares fingerprints.
 *
 * The stored scenario holds everything that was included and set; with the variant, the seed and the two
 * switches of the engine that --tie-order and --naive are, it is the whole input of a run. Nothing is
 * written.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/xalloc.h"
#include "sim/program/input.h"
#include "sim/program/keep.h"
#include "sim/results/provenance.h"

static const struct flag flags[] = { INPUT_PLUGIN_FLAG };

struct stored {
	int64_t run_id;
	char *variant, *text, *version;
	uint32_t replication;
	uint64_t seed, fingerprint;
	bool random_ties, naive, ended;
};

struct again {
	const struct stored *stored;
	int status;
};

static bool take(void *into, int key, const char *value)
{
	bool good = true;

	input_take(into, key, value, &good);
	return good;
}

static void copy_entry(const struct store_entry *e, void *arg)
{
	struct stored *s = arg;

	s->run_id = e->run_id;
	s->variant = xstrdup(e->variant);
	s->text = xstrdup(e->scenario_yaml);
	s->version = xstrdup(e->program_version);
	s->replication = e->replication;
	s->seed = e->seed;
	s->fingerprint = e->fingerprint;
	s->ended = !strcmp(e->status, "done");
	keep_params_read(e->params, &s->random_ties, &s->naive);
}

/* `name` is what the user called the run. */
static int load_stored(const char *path, const char *name, struct stored *stored)
{
	uint64_t id;
	char *error;

	if (!flag_u64("rerun", name, 1, INT64_MAX, &id))
		return STATUS_WRONG;
	struct store *store = store_open(path, STORE_READ, &error);

	if (!store) {
		note("%s", error);
		free(error);
		return STATUS_WRONG;
	}
	bool found = store_visit(store, (int64_t)id, copy_entry, stored);

	if (!found)
		note("%s", store_error(store));
	store_close(store);
	if (found && !stored->ended) {
		note("run %s did not end well: there is nothing to compare with", name);
		return STATUS_WRONG;
	}
	return found ? STATUS_DONE : STATUS_WRONG;
}

static bool compare(void *arg, const struct job *job, struct record *record)
{
	struct again *again = arg;
	const struct stored *s = again->stored;
	const struct record_end *end = record_ended(record);

	(void)job;
	again->status = STATUS_FAILED;
	if (!end->done) {
		note("the run failed this time: %s", end->error);
	} else if (end->fingerprint != s->fingerprint) {
		char *version = program_version_text();

		printf("run %" PRId64 ": fingerprint %016" PRIx64 ", was %016" PRIx64 "\n", s->run_id,
		       end->fingerprint, s->fingerprint);
		note("the run was made by version %s, this is %s", s->version, version);
		free(version);
	} else {
		printf("run %" PRId64 ": fingerprint %016" PRIx64 ", as before\n", s->run_id, s->fingerprint);
		again->status = STATUS_DONE;
	}
	record_free(record);
	return true;
}

static const struct scenario *find_variant(const struct scenario_set *set, const char *name)
{
	for (size_t i = 0; i < scenario_nr_variants(set); i++)
		if (!strcmp(scenario_variant_name(scenario_variant(set, i)), name))
			return scenario_variant(set, i);
	note("the stored scenario has no variant '%s'", name);
	return NULL;
}

static int repeat(const struct input *input, const struct stored *stored, const char *path)
{
	struct scenario_set *set = input_load(input, path, stored->text);
	struct again again = { .stored = stored, .status = STATUS_FAILED };

	if (!set)
		return STATUS_WRONG;
	struct job job = {
		.scenario = find_variant(set, stored->variant),
		.replication = stored->replication,
		.seed = stored->seed,
	};

	if (job.scenario)
		execute(&(struct execute_setup){
			.jobs = &job,
			.nr_jobs = 1,
			.at_once = 1,
			.random_ties = stored->random_ties,
			.naive = stored->naive,
			.finished = compare,
			.arg = &again,
		});
	scenario_free(set);
	return again.status;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct input input = { 0 };
	struct stored stored = { 0 };
	struct operands operands;
	int status;

	if (parse_command_line(self, argc, argv, take, &input, 2, 2, &operands, &status)) {
		status = load_stored(operands.words[0], operands.words[1], &stored);
		if (status == STATUS_DONE)
			status = repeat(&input, &stored, operands.words[0]);
	}
	free(stored.variant);
	free(stored.text);
	free(stored.version);
	input_free(&input);
	return status;
}

const struct command command_rerun = {
	.name = "rerun",
	.operands = "DATABASE RUN",
	.help = "repeats a run from the database alone and compares fingerprints",
	.flags = flags,
	.nr_flags = sizeof(flags) / sizeof(flags[0]),
	.run = run,
};
