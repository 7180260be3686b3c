/*
 * test_scenario.c - files, precedence, variants, paths, and the text that is kept with the results.
 */
#include "tests/language.h"

#include <sys/stat.h>
#include <unistd.h>

#include "sim/experiment/run.h"
#include "sim/hw/task.h"

/* What a model may ask of a scenario: here, that nobody counts to thirteen. */
static void check_model(const struct scenario *s, struct complaints *c)
{
	const struct option_list *tasks = scenario_section(s, "t_tasks");

	for (size_t i = 0; i < tasks->nr; i++) {
		const struct t_task *task = tasks->items[i];

		if (task->count == 13)
			complain(c, option_where(task, "count"), "count: not 13");
	}
}

/* In a real run this model has nothing to build; only run.c would call the rest. */
static void build_nothing(struct run *run)
{
	(void)run;
}

static const struct model_ops t_model_ops = { .check = check_model, .build = build_nothing };
MODULE(t_model) = {
	.abi = MEMCGSIM_ABI, .kind = MODULE_MODEL, .name = "t_model", .help = "checks", .ops = &t_model_ops
};

static char folder[] = "/tmp/memcgsim-scenario-XXXXXX";

static const char *path_of(const char *name)
{
	static char paths[4][200];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	FILE *out = fopen(path_of(name), "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

/* Puts "DIR" for the folder, whose name differs from run to run, and drops lists of what the tree has. */
static void shorten(char *text)
{
	for (char *at; (at = strstr(text, "; known: "));)
		memmove(at, at + strcspn(at, "\n"), strlen(at + strcspn(at, "\n")) + 1);
	for (char *at; (at = strstr(text, folder));) {
		memcpy(at, "DIR", 3);
		memmove(at + 3, at + strlen(folder), strlen(at + strlen(folder)) + 1);
	}
}

static struct scenario_set *load_file(const char *name, const char *expected)
{
	struct complaints *c = complaints_new();
	const struct scenario_source source = { .path = path_of(name) };
	struct scenario_set *set = scenario_load(&source, c);
	char *text = t_printed(c);

	shorten(text);
	assert_string_equal(text, expected);
	assert_int_equal(set == NULL, *expected != '\0');
	free(text);
	complaints_free(c);
	return set;
}

static const struct t_task *first_task(const struct scenario *s)
{
	return ((const struct option_list *)scenario_section(s, "t_tasks"))->items[0];
}

static const struct t_group *first_group(const struct scenario *s)
{
	return ((const struct option_list *)scenario_section(s, "t_groups"))->items[0];
}

static const char *const variants_body = HEAD
	"policies: { t_flush: all }\n"
	"t_groups:\n"
	"  - name: parent{1..50}\n"
	"    children: [ { name: child, tasks: [ { workload: t_churn } ] } ]\n"
	"t_tasks: [ { workload: t_reader, target: x, interval: 1s } ]\n"
	"variants:\n"
	"  - { name: base }\n"
	"  - name: patched\n"
	"    set:\n"
	"      policies.t_flush: one\n"
	"      host.cpus: 512\n"
	"      t_tasks[0].interval: 2s\n"
	"      t_groups[parent{1..50}].size.max: 100MiB\n"
	"      t_groups[0].reclaim.batch: 5\n"
	"      t_groups[0].children[child].tasks[0].pause: { uniform: [1ms, 2ms] }\n"
	"      costs.t_costs.jump: 20ns\n"
	"  - { name: whole, set: { t_tasks: [], host.preemption: full } }\n"
	"  - { name: option, set: { policies.t_flush.batch: 9 } }\n";

static void variants(void **state)
{
	struct scenario_set *set = t_load(variants_body);
	const struct scenario *base = scenario_variant(set, 0), *patched = scenario_variant(set, 1),
			      *whole = scenario_variant(set, 2), *option = scenario_variant(set, 3);
	const struct t_group *child;
	const struct t_churn *churn;

	(void)state;
	assert_int_equal(scenario_nr_variants(set), 4);
	assert_string_equal(scenario_name(set), "test");
	assert_string_equal(scenario_variant_name(base), "base");
	assert_string_equal(scenario_params(base), "{}");
	assert_int_equal(scenario_machine(base)->cpus, 4);
	assert_string_equal(scenario_policy(base, "t_flush")->module->name, "all");
	assert_int_equal(first_group(base)->limit, UINT64_MAX);

	assert_string_equal(scenario_variant_name(patched), "patched");
	assert_string_equal(
		scenario_params(patched),
		"{\"policies.t_flush\": \"one\", \"host.cpus\": 512, \"t_tasks[0].interval\": \"2s\", "
		"\"t_groups[parent{1..50}].size.max\": \"100MiB\", \"t_groups[0].reclaim.batch\": 5, "
		"\"t_groups[0].children[child].tasks[0].pause\": {\"uniform\": [\"1ms\", \"2ms\"]}, "
		"\"costs.t_costs.jump\": \"20ns\"}");
	assert_int_equal(scenario_machine(patched)->cpus, 512);
	assert_string_equal(scenario_policy(patched, "t_flush")->module->name, "one");
	assert_int_equal(((const struct t_reader *)first_task(patched)->work.options)->interval, 2 * SIM_SEC);
	assert_int_equal(first_group(patched)->limit, 100 << 20);
	assert_int_equal(first_group(patched)->reclaim.batch, 5);
	child = first_group(patched)->children.items[0];
	churn = ((const struct t_task *)child->tasks.items[0])->work.options;
	assert_int_equal(churn->pause.kind, DIST_UNIFORM);
	assert_int_equal(((const struct t_costs *)scenario_costs(patched, "t_costs"))->jump, 20 * SIM_NS);

	assert_int_equal(((const struct option_list *)scenario_section(whole, "t_tasks"))->nr, 0);
	assert_int_equal(((const struct host_options *)scenario_section(whole, "host"))->preemption,
			 PREEMPT_FULL);
	assert_int_equal(((const struct t_flush *)scenario_policy(option, "t_flush")->options)->batch, 9);
	scenario_free(set);
}

static void wrong_variants(void **state)
{
	(void)state;
	t_refused(
		HEAD
		"t_groups: [ { name: a } ]\n"
		"variants:\n"
		"  - { name: a, set: { policies.t_flsh: one } }\n"
		"  - { name: b, set: { host.cpu: 1, hots.cpus: 2 } }\n"
		"  - { name: c, set: { \"t_groups[1].name\": x, \"t_groups[b].name\": x, "
		"\"t_groups[a.name\": x } }\n"
		"  - { name: d, set: { \"host[0]\": 1, host.cpus.x: 1, scenario: y, \"t_groups[0]x\": 1 } }\n"
		"  - { name: e, set: { policies.t_flush.bach: 1, host.cpus: none } }\n"
		"  - { name: a }\n"
		"  - { set: { host.cpus: 2 } }\n"
		"  - { name: f, sett: 3 }\n",
		"test.yaml:6:23: unknown key 't_flsh' in policies; did you mean 't_flush'?\n"
		"test.yaml:7:23: unknown key 'cpu' in host; did you mean 'cpus'?\n"
		"test.yaml:7:36: unknown key 'hots' in the scenario; did you mean 'host'?\n"
		"test.yaml:8:23: path 't_groups[1].name': t_groups has 1 items, numbered from 0\n"
		"test.yaml:8:46: path 't_groups[b].name': no item of t_groups is named 'b'; did you mean "
		"'a'?\n"
		"test.yaml:8:69: path 't_groups[a.name': a '[' is not closed\n"
		"test.yaml:9:23: path 'host[0]': there is no list 'host' here\n"
		"test.yaml:9:37: path 'host.cpus.x': 'cpus' has no keys\n"
		"test.yaml:9:53: path 'scenario': is the same in all variants\n"
		"test.yaml:9:66: path 't_groups[0]x': a '.' and a key are expected behind ']'\n"
		"test.yaml:10:23: unknown key 'bach' in t_flush; did you mean 'batch'?\n"
		"test.yaml:10:60: cpus: 'none' is not a count\n"
		"test.yaml:11:13: variant 'a' stands already in line 6\n"
		"test.yaml:12:5: key 'name' of variants is missing\n"
		"test.yaml:13:16: unknown key 'sett' in variants; did you mean 'set'?\n");
}

/* Of the keys of a workload that is not known nothing is said, wherever they stand. */
static void unknown_workload(void **state)
{
	(void)state;
	t_refused(HEAD "t_tasks: [ { workload: t_readre, interval: 1s } ]\n"
		       "variants: [ { name: a, set: { \"t_tasks[0].interval\": 2s } } ]\n",
		  "test.yaml:4:24: unknown workload 't_readre'; did you mean 't_reader'?\n");
}

static void sets(void **state)
{
	static const char *const good[] = { "host.cpus=16", "policies.t_flush.late=on",
					    "t_tasks[0].target=*/b=c", "t_tasks[0].workload=t_reader",
					    "t_groups[0].labels=[ x, \"y, z\" ]" };
	static const char *const bad[] = { "host.cpus",   "=3",           "host.cpus=",
					   "host.cups=3", "host.nodes=0", "t_groups=[}" };
	struct complaints *c = complaints_new();
	struct scenario_set *set = t_load_with(variants_body, good, 5, c);

	(void)state;
	assert_non_null(set);
	assert_int_equal(scenario_machine(scenario_variant(set, 0))->cpus, 16);
	/* A variant has the last word. */
	assert_int_equal(scenario_machine(scenario_variant(set, 1))->cpus, 512);
	assert_true(((const struct t_flush *)scenario_policy(scenario_variant(set, 0), "t_flush")->options)
			    ->late);
	assert_string_equal(
		((const struct t_reader *)first_task(scenario_variant(set, 0))->work.options)->target,
		"*/b=c");
	assert_string_equal(first_group(scenario_variant(set, 0))->labels.items[1], "y, z");
	complaints_free(c);
	scenario_free(set);

	t_refused_with(
		HEAD, bad, 6,
		"--set:1:1: 'host.cpus': path=value is expected\n"
		"--set:1:1: '=3': path=value is expected\n"
		"--set:1:1: 'host.cpus=': path=value is expected\n"
		"--set:1:1: unknown key 'cups' in host; did you mean 'cpus'?\n"
		"--set:1:11: did not find expected node content (while parsing a flow node that begins in "
		"line 1)\n"
		"--set:1:12: nodes: '0' is out of range; allowed: 1 to 1024\n");
}

/* Scenario over includes (the later first) over kernel and machine over defaults. */
static void precedence(void **state)
{
	struct scenario_set *set;
	const struct scenario *s;
	const struct t_costs *costs;
	char *policies = t_policies(), *text;

	(void)state;
	assert_int_equal(mkdir(path_of("kernels"), 0700) | mkdir(path_of("parts"), 0700), 0);
	text = xasprintf("kernel: { version: \"6.12\", description: d }\npolicies: { %s%s"
			 "t_flush: { name: all, batch: 3, late: on } }\n",
			 policies, *policies ? ", " : "");
	write_file("kernels/k1.yaml", text);
	free(text);
	text = xasprintf("kernel: { version: \"4.9\" }\npolicies: { %s }\n", policies);
	write_file("kernels/k2.yaml", text);
	free(text);
	free(policies);
	write_file(
		"m1.yaml",
		"description: d\nhost: { sockets: 2, nodes: 4 }\ncosts: { t_costs: { step: 5ns, jump: 6ns, "
		"rate: 7/s } }\n");
	write_file("parts/one.yaml",
		   "include: two.yaml\nrun: { seed: 1, rows: 11 }\ncosts: { t_costs: { jump: 60ns } }\n");
	write_file("parts/two.yaml",
		   "run: { seed: 2, rows: 22, sample: 22ms }\nt_groups: [ { name: two } ]\n");
	write_file("parts/three.yaml", "run: { seed: 3, warmup: 3ms }\nt_groups: [ { name: three } ]\n");
	write_file(
		"main.yaml",
		"schema: 1\nscenario: main\ninclude: [parts/one.yaml, parts/three.yaml]\n"
		"kernel: k1\nhost: { cpus: 8, machine: m1, sockets: 4 }\nrun: { seed: 5 }\n"
		"policies: { t_flush: { batch: 4 } }\nallow_unreal: true\n"
		"variants:\n  - { name: a }\n  - { name: b, set: { kernel: k2, policies.t_flush: one } }\n");
	set = load_file("main.yaml", "");
	s = scenario_variant(set, 0);
	costs = scenario_costs(s, "t_costs");
	assert_int_equal(scenario_run(s)->seed, 5);
	assert_int_equal(scenario_run(s)->warmup, 3 * SIM_MS);
	assert_int_equal(scenario_run(s)->rows, 11);
	assert_int_equal(scenario_run(s)->sample, 22 * SIM_MS);
	assert_string_equal(first_group(s)->name, "three");
	assert_int_equal(costs->step, 5 * SIM_NS);
	assert_int_equal(costs->jump, 60 * SIM_NS);
	assert_int_equal(scenario_machine(s)->sockets, 4);
	assert_int_equal(scenario_machine(s)->nodes, 4);
	assert_int_equal(scenario_machine(s)->possible_cpus, 8);
	assert_int_equal(scenario_kernel_version(s), 612);
	assert_string_equal(scenario_kernel(s), "k1");
	assert_int_equal(((const struct t_flush *)scenario_policy(s, "t_flush")->options)->batch, 4);
	assert_true(((const struct t_flush *)scenario_policy(s, "t_flush")->options)->late);
	s = scenario_variant(set, 1);
	assert_int_equal(scenario_kernel_version(s), 409);
	assert_string_equal(scenario_policy(s, "t_flush")->module->name, "one");
	scenario_free(set);
}

static void byte_order_mark(void **state)
{
	char *text = t_text(HEAD), *marked = xasprintf("\xef\xbb\xbf%s", text);

	(void)state;
	write_file("marked.yaml", marked);
	scenario_free(load_file("marked.yaml", ""));
	write_file("marked.yaml", "\xef\xbb\xbfword\n");
	load_file("marked.yaml", "DIR/marked.yaml:1:1: a map of keys is expected, not a single value\n");
	free(marked);
	free(text);
}

static void wrong_files(void **state)
{
	char *policies = t_policies(), *text;

	(void)state;
	write_file("self.yaml", "schema: 1\ninclude: self.yaml\n");
	load_file("self.yaml", "DIR/self.yaml:1:1: the file includes itself\n");
	write_file("a.yaml", "schema: 1\ninclude: b.yaml\n");
	write_file("b.yaml", "include: a.yaml\n");
	load_file("a.yaml", "DIR/a.yaml:1:1: the file includes itself through DIR/b.yaml\n");
	write_file("c.yaml", "schema: 1\nscenario: c\nhost: { cpus: 1 }\ninclude: [gone.yaml, [x]]\n");
	load_file("c.yaml", "DIR/c.yaml:4:11: include: there is no file 'gone.yaml'\n"
			    "DIR/c.yaml:4:22: include: a text or a list of texts is expected, not a list\n");
	load_file("nowhere.yaml", "DIR/nowhere.yaml: cannot read: No such file or directory\n");
	load_file("parts", "DIR/parts: cannot read: Is a directory\n");
	write_file("d.yaml", "schema: 1\nscenario: d\nkernel: k3\nhost: { cpus: 1, machine: ../m1 }\n");
	load_file("d.yaml", "DIR/d.yaml:3:9: unknown kernel 'k3'; did you mean 'k1'?\n"
			    "DIR/d.yaml:4:27: unknown machine '../m1'\n");
	text = xasprintf("kernel: { version: six }\npolicies: { t_flush: ome, %s }\nhost: { cpus: 1 }\n",
			 policies);
	write_file("kernels/k4.yaml", text);
	free(text);
	free(policies);
	write_file("e.yaml", "schema: 1\nscenario: e\nkernel: k4\nhost: { cpus: 1 }\n");
	load_file("e.yaml",
		  "DIR/kernels/k4.yaml:1:20: a kernel needs a version like { version: \"6.6\" } under "
		  "'kernel'\n"
		  "DIR/kernels/k4.yaml:2:22: unknown policy 'ome' of axis 't_flush'; did you mean 'one'?\n"
		  "DIR/kernels/k4.yaml:3:1: unknown key 'host' in kernels\n");
	write_file("parts/new.yaml", "schema: 2\n");
	write_file("f.yaml", "schema: 1\nscenario: f\ninclude: parts/new.yaml\n");
	load_file("f.yaml",
		  "DIR/parts/new.yaml:1:9: schema 2 is newer than this program, which reads schema 1\n");
}

static void too_large(void **state)
{
	FILE *out = fopen(path_of("large.yaml"), "w");

	(void)state;
	assert_non_null(out);
	assert_int_equal(ftruncate(fileno(out), 100 << 20), 0);
	fclose(out);
	load_file("large.yaml", "DIR/large.yaml:1:1: larger than 16 MiB\n");
}

static void semantics(void **state)
{
	(void)state;
	t_refused("schema: 1\nscenario: test\n"
		  "host: { cpus: 6, nodes: 8, sockets: 3, threads_per_core: 4, possible_cpus: 5 }\n"
		  "run: { until: 1s, warmup: 1s }\n",
		  "test.yaml:3:37: sockets: 8 nodes cannot be shared evenly by 3 sockets\n"
		  "test.yaml:3:58: threads_per_core: 6 CPUs are not whole cores of 4 threads\n"
		  "test.yaml:3:76: possible_cpus: fewer than the 6 that are online\n"
		  "test.yaml:4:27: warmup: it must end before the run does\n");
	t_refused("schema: 1\nscenario: test\nhost: { cpus: 8, nodes: 8, threads_per_core: 2 }\n",
		  "test.yaml:3:25: nodes: 8 nodes for 4 cores, and each needs one\n");
	t_refused(HEAD "t_tasks: [ { workload: t_churn, count: 13 } ]\n", "test.yaml:4:40: count: not 13\n");
	t_refused("schema: 1\nscenario: \"a{1..2}\"\nhost: { cpus: 8 }\n",
		  "test.yaml:2:11: scenario: one name is needed, not a range\n");
}

/* The kept text is a scenario of its own: the same for every variant, and it keeps itself. */
static void check_text(struct scenario_set *set)
{
	const struct scenario_source source = { .path = "kept.yaml", .text = scenario_text(set) };
	struct complaints *c = complaints_new();
	struct scenario_set *again = scenario_load(&source, c);
	char *printed = t_printed(c);

	assert_string_equal(printed, "");
	assert_non_null(again);
	assert_string_equal(scenario_text(again), scenario_text(set));
	assert_int_equal(scenario_nr_variants(again), scenario_nr_variants(set));
	for (size_t i = 0; i < scenario_nr_variants(set); i++) {
		const struct scenario *s = scenario_variant(set, i), *t = scenario_variant(again, i);
		char *before = t_effective(s), *after = t_effective(t);

		assert_string_equal(before, after);
		assert_string_equal(scenario_variant_name(s), scenario_variant_name(t));
		assert_int_equal(scenario_kernel_version(s), scenario_kernel_version(t));
		assert_memory_equal(scenario_machine(s), scenario_machine(t), sizeof(struct machine));
		free(before);
		free(after);
	}
	free(printed);
	complaints_free(c);
	scenario_free(again);
}

static void kept_text(void **state)
{
	static const char *const sets_given[] = { "host.cpus=16", "policies.t_flush.batch=2", "run.seed=77" };
	struct complaints *c = complaints_new();
	struct scenario_set *set = t_load_with(variants_body, sets_given, 3, c);

	(void)state;
	assert_non_null(set);
	check_text(set);
	assert_non_null(strstr(scenario_text(set), "seed: 77"));
	complaints_free(c);
	scenario_free(set);
	set = load_file("main.yaml", "");
	assert_null(strstr(scenario_text(set), "include"));
	assert_non_null(strstr(scenario_text(set), "4.9"));
	check_text(set);
	/* Nothing is read from files any more. */
	write_file("kernels/k1.yaml", "");
	write_file("parts/one.yaml", "");
	check_text(set);
	scenario_free(set);
}

/* What `check --effective` prints of a variant is a scenario that prints the same. */
static void effective(void **state)
{
	struct scenario_set *set = t_load(variants_body), *again;
	struct complaints *c = complaints_new();
	char *body = t_effective(scenario_variant(set, 1)), *text;
	struct scenario_source source = { .path = "effective.yaml" };

	(void)state;
	assert_non_null(strstr(body, "\n    size.max: 100MiB\n"));
	assert_non_null(strstr(body, "\n            pages: 256\n"));
	assert_non_null(strstr(body, "\n  t_flush: one\n"));
	assert_non_null(strstr(body, "\n    step: 1ns\n"));
	/* The kernel's file is the one thing it names. */
	text = xasprintf("%skernels: { t_kernel: { kernel: { version: \"1.2\" } } }\n", body);
	source.text = text;
	again = scenario_load(&source, c);
	assert_int_equal(complaints_count(c), 0);
	assert_non_null(again);
	free(text);
	text = t_effective(scenario_variant(again, 0));
	assert_string_equal(text, body);
	free(text);
	free(body);
	complaints_free(c);
	scenario_free(again);
	scenario_free(set);
}

static int setup(void **state)
{
	(void)state;
	return modules_init() && mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	static const char *const names[] = {
		"kernels/k1.yaml",  "kernels/k2.yaml", "kernels/k4.yaml", "parts/one.yaml", "parts/two.yaml",
		"parts/three.yaml", "parts/new.yaml",  "kernels",         "parts",          "m1.yaml",
		"main.yaml",        "self.yaml",       "a.yaml",          "b.yaml",         "c.yaml",
		"d.yaml",           "e.yaml",          "f.yaml",          "large.yaml",     "marked.yaml"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		remove(path_of(names[i]));
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variants),
		cmocka_unit_test(wrong_variants),
		cmocka_unit_test(sets),
		cmocka_unit_test(precedence),
		cmocka_unit_test(byte_order_mark),
		cmocka_unit_test(wrong_files),
		cmocka_unit_test(too_large),
		cmocka_unit_test(semantics),
		cmocka_unit_test(unknown_workload),
		cmocka_unit_test(kept_text),
		cmocka_unit_test(effective),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
