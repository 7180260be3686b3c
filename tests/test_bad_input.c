/*
 * test_bad_input.c - files that must be refused, and files that only random damage could write.
 *
 * tests/bad-input holds the files, each named after what it guards, and `expected` all that is said of them.
 * A new file gets its lines from what this program prints when they are missing. Which kernels and machines
 * there are is left out, and axes that want a value get one: neither is the files' business.
 */
#include "tests/language.h"

#include <dirent.h>

static const char folder[] = "tests/bad-input";

static int is_scenario(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 5 && !strcmp(entry->d_name + length - 5, ".yaml");
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

struct sets {
	char *list[64];
	size_t nr;
};

static void add_set(const char *axis, const char *policy, void *arg)
{
	struct sets *sets = arg;

	assert_true(sets->nr < 64);
	sets->list[sets->nr++] = xasprintf("policies.%s=%s", axis, policy);
}

/* Appends what is said of a file; false if it is not refused. */
static bool refuse(const char *name, const struct sets *sets, FILE *out)
{
	struct complaints *c = complaints_new();
	char path[300], *text;
	struct scenario_source source = { .path = path,
					  .sets = (const char *const *)sets->list,
					  .nr_sets = sets->nr };
	struct scenario_set *set;
	bool refused;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	set = scenario_load(&source, c);
	refused = !set && complaints_count(c);
	text = t_printed(c);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (strstr(line, "unknown kernel ") || strstr(line, "unknown machine "))
			line[strcspn(line, ";")] = '\0';
		fprintf(out, "%s\n", strncmp(line, folder, strlen(folder)) ? line : line + sizeof(folder));
	}
	free(text);
	scenario_free(set);
	complaints_free(c);
	return refused;
}

static void refused(void **state)
{
	struct sets sets = { .nr = 1 };
	struct dirent **entries;
	int nr = scandir(folder, &entries, is_scenario, by_name);
	char *said, expected[40000];
	size_t length, expected_length;
	FILE *out = open_memstream(&said, &length), *in = fopen("tests/bad-input/expected", "r");

	(void)state;
	assert_true(nr > 70);
	sets.list[0] = xstrdup("allow_unreal=true");
	t_each_axis(add_set, &sets);
	for (int i = 0; i < nr; i++) {
		if (!refuse(entries[i]->d_name, &sets, out))
			fail_msg("%s is accepted", entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	for (size_t i = 0; i < sets.nr; i++)
		free(sets.list[i]);
	fclose(out);
	assert_non_null(in);
	expected_length = fread(expected, 1, sizeof(expected) - 1, in);
	expected[expected_length] = '\0';
	fclose(in);
	if (strcmp(said, expected))
		fputs(said, stdout);
	assert_string_equal(said, expected);
	free(said);
}

static const char *const sound =
	"schema: 1\n"
	"scenario: sound\n"
	"description: \"caf\xc3\xa9 & more\"\n"
	"host: { cpus: 256, nodes: 2, memory: 1TiB, preemption: full }\n"
	"policies: { t_flush: { name: all, batch: 64 } }\n"
	"costs: { t_costs: { step: 0.2ns, rate: 3M/s } }\n"
	"t_groups:\n"
	"  - name: parent{1..50}\n"
	"    size.max: 125MiB\n"
	"    reclaim: &r { batch: 3, share: 5% }\n"
	"    children:\n"
	"      - name: child{01..05}\n"
	"        reclaim: *r\n"
	"        tasks: [ { workload: t_churn, count: 10, pause: { uniform: [1ms, 2ms] } } ]\n"
	"t_tasks:\n"
	"  - { workload: t_reader, target: \"parent*/child*\", interval: 1s }\n"
	"  - { workload: t_churn, ranks: { zipf: [100, 1.1] }, size: { table: [[4K, 1], [8K, 2]] } }\n"
	"run: { until: done, warmup: 0s, sample: 100ms, seed: 1, replications: 7 }\n"
	"variants:\n"
	"  - { name: base }\n"
	"  - { name: patched, set: { policies.t_flush: one, \"t_tasks[0].interval\": 2s } }\n";

/* A letter that means something to YAML or to the language, or any byte. */
static char some_byte(struct stream *s)
{
	static const char letters[] = "{}[]:,-#&*!|>'\"%@`~? \n\t0123456789.eKMGTiBmsun/<=\\\x80\xc3\xff";

	return stream_below(s, 4) ? letters[stream_below(s, sizeof(letters) - 1)]
				  : (char)(1 + stream_below(s, 255));
}

static char *damaged(const char *text, struct stream *s)
{
	size_t length = strlen(text);
	char *copy = xcalloc(length + 10, 1);

	memcpy(copy, text, length + 1);
	for (uint64_t n = 1 + stream_below(s, 2); n && length > 1; n--) {
		size_t at = stream_below(s, length), many = 1 + stream_below(s, 12);

		switch (stream_below(s, 8)) {
		case 0: /* the end is missing */
			copy[at] = '\0';
			break;
		case 1: /* a piece is missing */
			many = many < length - at ? many : length - at;
			memmove(copy + at, copy + at + many, length - at - many + 1);
			break;
		case 2: /* a byte too many */
			memmove(copy + at + 1, copy + at, length - at + 1);
			copy[at] = some_byte(s);
			break;
		case 3: /* a piece repeated over another */
			many = at + many <= length && 2 * many < length ? many : 1;
			memmove(copy + stream_below(s, length - many), copy + (at + many <= length ? at : 0),
				many);
			break;
		default:
			copy[at] = some_byte(s);
		}
		length = strlen(copy);
	}
	return copy;
}

/* Whatever happens to a good file, it is read or refused; and what is read can be kept and read again. */
static void damage(void **state)
{
	struct stream s;
	unsigned good = 0, bad = 0;

	(void)state;
	stream_init(&s, 1, "bad input", "damage");
	scenario_free(t_load(sound));
	for (int i = 0; i < 800; i++) {
		char *copy = damaged(sound, &s), *text = t_text(copy);
		struct complaints *c = complaints_new();
		struct scenario_source source = { .path = "damaged.yaml", .text = text };
		struct scenario_set *set = scenario_load(&source, c), *again;

		assert_int_equal(set == NULL, complaints_count(c) > 0);
		good += set != NULL;
		bad += set == NULL;
		source.text = set ? scenario_text(set) : "";
		again = scenario_load(&source, c);
		assert_int_equal(set == NULL, again == NULL);
		scenario_free(again);
		scenario_free(set);
		complaints_free(c);
		free(copy);
		free(text);
	}
	/* Damage that is always or never seen would test little. */
	if (good <= 30 || bad <= 300)
		fail_msg("%u of the damaged files are good, %u bad", good, bad);
}

static int setup(void **state)
{
	(void)state;
	return modules_init() ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(refused), cmocka_unit_test(damage) };

	return cmocka_run_group_tests(tests, setup, NULL);
}
