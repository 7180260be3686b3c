/*
 * stat_probe.h - inside of the workload that measures staleness in lock step: what its modes share.
 *
 * stat_probe.c has the options, the metrics and the module; stat_probe_saw.c the mode sawtooth, and
 * stat_probe_once.c visible and fanout.
 */
#ifndef MODELS_WORKLOAD_STAT_PROBE_H
#define MODELS_WORKLOAD_STAT_PROBE_H

#include "models/stat/stat.h"
#include "models/workload/workload.h"
#include "sim/module.h"

#define TABLE_PAGES 512 /* pages that one page table maps */
#define GIVE_UP     (6 * SIM_SEC)

enum probe_mode { SAWTOOTH, VISIBLE, FANOUT };
enum probe_file { MEMORY_STAT, CPU_STAT };

struct stat_probe {
	int mode, file;
	const char *target, *of;
	uint64_t step, steps, memory, own_pages, own_tables, reader_pages;
	uint32_t repeat;
	struct option_list series; /* struct saw */
	sim_time_t phase, poll;
};

/* One measurement of a series. */
struct saw {
	const char *name, *target;
	const char *worker, *second; /* NULL: the task's own cgroup; none */
	uint64_t step;
	bool spread, both, inside;
};

enum probe_metric {
	GAP_MEAN,
	GAP_MEAN_OWN,
	GAP_MAX,
	STALE_MEAN,
	STALE_MAX,
	CURRENT_MIN,
	CURRENT_MAX,
	TOUCHED,
	JUMPS,
	FLUSHES,
	PAIRS,
	FLUSHES_PER_READ,
	PAIRS_PER_FLUSH,
	VISIBLE_AFTER,
	PAIRS_FIRST,
	PAIRS_SECOND,
	FLUSH_CALLS,
	NR_PROBE_METRICS
};

struct probe {
	struct task *t;
	struct workload_task *w;
	const struct stat_probe *o;
	struct memcg *target; /* whose statistics are read */
};

/* `name`: of a part of the task's work; NULL: of all. */
void probe_record(struct probe *p, const char *name, enum probe_metric metric, double value);
/* false: there is no memory, and the task has said so. */
bool probe_touch(struct probe *p, struct anon_object *memory, uint64_t index);
/* Until the periodic flush has just run, give or take what the measurement took to notice. */
void probe_wait_for_flush(struct probe *p);
/* The same, with an exact flush of m before and after: a read of its cpu.stat. */
void probe_settle(struct probe *p, struct memcg *m);
int64_t probe_read_anon(struct probe *p, struct stat_read *read);
/* The same by a reader in m, which that may change. */
int64_t probe_read_inside(struct probe *p, struct memcg *m, struct stat_read *read);

void probe_sawtooth(struct probe *p);
void probe_visible(struct probe *p);
void probe_fanout(struct probe *p);

#endif
