/*
 * test_causality.c - the engine that merges private work against the one that does not.
 *
 * Random programs of tasks run on both (struct sim_config.naive); every shared action writes its time, CPU,
 * task and what it saw into a log, and the logs must be equal to the bit, the statistics of CPUs and locks
 * after them included. Durations come mostly from a coarse grid, so that much happens at the same instant.
 * A program that fails is shrunk to a small one, which is printed.
 *
 * Arguments: how many programs (default NR_PROGRAMS), and the number of the first, for longer searches.
 */
#include "tests/causality_world.h"
#include "tests/shared.h"

#include <stdlib.h>

#define NR_PROGRAMS 1200

static char *difference(size_t i, struct entry merging, struct entry naive)
{
	return xasprintf(
		"entry %zu: merging at %ju ps, naive at %ju ps; what they saw (value, task, CPU): %jx, %jx",
		i, (uintmax_t)merging.when, (uintmax_t)naive.when, (uintmax_t)merging.what,
		(uintmax_t)naive.what);
}

/* What is wrong (to be freed), or NULL. */
static char *compare(const struct program *p)
{
	static struct world merging, naive;
	char *error = run_engine(&merging, p, false);

	if (error) {
		free(merging.log);
		return error;
	}
	error = run_engine(&naive, p, true);
	size_t nr = merging.nr < naive.nr ? merging.nr : naive.nr, i = 0;

	while (i < nr && merging.log[i].when == naive.log[i].when && merging.log[i].what == naive.log[i].what)
		i++;
	if (!error && i < nr)
		error = difference(i, merging.log[i], naive.log[i]);
	else if (!error && merging.nr != naive.nr)
		error = xasprintf("%zu entries against %zu", merging.nr, naive.nr);
	free(merging.log);
	free(naive.log);
	return error;
}

/* ---- a failure, made small ---- */

static bool still_fails(const struct program *p)
{
	char *error = compare(p);

	free(error);
	return error;
}

static void shrink(struct program *p)
{
	bool smaller = true;

	while (smaller) {
		smaller = false;
		for (uint32_t i = 0; i < p->nr; i++) {
			struct script *s = &p->scripts[i];
			struct script kept = *s;
			uint32_t nr_dropped = 0;

			for (uint32_t j = 0; j < s->nr; j++) {
				nr_dropped += !s->ops[j].dropped;
				s->ops[j].dropped = true;
			}
			if (!nr_dropped)
				continue;
			if (still_fails(p)) {
				smaller = true;
				continue;
			}
			*s = kept;
			for (uint32_t j = 0; j < s->nr; j++) {
				if (s->ops[j].dropped)
					continue;
				s->ops[j].dropped = true;
				if (still_fails(p))
					smaller = true;
				else
					s->ops[j].dropped = false;
			}
		}
	}
}

static uint64_t nr_programs = NR_PROGRAMS, first_program = 1;

static void merging_equals_naive(void **state)
{
	static struct program p;

	(void)state;
	for (uint64_t i = FIRST_SHARED; i < nr_programs; i += NR_SHARING) {
		make_program(&p, first_program + i);
		char *error = compare(&p);

		if (!error)
			continue;
		print_message("%s\nshrunk to:\n", error);
		free(error);
		shrink(&p);
		error = compare(&p);
		print_program(&p);
		fail_msg("%s", error);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merging_equals_naive),
	};

	if (argc > 1)
		nr_programs = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		first_program = strtoull(argv[2], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
