/*
 * test_cyclic.c - a mapped file of 1.1 times the limit, touched cyclically under MGLRU, pass by pass beside
 * counts of real kernels.
 *
 * Such a load was long taken for chaotic. It is sensitive: a page more or less of kernel memory, and the
 * later passes are others. With the same amount it takes the kernel's course to within three pages, but only
 * if three rules hold: the worker of vmpressure makes long calls of reclaim give up the CPU, for which page
 * tables are walked again; a page that reclaim cannot free because a batch has it is unmapped all the same;
 * and one such is tried twice.
 */
#include <stdlib.h>

#include "tests/text_run.h"

#define PASSES 5

struct course {
	const char *kernel, *kernel_memory;
	double misses[PASSES], pgscan[PASSES], pgactivate[PASSES], restored[PASSES], active[PASSES];
};

static const struct course courses[] = {
	{ "v6.1",
	  "12KiB",
	  { 4506, 4506, 4286, 1845, 671 },
	  { 448, 4523, 8034, 3930, 3740 },
	  { 0, 0, 237, 99, 133 },
	  { 0, 4073, 2865, 103, 206 },
	  { 427, 2889, 2900, 2730, 2995 } },
	{ "v6.1",
	  "16KiB",
	  { 4506, 4506, 4221, 1876, 586 },
	  { 448, 4522, 7973, 3974, 3507 },
	  { 0, 0, 265, 105, 142 },
	  { 0, 4072, 2856, 138, 118 },
	  { 427, 2888, 2897, 2722, 2899 } },
	{ "v6.12",
	  "8KiB",
	  { 4506, 4506, 4506, 4506, 1696 },
	  { 448, 4524, 8395, 8361, 4845 },
	  { 0, 0, 216, 200, 130 },
	  { 0, 4074, 2944, 2842, 1047 },
	  { 413, 2860, 2100, 2860, 1610 } },
};

static void expect(const struct record *r, const char *metric, const char *pass, double count)
{
	double own = value(r, metric, pass);

	if (own < count - 3 || own > count + 3)
		fail_msg("%s of %s: %g, a kernel has %g", metric, pass, own, count);
}

static struct record *run_course(const struct course *c)
{
	char text[1024];

	snprintf(text, sizeof text,
		 "schema: 1\nscenario: test\nkernel: %s\npolicies: { reclaim: mglru }\nvm: { fault_around: "
		 "4KiB }\n"
		 "host: { cpus: 1, memory: 1GiB, machine: tcg-guest }\n"
		 "run: { until: done, sample: 0 }\n"
		 "cgroups: [ { name: g, memory.max: 16MiB, memory.swap.max: 0, tasks: [\n"
		 "  { workload: file_churn, name: r, via: mmap, pages: 4506, passes: 5, kernel_memory: %s } "
		 "] } ]\n",
		 c->kernel, c->kernel_memory);
	return run_text(text);
}

static void takes_the_kernels_course(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof courses / sizeof *courses; i++) {
		const struct course *c = &courses[i];
		struct record *r = run_course(c);

		for (int p = 0; p < PASSES; p++) {
			char pass[32];

			snprintf(pass, sizeof pass, "r/pass:%d", p + 1);
			expect(r, "pass.misses", pass, c->misses[p]);
			expect(r, "pass.pgscan", pass, c->pgscan[p]);
			expect(r, "pass.pgactivate", pass, c->pgactivate[p]);
			expect(r, "pass.workingset_restore_file", pass, c->restored[p]);
			expect(r, "pass.active_file", pass, c->active[p]);
		}
		record_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_the_kernels_course),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
