/*
 * cmd_validate.c - memcgsim validate: does the simulator give what was published and measured?
 *
 * Every scenario below the folders of sources that has a `validate:` section is run (or those named on the
 * command line), each variant that a row speaks of, and one line a row is printed. Rows that are out of their
 * band are results too: they do not change the exit status.
 */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/datadir.h"
#include "sim/engine/xalloc.h"
#include "sim/experiment/execute.h"
#include "sim/experiment/validate.h"
#include "sim/program/input.h"
#include "sim/scenario/hint.h"

enum { FLAG_SOURCE = FLAG_LONG, FLAG_FORMAT, FLAG_COURSES };
enum { FORMAT_TEXT, FORMAT_CSV };

static const char *const formats[] = { "text", "csv", NULL };

static const struct flag flags[] = {
	{ FLAG_SOURCE, "source", "SOURCE", "only rows of this source: ground-truth, seed-1, ..." },
	{ FLAG_FORMAT, "format", "FORMAT", "text or csv" },
	{ FLAG_COURSES, "courses", NULL, "in csv a tenth column: the course that a row is judged by" },
	{ 'j', "jobs", "N", "runs at a time" },
	INPUT_FLAGS,
};

struct validate {
	struct input input;
	const char *source;
	int format;
	bool show_courses;
	uint64_t at_once;
	size_t nr_rows, nr_in;
	struct words sources; /* that there are rows of */
	bool interrupted;
};

/* One scenario's rows on their way to verdicts. */
struct rows {
	const struct scenario_set *set;
	const struct validate_row *const *rows;
	size_t nr;
	struct mean **values;      /* by row and course */
	struct mean *bases;        /* by row */
	struct verdict **verdicts; /* by row and course */
	size_t *courses;           /* by row: the one that it is judged by */
	bool failed;
};

static bool take(void *into, int key, const char *value)
{
	struct validate *v = into;
	bool good = true;

	switch (key) {
	case FLAG_SOURCE:
		v->source = value;
		return true;
	case FLAG_FORMAT:
		return flag_choice("--format", value, formats, &v->format);
	case FLAG_COURSES:
		v->show_courses = true;
		return true;
	case 'j':
		return flag_u64("--jobs", value, 1, 1024, &v->at_once);
	default:
		input_take(&v->input, key, value, &good);
		return good;
	}
}

/* Every source is offered once. */
static void offer_source(struct validate *v, const char *source)
{
	for (size_t i = 0; i < v->sources.nr; i++)
		if (!strcmp(v->sources.list[i], source))
			return;
	words_add(&v->sources, source);
}

static bool wanted(const struct validate *v, const struct validate_row *row)
{
	return !v->source || !strcmp(v->source, row->source);
}

/* The variant that a row's value comes from. */
static bool is_variant(const struct rows *r, const char *name, const struct scenario *s)
{
	return name ? !strcmp(name, scenario_variant_name(s)) : s == scenario_variant(r->set, 0);
}

/* How often does the variant stand in a course of the row? */
static uint32_t in_course(const struct rows *r, const struct validate_row *row, size_t course,
			  const struct scenario *s)
{
	const char *name = validate_course(row, course);

	return name ? validate_course_has(name, scenario_variant_name(s)) : is_variant(r, NULL, s);
}

static bool needs(const struct rows *r, const struct validate_row *row, const struct scenario *s)
{
	for (size_t i = 0; i < validate_nr_courses(row); i++)
		if (in_course(r, row, i, s))
			return true;
	return row->relative_to && is_variant(r, row->relative_to, s);
}

static bool needed(const struct validate *v, const struct rows *r, const struct scenario *s)
{
	for (size_t i = 0; i < r->nr; i++)
		if (wanted(v, r->rows[i]) && needs(r, r->rows[i], s))
			return true;
	return false;
}

static void add_value(const struct record *record, const struct validate_row *row, struct mean *mean)
{
	double value;

	if (!validate_value(record, row, &value))
		return;
	mean->sum += value;
	mean->n++;
}

static bool finished(void *arg, const struct job *job, struct record *record)
{
	struct rows *r = arg;
	const struct record_end *end = record_ended(record);

	if (!end->done) {
		note("%s, %s: %s", scenario_name(r->set), scenario_variant_name(job->scenario), end->error);
		r->failed = true;
	}
	for (size_t i = 0; i < r->nr && end->done; i++) {
		const struct validate_row *row = r->rows[i];

		for (size_t k = 0; k < validate_nr_courses(row); k++)
			for (uint32_t n = in_course(r, row, k, job->scenario); n--;)
				add_value(record, row, &r->values[i][k]);
		if (row->relative_to && is_variant(r, row->relative_to, job->scenario))
			add_value(record, row, &r->bases[i]);
	}
	record_free(record);
	return true;
}

static bool simulate(const struct validate *v, struct rows *r)
{
	size_t nr = 0;
	struct job *jobs = NULL;

	for (size_t i = 0; i < scenario_nr_variants(r->set); i++) {
		const struct scenario *s = scenario_variant(r->set, i);
		const struct run_options *options = scenario_run(s);

		if (!needed(v, r, s))
			continue;
		jobs = xreallocarray(jobs, nr + options->replications, sizeof(*jobs));
		for (uint32_t k = 0; k < options->replications; k++)
			jobs[nr++] = (struct job){ .scenario = s,
						   .replication = k,
						   .seed = options->seed + k };
	}
	bool done = !nr || execute(&(struct execute_setup){
				   .jobs = jobs,
				   .nr_jobs = nr,
				   .at_once = (uint32_t)v->at_once,
				   .finished = finished,
				   .arg = r,
			   }) == EXECUTE_DONE;

	free(jobs);
	return done;
}

static void format_number(double value, char text[32])
{
	if (isnan(value))
		*text = '\0';
	else
		snprintf(text, 32, "%.6g", value);
}

/* For the eye: an error is in percent, as bands are, unless it is absolute (the published value is 0). */
static void format_error(const struct verdict *d, char text[32])
{
	if (isnan(d->error) || d->published == 0)
		format_number(d->error, text);
	else
		snprintf(text, 32, "%+.2f%%", 100 * d->error);
}

static void format_band(const struct validate_row *row, char text[64])
{
	if (row->is != VALIDATE_ABOUT)
		snprintf(text, 64, "%s", row->is == VALIDATE_AT_LEAST ? "at least" : "at most");
	else if (row->slack > 0)
		snprintf(text, 64, "%g%% or %g", 100 * row->band, row->slack);
	else
		snprintf(text, 64, "%g%%", 100 * row->band);
}

#define TEXT_ROW "%-12s %-40s %-22s %11s %11s %10s  %-9s %-3s %s\n"

/* Of the courses, how many took place. */
static size_t nr_taken(const struct validate_row *row, const struct verdict *courses)
{
	size_t nr = 0;

	for (size_t i = 0; i < validate_nr_courses(row); i++)
		nr += isnan(courses[i].simulated) ? 0 : 1;
	return nr;
}

/* The course that the row is judged by, unless it is the first; and whether any of several meets it. */
static void format_course(const struct validate_row *row, const struct verdict *courses, size_t chosen,
			  char text[256])
{
	size_t nr_in = 0;

	for (size_t i = 0; i < validate_nr_courses(row); i++)
		nr_in += courses[i].in;
	snprintf(text, 256, "%s%s%s", chosen ? validate_course(row, chosen) : "",
		 chosen && !nr_in ? "; " : "",
		 nr_taken(row, courses) > 1 && !nr_in ? "no course meets it" : "");
}

static void print_row(struct validate *v, const struct validate_row *row, const struct verdict *courses,
		      size_t chosen)
{
	const struct verdict *d = &courses[chosen];
	char published[32], simulated[32], error[32], band[64], course[256], name[512];
	/* A course is chosen by the rows, the first one too: nothing of several was predicted. */
	const char *fit = row->fitted || nr_taken(row, courses) > 1 ? "C" : "P";

	format_course(row, courses, chosen, course);
	format_number(d->published, published);
	format_number(d->simulated, simulated);
	format_band(row, band);
	v->nr_in += d->in;
	if (v->format == FORMAT_CSV) {
		format_number(d->error, error);
		printf("%s,\"%s\",%s,%s,%s,%s,%s,%s,%s", row->source, row->row, row->metric, published,
		       simulated, error, band, d->in ? "in" : "out", fit);
		if (v->show_courses)
			printf(*course ? ",\"%s\"" : ",%s", course);
		putchar('\n');
	} else {
		format_error(d, error);
		snprintf(name, sizeof name, *course ? "%s [%s]" : "%s", row->row, course);
		if (!v->nr_rows)
			printf(TEXT_ROW, "source", "row", "metric", "published", "simulated", "error", "band",
			       "is", "fit");
		printf(TEXT_ROW, row->source, name, row->metric, published, simulated, error, band,
		       d->in ? "in" : "OUT", fit);
	}
	v->nr_rows++;
}

/* A mean of runs of which one does not exist is no course, and not the mean of the others. */
static bool is_whole(const struct rows *r, const char *course)
{
	uint32_t nr = 0;

	if (!course || validate_course_parts(course) == 1)
		return true;
	for (size_t i = 0; i < scenario_nr_variants(r->set); i++)
		nr += validate_course_has(course, scenario_variant_name(scenario_variant(r->set, i)));
	return nr == validate_course_parts(course);
}

/* false, and it is said why: a published number is not there. */
static bool find_verdicts(const struct validate *v, struct rows *r, const char *path)
{
	const struct mean none = { 0 };

	for (size_t i = 0; i < r->nr; i++) {
		const struct validate_row *row = r->rows[i];
		double published;
		char why[256];

		if (!wanted(v, row))
			continue;
		if (!validate_published(row, &published, why)) {
			struct where at = option_where(row, "published_from");

			fprintf(stderr, "%s:%u:%u: %s\n", at.line ? at.file : path, at.line, at.column, why);
			return false;
		}
		for (size_t k = 0; k < validate_nr_courses(row); k++) {
			bool whole = is_whole(r, validate_course(row, k));

			r->verdicts[i][k] = validate_judge(row, published, whole ? &r->values[i][k] : &none,
							   &r->bases[i]);
		}
	}
	return true;
}

/* One for all rows of a run. */
static void choose_courses(const struct validate *v, struct rows *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		size_t nr = validate_nr_courses(r->rows[i]);

		if (nr == 1 || r->courses[i] != SIZE_MAX || !wanted(v, r->rows[i]))
			continue;
		uint32_t *nr_in = xcalloc(nr, sizeof *nr_in);

		for (size_t j = i; j < r->nr; j++)
			for (size_t k = 0; k < nr && validate_same_run(r->rows[i], r->rows[j]); k++)
				nr_in[k] += r->verdicts[j][k].in;
		for (size_t j = r->nr; j-- > i;)
			if (validate_same_run(r->rows[i], r->rows[j]))
				r->courses[j] = validate_choose(nr_in, nr);
		free(nr_in);
	}
}

static int judge(struct validate *v, struct rows *r, const char *path)
{
	for (size_t i = 0; i < r->nr; i++)
		offer_source(v, r->rows[i]->source);
	if (!find_verdicts(v, r, path))
		return STATUS_WRONG;
	choose_courses(v, r);
	for (size_t i = 0; i < r->nr; i++)
		if (wanted(v, r->rows[i]))
			print_row(v, r->rows[i], r->verdicts[i],
				  validate_nr_courses(r->rows[i]) > 1 ? r->courses[i] : 0);
	fflush(stdout);
	return r->failed ? STATUS_FAILED : STATUS_DONE;
}

static void rows_open(struct rows *r)
{
	r->nr = validate_rows(r->set, &r->rows);
	r->values = xcalloc(r->nr, sizeof *r->values);
	r->verdicts = xcalloc(r->nr, sizeof *r->verdicts);
	r->bases = xcalloc(r->nr, sizeof *r->bases);
	r->courses = xcalloc(r->nr, sizeof *r->courses);
	for (size_t i = 0; i < r->nr; i++) {
		size_t nr = validate_nr_courses(r->rows[i]);

		r->values[i] = xcalloc(nr, sizeof *r->values[i]);
		r->verdicts[i] = xcalloc(nr, sizeof *r->verdicts[i]);
		r->courses[i] = SIZE_MAX;
	}
}

static void rows_close(struct rows *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		free(r->values[i]);
		free(r->verdicts[i]);
	}
	free(r->values);
	free(r->verdicts);
	free(r->bases);
	free(r->courses);
}

static int validate_file(struct validate *v, const char *path)
{
	struct scenario_set *set = input_load(&v->input, path, NULL);
	struct rows r = { .set = set };
	int status;

	if (!set)
		return STATUS_WRONG;
	rows_open(&r);
	v->interrupted = !simulate(v, &r);
	status = v->interrupted ? STATUS_FAILED : judge(v, &r, path);
	rows_close(&r);
	scenario_free(set);
	return status;
}

/* The scenarios that come with the program and may have rows. */
static void find_files(struct words *files)
{
	static const char *const folders[] = { "scenarios/ground-truth", "scenarios/seeds",
					       "scenarios/cases" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		char *path = data_path(folders[i]), *pattern;
		glob_t found;

		if (!path || asprintf(&pattern, "%s/*.yaml", path) < 0)
			continue;
		if (glob(pattern, 0, NULL, &found) == 0) {
			for (size_t k = 0; k < found.gl_pathc; k++)
				words_add(files, found.gl_pathv[k]);
			globfree(&found);
		}
		free(pattern);
		free(path);
	}
}

static void say_nothing_found(const struct validate *v)
{
	struct hint hint = hint_for(v->source ? v->source : "");
	char text[HINT_TEXT];

	for (size_t i = 0; i < v->sources.nr; i++)
		hint_offer(&hint, v->sources.list[i]);
	if (v->source)
		note("validate: there is no row of source %s%s", v->source, hint_text(&hint, text));
	else
		note("validate: there is no row");
}

static int validate_all(struct validate *v, char *const *files, size_t nr)
{
	int worst = STATUS_DONE;

	if (v->format == FORMAT_CSV)
		printf("source,row,metric,published,simulated,error,band,verdict,fit%s\n",
		       v->show_courses ? ",course" : "");
	for (size_t i = 0; i < nr && !v->interrupted; i++) {
		int status = validate_file(v, files[i]);

		worst = status > worst ? status : worst;
	}
	if (v->format == FORMAT_TEXT && v->nr_rows)
		printf("%zu row%s: %zu in, %zu out\n", v->nr_rows, v->nr_rows == 1 ? "" : "s", v->nr_in,
		       v->nr_rows - v->nr_in);
	if (!v->nr_rows && worst == STATUS_DONE) {
		say_nothing_found(v);
		return STATUS_WRONG;
	}
	return worst;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct validate v = { .at_once = 1 };
	struct words found = { 0 };
	struct operands operands;
	int status;

	if (parse_command_line(self, argc, argv, take, &v, 0, SIZE_MAX, &operands, &status)) {
		if (!operands.nr)
			find_files(&found);
		status = validate_all(&v, operands.nr ? operands.words : found.list,
				      operands.nr ? operands.nr : found.nr);
	}
	words_free(&found);
	words_free(&v.sources);
	input_free(&v.input);
	return status;
}

const struct command command_validate = {
	.name = "validate",
	.operands = "[SCENARIO]...",
	.help = "compares results with what was published and measured, row by row",
	.flags = flags,
	.nr_flags = sizeof(flags) / sizeof(flags[0]),
	.run = run,
};
