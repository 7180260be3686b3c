/*
 * scenario.h - a scenario, read, checked and bound.
 *
 * scenario_load() reads a file with its includes, its kernel bundle (kernel: NAME is
 * scenarios/kernels/NAME.yaml) and its machine (host.machine: NAME is scenarios/machines/NAME.yaml), checks
 * every key against the option tables, expands ranges, and makes one bound scenario a variant. Precedence,
 * highest first: the variant's `set`, the command line's --set, the scenario, included files (later ones
 * over earlier), the kernel bundle and the machine, defaults. All mistakes of all variants are collected in
 * `complaints`; nothing is simulated when there is one.
 *
 * Bundles are looked for in the folder of the scenario, then in --path folders, then in the installed or
 * source `scenarios/` folder.
 */
#ifndef SIM_SCENARIO_SCENARIO_H
#define SIM_SCENARIO_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/hw/machine.h"
#include "sim/module.h"
#include "sim/scenario/option.h"

struct scenario_set; /* what one file describes: all variants */
struct scenario;     /* one variant, bound */

/* Mistakes, in order of file and line, each once. */
struct complaints;
struct complaints *complaints_new(void);
void complaints_free(struct complaints *c);
void complain(struct complaints *c, struct where at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * What is allowed, and seldom meant: does not keep the scenario from running. `settled`: in this variant
 * there is nothing to remark on, and then nothing is said of the place at all.
 */
void remark(struct complaints *c, struct where at, bool settled, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
size_t complaints_count(const struct complaints *c);
size_t complaints_raised(const struct complaints *c); /* repeated ones too: has anything been found since? */
void complaints_print(const struct complaints *c, FILE *out); /* file:line:column: text; remarks too */

struct scenario_source {
	const char *path;        /* file, "-" for standard input */
	const char *text;        /* or its contents, with path as the name (rerun) */
	const char *const *sets; /* --set path=value */
	size_t nr_sets;
	const char *const *paths; /* further folders of bundles and includes */
	size_t nr_paths;
};

/* modules_init() comes first. NULL if there are complaints. */
struct scenario_set *scenario_load(const struct scenario_source *source, struct complaints *c);
void scenario_free(struct scenario_set *set);

const char *scenario_name(const struct scenario_set *set);
/* The text with everything included expanded: enough to run it again on another machine. */
const char *scenario_text(const struct scenario_set *set);
size_t scenario_nr_variants(const struct scenario_set *set); /* at least 1; unnamed: "base" */
const struct scenario *scenario_variant(const struct scenario_set *set, size_t i);

const char *scenario_variant_name(const struct scenario *s);
/* What the variant and the command line set, as JSON object text. */
const char *scenario_params(const struct scenario *s);
/* The bound structure of a MODULE_SECTION (for .list sections a struct option_list). Never NULL. */
const void *scenario_section(const struct scenario *s, const char *name);
/* The bound structure of a MODULE_COSTS group. */
const void *scenario_costs(const struct scenario *s, const char *group);
/* The value of an axis. An unknown axis, section or group is a defect of the caller and ends the program. */
const struct module_use *scenario_policy(const struct scenario *s, const char *axis);
struct where scenario_policy_where(const struct scenario *s, const char *axis);
/* `kernel:` as named, "v6.6", and its number, 606 (major * 100 + minor); without one "none" and 0. */
const char *scenario_kernel(const struct scenario *s);
uint32_t scenario_kernel_version(const struct scenario *s);
bool scenario_allow_unreal(const struct scenario *s);
const struct machine *scenario_machine(const struct scenario *s);

/* The sections that belong to sim/ itself: scenario_section(s, "host") and scenario_run(). */
struct host_options {
	uint32_t cpus, possible_cpus, nodes, sockets, threads_per_core, hz; /* as in struct machine */

	uint64_t memory;     /* bytes, of all nodes together */
	const char *machine; /* whose costs; NULL: the defaults */
	int preemption;      /* enum preempt_model (sim/hw/task.h) */
	bool preempt_dynamic;
};
struct run_options {
	bool until_done;   /* until: done */
	sim_time_t until;  /* simulated time, warm-up included; until_done: SIM_NEVER */
	sim_time_t warmup; /* forgotten before results are taken */
	sim_time_t sample; /* between samples; 0: none */
	uint64_t seed;
	uint32_t replications;
	uint32_t rows;      /* most rows of one (metric, entity) series */
	sim_time_t give_up; /* until: done ends here at the latest, as a failure */
};
const struct run_options *scenario_run(const struct scenario *s);

/* Expansion of a name with ranges: "child{1..5}" gives 5 names. Strings are alive as long as the scenario. */
size_t scenario_expand_name(const struct scenario *s, const char *pattern, const char *const **names);

/* `check --effective`: the scenario with every default filled in and where each value came from. */
void scenario_print_effective(const struct scenario *s, FILE *out);
/* `schema`: JSON Schema of the scenario language. `explain NAME`: false if nothing has that name. */
void scenario_print_schema(FILE *out);
bool scenario_explain(const char *name, FILE *out);
/* docs/options.md */
void scenario_print_reference(FILE *out);

#endif
