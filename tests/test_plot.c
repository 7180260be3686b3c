/*
 * test_plot.c - figures from a result file: drawn where gnuplot is, clearly refused where it is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/results/plot.h"
#include "sim/results/record_rows.h"
#include "tests/scratch.h"

#define FIGURES "analysis"

static const struct metric latency = { "stat.read_latency", "ns", METRIC_DISTRIBUTION, "" };
static const struct metric pages = { "staleness.pages", "pages", METRIC_GAUGE, "" };
static const struct metric age = { "staleness.age", "ns", METRIC_GAUGE, "" };

static struct store *open_store(void **state, enum store_mode mode)
{
	char *path = scratch_path(state, "out.db"), *error;
	struct store *s = store_open(path, mode, &error);

	assert_non_null(s);
	free(path);
	return s;
}

/* What figures of memory show: an eighth of a limit of 64 MiB, pressure, requests. */
static void add_memory(struct record *r, const struct histogram *h, uint32_t nr)
{
	static const struct metric samples[] = {
		{ "memory.stat.active_file", "bytes", METRIC_GAUGE, "" },
		{ "memory.stat.inactive_file", "bytes", METRIC_GAUGE, "" },
		{ "memory.stat.active_anon", "bytes", METRIC_GAUGE, "" },
		{ "memory.stat.inactive_anon", "bytes", METRIC_GAUGE, "" },
		{ "workingset.cgroup_nodes", "1", METRIC_GAUGE, "" },
		{ "workingset.cgroup_budget", "1", METRIC_GAUGE, "" },
		{ "memory.pressure.some.avg10", "%", METRIC_GAUGE, "" },
		{ "memory.pressure.full.avg10", "%", METRIC_GAUGE, "" },
	};
	static const struct metric summaries[] = {
		{ "memory.max", "bytes", METRIC_GAUGE, "" },
		{ "memory.stat.workingset_refault_file", "1", METRIC_COUNTER, "" },
		{ "task.ops", "1", METRIC_COUNTER, "" },
		{ "task.rate", "1/s", METRIC_RATE, "" },
		{ "task.file_reads", "1", METRIC_COUNTER, "" },
		{ "task.file_misses", "1", METRIC_COUNTER, "" },
	};
	const double values[] = { (64 + nr) << 20, 300, 1000, 100, 1000, 250 };
	static const struct metric requests = { "service.latency", "ns", METRIC_DISTRIBUTION, "" };

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		for (uint32_t t = 0; t < 10; t++)
			record_sample(r, &samples[i], "/a", t * SIM_MS, (double)((i + 1) << 20));
	for (size_t i = 0; i < sizeof(summaries) / sizeof(summaries[0]); i++)
		record_summary(r, &summaries[i], "/a", values[i]);
	record_histogram(r, &requests, "service", h);
	record_module(r, "reclaim", "classic");
}

/* What figures against the number of cgroups show: one cgroup more in each run, and locks. */
static void add_locks(struct record *r, uint64_t wait_ns)
{
	static const struct metric current = { "memory.current", "bytes", METRIC_GAUGE, "" };
	static const struct metric sys = { "time.sys", "ns", METRIC_COUNTER, "" };
	static const struct metric root = { "flush.root", "ns", METRIC_GAUGE, "" };
	static const char *const names[] = { "/", "/a", "/b", "/c" };
	static const char *const locks[] = { "cgroup_rstat_lock", "list_lru_node->lock", "lru_lock" };

	for (size_t i = 0; i < (wait_ns < 5000 ? 2 : wait_ns < 1000000 ? 3 : 4); i++)
		record_summary(r, &current, names[i], 4096);
	for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++)
		record_put_lock(r,
				&(struct lock_row){ record_entity(r, locks[i]), 9, 4, wait_ns, 10, 10, 10 });
	record_put_lock(r, &(struct lock_row){ record_entity(r, "idle_lock"), 9, 0, 0, 0, 10, 10 });
	record_summary(r, &sys, "all", 1e9);
	record_sample(r, &root, "/", 20 * SIM_MS, 1e6);
	record_module(r, "list_lru_lock", "per_node");
	record_module(r, "flush", "unified");
	record_module(r, "rstat_lock", "mutex");
}

/* What figures against threads and depth show: a task that works, each run one group deeper. */
static void add_work(struct record *r, uint32_t depth)
{
	static const struct metric ops = { "task.ops", "1", METRIC_COUNTER, "" };
	static const struct metric rate = { "task.rate", "1/s", METRIC_RATE, "" };
	static const struct metric spin = { "time.spin", "ns", METRIC_COUNTER, "" };
	static const char *const groups[] = { "/b", "/b/c", "/b/c/d" };

	record_summary(r, &ops, groups[depth], 1000);
	record_summary(r, &ops, "worker", 1000);
	record_summary(r, &rate, "worker", 1e6);
	record_summary(r, &spin, "all", 1e8 * (depth + 1));
	record_module(r, "stat_update", "rstat_none");
}

/* What figures of dying cgroups show: some, by class, and the end of it. */
static void add_dying(struct record *r, const struct histogram *h, uint32_t nr)
{
	static const struct metric dying = { "nr_dying_descendants", "1", METRIC_GAUGE, "" };
	static const struct metric bytes = { "ledger.bytes", "bytes", METRIC_GAUGE, "" };
	static const struct metric refused = { "cgroup.refused_at", "ns", METRIC_GAUGE, "" };
	static const struct metric percpu = { "meminfo.Percpu", "bytes", METRIC_GAUGE, "" };
	static const struct metric slab = { "meminfo.Slab", "bytes", METRIC_GAUGE, "" };
	static const struct metric offline = { "cgroup.offline_latency", "ns", METRIC_DISTRIBUTION, "" };
	static const char *const classes[] = { "memcg", "lruvec", "percpu_stat", "percpu_base", "kernfs" };

	for (uint32_t i = 0; i < 20; i++) {
		record_sample(r, &dying, "/", i * SIM_SEC, i * nr);
		for (size_t k = 0; k < sizeof(classes) / sizeof(classes[0]); k++)
			record_sample(r, &bytes, classes[k], i * SIM_SEC, i << 20);
	}
	record_summary(r, &dying, "/", 19);
	record_summary(r, &bytes, "percpu_stat", 19 << 20);
	record_summary(r, &refused, nr > 1 ? "ENOSPC: no id" : "ENOMEM: no page left", 864e11 * nr);
	record_summary(r, &percpu, "all", 1 << 30);
	record_summary(r, &slab, "all", 1 << 28);
	record_histogram(r, &offline, "all", h);
	record_module(r, "dying_percpu", "until_freed");
}

/* Half of what a daemon decided was wrong. */
static void add_decisions(struct record *r)
{
	static const struct metric taken = { "decision.taken", "1", METRIC_COUNTER, "" };
	static const struct metric wrong = { "decision.wrong", "1", METRIC_COUNTER, "" };

	record_summary(r, &taken, "victim:d", 8);
	record_summary(r, &wrong, "victim:d", 4);
	record_summary(r, &taken, "never_wrong", 8);
	record_summary(r, &wrong, "never_wrong", 0);
}

/* Names that would do harm in a command, and that a data file has to carry. */
static void add_run(struct store *s, const char *variant, uint64_t latency_ns, uint32_t nr)
{
	static const char *const params[] = { "{}",
					      "{\"tasks[0].count\": \"2\", \"host.possible_cpus\": \"8\"}",
					      "{\"tasks[0].count\": \"9\", \"host.possible_cpus\": \"16\"}" };

	struct record *r = record_new(100);
	struct histogram h;
	int64_t id = store_begin(s, &(struct store_run){ .experiment = "x",
							 .scenario = "it's \"so\" `false` 100%",
							 .variant = variant,
							 .params = params[nr],
							 .scenario_yaml = "",
							 .provenance = "{}" });

	histogram_init(&h, NULL);
	for (uint64_t i = 0; i < 1000; i++)
		histogram_add(&h, latency_ns + i * latency_ns / 100, 1);
	record_histogram(r, &latency, "all", &h);
	record_histogram(r, &latency, "level:2", &h);
	for (uint32_t i = 0; i < 50; i++) {
		record_sample(r, &pages, "all", i * SIM_MS, i % 10);
		record_sample(r, &age, "all", i * SIM_MS, (i % 10) * 1e6);
	}
	add_memory(r, &h, nr);
	add_dying(r, &h, nr);
	add_locks(r, latency_ns);
	add_work(r, nr);
	add_decisions(r);
	record_finish(r, &(struct record_end){ .done = true });
	assert_true(id > 0 && store_finish(s, id, r));
	histogram_release(&h);
	record_free(r);
}

static int setup(void **state)
{
	if (scratch_setup(state))
		return -1;
	struct store *s = open_store(state, STORE_WRITE);

	add_run(s, "base", 1000, 0);
	add_run(s, "patched 'two'", 5000, 1);
	add_run(s, "third", 1000000, 2);
	store_close(s);
	return 0;
}

static void need_gnuplot(void)
{
	if (system("command -v gnuplot >/dev/null") != 0)
		skip();
}

static const struct {
	const char *name;
	enum plot_format format;
	const char *begins;
} files[] = { { "f.png", PLOT_PNG, "\x89PNG" }, { "f.svg", PLOT_SVG, "<?xml" } };

static void check_file(const char *path, const char *begins)
{
	char head[8] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_int_equal(fread(head, 1, strlen(begins), file), strlen(begins));
	assert_string_equal(head, begins);
	fclose(file);
}

static void every_figure_makes_files(void **state)
{
	struct store *s;
	size_t nr, drawn = 0;
	char **figures;

	need_gnuplot();
	s = open_store(state, STORE_READ);
	figures = plot_figures(FIGURES, &nr);
	assert_true(nr >= 3);
	for (size_t i = 0; i < nr; i++) {
		for (size_t j = 0; j < sizeof(files) / sizeof(files[0]); j++) {
			char *path = scratch_path(state, files[j].name), *error = NULL;
			bool empty = false;
			struct plot_request r = { FIGURES, figures[i], .format = files[j].format,
						  .output = path, .empty = &empty };

			/* Some need what this file has not (a sweep of two options), one is text. */
			if (!plot_figure(s, &r, &error)) {
				if (!empty)
					fail_msg("%s: %s", figures[i], error);
				free(error);
				free(path);
				continue;
			}
			drawn++;
			check_file(path, files[j].begins);
			assert_int_equal(scratch_files(state), 2);
			unlink(path);
			free(path);
		}
		free(figures[i]);
	}
	assert_true(drawn >= 20);
	free(figures);
	store_close(s);
}

static char *draw_text(void **state, const char *figure, const char *entity)
{
	struct store *s = open_store(state, STORE_READ);
	char *text, *error = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct plot_request r = { FIGURES, figure, .entity = entity, .format = PLOT_TEXT, .text = out };

	if (!plot_figure(s, &r, &error))
		fail_msg("%s: %s", figure, error);
	fclose(out);
	store_close(s);
	return text;
}

static void text_fits_a_mail(void **state)
{
	static const char *const figures[] = { "read-latency-cdf", "staleness-over-time",
					       "lock-wait-by-class" };

	need_gnuplot();
	for (size_t i = 0; i < 3; i++) {
		char *text = draw_text(state, figures[i], NULL);

		assert_non_null(strstr(text, "it's 'so' `false` 100% (simulated)"));
		assert_non_null(strstr(text, "patched 'two'"));
		assert_non_null(strstr(text, "third"));
		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			assert_true(strlen(line) <= 75 && line[strlen(line) - 1] != ' ');
		free(text);
	}
}

static void figures_show_what_is_there(void **state)
{
	char *text;

	need_gnuplot();
	text = draw_text(state, "read-latency-cdf", "level:2");
	assert_non_null(strstr(text, "of level:2"));
	assert_non_null(strstr(text, "base  (p50 5.99 us, p99 10.9 us)"));
	free(text);
	text = draw_text(state, "refaults-against-limit", NULL);
	assert_non_null(strstr(text, "of /a"));
	assert_non_null(strstr(text, "classic"));
	free(text);
	text = draw_text(state, "throughput-against-threads", NULL);
	assert_non_null(strstr(text, "of worker"));
	assert_non_null(strstr(text, "rstat_none"));
	free(text);
	text = draw_text(state, "dying-over-days", "third");
	assert_non_null(strstr(text, "Memory of the kernel for cgroups, third"));
	free(text);
	text = draw_text(state, "dying-bytes-against-cpus", NULL);
	assert_non_null(strstr(text, "1 node, until_freed"));
	free(text);
	text = draw_text(state, "offline-latency-cdf", NULL);
	assert_non_null(strstr(text, "Latency of removals"));
	free(text);
	text = draw_text(state, "time-to-end", NULL);
	assert_non_null(strstr(text, "ends of ids (ENOSPC)"));
	free(text);
	text = draw_text(state, "wrong-decisions", NULL);
	assert_non_null(strstr(text, "victim:d"));
	assert_non_null(strstr(text, "4 of 8"));
	assert_null(strstr(text, "never_wrong"));
	free(text);
	text = draw_text(state, "psi-over-time", NULL);
	assert_non_null(strstr(text, "Memory pressure of /a"));
	free(text);
	text = draw_text(state, "lock-wait-against-cpus", NULL);
	assert_non_null(strstr(text, "Wait for "));
	free(text);
	text = draw_text(state, "lock-wait-by-class", NULL);
	assert_non_null(strstr(text, "lru_lock"));
	assert_null(strstr(text, "idle_lock"));
	assert_non_null(strstr(text, "1 ms"));
	free(text);
}

/* A block a variant, of which the fullest line has 40 marks. */
static void histogram_as_text(void **state)
{
	char *text = draw_text(state, "read-latency-histogram", NULL);

	assert_non_null(strstr(text, "@ns[base]: 1000 reads"));
	assert_non_null(strstr(text, "\n@ns[patched 'two']: 1000 reads"));
	assert_non_null(strstr(text, "[8K, 16K)"));
	assert_null(strstr(text, "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@")); /* 40 at most */
	free(text);
}

/* Waits of nothing are values, which a logarithmic axis would have no place for. */
static void nobody_waited(void **state)
{
	struct store *s = open_store(state, STORE_WRITE);

	need_gnuplot();
	assert_int_equal(
		sqlite3_exec(store_database(s), "UPDATE lock_stat SET wait_total_ns = 0", NULL, NULL, NULL),
		SQLITE_OK);
	store_close(s);
	char *text = draw_text(state, "rstat-wait-against-cgroups", NULL);

	assert_non_null(strstr(text, "wait of an acquisition, us"));
	free(text);
}

static char *write_file(void **state, const char *name, const char *text)
{
	char *path = scratch_path(state, name);
	FILE *out = fopen(path, "w");

	fputs(text, out);
	fclose(out);
	return path;
}

/* A figure sets parameters and reads the query of another, in which they have values of their own. */
static void figures_share_a_query(void **state)
{
	char *own = write_file(state, "own.sql",
			       "SELECT coalesce(:first, 'one'), coalesce(:second, 'two'), :experiment;\n");
	char *other = write_file(state, "other.sql",
				 "-- of three words\n.parameter set :first a,b\n"
				 ".parameter set :second c d\n.read elsewhere/own.sql\n");
	static const char *const cases[][2] = { { "own", "one two x\n" }, { "other", "a,b c d x\n" } };
	struct store *s = open_store(state, STORE_READ);

	for (size_t i = 0; i < 2; i++) {
		char *text, *error = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		assert_true(plot_figure(s,
					&(struct plot_request){ .folder = *state,
								.figure = cases[i][0],
								.experiment = "x",
								.format = PLOT_TEXT,
								.text = out },
					&error));
		fclose(out);
		assert_string_equal(text, cases[i][1]);
		free(text);
	}
	store_close(s);
	unlink(own);
	unlink(other);
	free(own);
	free(other);
}

static void refuses(void **state, const struct plot_request *r, const char *reason)
{
	struct store *s = open_store(state, STORE_READ);
	char *error = NULL;

	assert_false(plot_figure(s, r, &error));
	if (!strstr(error, reason))
		fail_msg("\"%s\" does not say \"%s\"", error, reason);
	assert_int_equal(scratch_files(state), 1);
	free(error);
	store_close(s);
}

static void what_cannot_be_drawn_is_said(void **state)
{
	char *path = scratch_path(state, "x.png"), *nowhere = scratch_path(state, "none/x.png");

	refuses(state, &(struct plot_request){ FIGURES, "no-such", .format = PLOT_PNG, .output = path },
		"there is no figure 'no-such'; there are: dying-bytes-against-cpus, ");
	refuses(state, &(struct plot_request){ FIGURES, "../read-latency-cdf", .output = path },
		"there is no figure");
	refuses(state,
		&(struct plot_request){ FIGURES, "read-latency-cdf", .entity = "/none", .format = PLOT_PNG,
					.output = path },
		"no complete run has data for figure read-latency-cdf of /none");
	refuses(state,
		&(struct plot_request){ FIGURES, "read-latency-cdf", .experiment = "none", .format = PLOT_PNG,
					.output = path },
		"nothing to draw");
	need_gnuplot();
	refuses(state,
		&(struct plot_request){ FIGURES, "read-latency-cdf", .format = PLOT_PNG, .output = nowhere },
		"gnuplot cannot draw read-latency-cdf: ");
	free(nowhere);
	free(path);
}

static void missing_gnuplot_is_said(void **state)
{
	char *path = scratch_path(state, "x.png"), *programs = xstrdup(getenv("PATH"));

	setenv("PATH", "/nowhere", 1);
	refuses(state,
		&(struct plot_request){ FIGURES, "read-latency-cdf", .format = PLOT_PNG, .output = path },
		"gnuplot, which draws the figures, is not installed");
	setenv("PATH", programs, 1);
	free(programs);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(histogram_as_text),
		cmocka_unit_test(every_figure_makes_files),
		cmocka_unit_test(text_fits_a_mail),
		cmocka_unit_test(figures_show_what_is_there),
		cmocka_unit_test(nobody_waited),
		cmocka_unit_test(figures_share_a_query),
		cmocka_unit_test(what_cannot_be_drawn_is_said),
		cmocka_unit_test(missing_gnuplot_is_said),
	};

	return cmocka_run_group_tests(tests, setup, scratch_teardown);
}
