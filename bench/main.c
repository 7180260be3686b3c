/*
 * main.c - memcgsim-bench [CSV [PART]]: runs all measurements, or those of one file, prints the table, writes
 * the CSV.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "sim/module.h"

struct bench {
	FILE *csv; /* NULL: none */
};

double bench_cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A field of the CSV; text with a comma in it is quoted. */
static void csv_text(FILE *csv, const char *text)
{
	fprintf(csv, strchr(text, ',') ? "\"%s\"," : "%s,", text);
}

void bench_row(struct bench *b, const char *name, const char *parameter, double value, const char *unit,
	       enum bench_bar kind, double bar)
{
	const char *holds = "";
	char text[32] = "";

	if (kind != BAR_NONE) {
		holds = (kind == BAR_AT_LEAST ? value >= bar : value <= bar) ? "yes" : "no";
		snprintf(text, sizeof(text), "%g", bar);
	}
	printf("%-20s %-26s %12.5g %-6s %9s %s\n", name, parameter, value, unit, text, holds);
	fflush(stdout);
	if (!b->csv)
		return;
	csv_text(b->csv, name);
	csv_text(b->csv, parameter);
	fprintf(b->csv, "%.6g,%s,%s,%s\n", value, unit, text, holds);
}

static const struct {
	const char *name;
	void (*run)(struct bench *b);
} parts[] = {
	{ "engine", bench_engine },   { "startup", bench_startup }, { "paths", bench_paths },
	{ "reclaim", bench_reclaim }, { "memory", bench_memory },
};

static int usage(void)
{
	fputs("usage: memcgsim-bench [CSV [PART]]\nparts:", stderr);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		fprintf(stderr, " %s", parts[i].name);
	fputs("\n", stderr);
	return 2;
}

/* NULL: all. Returns how many there were. */
static int run_parts(struct bench *b, const char *name)
{
	int nr = 0;

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (!name || !strcmp(name, parts[i].name)) {
			parts[i].run(b);
			nr++;
		}
	return nr;
}

int main(int argc, char **argv)
{
	struct bench b = { 0 };

	if (argc > 3)
		return usage();
	if (!modules_init())
		return 1;
	if (argc >= 2 && !(b.csv = fopen(argv[1], "w"))) {
		perror(argv[1]);
		return 1;
	}
	if (b.csv)
		fputs("name,parameter,value,unit,bar,holds\n", b.csv);
	printf("%-20s %-26s %12s %-6s %9s %s\n", "name", "parameter", "value", "unit", "bar", "holds");
	int nr = run_parts(&b, argc == 3 ? argv[2] : NULL);

	if (b.csv && fclose(b.csv) != 0) {
		perror(argv[1]);
		return 1;
	}
	return nr ? 0 : usage();
}
