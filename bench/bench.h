/*
 * bench.h - measurements of speed and size, each a row of a table and of build/bench.csv.
 *
 * A bar is what docs/architecture.md asks of the release build on one core. Whether it
 * holds is reported, and decides nothing: machines differ.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>

struct bench;

enum bench_bar { BAR_NONE, BAR_AT_LEAST, BAR_AT_MOST };

void bench_row(struct bench *b, const char *name, const char *parameter, double value, const char *unit,
	       enum bench_bar kind, double bar);

/* Seconds of this process's own CPU time, which other processes of a shared machine disturb least. */
double bench_cpu_seconds(void);

void bench_engine(struct bench *b);
void bench_startup(struct bench *b);
void bench_paths(struct bench *b);
void bench_reclaim(struct bench *b);
void bench_memory(struct bench *b);

#endif
