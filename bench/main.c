/*
 * main.c - memcgsim-bench [CSV]: runs all measurements, prints the table, writes the CSV.
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

int main(int argc, char **argv)
{
	struct bench b = { 0 };

	if (argc > 2) {
		fputs("usage: memcgsim-bench [CSV]\n", stderr);
		return 2;
	}
	if (!modules_init())
		return 1;
	if (argc == 2 && !(b.csv = fopen(argv[1], "w"))) {
		perror(argv[1]);
		return 1;
	}
	if (b.csv)
		fputs("name,parameter,value,unit,bar,holds\n", b.csv);
	printf("%-20s %-26s %12s %-6s %9s %s\n", "name", "parameter", "value", "unit", "bar", "holds");
	bench_engine(&b);
	bench_startup(&b);
	bench_paths(&b);
	if (b.csv && fclose(b.csv) != 0) {
		perror(argv[1]);
		return 1;
	}
	return 0;
}
