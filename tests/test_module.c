/*
 * test_module.c - the registry, and plug-ins that lie beside this program.
 */
#include "tests/language.h"

#include <fcntl.h>
#include <unistd.h>

/* Calls modules_load() on a file beside this program and compares what it prints on standard error. */
static void load(const char *name, bool expected, const char *text)
{
	char path[400], printed[1000] = "";
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	int saved = dup(STDERR_FILENO);
	FILE *capture = tmpfile();
	bool loaded;

	assert_true(length > 0);
	path[length] = '\0';
	snprintf(strrchr(path, '/') + 1, 100, "%s", name);
	assert_non_null(capture);
	fflush(stderr);
	dup2(fileno(capture), STDERR_FILENO);
	loaded = modules_load(path);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(capture);
	printed[fread(printed, 1, sizeof(printed) - 1, capture)] = '\0';
	fclose(capture);
	assert_int_equal(loaded, expected);
	if (*text)
		assert_non_null(strstr(printed, text));
	else
		assert_string_equal(printed, "");
}

static void ordered(void **state)
{
	const struct module *const *modules;
	size_t nr;

	(void)state;
	for (enum module_kind kind = 0; kind < NR_MODULE_KINDS; kind++) {
		modules = modules_of(kind, &nr);
		for (size_t i = 0; i < nr; i++) {
			assert_int_equal(modules[i]->kind, kind);
			assert_ptr_equal(module_find(kind, modules[i]->axis, modules[i]->name), modules[i]);
			if (i && modules[i - 1]->order == modules[i]->order && kind != MODULE_POLICY)
				assert_true(strcmp(modules[i - 1]->name, modules[i]->name) < 0);
			if (i)
				assert_true(modules[i - 1]->order <= modules[i]->order);
		}
	}
	assert_non_null(module_find(MODULE_POLICY, "t_flush", "64"));
	assert_non_null(module_find(MODULE_POLICY, NULL, "64"));
	assert_null(module_find(MODULE_POLICY, "t_flash", "64"));
	assert_null(module_find(MODULE_WORKLOAD, NULL, "64"));
	assert_string_equal(module_kind_name(MODULE_WORKLOAD), "workload");
	assert_true(modules_init());
}

static void plugins(void **state)
{
	const struct module *const *before;
	struct scenario_set *set;
	const struct module_use *use;
	size_t nr_before, nr;

	(void)state;
	before = modules_of(MODULE_AXIS, &nr_before);
	load("nowhere.so", false, "nowhere.so: cannot open shared object file");
	load("plugin_old.so", false, "plugin_old.so: built for ABI ");
	load("plugin_broken.so", false, "option 'pause' of 'broken': pause: '10' needs a unit");
	assert_null(module_find(MODULE_DEVICE, NULL, "broken_device"));
	assert_null(module_find(MODULE_AXIS, NULL, "example_axis"));

	load("plugin_example.so", true, "");
	modules_of(MODULE_AXIS, &nr);
	assert_int_equal(nr, nr_before + 1);
	/* What was handed out before is still there to be read. */
	assert_non_null(before[nr_before - 1]->name);
	set = t_load(HEAD "policies: { example_axis: { name: example, size: 8KiB } }\n");
	use = scenario_policy(scenario_variant(set, 0), "example_axis");
	assert_string_equal(use->module->name, "example");
	assert_int_equal(*(const int *)use->module->ops, 42);
	assert_int_equal(*(const uint64_t *)use->options, 8192);
	scenario_free(set);
	t_refused(
		HEAD "policies: { example_axis: exmaple }\n",
		"test.yaml:4:27: unknown policy 'exmaple' of axis 'example_axis'; did you mean 'example'?\n");
	load("plugin_example.so", false, "plugin_example.so: two modules are axis 'example_axis'");
	assert_non_null(module_find(MODULE_AXIS, NULL, "example_axis"));
}

static int setup(void **state)
{
	(void)state;
	return modules_init() ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(ordered), cmocka_unit_test(plugins) };

	return cmocka_run_group_tests(tests, setup, NULL);
}
